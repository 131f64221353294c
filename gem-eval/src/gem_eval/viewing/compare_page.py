"""What the page that compares shows, as values for its template. Knows nothing about requests."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from gem_eval.comparing.comparison import Comparison
from gem_eval.viewing import plots
from gem_eval.viewing.beside import Beside
from gem_eval.viewing.compared import Comparer, difference_of, pair_of
from gem_eval.viewing.episodes import EpisodeView
from gem_eval.viewing.facets import env_name
from gem_eval.viewing.rendering import render
from gem_eval.viewing.runs import Run
from gem_eval.viewing.scanning import TURNS_AT_ONCE
from gem_eval.viewing.text import family
from gem_eval.wording import written_chance

__all__ = ["FLIPS_AT_ONCE", "beside_page", "compare_page"]

FLIPS_AT_ONCE = 50
DIFFERS = "differs"
"""What `only` in an address says where turns that are the same are left out."""


def compare_page(
    runs: Sequence[Run],
    comparer: Comparer,
    asked: Mapping[str, str],
    *,
    theme: str = "",
    several: bool = False,
) -> str:
    """Return the comparison of all policies of some runs with one of them.

    `asked` may name a `baseline` and a `candidate`, and a `flip` by its number.
    """
    answer = comparer.answer(runs, asked.get("baseline") or None)
    values: dict[str, Any] = {"title": "Compare", "answer": answer, "is_export": False}
    if answer.comparison is not None:
        values |= _compared(runs, answer.comparison, asked)
    return render("compare.html", **values, runs=runs, theme=theme, several=several)


def _compared(
    runs: Sequence[Run], comparison: Comparison, asked: Mapping[str, str]
) -> dict[str, Any]:
    difference = difference_of(comparison, asked.get("candidate", ""))
    number = asked.get("flip", "")
    flips = difference.flips
    chosen = min(max(int(number) if number.isdecimal() and len(number) < 9 else 1, 1), len(flips))
    start = max(chosen - 1, 0) // FLIPS_AT_ONCE * FLIPS_AT_ONCE
    after = start + FLIPS_AT_ONCE + 1
    names = [*(("run", run.name) for run in runs), ("baseline", comparison.baseline)]
    names.append(("candidate", difference.candidate))
    only = asked.get("only", "") == DIFFERS
    if only:
        names.append(("only", DIFFERS))
    paths = [str(run.folder.path) for run in runs]
    by_env = list(difference.by_env.items())
    if len(by_env) > 1:
        by_env.append(("all", difference.over_all))
    return {
        "title": f"{difference.candidate} beside {comparison.baseline}",
        "comparison": comparison,
        "difference": difference,
        "by_env": by_env,
        "forest": plots.Scale(-1.0, 1.0),
        "lost": sum(flip.is_regression for flip in flips),
        "flips": list(enumerate(flips, start=1))[start : start + FLIPS_AT_ONCE],
        "flip_pages": (start or None, after if after <= len(flips) else None),
        "flip_address": lambda flip: f"/compare?{urlencode([*names, ('flip', flip)])}#flips",
        "chosen": chosen,
        "only": only,
        "only_address": f"/compare?{urlencode(_toggled([*names, ('flip', chosen)], only))}#flips",
        "pair": pair_of(runs, comparison, difference, chosen),
        "chance": written_chance,
        "command": shlex.join(["gem-env", "compare", *paths, "--baseline", comparison.baseline]),
    }


def beside_page(
    found: Beside,
    asked: Mapping[str, str],
    turn: int,
    *,
    theme: str = "",
    several: bool = False,
) -> str:
    """Return two episodes side by side. `asked` is the address: `a`, `b` and perhaps `only`."""
    only = asked.get("only", "") == DIFFERS
    names = [("a", asked["a"]), ("b", asked["b"])]
    if only:
        names.append(("only", DIFFERS))
    start = (max(turn, 1) - 1) // TURNS_AT_ONCE * TURNS_AT_ONCE + 1
    first, second = found.views
    after = start + TURNS_AT_ONCE
    most = max(first.row.turns, second.row.turns)
    return render(
        "beside.html",
        title="Side by side",
        beside=found,
        names=[_name_of(run, view) for run, view in zip(found.runs, found.views, strict=True)],
        is_one_task=_task_of(first) == _task_of(second),
        only=only,
        only_address=f"/side-by-side?{urlencode(_toggled([*names, ('turn', start)], only))}",
        turn_address=lambda number: f"/side-by-side?{urlencode([*names, ('turn', number)])}",
        earlier=start - TURNS_AT_ONCE if start > 1 else None,
        later=after if after <= most else None,
        theme=theme,
        several=several,
        is_export=False,
    )


def _toggled(pairs: Sequence[tuple[str, Any]], is_set: bool) -> list[tuple[str, Any]]:
    """Return an address' words with `only` where it was not, and without it where it was."""
    rest = [(name, value) for name, value in pairs if name != "only"]
    return rest if is_set else [*rest, ("only", DIFFERS)]


def _name_of(run: Run, view: EpisodeView) -> str:
    row = view.row
    repeat = f".{row.repeat}" if row.repeat else ""
    return f"{row.policy}, {family(env_name(run.env_ids, row.env))} no. {row.number}{repeat}"


def _task_of(view: EpisodeView) -> tuple[Any, ...]:
    """Return what makes the task of an episode: the environment, its arguments, seed and task."""
    record = view.record
    return (record.get("env_id"), record.get("env_kwargs"), record.get("seed"), record.get("task"))
