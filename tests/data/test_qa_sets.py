"""Every row of the local data sets of questions: right answers, wrong ones, and none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import gem
from gem.data import contamination

pytest.importorskip("gem_envs_qa", reason="gem-envs-qa is not installed")

SHIFTS = (1, 101, 1009)  # rows further on whose answers are given instead


class Set(NamedTuple):
    """Where the rows of an environment lie here, and how many there are."""

    env_id: str
    file: str
    rows: int
    source: str | None = None


OPEN = (
    Set("qa:NaturalQuestions", "nq_open/dev.jsonl", 3610),
    Set("eval:QaOpen", "nq_open/dev.jsonl", 3610),
    Set("qa:HotpotQA", "hotpotqa/dev.jsonl", 7405),
    Set("eval:2Wiki", "search_eval/test.jsonl", 512, "2wiki"),
    Set("eval:PopQA", "search_eval/test.jsonl", 512, "popqa"),
    Set("eval:TriviaQA", "search_eval/test.jsonl", 512, "tq"),
    Set("eval:HotpotQA", "search_eval/test.jsonl", 512, "hotpotqa"),
    Set("eval:Bamboogle", "search_eval/test.jsonl", 125, "Bamboogle"),
    Set("eval:NaturalQuestions", "search_eval/test.jsonl", 512, "nq"),
    Set("eval:Musique", "search_eval/test.jsonl", 512, "musique"),
)
CHOSEN = (
    Set("logic:ProntoQA", "logic_prontoqa/test.jsonl", 500),
    Set("logic:ProofWriter", "logic_proofwriter/test.jsonl", 600),
    Set("logic:LogicalDeduction", "logic_logical_deduction/test.jsonl", 300),
    Set("logic:FOLIO", "logic_folio/test.jsonl", 204),
)
# Answers of two rows that differ as they are written, and are one answer by a stated rule.
ALIKE = {("eval:QaOpen", "the 1980s"), ("qa:NaturalQuestions", "the 1980s")}  # articles: 1980s


class Sample(NamedTuple):
    """One environment on its local rows."""

    env: gem.Env
    rows: list[dict[str, Any]]


@pytest.fixture(scope="module", params=[*OPEN, *CHOSEN], ids=lambda each: each.env_id)
def every(request: pytest.FixtureRequest, local_data: Path) -> Iterator[Sample]:
    yield from opened(request.param, local_data)


@pytest.fixture(scope="module", params=OPEN, ids=lambda each: each.env_id)
def open_ones(request: pytest.FixtureRequest, local_data: Path) -> Iterator[Sample]:
    yield from opened(request.param, local_data)


@pytest.fixture(scope="module", params=CHOSEN, ids=lambda each: each.env_id)
def chosen(request: pytest.FixtureRequest, local_data: Path) -> Iterator[Sample]:
    yield from opened(request.param, local_data)


def opened(given: Set, local_data: Path) -> Iterator[Sample]:
    rows = read(local_data / given.file, given.source)
    with gem.make(given.env_id, data=rows, fields={"question": "question"}) as env:
        assert env.num_tasks == given.rows == len(rows)
        yield Sample(env, rows)


def read(path: Path, source: str | None = None) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if source is None or row["source"] == source]


def verdict(env: gem.Env, task: int, action: str) -> tuple[float, bool]:
    env.reset(task=task)
    step = env.step(action)
    return step.reward, step.info["success"]


@pytest.mark.slow
def test_the_solution_is_right_on_every_row(every: Sample) -> None:
    failed = []
    for task in range(len(every.rows)):
        every.env.reset(task=task)
        if every.env.step(str(every.env.solve())).reward != 1.0:
            failed.append(task)
    assert failed == []


@pytest.mark.slow
def test_silence_is_wrong_on_every_row(every: Sample) -> None:
    verdicts = {verdict(every.env, task, "") for task in range(len(every.rows))}
    assert verdicts == {(0.0, False)}


@pytest.mark.slow
def test_each_accepted_answer_is_right(open_ones: Sample) -> None:
    failed = [
        (task, answer)
        for task, row in enumerate(open_ones.rows)
        for answer in row["answer"]
        if verdict(open_ones.env, task, f"<answer>{answer}</answer>") != (1.0, True)
    ]
    assert failed == []


@pytest.mark.slow
def test_another_rows_answer_is_wrong(open_ones: Sample) -> None:
    env = open_ones.env
    rows = open_ones.rows
    right = []
    for task, row in enumerate(rows):
        for shift in SHIFTS:
            other = rows[(task + shift) % len(rows)]["answer"][0]
            is_accepted = other in row["answer"]
            if not is_accepted and verdict(env, task, f"<answer>{other}</answer>")[0]:
                right.append((str(env.spec and env.spec.id), other))
    assert set(right) <= ALIKE


@pytest.mark.slow
def test_every_other_option_is_wrong_by_letter_and_by_text(chosen: Sample) -> None:
    for task, row in enumerate(chosen.rows):
        for option in row["options"]:
            letter, _, text = option.partition(") ")
            expected = (float(letter == row["answer"]), letter == row["answer"])
            for said in (letter, text, option):
                answer = f"<answer>{said}</answer>"
                assert verdict(chosen.env, task, answer) == expected, (task, said)


def questions(worlds: str) -> list[dict[str, str]]:
    rows = []
    with gem.make("qa:Worlds-v0", worlds=worlds, hops=2) as env:
        for seed in range(1000):
            observation, _ = env.reset(seed=seed)
            question = str(observation).partition("Question: ")[2].partition("\n")[0]
            rows.append({"question": question, "answer": "withheld"})
    return rows


def table(env_id: str, rows: list[dict[str, Any]]) -> Any:
    env: Any = gem.make(env_id, data=rows, fields={"question": "question"}).unwrapped
    return env.table


@pytest.mark.slow
def test_no_question_of_worlds_to_train_on_is_among_those_to_evaluate_on() -> None:
    train, test = (table("eval:QaOpen", questions(worlds)) for worlds in ("train", "eval"))

    overlap = contamination(train, test)

    assert overlap.rows == (1000, 1000)
    assert overlap.share == 0


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (
            "eval:QaOpen",
            "eval:NaturalQuestions",
            340,
        ),  # drawn from a larger set, which has this one
        ("qa:HotpotQA", "eval:HotpotQA", 512),  # likewise: train on the train split alone
        ("qa:HotpotQA", "eval:2Wiki", 0),
        ("eval:QaOpen", "eval:TriviaQA", 0),
        ("eval:QaOpen", "eval:PopQA", 0),
        ("eval:Musique", "eval:Bamboogle", 0),
    ],
)
def test_what_two_sets_share_is_known(local_data: Path, one: str, other: str, shared: int) -> None:
    where = {each.env_id: each for each in OPEN}
    tables = [
        table(each.env_id, read(local_data / each.file, each.source))
        for each in (where[one], where[other])
    ]

    overlap = contamination(*tables)

    assert len(overlap.exact) + len(overlap.normalised) == shared
