"""Count how often verdicts hold: intervals, the tests of a comparison, and decisions while playing.

Run it with `python benchmarks/verdicts.py [--quick]` where gem-eval is installed. Every part knows
the truth, because it draws the outcomes itself, and counts: how often a 95% interval has the truth
in it, how often a test tells two policies apart that differ and two that do not, and how many tasks
it takes until a run with `--until decided` stops. Seeds are fixed, so a run gives the figures
of the one before; `--quick` draws a tenth and keeps nothing. It measures no time. The results go
to benchmarks/results/verdicts.json.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from gem_eval.comparing.paired import Pair, chance_of_signs
from gem_eval.comparing.sequential import Evidence
from gem_eval.intervals import mean, pass_at_k, pass_at_k_bootstrap, wilson

RESULTS = Path(__file__).parent / "results" / "verdicts.json"
LEVEL = 0.05
DIFFICULTIES = 1.5
"""The standard deviation of how hard tasks are, in logits: a few are always solved, a few never."""

Row = dict[str, Any]


def main() -> None:
    """Draw, count, print a table for each part, and keep the figures."""
    parser = argparse.ArgumentParser(description="Count how often verdicts hold.")
    parser.add_argument("--quick", action="store_true", help="draw a tenth, and keep nothing")
    options = parser.parse_args()
    draws = 400 if options.quick else 4_000
    results = {}
    for title, part in PARTS.items():
        results[title] = list(part(draws))
        report(title, results[title])
    if not options.quick:
        RESULTS.write_text(f"{json.dumps(results, indent=2)}\n")
        print(f"Kept in {RESULTS.name}.")


def coverage_of_wilson(draws: int) -> Iterator[Row]:
    """Yield the coverage of Wilson's interval over all rates, counted exactly: nothing is drawn."""
    rates = np.linspace(0.0025, 0.9975, 200)
    for n in (20, 50, 100, 200, 500, 1_000, 2_000):
        bounds = np.array([wilson(successes / n, n) for successes in range(n + 1)])
        chances = stats.binom.pmf(np.arange(n + 1)[:, None], n, rates[None, :])
        holds = (bounds[:, :1] <= rates) & (rates <= bounds[:, 1:])
        coverage = (chances * holds).sum(axis=0)
        yield {
            "n": n,
            "coverage": float(coverage.mean()),
            "of the worst rate": float(coverage.min()),
        }


def coverage_of_means(draws: int) -> Iterator[Row]:
    """Yield how often the interval of a mean has the true one in it."""
    drawn: dict[str, tuple[float, Callable[[np.random.Generator, int], NDArray[np.float64]]]] = {
        "normal": (0.0, lambda rng, n: rng.normal(size=n)),
        "exponential": (1.0, lambda rng, n: rng.exponential(size=n)),
    }
    for name, (truth, draw) in drawn.items():
        for n in (20, 50, 100, 500):
            rng = np.random.default_rng(n)
            intervals = (mean(draw(rng, n)[:, None].tolist()).ci95 for _ in range(draws))
            yield {
                "returns": name,
                "n": n,
                "coverage": np.mean([interval_has(truth, interval) for interval in intervals]),
            }


def coverage_of_pass_at_k(draws: int) -> Iterator[Row]:
    """Yield how often the two intervals of pass@4 from 8 repeats have the truth in them."""
    rng = np.random.default_rng(8)
    rates_of_all = logistic(rng.normal(scale=DIFFICULTIES, size=1_000_000))
    truth = float(np.mean(1 - (1 - rates_of_all) ** 4))
    for tasks in (20, 50, 200):
        held: list[tuple[bool, bool]] = []
        widths: list[tuple[float, float]] = []
        for _ in range(draws // 2):
            rates = logistic(rng.normal(scale=DIFFICULTIES, size=(tasks, 1)))
            played = (rng.random((tasks, 8)) < rates).tolist()
            both = (pass_at_k(played, 4).ci95, pass_at_k_bootstrap(played, 4))
            held.append((interval_has(truth, both[0]), interval_has(truth, both[1])))
            widths.append((width(both[0]), width(both[1])))
        for place, name in enumerate(("Wilson", "bootstrap")):
            yield {
                "interval": name,
                "tasks": tasks,
                "coverage": np.mean([each[place] for each in held]),
                "mean width": np.mean([each[place] for each in widths]),
            }


def found_differences(draws: int) -> Iterator[Row]:
    """Yield what share of differences is found: by pairs, and by Welch's test of the same runs.

    Both policies play the same tasks, which differ in how hard they are. Welch's test compares the
    two means over tasks as if the tasks were others, as a tool without common seeds has to.
    """
    rng = np.random.default_rng(9)
    for tasks, repeats in ((100, 1), (400, 1), (100, 4)):
        for better in (0.0, 0.4, 0.8):
            by_pairs = 0
            by_welch = 0
            differences = []
            for _ in range(draws // 8):
                hard = rng.normal(scale=DIFFICULTIES, size=tasks)
                first = rng.binomial(repeats, logistic(hard)) / repeats
                second = rng.binomial(repeats, logistic(hard + better)) / repeats
                differences.append(np.mean(logistic(hard + better) - logistic(hard)))
                pairs = [
                    [Pair(*both)] for both in zip(first.tolist(), second.tolist(), strict=True)
                ]
                by_pairs += chance_of_signs(pairs).value <= LEVEL
                by_welch += stats.ttest_ind(first, second, equal_var=False).pvalue <= LEVEL
            yield {
                "tasks": tasks,
                "repeats": repeats,
                "true difference": float(np.mean(differences)),
                "found by pairs": by_pairs / (draws // 8),
                "found by Welch": by_welch / (draws // 8),
            }


def decisions(draws: int) -> Iterator[Row]:
    """Yield how often `--until decided` is wrong, and how soon it stops where there is a truth.

    It looks after every task. A test of fixed size stands beside it that finds as many differences,
    or 99.9% where all were found.
    """
    most_tasks = 1_500
    proofs = table_of_proofs(most=most_tasks // 2)
    for gained, lost in (
        (0.025, 0.025),
        (0.1, 0.1),
        (0.2, 0.2),
        (0.2, 0.1),
        (0.15, 0.05),
        (0.3, 0.1),
    ):
        drawn = np.random.default_rng(7).random((draws // 2, most_tasks))
        won = np.minimum(np.cumsum(drawn < gained, axis=1), len(proofs) - 1)
        lost_so_far = np.minimum(np.cumsum(drawn > 1 - lost, axis=1), len(proofs) - 1)
        better = proofs[won, lost_so_far]
        worse = proofs[lost_so_far, won]
        is_found = better.any(axis=1)
        row = {
            "difference": gained - lost,
            "parting": gained + lost,
            "said BETTER": float(np.mean(is_found)),
            "said WORSE": float(np.mean(worse.any(axis=1))),
        }
        if gained > lost:
            median = float(np.median(np.where(is_found, better.argmax(axis=1) + 1, most_tasks)))
            fixed = fixed_number(gained, lost, power=min(row["said BETTER"], 0.999))
            row |= {"median of tasks": median, "a fixed test needs": round(fixed)}
        yield row


def table_of_proofs(most: int) -> NDArray[np.bool_]:
    """Return whether so many won and so many lost prove a difference: ties say nothing."""
    table = np.zeros((most + 1, most + 1), dtype=bool)
    for won in range(most + 1):
        evidence = Evidence(differences=[1.0] * won)
        for lost in range(won):
            table[won, lost] = evidence.is_above(0.0)
            evidence.add(-1.0)
    return table


def fixed_number(gained: float, lost: float, power: float) -> float:
    """Return how many tasks McNemar's test needs to find a difference (Connor 1987)."""
    normal = NormalDist()
    parting = gained + lost
    difference = gained - lost
    of_level = normal.inv_cdf(1 - LEVEL / 2) * math.sqrt(parting)
    of_power = normal.inv_cdf(power) * math.sqrt(parting - difference**2)
    return ((of_level + of_power) / difference) ** 2


def logistic(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return chances from logits."""
    return 1.0 / (1.0 + np.exp(-logits))


def interval_has(truth: float, interval: tuple[float, float] | None) -> bool:
    """Say whether an interval has the truth in it."""
    return interval is not None and interval[0] <= truth <= interval[1]


def width(interval: tuple[float, float] | None) -> float:
    """Return how wide an interval is."""
    return math.nan if interval is None else interval[1] - interval[0]


PARTS: dict[str, Callable[[int], Iterator[Row]]] = {
    "Wilson's interval of a rate, averaged over all rates": coverage_of_wilson,
    "The interval of a mean": coverage_of_means,
    "The intervals of pass@4 from 8 repeats": coverage_of_pass_at_k,
    "Differences found at 5%": found_differences,
    "Until it is decided": decisions,
}


def report(title: str, rows: Sequence[Row]) -> None:
    """Print a part as a table of Markdown."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    print(f"\n{title}\n")
    print(f"| {' | '.join(columns)} |")
    print(f"|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(shown(row.get(name, '')) for name in columns)} |")
    sys.stdout.flush()


def shown(value: Any) -> str:
    """Return a figure as the table has it."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
