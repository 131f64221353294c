"""A server with every fault that there is: no episode is lost, and none wrong for its failure."""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import read_episodes
from gem_eval import Summary

TOTAL = 40
EVERY = 3  # of so many requests one meets a fault
# After so much silence a request is given up. Where few tries are made it is long: a good answer
# that came later than that on a busy machine would be an error.
SILENCE_S = 1.0
LONG_SILENCE_S = 3.0
Fingerprints = Callable[[Path], dict[tuple[str, int, int, int], str]]
Messages = list[dict[str, str]]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


FAULTS = (
    "429",
    "500",
    "slow",
    "dropped",
    "cut",
    "malformed JSON",
    "a page",
    "wrong schema",
    "no choices",
    "10 MB",
    "hanging",
)


@pytest.fixture
def fault_of(answers: Any) -> Mapping[str, Callable[[Any], Any]]:
    """Return for each fault what it makes of a good answer."""
    answer = answers.Answer
    retry_after = (("Retry-After", "0.01"),)
    huge = json.loads(answers.chat("").body)
    huge["choices"][0]["message"]["content"] = "I wonder. " * 2**20

    def slow(good: Any) -> Any:
        time.sleep(0.05)
        return good

    made = {
        "429": lambda good: answer(429, b"slow down", retry_after),
        "500": lambda good: answer(500, b"out of memory"),
        "slow": slow,
        "dropped": lambda good: answer(drops=True),
        "cut": lambda good: good._replace(cuts=True),
        "malformed JSON": lambda good: good._replace(body=good.body[:-20]),
        "a page": lambda good: answer(body=b"<html>Welcome</html>"),
        "wrong schema": lambda good: answer(body=b'{"choices": {"text": "7"}}'),
        "no choices": lambda good: answer(body=b'{"choices": []}'),
        "10 MB": lambda good: answer(body=json.dumps(huge).encode()),
        "hanging": lambda good: answer(hangs=True),
    }
    assert tuple(made) == FAULTS
    return made


def answer_to(messages: Messages) -> str:
    """Answer by what was asked alone: what a seed meets, it meets again. Some answers are wrong."""
    asked = messages[-1]["content"]
    if asked.startswith("Write this"):
        word = asked.split()[-1]
        return word[::-1] if word < "m" else word
    return guess(messages)


def guess(messages: Messages) -> str:
    """Guess a number from 1 to 15 by what the hints have left: right for seven in three turns."""
    low, high = 1, 15
    number = 8
    for message in messages:
        found = re.search(r"\\boxed\{(\d+)\}", message["content"])
        if message["role"] == "assistant" and found:
            number = int(found[1])
        elif message["content"].startswith("It is higher"):
            low = number + 1
        elif message["content"].startswith("It is lower"):
            high = number - 1
    return rf"\boxed{{{(low + high) // 2}}}"


@pytest.fixture
def start(
    server: Any, answers: Any, fault_of: Mapping[str, Callable[[Any], Any]]
) -> Iterator[Callable[..., Any]]:
    """Return a function that starts a server with a model, and with the faults that it chooses."""
    started: list[Any] = []

    class Faulty(type(server)):  # type: ignore[misc] # the class of a fixture
        def __init__(self, choose: Callable[[int, Messages], str | None]) -> None:
            self.choose = choose
            self.met: Counter[str] = Counter()
            self.counting = threading.Lock()
            # Looks at whether the server is there are counted apart: on a busy machine there are
            # more of them, and each fault shall be met by a request of an episode.
            self.numbers = {is_look: itertools.count() for is_look in (False, True)}
            super().__init__()

        def next(self, asked: Any) -> Any:
            messages = asked.body["messages"]
            is_look = messages[-1]["content"] == "Hello."
            with self.counting:
                fault = self.choose(next(self.numbers[is_look]), messages)
                if fault is not None and not is_look:
                    self.met[fault] += 1
            good = answers.chat(answer_to(messages))
            return good if fault is None else fault_of[fault](good)

    def start_one(choose: Callable[[int, Messages], str | None]) -> Any:
        started.append(Faulty(choose))
        return started[-1]

    yield start_one
    for served in started:
        served.close()


def none_at_all(number: int, messages: Messages) -> None:
    """Choose no fault."""


def each_in_turn(number: int, messages: Messages) -> str | None:
    """Choose a fault for one request of three, each fault in turn."""
    turn, rest = divmod(number, EVERY)
    return FAULTS[turn % len(FAULTS)] if rest == EVERY - 1 else None


def evaluated(
    url: str,
    out: Path,
    *,
    retries: int,
    env: str = "tiny:Guess",
    silence_s: float = SILENCE_S,
) -> Summary:
    policy = {
        "backoff_s": 0.01,
        "max_backoff_s": 0.01,
        "max_retries": retries,
        "read_timeout_s": silence_s,
        "max_reply_bytes": 8 * 2**20,
    }
    found = gem_eval.evaluate(
        env,
        f"openai:m@{url}",
        policy_kwargs={"openai": policy},
        episodes=TOTAL,
        concurrency=8,
        max_turns=3,
        policy_retries=retries,
        out=out,
    )
    return found.summary


def figures(summary: Summary) -> dict[str, Any]:
    """Return a summary without times, and without the names of the run and of its server."""
    plain = summary.to_json()
    counters = plain.pop("counters")
    del plain["run"]
    for result in plain["results"]:
        del result["seconds"], result["policy"]
    counted = ("episodes", "steps", "errors", "successes")
    return {**plain, "counters": {name: counters[name] for name in counted}}


def outcomes(folder: Path) -> dict[int, tuple[bool | None, str]]:
    """Return of each episode in a log whether it succeeded, and its fingerprint."""
    return {
        episode.episode_index: (episode.success, episode.fingerprint())
        for episode in read_episodes(folder)
    }


@pytest.mark.slow
def test_every_fault_in_turn_leaves_the_figures_of_a_run_without_faults(
    start: Callable[..., Any], tmp_path: Path, fingerprints: Fingerprints
) -> None:
    undisturbed = evaluated(start(none_at_all).url, tmp_path / "undisturbed", retries=20)
    faulty = start(each_in_turn)

    found = evaluated(faulty.url, tmp_path / "run", retries=20)

    assert figures(found) == figures(undisturbed)
    [result] = found.results
    assert (result.episodes, result.errors) == (TOTAL, 0)
    assert 0 < (result.success_rate or 0) < 1  # an answer taken for another would show
    assert set(faulty.met) == set(FAULTS)
    played = fingerprints(tmp_path / "run").values()
    assert sorted(played) == sorted(fingerprints(tmp_path / "undisturbed").values())


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "slow"])
def test_a_fault_that_stays_with_one_episode_is_its_error_alone(
    start: Callable[..., Any], tmp_path: Path, fault: str
) -> None:
    few: dict[str, Any] = {
        "retries": 1,
        "env": "tiny:Echo",
        "silence_s": LONG_SILENCE_S if fault == "hanging" else 60.0,
    }
    undisturbed = evaluated(start(none_at_all).url, tmp_path / "undisturbed", **few)
    expected = outcomes(tmp_path / "undisturbed")
    [hit, *_] = [index for index, (success, _) in expected.items() if success]
    [word] = [
        str(episode.turns[0].observation).split()[-1]
        for episode in read_episodes(tmp_path / "undisturbed")
        if episode.episode_index == hit
    ]

    def of_that_word(number: int, messages: Messages) -> str | None:
        return fault if messages[-1]["content"].endswith(f" {word}") else None

    faulty = start(of_that_word)
    [result] = evaluated(faulty.url, tmp_path / "run", **few).results

    played = outcomes(tmp_path / "run")
    assert (result.episodes, result.errors, result.stop_reasons["policy_error"]) == (TOTAL, 1, 1)
    assert played.pop(hit)[0] is None  # no success, and no failure either
    assert played == {index: of for index, of in expected.items() if index != hit}
    right = sum(bool(success) for success, _ in played.values())
    assert result.success_rate == right / (TOTAL - 1)

    faulty.choose = none_at_all
    mended = gem_eval.resume(tmp_path / "run").summary
    assert mended.retried == 1
    assert figures(mended)["results"] == figures(undisturbed)["results"]
