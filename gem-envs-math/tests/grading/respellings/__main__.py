"""Judge every respelling, and print a table by form or by change.

`python -m respellings` in the folder above; `--list` writes the failures as JSON lines.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gem_envs_math.judging import judge

from .drawing import draw_forms, draw_local
from .problem import Pair


class Judged(NamedTuple):
    """A pair, what the grader said, and how long that took in seconds."""

    pair: Pair
    outcome: str
    how: str
    seconds: float

    @property
    def is_failure(self) -> bool:
        return (self.outcome == "right") != self.pair.is_right


def main() -> None:
    """Judge, and print."""
    parser = argparse.ArgumentParser(description="Judge every respelling.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("forms", "local"))
    parser.add_argument("--form", help="only forms whose name holds this")
    parser.add_argument("--by", choices=("form", "change"), default="form")
    parser.add_argument("--list", action="store_true", help="write failures as JSON lines instead")
    options = parser.parse_args()
    pairs = [
        *(draw_forms(options.seed) if options.only != "local" else []),
        *(draw_local(options.seed) if options.only != "forms" else []),
    ]
    judged = [_judged(pair) for pair in pairs if (options.form or "") in pair.form]
    if options.list:
        for one in judged:
            if one.is_failure:
                fields = {**one.pair._asdict(), "outcome": one.outcome, "how": one.how}
                sys.stdout.write(json.dumps(fields, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(table(judged, options.by))


def _judged(pair: Pair) -> Judged:
    start = time.perf_counter()
    verdict = judge(pair.answer, pair.gold)
    return Judged(pair, verdict.outcome, verdict.how, time.perf_counter() - start)


def table(judged: Sequence[Judged], by: str) -> str:
    """Return the lines of a table, the whole set last."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(getattr(one.pair, by), []).append(one)
    lines = [_HEAD, *(_line(name, group) for name, group in groups.items())]
    lines.append(_line("all", judged))
    lines.append(f"how: {dict(Counter(one.how for one in judged).most_common())}")
    slowest = max(judged, key=lambda one: one.seconds)
    lines.append(f"slowest: {slowest.seconds:.2f} s, {slowest.pair.answer!r}")
    return "\n".join(lines) + "\n"


_HEAD = f"{'':52} {'right':>6} {'failing':>8} {'wrong':>6} {'passing':>8} {'ms each':>8}"


def _line(name: str, group: Sequence[Judged]) -> str:
    right = [one for one in group if one.pair.is_right]
    wrong = [one for one in group if not one.pair.is_right]
    failing = sum(one.is_failure for one in right)
    passing = sum(one.is_failure for one in wrong)
    each = 1000 * sum(one.seconds for one in group) / len(group)
    return f"{name:52} {len(right):6} {failing:8} {len(wrong):6} {passing:8} {each:8.2f}"


if __name__ == "__main__":
    main()
