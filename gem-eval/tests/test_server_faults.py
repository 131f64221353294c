"""What becomes of a run whose model's server dies, refuses, or was never there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Request
from gem.episode import Episode
from gem_eval import Evaluation, RunStopped
from gem_eval.errors import RequestRefusedError
from gem_eval.policies.openai import OpenAIPolicy

TOTAL = 60
Fingerprints = Callable[[Path], dict[tuple[str, int, int, int], str]]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def guess(server: Any, answers: Any) -> Any:
    """Return the server, which makes a guess."""
    server.answers = [answers.chat(r"\boxed{8}")]
    return server


@pytest.fixture
def came_back() -> Iterator[list[Any]]:
    """Return a list for servers that a test starts."""
    started: list[Any] = []
    yield started
    for server in started:
        server.close()


@pytest.fixture
def burnt_nothing(fingerprints: Fingerprints) -> Callable[[Path], None]:
    """Return a check of a run that stopped: what it kept is whole, and the rest can be played."""

    def check(folder: Path) -> None:
        kept = fingerprints(folder)
        assert 0 < len(kept) < TOTAL
        summary = gem_eval.resume(folder).summary
        assert (summary.episodes, summary.errors) == (TOTAL, 0)
        assert kept.items() <= fingerprints(folder).items()

    return check


def policy_at(url: str, **options: Any) -> OpenAIPolicy:
    return OpenAIPolicy(f"m@{url}", backoff_s=0.01, max_backoff_s=0.01, **options)


def settings(url: str, out: Path, **options: Any) -> dict[str, Any]:
    usual = {
        "envs": "tiny:Guess",
        "policies": f"openai:m@{url}",
        "policy_kwargs": {"openai": {"backoff_s": 0.01, "max_backoff_s": 0.01}},
        "episodes": TOTAL,
        "concurrency": 8,
        "max_turns": 3,
        "out": out,
    }
    return {**usual, **options}


def test_a_server_that_dies_and_comes_back_costs_no_episode(
    guess: Any, came_back: list[Any], tmp_path: Path, fingerprints: Fingerprints
) -> None:
    expected = gem_eval.evaluate(**settings(guess.url, tmp_path / "undisturbed"))
    policy = policy_at(guess.url)
    seen: list[Episode] = []

    def on_episode(episode: Episode) -> None:
        seen.append(episode)
        if len(seen) == 10:
            guess.close()

    async def run() -> Evaluation:
        given = settings(guess.url, tmp_path / "run", policies=policy, policy_kwargs={})
        running = asyncio.ensure_future(gem_eval.evaluate_async(**given, on_episode=on_episode))
        while not policy.state:
            await asyncio.sleep(0)
        assert 10 <= len(seen) < TOTAL
        came_back.append(type(guess)(at=guess.url))
        came_back[0].answers = guess.answers
        return await running

    found = asyncio.run(run())

    assert (found.summary.episodes, found.summary.errors) == (TOTAL, 0)
    played = fingerprints(tmp_path / "run")
    undisturbed = fingerprints(expected.path)
    assert sorted(played.values()) == sorted(undisturbed.values())


def test_a_server_that_does_not_come_back_stops_the_run_and_burns_nothing(
    guess: Any, came_back: list[Any], tmp_path: Path, burnt_nothing: Callable[[Path], None]
) -> None:
    def on_episode(episode: Episode) -> None:
        guess.close()

    given = settings(guess.url, tmp_path / "run", wait_for_server_s=0.2)
    with pytest.raises(RunStopped, match=r"waited for 0\.2 s.* of 60 episodes are kept"):
        gem_eval.evaluate(**given, on_episode=on_episode)

    came_back.append(type(guess)(at=guess.url))
    came_back[0].answers = guess.answers
    burnt_nothing(tmp_path / "run")


def test_a_server_that_fails_for_good_is_waited_for_and_burns_nothing(
    server: Any, answers: Any, tmp_path: Path, burnt_nothing: Callable[[Path], None]
) -> None:
    good = answers.chat(r"\boxed{8}")
    dead = answers.Answer(500, b"the engine is dead")
    server.answers = [good] * 40 + [dead]

    given = settings(server.url, tmp_path / "run", wait_for_server_s=0.2)
    with pytest.raises(
        RunStopped, match=r"answered 500: the engine is dead.*waited for 0\.2 s.* of 60 episodes"
    ):
        gem_eval.evaluate(**given)

    server.answers = [good]
    burnt_nothing(tmp_path / "run")


def test_a_server_that_fails_at_all_but_the_smallest_request_stops_the_run(
    server: Any, answers: Any, tmp_path: Path, fingerprints: Fingerprints
) -> None:
    good = answers.chat(r"\boxed{8}")
    failed = answers.Answer(500, b"out of memory")
    server.answers = [good, *[failed, good] * 9]  # a look follows each failure
    kwargs = {"openai": {"max_retries": 0}}

    given = settings(server.url, tmp_path / "run", concurrency=1, policy_kwargs=kwargs)
    with pytest.raises(RunStopped, match=r"500: out of memory.*So it was 5 times in a row"):
        gem_eval.evaluate(**given)

    assert fingerprints(tmp_path / "run") == {}


def test_a_server_that_was_never_there_stops_the_run_at_once(tmp_path: Path, server: Any) -> None:
    server.close()

    with pytest.raises(RunStopped, match=r"gave no answer.* 0 of 60 episodes are kept") as caught:
        gem_eval.evaluate(**settings(server.url, tmp_path / "my run"))

    assert str(caught.value).endswith(f"gem-env eval --resume '{tmp_path}/my run'")


def test_a_run_that_kept_nothing_says_what_to_do_about_a_mistyped_command(
    tmp_path: Path, server: Any
) -> None:
    server.close()

    with pytest.raises(RunStopped, match="Where the command was wrong, remove the folder"):
        gem_eval.evaluate(**settings(server.url, tmp_path / "run"))


def test_a_server_is_waited_for_before_the_first_episode_where_that_is_asked(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    loading = answers.Answer(503, b"loading")
    server.answers = [loading, loading, answers.chat(r"\boxed{8}")]

    found = gem_eval.evaluate(**settings(server.url, tmp_path / "run", wait_for_server_s=60))

    assert (found.summary.episodes, found.summary.errors) == (TOTAL, 0)


def test_a_refusal_for_good_is_found_before_the_first_episode(
    server: Any, answers: Any, tmp_path: Path, fingerprints: Fingerprints
) -> None:
    server.answers = [answers.Answer(401, b'{"error": {"message": "no such key"}}')]

    with pytest.raises(RunStopped, match=r"answered 401.*no such key.*Check the key"):
        gem_eval.evaluate(**settings(server.url, tmp_path / "run"))

    assert len(server.asked) == 1
    assert fingerprints(tmp_path / "run") == {}


def test_a_quota_that_ends_in_the_middle_stops_the_run_and_burns_nothing(
    server: Any, answers: Any, tmp_path: Path, burnt_nothing: Callable[[Path], None]
) -> None:
    spent = answers.Answer(429, json.dumps({"error": {"code": "insufficient_quota"}}).encode())
    good = answers.chat(r"\boxed{8}")
    server.answers = [good] * 40 + [spent]

    # One at a time: among several in flight an answer from before the end of the quota may come
    # after the first refusal, which is then an error of its episode and played again.
    with pytest.raises(RunStopped, match=r"answered 429.*So it was 5 times in a row"):
        gem_eval.evaluate(**settings(server.url, tmp_path / "run", concurrency=1))

    server.answers = [good]
    burnt_nothing(tmp_path / "run")


class Filtered:
    """Refuse the first prompts for what is in them, and meanwhile think about all others."""

    name = "filtered"

    def __init__(self, *, prompts: int) -> None:
        self.prompts = prompts
        self.refused: set[str] = set()
        self.are_refused = asyncio.Event()

    async def __call__(self, request: Request) -> str:
        prompt = request.messages[-1].text
        if len(self.refused) < self.prompts:
            self.refused.add(prompt)
        if len(self.refused) == self.prompts:
            self.are_refused.set()
        if prompt in self.refused:
            raise RequestRefusedError("answered 400: the prompt is filtered")
        await self.are_refused.wait()
        return prompt


def test_prompts_that_are_refused_alike_while_others_are_answered_are_errors_of_their_own(
    tmp_path: Path,
) -> None:
    filtered = Filtered(prompts=7)
    given = settings("", tmp_path / "run", envs="tiny:Echo", policies=filtered, policy_kwargs={})

    found = gem_eval.evaluate(**given)

    assert (found.summary.episodes, found.summary.errors) == (TOTAL, 7)
    again = gem_eval.resume(tmp_path / "run", policies=filtered).summary
    assert (again.episodes, again.errors, again.retried) == (TOTAL, 7, 7)


def test_a_plan_that_is_refused_whole_stops_the_run_however_few_it_has(tmp_path: Path) -> None:
    filtered = Filtered(prompts=TOTAL)
    given = settings("", tmp_path / "run", envs="tiny:Echo", policies=filtered, policy_kwargs={})

    with pytest.raises(RunStopped, match=r"filtered So it was 6 times in a row.*--max-refusals"):
        gem_eval.evaluate(**{**given, "episodes": 6})


def test_answers_of_the_cache_hide_no_server_that_refuses(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    given = settings(server.url, tmp_path / "first turns", cache=str(tmp_path / "cache"))
    server.answers = [answers.chat(r"\boxed{0}")]
    gem_eval.evaluate(**{**given, "max_turns": 1})
    server.answers = [answers.chat(""), answers.Answer(400, b"unknown option 'top_q'")]
    server.asked.clear()

    with pytest.raises(RunStopped, match="So it was 12 times in a row"):
        gem_eval.evaluate(**{**given, "out": tmp_path / "run"})


def test_an_option_that_every_request_has_stops_the_run(
    server: Any, answers: Any, tmp_path: Path, fingerprints: Fingerprints
) -> None:
    good = answers.chat(r"\boxed{8}")
    wrong = answers.Answer(400, b"unknown option 'top_q'")
    server.answers = [good, wrong]

    with pytest.raises(RunStopped, match=r"unknown option 'top_q'.*So it was 12 times in a row"):
        gem_eval.evaluate(**settings(server.url, tmp_path / "run"))

    assert fingerprints(tmp_path / "run") == {}


def test_an_address_that_is_no_model_stops_the_run(
    server: Any, answers: Any, tmp_path: Path, fingerprints: Fingerprints
) -> None:
    server.answers = [answers.Answer(200, b"<html>Welcome</html>")]

    with pytest.raises(RunStopped, match=r"not JSON: <html>Welcome.*So it was 12 times in a row"):
        gem_eval.evaluate(**settings(server.url, tmp_path / "run"))

    assert fingerprints(tmp_path / "run") == {}


def test_requests_that_are_refused_for_what_is_in_them_are_errors(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    texts = [f"image {number} is broken".encode() for number in range(TOTAL)]
    server.answers = [answers.chat(""), *(answers.Answer(400, text) for text in texts)]

    found = gem_eval.evaluate(**settings(server.url, tmp_path / "run", concurrency=1))

    assert (found.summary.episodes, found.summary.errors) == (TOTAL, TOTAL)


def test_refusals_that_others_follow_are_errors_of_their_episodes(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    good = answers.chat(r"\boxed{8}")
    flagged = answers.Answer(403, b"flagged")
    server.answers = [good, *[flagged] * 4, good]

    found = gem_eval.evaluate(**settings(server.url, tmp_path / "run", concurrency=1))

    assert (found.summary.episodes, found.summary.errors) == (TOTAL, 4)


def test_a_prompt_beyond_the_context_counts_as_unsolved(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    text = b'{"error": {"code": "context_length_exceeded"}}'
    server.answers = [answers.chat(r"\boxed{0}"), answers.Answer(400, text)]

    [result] = gem_eval.evaluate(**settings(server.url, tmp_path / "run")).summary.results

    assert (result.errors, result.success_rate) == (0, 0.0)
    assert result.stop_reasons == {"model_length": TOTAL}


def test_a_finished_run_is_resumed_without_its_server(guess: Any, tmp_path: Path) -> None:
    gem_eval.evaluate(**settings(guess.url, tmp_path / "run"))
    asked = len(guess.asked)

    assert gem_eval.resume(tmp_path / "run").summary.episodes == TOTAL

    assert len(guess.asked) == asked
