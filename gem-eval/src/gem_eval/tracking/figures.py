"""What a tracker is told: settings as parameters, a summary as flat figures. Pure functions."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gem_eval.budgets import Amount
from gem_eval.run_folder import RunRecord
from gem_eval.seat_results import SeatResult
from gem_eval.short_names import short_names
from gem_eval.summary import Interval, Result, Summary

__all__ = ["figures_of", "parameters_of", "part_of_name", "short_text"]

_LONGEST_VALUE = 500  # characters: older servers of MLflow refuse more
_LONGEST_NAME = 80
_UNNAMEABLE = re.compile(r"[^A-Za-z0-9_.-]+")


def parameters_of(record: RunRecord) -> dict[str, str]:
    """Return what `run.json` says of a run as short texts: it holds no key, and so do these not."""
    settings = record.settings.model_dump(mode="json")
    settings["envs"] = [spec.id for spec in record.settings.envs]
    settings["policies"] = [ref.name for ref in record.settings.policies]
    about = {
        "command": shlex.join(record.command),
        "created": record.created,
        "versions": record.versions,
        "planned": record.total,
    }
    return {name: short_text(value) for name, value in {**settings, **about}.items()}


def figures_of(summary: Summary, spent: Amount) -> dict[str, float]:
    """Return the figures of a summary by name; what is not known yet is left out.

    Those of one environment and policy are called `ENVIRONMENT/POLICY/success_rate` and so on, with
    the ends of the 95% interval in `_low` and `_high`. An error is in `errors` alone. Those of a
    seat are called `ENVIRONMENT/LINE-UP/SEAT/POLICY/success_rate`, with `any` for all seats of a
    policy that rotates.
    """
    found: dict[str, float] = {
        "episodes": summary.episodes,
        "errors": summary.errors,
        "retried": summary.retried,
        "requests": spent.requests,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
    }
    for name, result in zip(_names(summary.results), summary.results, strict=True):
        of_result = _of_result(result)
        found |= {f"{name}/{key}": value for key, value in of_result.items() if value is not None}
    for name, of_seat in zip(_names_by_seat(summary.seats), summary.seats, strict=True):
        by_seat = _of_seat(of_seat)
        found |= {f"{name}/{key}": value for key, value in by_seat.items() if value is not None}
    return found


def _of_seat(result: SeatResult) -> dict[str, float | None]:
    return {
        "episodes": result.episodes,
        "errors": result.errors,
        "forfeits": result.forfeits,
        **_estimate("success_rate", result.success_rate, result.success_rate_ci95),
        **_estimate("mean_return", result.mean_return, result.mean_return_ci95),
        "cost": result.cost,
    }


def _of_result(result: Result) -> dict[str, float | None]:
    return {
        "episodes": result.episodes,
        "errors": result.errors,
        **_estimate("success_rate", result.success_rate, result.success_rate_ci95),
        **_estimate("mean_return", result.mean_return, result.mean_return_ci95),
        **_estimate("mean_turns", result.mean_turns, result.mean_turns_ci95),
        "prompt_tokens": None if result.tokens is None else result.tokens.prompt,
        "completion_tokens": None if result.tokens is None else result.tokens.completion,
        "cost": result.cost,
    }


def _estimate(name: str, value: float | None, interval: Interval) -> dict[str, float | None]:
    figures: dict[str, float | None] = {name: value, f"{name}_low": None, f"{name}_high": None}
    if interval is not None:
        low, high = interval
        figures[f"{name}_low"] = low
        figures[f"{name}_high"] = high
    return figures


def _names(results: Sequence[Result]) -> list[str]:
    """Return a name for each result, in characters that every tracker takes, and each once."""
    short = short_names({result.policy for result in results})
    return _each_once(
        f"{part_of_name(result.env_id)}/{part_of_name(short[result.policy])}" for result in results
    )


def _names_by_seat(results: Sequence[SeatResult]) -> list[str]:
    """Return the same for the figures of each seat."""
    short = short_names(
        {name for result in results for name in (result.line_up, result.policy)},
    )
    parts = [
        (result.env_id, short[result.line_up], result.seat or "any", short[result.policy])
        for result in results
    ]
    return _each_once("/".join(map(part_of_name, each)) for each in parts)


def _each_once(given: Iterable[str]) -> list[str]:
    names: list[str] = []
    for name in given:
        number = 1
        unique = name
        while unique in names:
            number += 1
            unique = f"{name}_{number}"
        names.append(unique)
    return names


def part_of_name(text: str) -> str:
    """Return a text as a part of a name. A tracker may make a path of it.

    >>> part_of_name("game:Mastermind-v0-hard"), part_of_name("../../etc")
    ('game_Mastermind-v0-hard', 'etc')
    """
    return _UNNAMEABLE.sub("_", text).strip("._")[:_LONGEST_NAME] or "unnamed"


def short_text(value: Mapping[str, Any] | Sequence[Any] | str | float | None) -> str:
    """Return a setting as a text that is not longer than every tracker takes."""
    text = value if isinstance(value, str) else json.dumps(value)
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"{text[: _LONGEST_VALUE - 3]}..."
