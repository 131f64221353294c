"""Make an environment of PettingZoo from what names it: an id, a target, a module, a callable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Literal

import pettingzoo
from pettingzoo.env_registry.exceptions import FailedToImport, PettingZooRegistryError

from gem.errors import BadArguments, MissingRequirement
from gem.registry import load_target, near, pip_command

__all__ = ["Form", "make"]

Form = Literal["aec", "parallel"]
_REGISTRIES: Mapping[Form, Mapping[str, Any]] = {
    "aec": pettingzoo.aec_registry,
    "parallel": pettingzoo.parallel_registry,
}
_MAKERS: Mapping[Form, str] = {"aec": "env", "parallel": "parallel_env"}
_MOST_SHOWN = 80


def make(
    game: str | ModuleType | Callable[..., Any], form: Form | None, options: Mapping[str, Any]
) -> Any:
    """Return an environment of PettingZoo, in the form that is asked for, AEC where both are there.

    `game` is an id of its registry ("classic/tictactoe_v3"), a "module:attribute", a module with
    `env` or `parallel_env`, or what makes one. Raises BadArguments for what is none of these,
    MissingRequirement where a game needs a package that is absent, TargetError as `load_target`.
    """
    if form not in (None, "aec", "parallel"):
        raise _wrong(game, f"was asked for in the form {form!r:.40}. Pass 'aec' or 'parallel'.")
    if isinstance(game, str) and ":" not in game:
        return _registered(game, form, options)
    maker = load_target(game) if isinstance(game, str) else game
    if isinstance(maker, ModuleType):
        maker = _maker_of(maker, form)
    if not callable(maker):
        raise _wrong(
            game,
            f"is a {type(maker).__name__}, and every episode's worker makes its own. Pass what "
            "makes it: a class, a function, a module, or an id of PettingZoo.",
        )
    env = maker(**options)
    is_right = {
        None: isinstance(env, (pettingzoo.AECEnv, pettingzoo.ParallelEnv)),
        "aec": isinstance(env, pettingzoo.AECEnv),
        "parallel": isinstance(env, pettingzoo.ParallelEnv),
    }
    if not is_right[form]:
        wanted = {None: "an AECEnv or a ParallelEnv", "aec": "an AECEnv", "parallel": "a ParallelEnv"}
        raise _wrong(
            game, f"made a {type(env).__name__}. Pass what makes {wanted[form]} of PettingZoo."
        )
    return env


def _maker_of(module: ModuleType, form: Form | None) -> Any:
    for each in [form] if form else list(_MAKERS):
        maker = getattr(module, _MAKERS[each], None)
        if maker is not None:
            return maker
    names = [_MAKERS[form]] if form else list(_MAKERS.values())
    raise _wrong(module, f"has no {' and no '.join(names)}. Pass what makes the environment.")


def _registered(game: str, form: Form | None, options: Mapping[str, Any]) -> Any:
    found: PettingZooRegistryError | None = None
    for each in [form] if form else list(_REGISTRIES):
        try:
            pettingzoo.spec(each, game)
        except PettingZooRegistryError as error:
            found = found or error
            continue
        try:
            return pettingzoo.make(each, game, **options)
        except FailedToImport as error:
            raise _lacking(game, error) from error
    known = sorted({name for form_ in _REGISTRIES for name in _REGISTRIES[form_]})
    alike = near(game, known)
    hint = f"Did you mean {' or '.join(map(repr, alike))}?" if alike else "See pettingzoo.pprint_registry()."
    where = f" in the form {form!r}" if form else ""
    raise _wrong(game, f"is in no registry of PettingZoo{where}. {hint}") from found


def _lacking(game: str, error: FailedToImport) -> MissingRequirement:
    requirements = (f"pettingzoo[{game.partition('/')[0]}]",)
    command = pip_command(requirements)
    return MissingRequirement(
        f"PettingZoo's {game} needs a package that is not installed here ({error.__cause__}). "
        f"Run: {command}",
        requirements=requirements,
        command=command,
    )


def _wrong(game: object, problem: str) -> BadArguments:
    name = getattr(game, "__name__", None) or repr(game)
    return BadArguments(f"PettingZoo's game {name:.{_MOST_SHOWN}} {problem}", subject="pettingzoo")
