"""Check what must hold of the mathematical grader over many golds, and print what was found.

    python tools/grading_checks.py stability [--pairs 10000] [--processes 8]
    python tools/grading_checks.py constants

`stability` judges the same pairs of answer and gold in processes that differ in PYTHONHASHSEED and
in the order of the pairs, and once more with answer and gold exchanged. `constants` gives the same
few answers to every gold, and prints which golds each earns. Golds are those of the committed
cases, of gem-envs-math/tests/grading, and of the local data sets where they lie beside this
checkout (`--data FOLDER`). Needs gem-envs-math with the extra `verify`. The exit status is 1 where
outcomes differ.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
CASES = ROOT / "gem-envs-math" / "tests" / "grading"
DATA = ROOT.parent / "shared" / "data"
LONGEST_GOLD = 500
ONE_SIDED = {"too deep", "too large", "undefined", "too long", "unevaluated"}
"""What is asked of an answer and not of a gold."""

Pair = tuple[str, str]

# A child judges what `decide` leaves open in its own process, under its own hash seed. It takes
# the pairs in an order of its own: what the earlier ones left in caches is different in each.
CHILD = """
import json, random, sys
from gem_envs_math.grading import decide, verify
pairs = json.load(sys.stdin)
order = list(range(len(pairs)))
random.Random(int(sys.argv[1])).shuffle(order)
found = [None] * len(pairs)
for at in order:
    verdict = decide(*pairs[at])
    was_asked = verdict is None
    found[at] = [*(verdict or verify(*pairs[at])), was_asked]
json.dump(found, sys.stdout)
"""


def main() -> int:
    """Run the check that the command line names, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("check", choices=["stability", "constants"])
    parser.add_argument("--pairs", type=int, default=10_000, help="how many pairs are judged")
    parser.add_argument("--processes", type=int, default=8, help="how many hash seeds are tried")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of local data sets")
    options = parser.parse_args()
    if options.check == "constants":
        return constants(options.data)
    return stability(options.data, options.pairs, options.processes)


def case_golds() -> list[str]:
    """Return the golds of the committed cases, each once."""
    paths = sorted((CASES / "cases").glob("*.jsonl"))
    lines = (line for path in paths for line in path.read_text("utf-8").splitlines())
    return list(dict.fromkeys(json.loads(line)["gold"] for line in lines))


def case_pairs() -> list[Pair]:
    """Return the committed cases but for the hostile ones, whose evaluation may not end."""
    paths = [path for path in sorted((CASES / "cases").glob("*.jsonl")) if path.stem != "hostile"]
    cases = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    return [(case["answer"], case["gold"]) for case in cases if isinstance(case["answer"], str)]


def local_golds(folder: Path) -> Counter[str]:
    """Return how many rows of the local data sets have each gold; none where there are no sets."""
    golds: Counter[str] = Counter()
    for name in ("math500/test", "math_train4500/train", "gsm8k/test", "gsm8k/train", "svamp/test"):
        path = folder / f"{name}.jsonl"
        if path.exists():
            lines = path.read_text("utf-8").strip().split("\n")  # U+2028 may stand in a line
            golds.update(str(json.loads(line)["answer"]).strip() for line in lines)
    return golds


def stability(data: Path, count: int, processes: int) -> int:
    """Print how many outcomes differ between processes, and with answer and gold exchanged."""
    pairs = make_pairs(sorted(local_golds(data)), count)
    print(f"{len(pairs):,} pairs in {processes} processes with as many hash seeds, and exchanged")
    began = time.monotonic()
    exchanged = [(gold, answer) for answer, gold in pairs]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        turned_run = threads.submit(judged, exchanged, processes)
        runs = list(threads.map(lambda seed: judged(pairs, seed), range(processes)))
    first = runs[0]
    outcomes = Counter(outcome for outcome, _, _ in first)
    print(", ".join(f"{outcome} {number:,}" for outcome, number in outcomes.most_common()))
    asked = sum(was_asked for _, _, was_asked in first)
    print(f"left to `verify`: {asked:,}; {time.monotonic() - began:.0f} s")
    verdicts_of_pairs = [{run[at][0] for run in runs} for at in range(len(pairs))]
    apart = [
        (pair, verdicts)
        for pair, verdicts in zip(pairs, verdicts_of_pairs, strict=True)
        if len(verdicts) > 1
    ]
    turned = [
        (pair, one[:2], other[:2])
        for pair, one, other in zip(pairs, first, turned_run.result(), strict=True)
        if one[0] != other[0] and both_read(one[:2], other[:2])
    ]
    show("outcomes that differ between processes", apart)
    show("outcomes that differ with answer and gold exchanged, both being read", turned)
    return 1 if apart or turned else 0


def both_read(one: Pair, other: Pair) -> bool:
    """Whether a verdict and that of the exchanged pair are both right or wrong, by no limit."""
    is_read = {one[0], other[0]} <= {"right", "wrong"}
    return is_read and ONE_SIDED.isdisjoint((one[1], other[1]))


def show(title: str, found: Sequence[object]) -> None:
    """Print how many were found, and the first ten."""
    print(f"{title}: {len(found)}")
    for pair in found[:10]:
        print("   ", pair)


def judged(pairs: Sequence[Pair], seed: int) -> list[tuple[str, str, bool]]:
    """Return outcome, rule and whether `verify` was asked, as a process with a hash seed finds."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(seed)],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )
    return [(outcome, how, asked) for outcome, how, asked in json.loads(done.stdout)]


def make_pairs(golds: Sequence[str], count: int) -> list[Pair]:
    """Return so many pairs: committed cases, local golds against each other, and generated ones."""
    rng = random.Random(0)
    pairs = dict.fromkeys(case_pairs()[: count // 4])
    every = [gold for gold in [*golds, *case_golds()] if 0 < len(gold) < LONGEST_GOLD]
    while len(pairs) < count // 2:
        gold = rng.choice(every)
        pairs[(respelled(gold, rng), gold)] = None
        pairs[(rng.choice(every), gold)] = None
    for pair in generated(rng):
        if len(pairs) >= count:
            break
        pairs[pair] = None
    return list(pairs)[:count]


def respelled(gold: str, rng: random.Random) -> str:
    """Return a gold as somebody else would write it; now and then it means something else."""
    spellings: list[Callable[[str], str]] = [
        lambda text: text.replace("\\frac", "\\dfrac"),
        lambda text: text.replace("(", "\\left(").replace(")", "\\right)"),
        lambda text: f"${text}$",
        lambda text: f"The answer is ${text}$.",
        lambda text: f"x={text}",
        lambda text: f"2({text})",
        lambda text: text.replace("=", "<"),
        lambda text: text[::-1],
    ]
    return rng.choice(spellings)(gold)


FORMS = (
    ("x^2+{a}=0", "x^2=-{b}"),
    ("x^4+{a}=0", "x^2+{b}x+{c}=0"),
    ("{a}={b}", "{c}={a}"),
    ("\\pi=\\pi", "x^2-2x+{a}=0"),
    ("{a}x+{b}y={c}", "y=\\frac{{{c}-{a}x}}{{{b}}}"),
    ("xy={a}", "y=\\frac{{{b}}}{{x}}"),
    ("(x-{a})^2(x-{b})=0", "(x-{a})(x-{b})^2=0"),
    ("{a}<x<{b}", "{a}<y<{c}"),
    ("{a}x<{b}y", "{c}x<{b}y"),
    ("\\sin {a}x=y", "y=\\sin {b}x"),
    ("y={a}\\sin 2x", "y=2\\cdot {a}\\sin x\\cos x"),
    ("\\sum_{{k=1}}^{{{a}}} k", "\\frac{{{b}({b}+1)}}{{2}}"),
    ("\\sum_{{k=1}}^{{n}} k^{a}", "\\sum_{{j=1}}^{{n}} j^{b}"),
    ("\\prod_{{k=1}}^{{{a}}} k", "{b}!"),
    ("\\int_0^{a} t dt", "\\frac{{{b}^2}}{{2}}"),
    ("\\int_0^{a} \\sin(t) dt", "1-\\cos {b}"),
    ("y=\\int_0^x {a}t dt", "2y={b}x^2"),
    ("\\lim_{{x \\to 0}} \\frac{{\\sin {a}x}}{{x}}", "{b}"),
    ("\\gcd({a},{b})", "\\gcd({b},{c})"),
    ("{a}\\begin{{pmatrix}}{b}\\end{{pmatrix}}", "{b}\\begin{{pmatrix}}{c}\\end{{pmatrix}}"),
    ("\\{{{a},{b}\\}}", "\\{{{b},{c}\\}}"),
    ("[{a},{b})", "({a},{c}]"),
    ("\\frac{{x-{a}}}{{2}}=\\frac{{y}}{{{b}}}=z", "z=\\frac{{y}}{{{c}}}=\\frac{{x-{a}}}{{2}}"),
    ("It is the plane $x+{a}y={b}z$", "It is the plane ${c}z=x+{a}y$."),
    ("\\sqrt{{{a}}}+\\sqrt{{{b}}}", "\\sqrt{{{b}}}+\\sqrt{{{c}}}"),
    ("|x-{a}|", "|{b}-x|"),
    ("f({a})<f({b})<f({c})", "f({b})<f({a})<f({c})"),
)  # fmt: skip
"""Pairs of forms that are the same for some numbers, and not for others."""


def generated(rng: random.Random) -> Iterator[Pair]:
    """Yield pairs of the forms with small numbers, for ever."""
    while True:
        form = rng.choice(FORMS)
        numbers = {name: rng.randrange(1, 12) for name in "abc"}
        if rng.random() < 0.5:  # else hardly any two would be the same
            numbers["b"] = numbers["c"] = numbers["a"]
        answer, gold = (text.format(**numbers) for text in rng.sample(form, 2))
        yield answer, gold


def constants(data: Path) -> int:
    """Print, for each constant answer, how many golds and rows it earns, and which golds."""
    from gem_envs_math.judging import judge

    kinds = json.loads((CASES / "constants.json").read_text("utf-8"))
    answers = [*kinds["nothing"], *kinds["values"]]
    local = local_golds(data)
    committed = case_golds()
    golds = list(dict.fromkeys([*local, *committed]))
    print(
        f"{len(answers)} answers, {local.total():,} rows of local data sets, {len(golds):,} golds"
    )
    print("| answer | rows | golds that it earns |\n|---|---|---|")
    for answer in answers:
        earned = [gold for gold in golds if judge(answer, gold).outcome == "right"]
        rows = sum(local[gold] for gold in earned)
        spelled = " ".join(f"`{gold}`" for gold in earned[:8])
        more = f" and {len(earned) - 8} more" if len(earned) > 8 else ""
        print(f"| `{answer}` | {rows} | {spelled}{more} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
