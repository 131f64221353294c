"""What each page shows, as values for its template. Knows nothing about requests."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem_eval.short_names import short_names
from gem_eval.viewing import plots, rows
from gem_eval.viewing.episodes import EpisodeView, read_episode
from gem_eval.viewing.overview import Overview
from gem_eval.viewing.query import ORDERS, OUTCOMES, Query
from gem_eval.viewing.rendering import render
from gem_eval.viewing.runs import Progress, Run
from gem_eval.viewing.scanning import TURNS_AT_ONCE
from gem_eval.viewing.text import duration, family
from gem_eval.wording import counted

__all__ = [
    "ROWS_AT_ONCE",
    "episode_page",
    "missing_page",
    "progress_line",
    "run_page",
    "runs_page",
]

ROWS_AT_ONCE = 50
_FILTERS = {
    "outcome": "outcome",
    "env": "environment",
    "policy": "policy",
    "stop": "reason to end",
    "q": "text",
    "return": "return",
    "turns": "turns",
}


class Option(NamedTuple):
    """A value of a facet: what the form sends, what it is called, how many episodes have it."""

    value: str
    label: str
    episodes: int
    is_chosen: bool


class Facet(NamedTuple):
    """A group of filters of which several may be chosen."""

    name: str
    title: str
    options: tuple[Option, ...]


class Chip(NamedTuple):
    """A filter in use, and the address without it."""

    text: str
    address: str


def runs_page(runs: Sequence[Run], theme: str) -> str:
    """Return the list of runs."""
    listed = [(run, run.progress(), run.known_overview) for run in runs]
    return render("runs.html", runs=listed, theme=theme, several=True, title="Runs")


def missing_page(what: str, *, theme: str = "", several: bool = False) -> str:
    """Return the page for an address where nothing is."""
    return render("missing.html", what=what, theme=theme, several=several, title="Not here")


def run_page(run: Run, query: Query, *, theme: str = "", several: bool = False) -> str:
    """Return a run: its figures, and a page of its episodes."""
    return render("run.html", **run_values(run, query), theme=theme, several=several)


def run_values(run: Run, query: Query) -> dict[str, Any]:
    """Return what the page of a run shows."""
    # First of all: what a run has come to says whether it is over.
    overview = run.quick_overview()
    progress = run.progress()
    with run.index.reading() as db:
        selection = rows.Selection(db, query, run.env_ids)
        found = selection.rows(ROWS_AT_ONCE)
        count = selection.count()
        facets = _facets(run, query, selection, rows.stops_of(db))
        looser = _looser(query, selection) if not count else None
    pages = max(1, math.ceil(count / ROWS_AT_ONCE))
    limits = {} if overview is None else {plot.env: plot.limit for plot in overview.plots}
    return {
        "title": f"Run {run.name}",
        "run": run,
        "record": run.folder.record,
        "progress": progress,
        "progress_text": progress_line(progress),
        "state": run.state,
        "overview": overview,
        "scale": None if overview is None else _return_scale(overview),
        "names": short_names(run.policies),
        "limits": limits,
        "query": query,
        "rows": found,
        "count": count,
        "pages": pages,
        "page_size": ROWS_AT_ONCE,
        "facets": facets,
        "chips": _chips(run, query),
        "looser": looser,
        "orders": ORDERS,
        "unit": plots.Scale(0.0, 1.0),
        "turns_scale": lambda env: plots.Scale(0.0, limits.get(env, 1)),
        "env_name": lambda env: env_name(run, env),
        "episode_link": lambda row: f"/runs/{run.name}/episodes/{row.line}{query.address()}",
        "shell": shlex.join,
        "is_export": False,
        "is_comparable": len(run.policies) > 1,
    }


def episode_page(
    run: Run, query: Query, line: int, turn: int, *, theme: str = "", several: bool = False
) -> str | None:
    """Return the page of an episode with the turns around one. None where no episode is."""
    values = episode_values(run, query, line, turn)
    if values is None:
        return None
    return render("episode.html", **values, theme=theme, several=several)


def episode_values(run: Run, query: Query, line: int, turn: int) -> dict[str, Any] | None:
    """Return what the page of an episode shows. Raises OSError and ValueError, see there."""
    view = read_episode(run.folder.episodes_path, run.index, line, turn)
    if view is None:
        return None
    with run.index.reading() as db:
        neighbours = rows.Selection(db, query, run.env_ids).neighbours(line)
        peers = rows.peers_of(db, view.row)
    row = view.row
    env_id = env_name(run, row.env)
    names = short_names([*run.policies, row.policy])
    return {
        "title": f"{family(env_id)}, {names[row.policy]}, no. {row.number}",
        "run": run,
        "view": view,
        "row": row,
        "env_id": env_id,
        "names": names,
        "query": query,
        "turn": min(max(turn, 1), max(row.turns, 1)),
        "neighbours": neighbours,
        "peers": peers,
        "has_tokens": any(turn.tokens is not None for turn in view.turns),
        "curve": plots.curve_of(view.curve, row.turns),
        "blocks": _blocks(view),
        "last_block": math.ceil(row.turns / TURNS_AT_ONCE),
        "block_size": TURNS_AT_ONCE,
        "prefix": "",
        "is_export": False,
        "image_link": lambda number, image: (
            f"/runs/{run.name}/episodes/{line}/turns/{number}/images/{image.number}"
        ),
    }


def env_name(run: Run, env: int) -> str:
    """Return the id of an environment, also of one that the run does not list."""
    env_ids = run.env_ids
    return env_ids[env] if env < len(env_ids) else f"environment {env}"


def progress_line(progress: Progress) -> str:
    """Say in a line how far a run is."""
    done = counted(progress.episodes, "episode")
    if progress.planned is not None:
        done = f"{progress.episodes:,} of {counted(progress.planned, 'episode')}"
    parts = [done]
    if progress.state == "reading":
        parts.append(f"{progress.read:.0%} of the log read")
    if progress.state == "running" and progress.rate:
        parts.append(f"{progress.rate:.3g} a second")
        left = (progress.planned or 0) - progress.episodes
        parts.append(f"{duration(left / progress.rate)} left")
    if progress.state == "stopped":
        parts.append(f"the last ended {duration(progress.quiet_s)} ago")
    if progress.errors:
        parts.append(counted(progress.errors, "error"))
    return " · ".join(parts)


def _blocks(view: EpisodeView) -> tuple[int | None, int | None]:
    """Return a turn of the block before the one that is shown, and one of the block after it."""
    before = view.first - TURNS_AT_ONCE if view.first > 1 else None
    after = view.first + TURNS_AT_ONCE
    return before, after if after <= view.row.turns else None


def _return_scale(overview: Overview) -> plots.Scale:
    results = overview.summary.results
    return plots.scale_of(
        [result.mean_return for result in results],
        [result.mean_return_ci95 for result in results],
    )


def _facets(run: Run, query: Query, selection: rows.Selection, stops: Sequence[str]) -> list[Facet]:
    names = short_names(run.policies)
    env_labels = dict(enumerate(run.env_ids))
    facets = []
    known: dict[str, Mapping[Any, str]] = {
        "outcome": {outcome: outcome for outcome in OUTCOMES},
        "env": {env: family(env_id) for env, env_id in env_labels.items()},
        "policy": names,
        "stop": {stop: stop.replace("_", " ") for stop in stops},
    }
    titles = {"outcome": "Outcome", "env": "Environment", "policy": "Policy", "stop": "Ended by"}
    for name, title in titles.items():
        counts = selection.facet(name)
        chosen = getattr(query, name)
        labels = {**known[name]}
        for value in [*sorted(counts, key=str), *chosen]:
            labels.setdefault(value, str(value).replace("_", " "))
        options = [
            Option(str(value), label, counts.get(value, 0), value in chosen)
            for value, label in labels.items()
        ]
        facets.append(Facet(name, title, tuple(options)))
    return facets


def _chips(run: Run, query: Query) -> list[Chip]:
    names = short_names(run.policies)
    chips = []
    for name in ("outcome", "env", "policy", "stop"):
        chosen = getattr(query, name)
        for value in chosen:
            rest = tuple(each for each in chosen if each != value)
            text = str(value).replace("_", " ")
            if name == "env":
                text = family(env_name(run, value))
            elif name == "policy":
                text = names.get(value, value)
            chips.append(Chip(text, query.address(**{name: rest})))
    if query.q:
        chips.append(Chip(f"“{query.q}”", query.address(q="")))
    for name in ("return", "turns"):
        low = getattr(query, f"{name}_min")
        high = getattr(query, f"{name}_max")
        if low is not None or high is not None:
            start = "any" if low is None else f"{low:g}"
            end = "any" if high is None else f"{high:g}"
            chips.append(Chip(f"{name} {start} to {end}", query.without(name).address()))
    return chips


class Looser(NamedTuple):
    """The filter whose removal brings back most, how many, and the address without it."""

    name: str
    episodes: int
    address: str


def _looser(query: Query, selection: rows.Selection) -> Looser | None:
    found = [
        Looser(_FILTERS[name], selection.count(query.without(name)), query.without(name).address())
        for name in query.filters()
    ]
    best = max(found, key=lambda each: each.episodes, default=None)
    return best if best is not None and best.episodes else None
