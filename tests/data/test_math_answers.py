"""Every answer of the local data sets of mathematics: right as itself, wrong for any other."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest

pytest.importorskip("gem_envs_math", reason="gem-envs-math is not installed")

from gem_envs_math.grading import decide

FILES = ("math500/test.jsonl", "math_train4500/train.jsonl")
EQUAL = Path(__file__).parent / "equal_math_answers.jsonl"
SHIFTS = (1, 101)  # rows further on whose answers are given instead


def rows(folder: Path, file: str) -> list[dict[str, str]]:
    with (folder / file).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def number_answers(folder: Path) -> list[str]:
    files = ("gsm8k/test.jsonl", "gsm8k/train.jsonl", "svamp/test.jsonl")
    answers = [row["answer"] for file in files for row in rows(folder, file)]
    return [str(answer).rpartition("####")[2].strip() for answer in answers]


@pytest.fixture(scope="module")
def listed() -> set[tuple[str, str]]:
    """Return the pairs of differing answers that are equal; each line of the file says why."""
    with EQUAL.open(encoding="utf-8") as lines:
        return {tuple(json.loads(line)["answers"]) for line in lines}


@pytest.fixture(scope="module")
def golds(local_data: Path) -> list[str]:
    return [row["answer"].strip() for file in FILES for row in rows(local_data, file)]


def outcome(answer: str, gold: str) -> str | None:
    verdict = decide(answer, gold)
    return verdict.outcome if verdict else None


@pytest.mark.slow
def test_every_answer_is_right_in_another_spelling(golds: list[str]) -> None:
    spelled = {gold: rf"$\displaystyle {gold} $." for gold in golds}
    assert [gold for gold in golds if outcome(spelled[gold], gold) != "right"] == []


@pytest.mark.slow
def test_answers_with_the_same_number_are_equal_only_as_listed(
    golds: list[str], listed: set[tuple[str, str]]
) -> None:
    groups = defaultdict(set)
    for gold in golds:
        groups[(re.search(r"[0-9]+", gold) or [""])[0]].add(gold)
    pairs = (pair for group in groups.values() for pair in combinations(sorted(group), 2))
    equal = {pair for pair in pairs if outcome(*pair) == "right"}
    assert equal - listed == set()


def test_every_listed_pair_is_equal(listed: set[tuple[str, str]]) -> None:
    assert {pair for pair in listed if outcome(*pair) != "right"} == set()


@pytest.mark.slow
@pytest.mark.parametrize("shift", SHIFTS)
def test_another_row_s_answer_is_wrong(
    golds: list[str], listed: set[tuple[str, str]], shift: int
) -> None:
    shifted = golds[shift:] + golds[:shift]
    pairs = {(a, b) for a, b in zip(golds, shifted, strict=True) if a != b}
    accepted = {pair for pair in pairs if outcome(*pair) != "wrong"}
    assert {pair for pair in accepted if tuple(sorted(pair)) not in listed} == set()


def test_plain_numbers_are_right_as_themselves_and_wrong_for_others(local_data: Path) -> None:
    answers = number_answers(local_data)
    others = [*answers[1:], answers[0]]
    same = [number(a) == number(b) for a, b in zip(answers, others, strict=True)]
    assert {outcome(answer, answer) for answer in answers} == {"right"}
    assert [outcome(*pair) == "right" for pair in zip(others, answers, strict=True)] == same


def number(answer: str) -> float:
    return float(answer.replace(",", ""))
