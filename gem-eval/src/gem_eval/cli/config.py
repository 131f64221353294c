"""Turn the options of `gem-env eval`, and a file of them, into arguments of an evaluation."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gem.cli import wrapper_list
from gem_eval.cli.line_ups import policies_from
from gem_eval.errors import SettingsError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["arguments", "read_config"]

_RENAMED = {
    "policy": "policies",
    "step_timeout": "step_timeout_s",
    "policy_timeout": "policy_timeout_s",
    "episode_timeout": "episode_timeout_s",
    "retry_wait": "retry_wait_s",
    "wait_for_server": "wait_for_server_s",
    "workers": "num_workers",
    "task": "tasks",
}
_JSON = ("env_kwargs", "policy_kwargs", "backend_options")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "envs": (str, list),
    "policy": (str, list, dict),
    "rotate": (bool,),
    "every-rotation": (bool,),
    "policy-kwargs": (dict,),
    "episodes": (int, str),
    "task": (int, list),
    "seed-range": (list,),
    "until": (str,),
    "tolerance": (int, float),
    "repeats": (int,),
    "vary": (dict,),
    "seed": (int,),
    "wrappers": (str, list),
    "env-kwargs": (dict,),
    "max-turns": (int,),
    "concurrency": (int,),
    "backend": (str,),
    "workers": (int,),
    "backend-options": (dict,),
    "step-timeout": (int, float),
    "policy-timeout": (int, float),
    "episode-timeout": (int, float),
    "policy-retries": (int,),
    "retry-wait": (int, float),
    "wait-for-server": (int, float),
    "max-refusals": (int,),
    "cache": (str,),
    "track": (str, list),
    "max-requests": (int,),
    "max-total-tokens": (int,),
    "max-cost": (int, float),
    "prices": (str, dict),
    "fail-on-error": (bool,),
    "out": (str,),
    "json": (bool,),
}
_ITEMS: Mapping[str, tuple[type, ...]] = {
    "policy": (str, list, dict),
    "wrappers": (str, dict),
    "task": (int,),
    "seed-range": (int,),
}
_MOST_VALUES = 10_000  # of --vary; an evaluation refuses fewer
_LISTS = ("envs", "policy", "track")


def read_config(path: str) -> dict[str, Any]:
    """Read a TOML file of options, named as on the command line. Raises SettingsError."""
    try:
        plain = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise _unreadable(path, f"it cannot be read ({error.strerror})") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise _unreadable(path, f"it is not TOML ({error})") from error
    for name, value in plain.items():
        _check(path, name, value)
    return {
        name.replace("-", "_"): [value] if name in _LISTS and not isinstance(value, list) else value
        for name, value in plain.items()
    }


def _check(path: str, name: str, value: Any) -> None:
    if name not in _TYPES:
        raise _unreadable(path, f"it sets {name!r}, and may set {', '.join(_TYPES)}")
    if type(value) not in _TYPES[name] or not _holds_names(name, value):
        allowed = " or ".join(kind.__name__ for kind in _TYPES[name])
        raise _unreadable(path, f"its {name!r} is {value!r}, and must be {allowed}")


def _holds_names(name: str, value: Any) -> bool:
    kinds = _ITEMS.get(name, (str,))
    return not isinstance(value, list) or all(type(item) in kinds for item in value)


def _unreadable(path: str, what: str) -> SettingsError:
    return SettingsError(
        f"The file {path} holds no options of gem-env eval: {what}.", option="config"
    )


def arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as `gem_eval.evaluate` takes them. Raises SettingsError on bad JSON."""
    values = dict(options)
    for name in _JSON:
        if isinstance(values.get(name), str):
            values[name] = _json_object(name, values[name])
    if isinstance(values.get("wrappers"), str):
        values["wrappers"] = wrapper_list(values["wrappers"])
    rotates = values.pop("rotate", False)
    if values.get("policy"):
        values["policy"] = policies_from(values["policy"], rotates=rotates)
    elif rotates:
        raise SettingsError(
            "--rotate was given without policies. Give one for each seat, --policy A --policy B "
            "--rotate.",
            option="policies",
        )
    if isinstance(values.get("vary"), str):
        values["vary"] = _variants(values["vary"])
    if "task" in values and isinstance(values["task"], list):
        values["task"] = _flat(values["task"])
    return {_RENAMED.get(name, name): value for name, value in values.items()}


def _variants(text: str) -> dict[str, list[Any]]:
    """Return an argument and its values as `evaluate` takes them. Raises SettingsError.

    >>> _variants("wording=0:3"), _variants('difficulty=["easy", "hard"]')
    ({'wording': [0, 1, 2]}, {'difficulty': ['easy', 'hard']})
    """
    name, _, listed = text.partition("=")
    first, colon, end = listed.partition(":")
    try:
        if colon and first.isdecimal() and end.isdecimal():
            values: Any = range(int(first), min(int(end), int(first) + _MOST_VALUES))
        else:
            values = json.loads(listed)
        if name and isinstance(values, (list, range)):
            return {name: list(values)}
    except (ValueError, RecursionError):
        pass
    raise SettingsError(
        f"--vary {text!r:.80} is no argument with its values. Write wording=0:20 for those from 0 "
        'to 19, or a JSON list: \'difficulty=["easy", "hard"]\'.',
        option="vary",
    )


def _flat(tasks: list[Any]) -> list[int]:
    """Return the tasks of several options, each of which may name several, as one list."""
    flat: list[int] = []
    for item in tasks:
        flat += item if isinstance(item, list) else [item]
    return flat


def _json_object(name: str, text: str) -> dict[str, Any]:
    option = f"--{name.replace('_', '-')}"
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(
            f"{option} {text!r} is not JSON ({error}). Quote names and strings, and the whole "
            "for the shell: '{\"size\": 3}'.",
            option=name,
        ) from error
    if not isinstance(plain, dict):
        raise SettingsError(
            f"{option} {text!r} is not a JSON object. Write it like '{{\"size\": 3}}'.",
            option=name,
        )
    return plain
