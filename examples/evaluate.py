"""Evaluate policies from Python, one of them your own, and look at where it fails.

Run it with `python examples/evaluate.py`.
"""

from __future__ import annotations

import operator
import re
import tempfile
from pathlib import Path

import gem
import gem_eval

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


class Hasty:
    """Compute from left to right, as if multiplication did not come first."""

    name = "hasty"

    async def __call__(self, request: gem.Request) -> str:
        match = re.search(r"^-?\d+(?: [-+*] -?\d+)+$", request.messages[0].text, re.MULTILINE)
        assert match, "the expression stands on a line of its own"
        value, *rest = match[0].split()
        result = int(value)
        for symbol, number in zip(rest[::2], rest[1::2], strict=True):
            result = OPERATORS[symbol](result, int(number))
        return rf"\boxed{{{result}}}"


def main() -> None:
    """Evaluate, print the figures with their intervals, and show some failures."""
    with tempfile.TemporaryDirectory() as folder:
        run = gem_eval.evaluate(
            "math:Arithmetic-v0",
            ["solver", "random", Hasty()],
            episodes=200,
            seed=0,
            out=Path(folder) / "run",
        )
        for row in run.summary.results:
            print(f"{row.policy:7} {row.success_rate:.2f}  95% interval {row.success_rate_ci95}")
        failures = [
            episode
            for episode in run.episodes()
            if episode.policy == "hasty" and not episode.success
        ]
    for episode in sorted(failures, key=lambda failure: failure.episode_index)[:3]:
        expression = str(episode.turns[0].observation).splitlines()[2]
        print(f"{expression} is not {episode.turns[0].action}")


if __name__ == "__main__":
    main()
