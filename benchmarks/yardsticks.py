"""Find the yardsticks of small environments, and hold the exact ones against play.

Run it with `python benchmarks/yardsticks.py [--episodes N] [--data FOLDER]`. Of each environment it
prints, as a table for docs/yardsticks.md, what the best, the random and the worst play return, and
the CPU seconds that this took. Where a figure of random or of the best play is exact, as many
episodes are played: the last column says whether the figure lies within the 99 % interval of their
mean. FOLDER holds `logic_folio/test.jsonl` and the like: the rows of data sets of questions.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gem
from gem_baselines.exact.yardstick import Figure, Yardstick, yardstick

RESULTS = Path(__file__).parent / "results" / "yardsticks.json"
GUESS = "game:GuessTheNumber-v0"
ENVIRONMENTS: list[tuple[str, dict[str, Any]]] = [
    (f"{GUESS}-easy", {}),
    (GUESS, {}),
    (f"{GUESS}-hard", {}),
    *((GUESS, {"max_number": highest, "max_turns": 2}) for highest in (3, 10, 20, 50)),
    *((GUESS, {"max_number": highest, "max_turns": 3}) for highest in (4, 7, 8, 9, 12)),
    *((GUESS, {"max_number": highest, "max_turns": 4}) for highest in (5, 12, 15, 16)),
    ("game:Mastermind-v0-easy", {}),
    *(
        ("game:Mastermind-v0-easy", {"num_numbers": numbers, "max_turns": turns})
        for numbers, turns in ((3, 2), (3, 3), (4, 3))
    ),
    *((f"game:TowerofHanoi-{level}", {}) for level in ("v0-easy", "v0-hard", "v0-random")),
    *((f"game:TowerofHanoi-{level}", {}) for level in ("v1-easy", "v1-hard")),
    ("game:FifteenPuzzle-v0-easy", {}),
    ("game:Game2048-v0-easy", {"board_size": 2, "target_tile": 16, "max_turns": 12}),
    ("game:Hangman-v0-easy", {}),
    ("game:Wordle-v0-easy", {}),
    ("game:Minesweeper-v0-easy", {}),
    ("game:Minesweeper-v0-easy", {"rows": 2, "cols": 4, "num_mines": 1, "max_turns": 4}),
]
SEATS = {
    "game:TicTacToe-v0": ("X", "O"),
    **dict.fromkeys(
        [
            "game:Nim-v0",
            "game:RockPaperScissors-v0",
            "game:PrisonersDilemma-v0",
            "game:KuhnPoker-v0",
            "game:LeducPoker-v0",
            "game:LiarsDice-v0",
        ],
        ("first", "second"),
    ),
}
QUESTIONS = {
    "logic:FOLIO": "logic_folio/test.jsonl",
    "logic:ProntoQA": "logic_prontoqa/test.jsonl",
    "logic:LogicalDeduction": "logic_logical_deduction/test.jsonl",
    "logic:ProofWriter": "logic_proofwriter/test.jsonl",
}


def main() -> None:
    """Print the table, and write what is in it to the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=2_000, metavar="N")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="rows of questions")
    options = parser.parse_args()
    episodes = options.episodes
    # A pack that is missing is said now, and not after minutes of the others.
    for env_id in [id for id, _ in ENVIRONMENTS] + [*SEATS, *(QUESTIONS if options.data else ())]:
        gem.spec(env_id)
    print("| environment | best | its mean turns | random | worst | exact | CPU s | as played |")
    print("|---|---|---|---|---|---|---|---|")
    rows = [_row(env_id, kwargs, episodes) for env_id, kwargs in ENVIRONMENTS]
    rows += [_row(env_id, {}, episodes, seat) for env_id, seats in SEATS.items() for seat in seats]
    if options.data is not None:
        rows += [
            _row(env_id, {"data": str(options.data / path)}, episodes)
            for env_id, path in QUESTIONS.items()
        ]
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(f"\n{summary(rows)}")


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many rows are exact, and of how many ids they are, whatever their arguments."""
    exact = [re.split("[, ]", row["environment"])[0] for row in rows if row["exact"] == "all"]
    most = max(row["cpu_s"] for row in rows)
    return (
        f"{len(exact)} of {len(rows)} are exact in every figure, each in at most {most:.0f} CPU "
        f"seconds. They are of {len(set(exact))} ids, some of them with several arguments."
    )


def _row(
    env_id: str, kwargs: dict[str, Any], episodes: int, seat: str | None = None
) -> dict[str, Any]:
    since = time.process_time()
    found = yardstick(env_id, kwargs, seat=seat, episodes=episodes)
    cpu_s = time.process_time() - since
    row = {
        "environment": _named(env_id, kwargs, seat),
        "best": _shown(found.best),
        "turns": "" if found.best.mean_turns is None else f"{found.best.mean_turns:.2f}",
        "random": _shown(found.random),
        "worst": "" if found.worst is None else _shown(found.worst),
        "exact": _exact(found),
        "cpu_s": round(cpu_s, 1),
        "as_played": _as_played(found, env_id, kwargs, episodes),
    }
    print("| " + " | ".join(str(value) for value in row.values()) + " |", flush=True)
    return row


def _named(env_id: str, kwargs: Mapping[str, Any], seat: str | None) -> str:
    if seat is not None:
        return f"{env_id}, the seat {seat}"
    arguments = ", ".join(
        # Where the rows lie on this machine says nothing.
        f"{name}={Path(value).parent.name if name == 'data' else value}"
        for name, value in kwargs.items()
    )
    return f"{env_id} ({arguments})" if arguments else env_id


def _shown(figure: Figure) -> str:
    if figure.is_exact:
        return f"{figure.low:.4f}"
    return f"{figure.low:.3f} to {figure.high:.3f}"


def _exact(found: Yardstick) -> str:
    names = [
        name
        for name in ("best", "random", "worst")
        if (figure := getattr(found, name)) is not None and figure.is_exact
    ]
    return "all" if len(names) == 3 else ", ".join(names)


def _as_played(found: Yardstick, env_id: str, kwargs: dict[str, Any], episodes: int) -> str:
    """Say whether what is exact lies within the interval of playing."""
    played = yardstick(env_id, kwargs, seat=found.seat, most_steps=0, episodes=episodes, seed=1)
    is_within = [
        # What is played alike every time has an interval of no width.
        interval.low - 1e-9 <= exact.low <= interval.high + 1e-9
        for exact, interval in ((found.random, played.random), (found.best, played.best))
        if exact.is_exact and math.isfinite(interval.high)
    ]
    return f"{sum(is_within)} of {len(is_within)}"


if __name__ == "__main__":
    main()
