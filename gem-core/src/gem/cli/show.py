"""`gem-env show`: everything an environment states about itself, and how it begins."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from gem.cli.text import columns, indented, one_line

if TYPE_CHECKING:
    from gem.env import Env
    from gem.specs import EnvSpec

__all__ = ["add_command"]

_EPILOGUE = """\
example:
  gem-env show game:GuessTheNumber-v0-hard
"""
_SAMPLE_LINES = 30


def add_command(commands: Any) -> None:
    """Add `show` to the commands."""
    parser = commands.add_parser(
        "show",
        help="what an environment is, takes and shows",
        description="Show an environment: task, turns, rewards, parameters, data, and its start.",
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("id", metavar="ID", help="an environment's id, as `gem-env list` shows it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem import registry

    spec = registry.spec(options.id)
    facts = {**_stated(spec), **_parameters(spec), **_observed(spec)}
    print(json.dumps(facts, indent=2) if options.json else _page(facts))
    return 0


def _stated(spec: EnvSpec) -> dict[str, Any]:
    from gem import registry

    record = registry.owner(spec.id)
    return {
        "id": spec.id,
        "summary": spec.summary,
        "pack": f"{record.distribution} {record.version}" if record else "this process",
        "target": spec.target,
        "requires": list(spec.requires),
        "source": spec.source,
        "licence": spec.licence,
        "success_return": spec.success_return,
        "fixed_start": spec.fixed_start,
        "winnable": spec.winnable,
        "needs_luck": spec.needs_luck,
        "bound": spec.bound,
        "replaced_by": spec.replaced_by,
    }


def _parameters(spec: EnvSpec) -> dict[str, Any]:
    """Return what the target takes, or why that is not known."""
    from gem.arguments import parameters
    from gem.errors import GemError
    from gem.targets import check_requirements, load_target

    try:
        check_requirements(spec.requires, subject=spec.id)
        taken = parameters(load_target(spec.target))
    except GemError as error:
        return {"parameters": None, "parameters_error": one_line(str(error))}
    listed = [
        {
            "name": parameter.name,
            "type": parameter.type,
            "is_required": parameter.is_required and parameter.name not in spec.kwargs,
            "default": spec.kwargs.get(parameter.name, parameter.default),
        }
        for parameter in taken
    ]
    return {"parameters": json.loads(json.dumps(listed, default=repr))}


def _observed(spec: EnvSpec) -> dict[str, Any]:
    """Return what a live instance says, or why none could be had."""
    from gem import registry

    try:
        with registry.make(spec) as env:
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
        "reward_range": [_number(lowest), _number(highest)],
        "observation": observation_text(observation),
        "suffix": info.get("suffix"),
    }


def _number(value: float) -> float | str:
    return value if abs(value) != float("inf") else str(value)


def _reason(error: Exception) -> str:
    from gem.errors import GemError

    known = isinstance(error, GemError)
    return one_line(str(error) if known else f"{type(error).__name__}: {error}")


def _page(facts: dict[str, Any]) -> str:
    blocks = [one_line(facts["id"]), columns(_rows(facts), margin="  ")]
    blocks.append("Parameters\n" + _parameter_block(facts))
    blocks.append("Observation (seed 0)\n" + _observation_block(facts))
    return "\n\n".join(blocks)


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("task", facts["summary"]),
        ("older id", f"use {facts['replaced_by']}" if facts["replaced_by"] else ""),
        ("turns", _turns(facts)),
        ("rewards", _rewards(facts)),
        ("tasks", _known(facts.get("num_tasks"))),
        ("start", "the same for every seed" if facts["fixed_start"] else ""),
        ("pack", facts["pack"]),
        ("target", facts["target"]),
        ("needs", ", ".join(facts["requires"])),
        ("data", facts["source"]),
        ("licence", facts["licence"]),
    ]
    return [(name, value) for name, value in rows if value]


def _known(value: object) -> str:
    return "" if value is None else str(value)


def _turns(facts: dict[str, Any]) -> str:
    if facts.get("single_turn"):
        return "1"
    limit = facts.get("max_turns")
    return "" if "max_turns" not in facts else "no limit" if limit is None else f"at most {limit}"


def _rewards(facts: dict[str, Any]) -> str:
    won = f"success from a return of {facts['success_return']:g}"
    if facts["needs_luck"]:
        won = f"{won}, at times by a lucky guess only"
    if not facts["winnable"]:
        best = "" if facts["bound"] is None else f", the best return is {facts['bound']:g}"
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
    shown = facts["observation"]
    if facts["suffix"]:
        shown = f"{shown}\n{facts['suffix']}"
    lines = shown.split("\n")
    if len(lines) > _SAMPLE_LINES:
        lines = [*lines[:_SAMPLE_LINES], f"({len(lines) - _SAMPLE_LINES} more lines)"]
    return indented("\n".join(lines))
