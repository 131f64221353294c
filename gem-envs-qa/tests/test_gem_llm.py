"""`gem.envs.qa_env.QaEnv` and `gem.utils.qa_em`: as users of gem-llm call and subclass them."""

from __future__ import annotations

import importlib
import inspect
import random
from typing import Any

import pytest

import gem
from gem.compat._constants import TERMINAL_STATE

ROWS = [{"question": f"Who is {k}?", "answer": [f"name {k}"]} for k in range(4)]


def kind() -> Any:
    return importlib.import_module("gem.envs.qa_env").QaEnv


def test_it_takes_what_the_published_one_took() -> None:
    assert list(inspect.signature(kind()).parameters) == [
        "dataset_name",
        "split",
        "dataset",
        "question_key",
        "answer_key",
        "seed",
        "extract_boxed",
        "load_from_cache_file",
        "_",
    ]


@pytest.mark.parametrize(
    ("boxed", "right", "wrong"),
    [
        (False, "<answer>Name 2</answer>", "\\boxed{Name 2}"),
        (True, "\\boxed{Name 2}", "<answer>Name 2</answer>"),
    ],
)
def test_an_episode_ends_as_published(boxed: bool, right: str, wrong: str) -> None:
    env = kind()(dataset=ROWS, extract_boxed=boxed)
    for answer, is_right in ((right, True), (wrong, False)):
        env.reset(task=2)
        step = env.step(answer)
        assert step[:4] == (TERMINAL_STATE, float(is_right), True, True)
        assert step.info["correct"] is is_right


def test_every_question_comes_once_in_an_epoch() -> None:
    env = kind()(dataset={"train": ROWS}, seed=1)

    order = [env.reset()[1]["task"] for _ in range(8)]
    assert sorted(order[:4]) == sorted(order[4:]) == [0, 1, 2, 3]


class Trainers(importlib.import_module("gem.envs.qa_env").QaEnv):  # type: ignore[misc]
    """A subclass that walks the rows itself, as a trainer's is written."""

    dataset: Any
    answer: Any

    def reset(self, seed: int | None = None) -> Any:
        gem.Env.reset(self, seed)
        if seed is not None:
            self.idx = random.Random(seed).randrange(len(self.dataset))
        elif self.idx == len(self.dataset):
            self.epoch += 1
            self.dataset = self.dataset.shuffle(seed=self.seed + self.epoch)
            self.idx = 0
        row = self.dataset[self.idx]
        self.answer = row[self.answer_key]
        self.idx += 1
        return row[self.question_key], {}

    def step(self, action: str) -> Any:
        answer = self.extractor(action)
        is_right = answer is not None and self.check_correct(answer, self.answer)
        return TERMINAL_STATE, float(is_right), True, True, {"valid": answer is not None}


def test_a_subclass_walks_the_rows_itself() -> None:
    env = Trainers(dataset=ROWS, seed=7)

    firsts = [env.reset()[0] for _ in range(8)]
    assert ["Who is 0?" in firsts[0], "Who is 3?" in firsts[3]] == [True, True]
    assert sorted(firsts[:4]) == sorted(firsts[4:])
    env.reset(seed=3)
    assert env.step(f"<answer>{env.answer[0]}</answer>")[:2] == (TERMINAL_STATE, 1.0)
    env.reset()
    assert env.step("nothing").info == {"valid": False}
    assert len(list(env.dataset)) == 4


def test_answers_are_compared_by_exact_match() -> None:
    module = importlib.import_module("gem.utils.qa_em")

    assert module.em_check("The cat!", ["dog", "cat"])
    assert module.em_check("x", "x")
    assert not module.em_check("x", ["y"])
    assert module.normalize_answer("The  Cat!") == "cat"
