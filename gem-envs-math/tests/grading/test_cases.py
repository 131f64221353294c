"""The committed cases: a gold answer, an answer, the verdict, and the reason for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from gem_envs_math.grading import Verdict, decide

FOLDER = Path(__file__).parent / "cases"
ONE_SIDED = {"too deep", "too large", "undefined", "too long", "unevaluated"}
"""What is asked of an answer and not of a gold."""

# The child asks for a line at a time, so that a test can tell which answer it was.
JUDGE = """
import json, sys
from gem_envs_math.grading import decide, verify
for line in sys.stdin:
    answer, gold = json.loads(line)
    print((decide(answer, gold) or verify(answer, gold)).outcome, flush=True)
"""

needs_math_verify = pytest.mark.skipif(
    find_spec("math_verify") is None, reason="the extra `verify` is not installed"
)


class Case(NamedTuple):
    gold: str
    answer: str
    verdict: str
    reason: str


def load(topic: str) -> list[Case]:
    lines = (FOLDER / f"{topic}.jsonl").read_text("utf-8").splitlines()
    fields = [json.loads(line) for line in lines]
    return [Case(**{**case, "answer": written_out(case["answer"])}) for case in fields]


def written_out(answer: str | list[tuple[str, int]]) -> str:
    """Return the answer that a list of texts with the number of their repetitions stands for."""
    return answer if isinstance(answer, str) else "".join(text * count for text, count in answer)


def judged(cases: list[Case], folder: Path, hash_seed: int = 0) -> list[str]:
    """Return the outcomes of cases as a process of its own finds them; it must not hang."""
    lines = "".join(json.dumps([case.answer, case.gold]) + "\n" for case in cases)
    done = subprocess.run(
        [sys.executable, "-c", JUDGE],
        input=lines,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        timeout=300,
        check=True,
    )
    return done.stdout.split()


TOPICS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
HOSTILE = load("hostile")
CASES = [case for topic in TOPICS if topic != "hostile" for case in load(topic)]
decided = cache(decide)
"""`decide`, once for each pair, which several tests look at."""


def test_there_are_three_hundred_cases_and_sixty_hostile_ones() -> None:
    assert len(CASES) >= 300
    assert len(HOSTILE) >= 60


def test_both_verdicts_have_cases_in_every_topic() -> None:
    for topic in set(TOPICS) - {"hostile"}:
        assert {"right", "wrong"} <= {case.verdict for case in load(topic)}


def test_no_case_stands_twice() -> None:
    cases = [case[:2] for case in (*CASES, *HOSTILE)]
    assert len(cases) == len(set(cases))


@pytest.mark.slow
@needs_math_verify
def test_every_case_has_its_verdict(tmp_path: Path) -> None:
    outcomes = judged(CASES, tmp_path)
    differing = [
        (case, outcome)
        for case, outcome in zip(CASES, outcomes, strict=True)
        if outcome != case.verdict
    ]
    assert differing == []


@pytest.mark.slow
@needs_math_verify
def test_outcomes_are_the_same_in_another_process_with_answer_and_gold_exchanged(
    tmp_path: Path,
) -> None:
    verdicts = {case: decided(case.answer, case.gold) for case in CASES}
    can_be_both = [
        case
        for case, verdict in verdicts.items()
        if case.verdict in ("right", "wrong") and (verdict is None or verdict.how not in ONE_SIDED)
    ]
    exchanged = [case._replace(gold=case.answer, answer=case.gold) for case in can_be_both]
    outcomes = judged(exchanged, tmp_path, hash_seed=7)
    differing = [
        (case, outcome)
        for case, outcome in zip(can_be_both, outcomes, strict=True)
        if outcome != case.verdict and not _is_one_sided(case.gold, case.answer)
    ]
    assert differing == []


def _is_one_sided(answer: str, gold: str) -> bool:
    verdict = decided(answer, gold)
    return verdict is not None and verdict.how in ONE_SIDED


@pytest.mark.slow
def test_nine_in_ten_cases_are_decided_at_once() -> None:
    open_cases = [case for case in CASES if decided(case.answer, case.gold) is None]
    assert len(open_cases) < len(CASES) / 10


@pytest.mark.slow
@pytest.mark.parametrize("topic", sorted(set(TOPICS) - {"hostile"}))
def test_a_verdict_stays_with_answer_and_gold_exchanged(topic: str) -> None:
    differing = []
    for case in load(topic):
        verdict = decided(case.answer, case.gold)
        exchanged = decided(case.gold, case.answer)
        is_limited = _is_one_sided(case.answer, case.gold) or _is_one_sided(case.gold, case.answer)
        if case.verdict != "unreadable" and not is_limited and verdict != exchanged:
            differing.append((case, verdict, exchanged))
    assert differing == []


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.reason)
def test_a_hostile_answer_is_decided_or_left_open_as_stated(case: Case) -> None:
    verdict = decide(case.answer, case.gold)
    assert (verdict.outcome if verdict else "asked") == case.verdict


@pytest.mark.slow
@needs_math_verify
def test_no_hostile_answer_is_right_or_evaluated(tmp_path: Path) -> None:
    assert "right" not in judged(HOSTILE, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_answers_after_hostile_ones_are_unaffected() -> None:
    for case in HOSTILE:
        decide(case.answer, case.gold)
    assert decide(r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}") == Verdict("right", "value")


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.reason)
def test_a_hostile_text_is_right_only_as_the_copy_of_itself(case: Case) -> None:
    verdict = decide(case.answer, case.answer)
    assert verdict is not None
    assert verdict.outcome == ("right" if case.answer.strip() else "unreadable")
