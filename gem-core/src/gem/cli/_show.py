"""`gem-env show`: what an environment, a wrapper or a tool states about itself."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from gem.cli._options import OWN, add_making, find_modules_here
from gem.cli._text import columns, indented, one_line
from gem.errors import BadArguments, GemError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gem.env._env import Env
    from gem.specs import EnvSpec, ToolSpec, WrapperSpec

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env show game:GuessTheNumber-v0-hard
  gem-env show 'game:Wordle-*'
  gem-env show time_limit
  gem-env show ./try.py:Parity --env-kwargs '{"highest": 9}'
"""
_SAMPLE_LINES = 30  # of a first observation; a document would push all else off the screen


def add_command(commands: Any) -> None:
    """Add `show` to the commands."""
    parser = commands.add_parser(
        "show",
        help="what an environment, a wrapper or a tool is and takes",
        description="Show an environment: task, turns, rewards, parameters, data, and its start; "
        "or a wrapper or a tool: what it does and takes.",
        epilog=_EPILOGUE,
    )
    parser.add_argument(
        "id",
        metavar="ID|TARGET",
        help="the id of an environment, a wrapper or a tool, as `gem-env list` shows them; a shell "
        f"pattern; or an environment of your own, {OWN}",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_making(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem._python.near_names import is_pattern

    find_modules_here()
    # What an environment prints is no part of its page, which may be JSON.
    with redirect_stdout(sys.stderr):
        named_specs = _named(options.id)
        is_made_so = bool(options.env_kwargs or options.wrappers)
        if is_made_so and not any(kind == "envs" for kind, _ in named_specs):
            raise BadArguments(
                f"--env-kwargs or --wrappers was given for {options.id!r}, which names no "
                "environment. Leave it out, or name an environment.",
                subject="--env-kwargs",
            )
        pages = [_facts(kind, spec, options) for kind, spec in named_specs]
    if options.json:
        print(json.dumps(pages if is_pattern(options.id) else pages[0], indent=2))
    else:
        print("\n\n".join(_page(facts) for facts in pages))
    return 0


def _named(id: str) -> list[tuple[str, Any]]:
    """Return every spec that an id or a pattern names, with its kind. Raises UnknownEnv."""
    from gem import registry
    from gem._python.near_names import is_pattern, matches

    kinds: Mapping[str, Any] = {
        "envs": registry.list_envs,
        "wrappers": registry.wrappers,
        "tools": registry.tools,
    }
    exactly: Mapping[str, Any] = {
        "envs": registry.spec,
        "wrappers": registry.wrapper_spec,
        "tools": registry.tool_spec,
    }
    named_specs = []
    for kind, every in kinds.items():
        specs = {spec.id: spec for spec in every()}
        if is_pattern(id):
            named_specs += [(kind, specs[spec_id]) for spec_id in matches(id, specs)]
        elif id in specs:
            named_specs.append((kind, exactly[kind](id)))  # raises where two packs claim it
    if not named_specs:
        named_specs.append(("envs", _of_no_pack(id)))
    return named_specs


def _of_no_pack(id: str) -> EnvSpec:
    """Return the spec of a bare name or of a target. Raises UnknownEnv, with what is near.

    Nobody has checked that a target is there, so it is imported: raises TargetError.
    """
    from gem import registry
    from gem.registry._env_targets import refuse_other_kinds
    from gem.registry._importing import load_target

    spec = registry.spec(id)
    if registry.registration(id) is not None:
        return spec
    # What is shown is what the class itself says: no manifest states anything of it.
    target = load_target(spec.target)
    refuse_other_kinds(target, f"{id!r} names")
    first, _, _ = (target.__doc__ or "").strip().partition("\n")
    return spec.model_copy(update={"summary": first})


def _facts(kind: str, spec: Any, options: argparse.Namespace) -> dict[str, Any]:
    if kind == "envs":
        observed = _observed(spec, options)
        return {**_stated(spec), **_parameters(kind, spec), **observed}
    return {**_described(kind, spec), **_parameters(kind, spec)}


def _described(kind: str, spec: WrapperSpec | ToolSpec) -> dict[str, Any]:
    from gem import registry

    facts = {
        "id": spec.id,
        "kind": kind.removesuffix("s"),
        "summary": spec.summary,
        "pack": registry.provider(kind, spec.id),
        "target": spec.target,
        "requires": list(spec.requires),
    }
    layer = getattr(spec, "layer", None)
    return facts if layer is None else {**facts, "layer": layer}


def _stated(spec: EnvSpec) -> dict[str, Any]:
    from gem import registry
    from gem.registry._availability import lacks

    record = registry.owner(spec.id)
    return {
        "id": spec.id,
        "summary": spec.summary,
        "pack": f"{record.distribution} {record.version}" if record else _home(spec),
        "target": spec.target,
        "requires": list(spec.requires),
        "lacks": [lack._asdict() for lack in lacks(spec)],
        "source": spec.source,
        "licence": spec.licence,
        "success_return": spec.success_return,
        "check": spec.check.model_dump(),
        "replaced_by": spec.replaced_by,
    }


def _home(spec: EnvSpec) -> str:
    return "none" if spec.id == spec.target else "this process"


def _parameters(kind: str, spec: EnvSpec | WrapperSpec | ToolSpec) -> dict[str, Any]:
    """Return what the target takes, or why that is not known."""
    from gem import registry
    from gem._python.signatures import parameters
    from gem.registry._importing import check_requirements, load_target

    try:
        check_requirements(spec.requires, subject=spec.id, of=registry.provider(kind, spec.id))
        accepted = parameters(load_target(spec.target), skip=int(kind == "wrappers"))
    except GemError as error:
        return {"parameters": None, "parameters_error": one_line(str(error))}
    kwargs: Mapping[str, Any] = getattr(spec, "kwargs", {})
    listed = [
        {
            "name": parameter.name,
            "type": parameter.type,
            # What the spec itself gives need not be given again.
            "is_required": parameter.is_required and parameter.name not in kwargs,
            "default": kwargs.get(parameter.name, parameter.default),
        }
        for parameter in accepted
    ]
    # Through JSON: a default may be any object, and its repr is all that can be shown of it.
    return {"parameters": json.loads(json.dumps(listed, default=repr))}


def _observed(spec: EnvSpec, options: argparse.Namespace) -> dict[str, Any]:
    """Return what a live instance says, or why none could be had."""
    from gem.registry._making import make

    try:
        with make(spec, wrappers=options.wrappers, **options.env_kwargs) as env:
            return _start(env)
    except Exception as error:  # noqa: BLE001 - an environment may raise anything, and stays shown
        return {"observation": None, "observation_error": _reason(error)}


def _start(env: Env) -> dict[str, Any]:
    from gem.content import observation_text

    observation, info = env.reset(seed=0)
    lowest, highest = env.reward_range
    return {
        "max_turns": env.max_turns,
        "single_turn": env.single_turn,
        "num_tasks": env.num_tasks,
        "seats": list(env.seats),
        "reward_range": [_number(lowest), _number(highest)],
        "observation": observation_text(observation),
        "suffix": info.get("suffix"),
    }


def _number(value: float) -> float | str:
    # JSON has no infinity, and a range may have no end.
    return value if abs(value) != float("inf") else str(value)


def _reason(error: Exception) -> str:
    from gem._python.places import raised

    return one_line(str(error) if isinstance(error, GemError) else raised(error))


def _page(facts: dict[str, Any]) -> str:
    blocks = [one_line(facts["id"]), columns(_rows(facts), margin="  ")]
    blocks.append("Parameters\n" + _parameter_block(facts))
    if "observation" in facts:
        blocks.append("Observation (seed 0)\n" + _observation_block(facts))
    return "\n\n".join(blocks)


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    hints = facts.get("check", {})  # of an environment
    rows = [
        (facts.get("kind", "task"), facts["summary"]),
        ("older id", f"use {facts['replaced_by']}" if facts.get("replaced_by") else ""),
        ("turns", _turns(facts)),
        ("rewards", _rewards(facts)),
        ("tasks", _known(facts.get("num_tasks"))),
        ("seats", _seats(facts)),
        ("start", "the same for every seed" if hints.get("fixed_start") else ""),
        ("layer", facts.get("layer", "")),
        ("pack", facts["pack"]),
        ("target", facts["target"]),
        ("needs", ", ".join(facts["requires"])),
        ("lacks", "; ".join(lack["what"] for lack in facts.get("lacks", ()))),
        ("data", facts.get("source", "")),
        ("licence", facts.get("licence", "")),
    ]
    return [(name, value) for name, value in rows if value]


def _seats(facts: dict[str, Any]) -> str:
    seats = facts.get("seats", [])
    return ", ".join(seats) if len(seats) > 1 else ""


def _known(value: object) -> str:
    return "" if value is None else str(value)


def _turns(facts: dict[str, Any]) -> str:
    if facts.get("single_turn"):
        return "1"
    if "max_turns" not in facts:  # there is no live instance to ask
        return ""
    limit = facts["max_turns"]
    return "no limit" if limit is None else f"at most {limit}"


def _rewards(facts: dict[str, Any]) -> str:
    if "success_return" not in facts:
        return ""
    won = f"success from a return of {facts['success_return']:g}"
    hints = facts["check"]
    if hints["needs_luck"]:
        won = f"{won}, at times by a lucky guess only"
    if hints["mixes"]:
        won = f"{won}, no move is right by itself"
    if not hints["winnable"]:
        best = "" if hints["bound"] is None else f", the best return is {hints['bound']:g}"
        won = f"cannot be won{best}"
    if "reward_range" not in facts:
        return won
    lowest, highest = facts["reward_range"]
    return f"each step {lowest} to {highest}; {won}"


def _parameter_block(facts: dict[str, Any]) -> str:
    if facts["parameters"] is None:
        return indented(f"not known: {facts['parameters_error']}")
    rows = [
        (
            parameter["name"],
            parameter["type"],
            "required" if parameter["is_required"] else f"= {parameter['default']!r}",
        )
        for parameter in facts["parameters"]
    ]
    return columns(rows, margin="  ") or "  none"


def _observation_block(facts: dict[str, Any]) -> str:
    if facts["observation"] is None:
        return indented(f"cannot be shown: {facts['observation_error']}")
    text = facts["observation"]
    if facts["suffix"]:
        text = f"{text}\n{facts['suffix']}"
    lines = text.split("\n")
    if len(lines) > _SAMPLE_LINES:
        lines = [*lines[:_SAMPLE_LINES], f"({len(lines) - _SAMPLE_LINES} more lines)"]
    return indented("\n".join(lines))
