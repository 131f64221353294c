"""What the small policy is shown of each task, and can answer, in the benchmark of baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from benchmarks.baselines.arms import task_settings, tasks
from benchmarks.baselines.notebook import Notebook, Records

import gem
from gem.episode import Episode
from gem_baselines.text import keep_matches, tokenizer_from

TASKS = tasks()
PLAYED = sorted(name for name, task in TASKS.items() if "keep" in task)
ONE_TURN = [name for name in PLAYED if TASKS[name].get("constant") == 1]
UNKNOWN = 0


def _kwargs(name: str) -> Mapping[str, Any]:
    """Return the arguments of the transformer that plays a task."""
    kwargs: Mapping[str, Any] = task_settings(TASKS[name], {}, {})["policy_kwargs"]
    return kwargs


def _texts(episodes: list[Episode], instructions_end: str | None) -> Iterator[str]:
    """Yield what the environment tells in each turn, as a policy has it: without instructions."""
    for episode in episodes:
        for number, turn in enumerate(episode.turns):
            observation = str(turn.observation)
            if number == 0 and instructions_end is not None:
                assert instructions_end in observation
                observation = observation.partition(instructions_end)[2]
            yield f"{observation}\n\n{turn.suffix}" if turn.suffix else observation


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_every_word_that_is_shown_is_in_the_vocabulary(name: str) -> None:
    kwargs = _kwargs(name)
    tokenizer = tokenizer_from(kwargs["tokenizer"])
    digest = keep_matches(kwargs["keep"])
    task = TASKS[name]

    episodes = gem.run("random", task["env"], episodes=5, env_kwargs=task.get("env_kwargs", {}))

    digests = [digest(text) for text in _texts(episodes, kwargs.get("instructions_end"))]
    # After the first turn of a game there is always something to see.
    assert any(digests)
    assert [text for text in digests if UNKNOWN in tokenizer.encode(text)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_TURN)
def test_every_right_answer_is_one_token(name: str) -> None:
    kwargs = _kwargs(name)
    tokenizer = tokenizer_from(kwargs["tokenizer"])
    env = gem.make(TASKS[name]["env"], **TASKS[name].get("env_kwargs", {}))

    answers = []
    for seed in range(50):
        env.reset(seed=seed)
        answers.append(env.solve() or "")
    env.close()

    wanted = [
        answer.partition(kwargs["opening"])[2].rpartition(kwargs["closing"])[0]
        for answer in answers
    ]
    assert [text for text in wanted if len(tokenizer.encode(text)) != 1] == []
    assert [text for text in wanted if UNKNOWN in tokenizer.encode(text)] == []


def test_the_notebook_holds_what_no_text_does() -> None:
    records = Records()
    env = Notebook(records)
    observation, _ = env.reset(seed=1)
    numbers = records.numbers

    written = env.on_action("<python>print(numbers[0])</python>")

    assert str(numbers) not in str(observation)
    assert written == f"<python>numbers = {numbers}\nprint(numbers[0])</python>"
    assert env.on_action(env.solve() or "") == env.solve()


@pytest.mark.parametrize("question", ["first", "last", "sum"])
def test_a_record_is_judged_by_its_own_question(question: str) -> None:
    env = Records()
    env.reset(seed=0)
    env.numbers = [1, 2, 3, 4, 5]
    env.question = question

    right = {"first": 1, "last": 5, "sum": 5}[question]

    assert env.step(rf"\boxed{{{right}}}").reward == 1
    assert env.answer == right
