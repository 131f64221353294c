"""The figures of a whole run: results with intervals, outcomes by seed, turns, errors.

They are made from the index alone, once for each state of it, and change no filter.
"""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gem.errors import LogError, MissingRequirement
from gem_eval.leagues.reading import read_standings, stored_standings
from gem_eval.leagues.results import Standings
from gem_eval.reading import stored_summary
from gem_eval.run_folder import RunFolder
from gem_eval.summary import Result, Summary, summarise
from gem_eval.viewing import rows
from gem_eval.viewing.log_index import LogIndex

__all__ = ["Bar", "EnvPlots", "ErrorGroup", "Histogram", "Overview", "Strip", "overview_of"]

_MOST_COLUMNS = 200
_MOST_BINS = 40
_MOST_ERRORS = 20
_EXAMPLES = 3


class Bar(NamedTuple):
    """One column of a strip or a histogram: how many episodes came to which outcome."""

    label: str
    succeeded: int
    failed: int
    errors: int


class Strip(NamedTuple):
    """The outcomes of one policy, a column a seed, or a column several where there are many."""

    policy: str
    bars: tuple[Bar, ...]
    succeeded: int
    failed: int


class Histogram(NamedTuple):
    """How many turns the episodes of one policy took, without those that an error ended."""

    policy: str
    bars: tuple[Bar, ...]
    mean: float | None


class EnvPlots(NamedTuple):
    """The plots of one environment. `limit` is the most turns that the scale shows."""

    env: int
    limit: int
    seeds_per_column: int
    strips: tuple[Strip, ...]
    histograms: tuple[Histogram, ...]


class ErrorGroup(NamedTuple):
    """Episodes that ended by an error with the same first line. `examples` are some of them."""

    text: str
    stop: str
    episodes: int
    examples: tuple[rows.Row, ...]


class Overview(NamedTuple):
    """All figures of a run. `tries` says of which state of its log.

    `folder` has the record that they were worked out by; `standings` are a league's.
    """

    tries: int
    folder: RunFolder
    summary: Summary
    plots: tuple[EnvPlots, ...]
    errors: tuple[ErrorGroup, ...]
    error_groups: int
    standings: Standings | None


def overview_of(folder: RunFolder, index: LogIndex) -> Overview:
    """Work out the figures of a run. Takes seconds for 100,000 episodes without a summary.

    The index is held only while it is asked, so that pages need not wait for the statistics.
    """
    with index.reading() as db:
        tries = rows.count_tries(db)
        groups = _errors(db)
    summary = _summary(folder, index)
    plots = []
    settings = folder.record.settings
    # The variants of an environment are shown as one: they are of the same tasks.
    for first in range(0, len(settings.envs), settings.variants):
        with index.reading() as db:
            envs = range(first, first + settings.variants)
            plots.append(_plots(folder, db, envs, summary))
    standings = _standings(folder, summary)
    return Overview(
        tries=tries,
        folder=folder,
        summary=summary,
        plots=tuple(plots),
        errors=groups[:_MOST_ERRORS],
        error_groups=len(groups),
        standings=standings,
    )


def _summary(folder: RunFolder, index: LogIndex) -> Summary:
    """Return what the run summed up at its end, where that is of these episodes, or sum up."""
    stored = stored_summary(folder)
    with index.reading() as db:
        counted, failed = rows.count_episodes(db)
        retried = rows.count_tries(db) - counted
        found = (counted, failed, retried, _cells(folder))
        # An earlier version summed up nothing by seat.
        is_by_seat = stored is not None and (bool(stored.seats) or not rows.has_seats(db))
        if (
            stored is not None
            and is_by_seat
            and found
            == (
                stored.episodes,
                stored.errors,
                stored.retried,
                len(stored.results),
            )
        ):
            return stored
        outcomes = list(rows.outcomes(db))
    return summarise(
        folder.record.settings,
        outcomes,
        run=str(folder.path),
        retried=retried,
        planned=folder.record.total,
        decisions=() if stored is None else stored.decisions,
        is_branch=folder.record.branch is not None,
        is_crossed=folder.record.is_crossed,
    )


def _standings(folder: RunFolder, summary: Summary) -> Standings | None:
    """Return where a league stands: as it was written at its end, where that is of these episodes.

    None for any other run, and where there is nothing to rate a league of more than two seats by.
    """
    if folder.record.league is None:
        return None
    stored = stored_standings(folder)
    if stored is not None and stored.games + stored.void == summary.episodes:
        return stored
    try:
        return read_standings(folder)
    except (LogError, MissingRequirement):
        return None


def _cells(folder: RunFolder) -> int:
    settings = folder.record.settings
    return len(settings.envs) // settings.variants * len(settings.policies)


def _plots(folder: RunFolder, db: sqlite3.Connection, envs: range, summary: Summary) -> EnvPlots:
    policies = [ref.name for ref in folder.record.settings.policies]
    first_result = envs.start // len(envs) * len(policies)
    numbers, outcomes = _by_number(db, envs)
    per_column = max(1, math.ceil(len(numbers) / _MOST_COLUMNS))
    limit = _limit(folder, db, envs)
    return EnvPlots(
        env=envs.start,
        limit=limit,
        seeds_per_column=per_column,
        strips=tuple(
            _strip(policy, numbers, outcomes.get(policy, {}), per_column) for policy in policies
        ),
        histograms=tuple(
            _histogram(db, envs, policy, limit, summary.results[first_result + place])
            for place, policy in enumerate(policies)
        ),
    )


Counts = tuple[int, int, int]  # succeeded, failed, ended by an error


def _by_number(
    db: sqlite3.Connection, envs: range
) -> tuple[list[int], dict[str, dict[int, Counts]]]:
    """Return the episodes' numbers, hardest first, and what each policy came to on each."""
    outcomes: dict[str, dict[int, Counts]] = defaultdict(dict)
    wins: dict[int, int] = defaultdict(int)
    selected = db.execute(
        "SELECT policy, number, sum(outcome = 'succeeded'), sum(outcome = 'failed'), "
        "sum(outcome = 'error') FROM tries WHERE counts AND env BETWEEN ? AND ? "
        "GROUP BY policy, number",
        (envs[0], envs[-1]),
    )
    for policy, number, *counts in selected:
        succeeded, failed, errors = counts
        outcomes[policy][number] = (succeeded, failed, errors)
        wins[number] += succeeded
    return sorted(wins, key=lambda number: (wins[number], number)), outcomes


def _strip(
    policy: str, numbers: Sequence[int], outcomes: Mapping[int, Counts], per_column: int
) -> Strip:
    bars = []
    for start in range(0, len(numbers), per_column):
        chosen = numbers[start : start + per_column]
        label = f"no. {chosen[0]}" if len(chosen) == 1 else f"{len(chosen)} seeds"
        bars.append(Bar(label, *_sum(outcomes.get(number, (0, 0, 0)) for number in chosen)))
    succeeded, failed, _ = _sum(outcomes.values())
    return Strip(policy, tuple(bars), succeeded, failed)


def _sum(counts: Iterable[Counts]) -> Counts:
    succeeded = 0
    failed = 0
    errors = 0
    for count in counts:
        succeeded += count[0]
        failed += count[1]
        errors += count[2]
    return (succeeded, failed, errors)


def _limit(folder: RunFolder, db: sqlite3.Connection, envs: range) -> int:
    """Return the most turns that an episode may have, or, where nobody says, had."""
    settings = folder.record.settings
    stated = settings.max_turns
    if stated is None:
        own = [settings.envs[env].kwargs.get("max_turns") for env in envs]
        limits = [limit for limit in own if type(limit) is int]
        # They differ where it is this argument that was varied: None says of no limit.
        if len(limits) == len(own):
            stated = max(limits)
    longest = "SELECT max(turns) FROM tries WHERE counts AND env BETWEEN ? AND ?"
    most = db.execute(longest, (envs[0], envs[-1])).fetchone()[0]
    if type(stated) is int and stated > 0:
        return max(stated, 1)
    return max(most or 1, 1)


def _histogram(
    db: sqlite3.Connection, envs: range, policy: str, limit: int, result: Result
) -> Histogram:
    # In whole numbers: a limit that somebody wrote may be larger than any float.
    width = -(-limit // _MOST_BINS)
    bins: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    selected = db.execute(
        "SELECT turns, outcome = 'failed', count(*) FROM tries "
        "WHERE counts AND env BETWEEN ? AND ? AND policy = ? AND outcome != 'error' GROUP BY 1, 2",
        (envs[0], envs[-1], policy),
    )
    last = -(-limit // width) - 1
    for turns, is_failed, count in selected:
        bins[min(max(turns - 1, 0) // width, last)][is_failed] += count
    bars = []
    for number in range(last + 1):
        low = number * width + 1
        high = min(low + width - 1, limit)
        label = str(low) if low == high else f"{low} to {high}"
        bars.append(Bar(label, bins[number][0], bins[number][1], 0))
    return Histogram(policy, tuple(bars), result.mean_turns)


def _errors(db: sqlite3.Connection) -> tuple[ErrorGroup, ...]:
    """Group errors by their text, the most frequent first."""
    selected = db.execute(
        "SELECT error, stop, count(*), min(line) FROM tries WHERE counts AND outcome = 'error' "
        "GROUP BY error, stop ORDER BY count(*) DESC, min(line)"
    ).fetchall()
    groups = []
    for number, (text, stop, count, _) in enumerate(selected):
        examples = rows.examples_of(db, text, stop, _EXAMPLES) if number < _MOST_ERRORS else ()
        groups.append(ErrorGroup(text, stop, count, tuple(examples)))
    return tuple(groups)
