"""What each page shows, as values for its template. Knows nothing about requests."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from gem_eval.finding.finder import Finding
from gem_eval.short_names import short_names
from gem_eval.viewing import finding_rows, plots, rows
from gem_eval.viewing.branches import (
    BranchCommand,
    can_be_made_again,
    children_of,
    parent_of,
)
from gem_eval.viewing.episodes import EpisodeView, read_episode
from gem_eval.viewing.facets import chips_of, env_name, facets_of, finder_facet, looser
from gem_eval.viewing.overview import Overview
from gem_eval.viewing.query import ORDERS, Query
from gem_eval.viewing.rendering import render
from gem_eval.viewing.runs import Progress, Run
from gem_eval.viewing.scanning import TURNS_AT_ONCE
from gem_eval.viewing.searching import Search
from gem_eval.viewing.solving import Solved
from gem_eval.viewing.standings import league_view
from gem_eval.viewing.text import duration, family
from gem_eval.viewing.trainings.arms import arms_of
from gem_eval.viewing.trainings.query import arm_address
from gem_eval.viewing.trainings.training import ViewedTraining
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


def runs_page(runs: Sequence[Run], trainings: Sequence[ViewedTraining], theme: str) -> str:
    """Return the list of runs, and that of trainings by what they train."""
    listed = [(run, run.progress(), run.known_overview) for run in runs]
    arms = [(arm, arm_address(arm)) for arm in arms_of(trainings)]
    return render("runs.html", runs=listed, arms=arms, theme=theme, several=True, title="Runs")


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
    looked = run.findings.state
    search = run.search(query)
    with run.index.reading() as db:
        selection = run.selection(db, query, search)
        found = selection.rows(ROWS_AT_ONCE)
        count = selection.count()
        facets = facets_of(run, query, selection, rows.stops_of(db))
        looser_filter = looser(query, selection) if not count else None
        finding_counts = selection.finders()
        finders = finding_rows.finders_of(db, [row.line for row in found])
    pages = max(1, math.ceil(count / ROWS_AT_ONCE))
    # The figures name policies and environments of the record that they were worked out by.
    record = run.folder.record if overview is None else overview.folder.record
    env_ids = [spec.id for spec in record.settings.envs]
    policies = [ref.name for ref in record.settings.policies]
    variants = record.settings.variants
    plots_shown = () if overview is None else overview.plots
    limits = {
        env: plot.limit for plot in plots_shown for env in range(plot.env, plot.env + variants)
    }
    by_seat = () if overview is None else overview.summary.seats
    listed_policies = [each.policy for row in found for each in row.seats]
    seat_numbers: dict[str, int] = {}  # in their order: a colour for each
    for row in found:
        seat_numbers.update((each.name, each.number) for each in row.seats)
    return {
        "title": f"Run {run.name}",
        "seat_names": short_names([*listed_policies, *(each.policy for each in by_seat)]),
        "seat_numbers": seat_numbers,
        "run": run,
        "record": record,
        "progress": progress,
        "progress_text": progress_line(progress),
        "state": run.state,
        "overview": overview,
        "scale": None if overview is None else _return_scale(overview),
        "names": short_names(policies),
        "league": league_view(run, None if overview is None else overview.standings, query),
        "limits": limits,
        "query": query,
        "rows": found,
        "count": count,
        "pages": pages,
        "page_size": ROWS_AT_ONCE,
        "facets": facets,
        "finder_facet": finder_facet(looked, query, finding_counts),
        "finders": finders,
        "search": search,
        "turns_found": {} if search is None else search.turns,
        "looked": looked,
        "chips": chips_of(run, query),
        "looser": looser_filter,
        "orders": ORDERS,
        "unit": plots.Scale(0.0, 1.0),
        "turns_scale": lambda env: plots.Scale(0.0, limits.get(env, 1)),
        "env_ids": env_ids,
        "env_name": lambda env: env_name(env_ids, env),
        # Of a table with a row for all variants of an environment: which environments they are.
        "envs_of": lambda number: tuple(range(number * variants, (number + 1) * variants)),
        "episode_link": lambda row: _link_to(run, row, query, search),
        "shell": shlex.join,
        "is_export": False,
        "is_comparable": len(policies) > 1,
    }


def episode_page(
    run: Run,
    query: Query,
    line: int,
    turn: int,
    *,
    theme: str = "",
    runs: Sequence[Run] = (),
    has_no_flip: bool = False,
    solved: Solved | None = None,
    can_solve: bool = False,
    seat: str = "",
) -> str | None:
    """Return the page of an episode with the turns around one. None where no episode is.

    `runs` are all that are shown: its parent and its children may be among them. `has_no_flip` says
    that the next flip was asked for, and there is none. `solved` is what `solve()` says, where that
    was asked for; `can_solve` offers to ask. `seat` names the seat whose part alone is shown.
    """
    values = episode_values(run, query, line, turn, seat)
    if values is None:
        return None
    row = values["row"]
    is_made = can_be_made_again(values["view"].record)
    return render(
        "episode.html",
        **{**values, "solutions": {} if solved is None else solved.solutions},
        solved=solved,
        can_solve=can_solve and is_made,
        parent=parent_of(run, runs),
        children=children_of(run, row, runs),
        branch=BranchCommand.of(run, row) if is_made else None,
        theme=theme,
        has_no_flip=has_no_flip,
        several=len(runs) > 1,
    )


def episode_values(
    run: Run, query: Query, line: int, turn: int, seat: str = ""
) -> dict[str, Any] | None:
    """Return what the page of an episode shows. Raises OSError and ValueError, see there."""
    view = read_episode(run.folder.episodes_path, run.index, line, turn, seat)
    if view is None:
        return None
    looked = run.findings.state
    search = run.search(query)
    with run.index.reading() as db:
        findings = finding_rows.findings_of(db, line)
        neighbours = run.selection(db, query, search).neighbours(line)
        peers = rows.peers_of(db, view.row)
    row = view.row
    env_id = env_name(run.env_ids, row.env)
    seats = row.seats
    names = short_names([*run.policies, row.policy, *(each.policy for each in seats)])
    seat_query = "" if view.seat is None else urlencode({"seat": view.seat.name})
    return {
        "title": f"{family(env_id)}, {names[row.policy]}, no. {row.number}",
        "seats": seats,
        "stay": joined_query(query.address(), seat_query),
        "all_seats": query.address(),
        "run": run,
        "view": view,
        "row": row,
        "env_id": env_id,
        "names": names,
        "query": query,
        "turn": min(max(turn, 1), max(row.turns, 1)),
        "neighbours": neighbours,
        "peers": peers,
        "findings": findings,
        "findings_at": _by_turn(findings),
        "solutions": {},
        "looked": looked,
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


def _link_to(run: Run, row: rows.Row, query: Query, search: Search | None) -> str:
    """Return the address of an episode, at the turn where what was searched for was found."""
    address = f"/runs/{run.name}/episodes/{row.line}{query.address()}"
    turn = search.turns.get(row.line) if search else None
    return address if turn is None else f"{address}&turn={turn}#t{turn}"


def joined_query(address: str, more: str) -> str:
    """Return an address that ends with a query, with more of it.

    >>> joined_query("?", "seat=X"), joined_query("?q=a", "seat=X"), joined_query("?", "")
    ('?seat=X', '?q=a&seat=X', '?')
    """
    if not more:
        return address
    return f"{address}{'' if address.endswith('?') else '&'}{more}"


def _by_turn(findings: Sequence[Finding]) -> dict[int, list[Finding]]:
    """Return the findings of each turn, counted from 1; those of the whole episode are of none."""
    found: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.turn is not None:
            found.setdefault(finding.turn + 1, []).append(finding)
    return found


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
