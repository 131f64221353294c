"""`gem-env replay`: run logged episodes again and compare them step by step."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem.cli._options import add_making, find_modules_here
from gem.cli._replay_text import difference_lines, version_lines
from gem.cli._runs import refuse_with_run
from gem.cli._text import one_line
from gem.errors import LogError

if TYPE_CHECKING:
    from gem.episode._replay import ReplayReport

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env replay runs/guess
  gem-env replay runs/guess --verify
  gem-env replay exported/000001.json
  gem-env replay agent.json --env game:GuessTheNumber-v0-easy --seed 3

A file that another program wrote, such as an ATIF trajectory, is read by the pack that knows its
format. Its actions are taken in the environment that --env and its kin name, or the file itself
where it does; compared is what the file says of observations and rewards.
"""


def add_command(commands: Any) -> None:
    """Add `replay` to the commands."""
    parser = commands.add_parser(
        "replay",
        help="run logged episodes again and compare",
        description="Run logged episodes again and compare them step by step. The exit status is "
        "1 if one differs; the first difference is shown. Of an episode that was tried again "
        "after an error, the last try is taken.",
        epilog=_EPILOGUE,
    )
    parser.add_argument(
        "run_path", metavar="RUN", help="a run folder, its episodes.jsonl, or a foreign log"
    )
    parser.add_argument("--verify", action="store_true", help="only the verdict, no episodes")
    parser.add_argument(
        "--live-tools",
        action="store_true",
        help="call tools again; otherwise they answer as recorded",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    group = parser.add_argument_group("of a foreign log")
    group.add_argument("--env", metavar="ID", help="the environment in which to take its actions")
    group.add_argument("--seed", type=int, metavar="N", help="the seed of its episode")
    group.add_argument("--task", type=int, metavar="I", help="the task, of a finite set")
    add_making(group)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem.cli import _replay_foreign as foreign  # heavy: 0.1 s

    find_modules_here()
    path = Path(options.run_path)
    if foreign.is_foreign(path):
        return foreign.replay_file(path, options)
    refuse_with_run(
        options.run_path,
        options,
        ("env", "env_kwargs", "wrappers", "seed", "task"),
        "whose record says what was played. Leave it out: it is for a file that another program "
        "wrote.",
    )
    reports = _reports(path, live_tools=options.live_tools)
    if not options.verify and not options.json:
        reports = _printed(reports)
    facts = _facts(reports)
    print(json.dumps(facts, indent=2) if options.json else "\n".join(_verdict(facts)))
    return int(facts["different"] > 0)


def _reports(path: Path, *, live_tools: bool) -> Iterator[ReplayReport]:
    from gem.episode._log import read_last_tries
    from gem.episode._replay import replay

    # An empty log is no success: a run that was killed before its first episode has one.
    is_empty = True
    for episode in read_last_tries(path):
        is_empty = False
        with redirect_stdout(sys.stderr):  # what an environment prints is no part of the report
            report = replay(episode, live_tools=live_tools)
        yield report
    if is_empty:
        raise LogError(
            f"{path} holds no finished episode, so there is nothing to replay. Finish the run "
            "first.",
            path=str(path),
        )


def _printed(reports: Iterable[ReplayReport]) -> Iterator[ReplayReport]:
    """Print a line for each report as it comes."""
    for report in reports:
        episode = report.episode
        task = "" if episode.task is None else f" task {episode.task}"
        line = one_line(
            f"{episode.env_id} {episode.policy} seed {episode.seed}{task}: "
            f"{len(episode.turns)} turns, return {episode.total_reward:g}, {episode.stop_reason}"
        )
        print(f"{report.state:9} {line}")
        yield report


def _facts(reports: Iterable[ReplayReport]) -> dict[str, Any]:
    """Return what came of the replays, as JSON data."""
    counts: Counter[str] = Counter()
    first = None
    changed: dict[str, tuple[str | None, str | None]] = {}
    # One at a time: a log may hold more episodes than fit in memory.
    for report in reports:
        counts[report.state] += 1
        changed.update(report.versions)
        if report.difference is not None and first is None:
            first = _difference(report)
    return {
        "episodes": sum(counts.values()),
        "same": counts["same"],
        "different": counts["different"],
        "partial": counts["partial"],
        "first_difference": first,
        "changed_versions": changed,
    }


def _difference(report: ReplayReport) -> dict[str, Any]:
    assert report.difference is not None
    episode = report.episode
    difference = report.difference
    facts = {
        "env_id": episode.env_id,
        "policy": episode.policy,
        "seed": episode.seed,
        "task": episode.task,
        **difference._asdict(),
    }
    if episode.seats and difference.turn < len(episode.turns):
        facts["seat"] = episode.seats[episode.turns[difference.turn].seat].name
    return facts


def _verdict(facts: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{facts['episodes']} episodes: {facts['same']} the same, "
        f"{facts['different']} different, {facts['partial']} partial"
    )
    if facts["partial"]:
        yield "Partial: an error ended them; they were compared up to it."
    if facts["first_difference"] is not None:
        yield from _difference_lines(facts["first_difference"])
    yield from version_lines(facts["changed_versions"])


def _difference_lines(facts: dict[str, Any]) -> Iterator[str]:
    task = "" if facts["task"] is None else f", task {facts['task']}"
    seat = f" ({facts['seat']})" if "seat" in facts else ""
    yield (
        f"First difference: {facts['env_id']}, {facts['policy']}, seed {facts['seed']}{task}, "
        f"turn {facts['turn'] + 1}{seat}, {facts['field']}:"
    )
    yield from difference_lines(facts["recorded"], facts["replayed"])
