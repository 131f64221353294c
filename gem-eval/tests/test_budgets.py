"""Runs that may spend so much and no more, against a server that says what its answers cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem import Message, Reply, Request, Usage, read_episodes
from gem_eval import RunStopped, SettingsError
from gem_eval.budgets import Amount, Spending
from gem_eval.settings import settings_from

TOTAL = 30
PRICES = {"m": {"prompt": 1000, "completion": 5000}}
"""Each answer is of 11 and 5 tokens: it costs 0.036."""

Fingerprints = Callable[[Path], dict[tuple[str, int, int, int], str]]
Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def guess(server: Any, answers: Any) -> Any:
    """Return the server, which makes a guess; each episode asks it up to three times."""
    server.answers = [answers.chat(r"\boxed{8}")]
    return server


def settings(url: str, out: Path, **options: Any) -> dict[str, Any]:
    usual = {
        "envs": "tiny:Guess",
        "policies": f"openai:m@{url}",
        "episodes": TOTAL,
        "concurrency": 4,
        "max_turns": 3,
        "out": out,
    }
    return {**usual, **options}


def answered(server: Any) -> int:
    """Return how many requests the server has answered beside looks, which ask for one token."""
    return sum(asked.body.get("max_tokens") != 1 for asked in server.asked)


def turns(folder: Path) -> int:
    return sum(len(episode.turns) for episode in read_episodes(folder / "episodes.jsonl"))


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({"max_requests": 20}, "The budget of 20 requests is spent (--max-requests): 20 by now."),
        ({"max_total_tokens": 320}, "The budget of 320 tokens is spent (--max-total-tokens): 3"),
        ({"max_cost": 0.7, "prices": PRICES}, "The budget of 0.7 is spent (--max-cost): 0."),
    ],
)
def test_a_run_stops_when_its_budget_is_spent_and_goes_on_with_a_larger_one(
    guess: Any,
    tmp_path: Path,
    fingerprints: Fingerprints,
    budget: dict[str, Any],
    said: str,
) -> None:
    expected = gem_eval.evaluate(**settings(guess.url, tmp_path / "undisturbed"))
    guess.asked.clear()

    with pytest.raises(RunStopped) as caught:
        gem_eval.evaluate(**settings(guess.url, tmp_path / "run", **budget))

    assert str(caught.value).startswith(said)
    assert f"of {TOTAL} episodes are kept in {tmp_path}/run. Go on with more: " in str(caught.value)
    assert 20 <= answered(guess) <= 20 + 4
    kept = fingerprints(tmp_path / "run")
    assert 0 < len(kept) < TOTAL
    name = next(iter(budget))
    summary = gem_eval.resume(tmp_path / "run", **{name: 1000 * budget[name]}).summary
    assert (summary.episodes, summary.errors) == (TOTAL, 0)
    played = fingerprints(tmp_path / "run")
    assert kept.items() <= played.items()
    assert sorted(played.values()) == sorted(fingerprints(expected.path).values())


def test_requests_are_counted_before_they_are_made(guess: Any, tmp_path: Path) -> None:
    with pytest.raises(RunStopped):
        gem_eval.evaluate(**settings(guess.url, tmp_path / "run", max_requests=10, concurrency=30))

    assert answered(guess) == 10


def test_what_was_spent_before_counts(guess: Any, tmp_path: Path) -> None:
    with pytest.raises(RunStopped):
        gem_eval.evaluate(**settings(guess.url, tmp_path / "run", max_requests=20))
    assert turns(tmp_path / "run") < 20  # the others were of episodes in the middle
    guess.asked.clear()

    with pytest.raises(RunStopped, match="The budget of 30 requests"):
        gem_eval.resume(tmp_path / "run", max_requests=30)

    assert answered(guess) == 10


def test_what_is_in_the_log_counts_although_the_run_was_killed(guess: Any, tmp_path: Path) -> None:
    with pytest.raises(RunStopped):
        gem_eval.evaluate(**settings(guess.url, tmp_path / "run", max_requests=20))
    (tmp_path / "run" / "unlogged.json").unlink()
    guess.asked.clear()

    with pytest.raises(RunStopped):
        gem_eval.resume(tmp_path / "run", max_requests=30)

    logged = turns(tmp_path / "run")
    assert 0 < answered(guess) <= 30
    unlogged = json.loads((tmp_path / "run" / "unlogged.json").read_text())
    [[requests, prompt_tokens, completion_tokens]] = unlogged.values()
    assert logged + requests == 30
    assert (prompt_tokens, completion_tokens) == (11 * requests, 5 * requests)


def test_a_run_that_ends_leaves_nothing_unlogged(guess: Any, tmp_path: Path) -> None:
    gem_eval.evaluate(**settings(guess.url, tmp_path / "run", max_requests=1000))

    assert not (tmp_path / "run" / "unlogged.json").exists()


@pytest.mark.parametrize("text", ["", "[]", '{"m": [1, 2, 3, 4]}', '{"m": ["1", 2, 3]}'])
def test_what_is_unlogged_and_unreadable_is_one_line(guess: Any, tmp_path: Path, text: str) -> None:
    with pytest.raises(RunStopped):
        gem_eval.evaluate(**settings(guess.url, tmp_path / "run", max_requests=20))
    (tmp_path / "run" / "unlogged.json").write_text(text)

    with pytest.raises(gem_eval.RunFolderError, match=r"unlogged\.json cannot be read.* forgotten"):
        gem_eval.resume(tmp_path / "run", max_requests=30)


def test_a_budget_stays_until_there_is_another(guess: Any, tmp_path: Path) -> None:
    with pytest.raises(RunStopped):
        gem_eval.evaluate(**settings(guess.url, tmp_path / "run", max_requests=10, concurrency=1))
    with pytest.raises(RunStopped):
        gem_eval.resume(tmp_path / "run", max_requests=20)

    with pytest.raises(RunStopped, match="The budget of 20 requests is spent"):
        gem_eval.resume(tmp_path / "run")


def test_a_spent_budget_asks_nobody(guess: Any, tmp_path: Path) -> None:
    with pytest.raises(RunStopped):
        gem_eval.evaluate(
            **settings(guess.url, tmp_path / "run", max_requests=3, concurrency=1, max_turns=1)
        )
    guess.asked.clear()

    with pytest.raises(
        RunStopped,
        match=r"is spent \(--max-requests\): 3 by now\. 3 of 30 .*run --max-requests 6$",
    ):
        gem_eval.resume(tmp_path / "run")

    assert guess.asked == []


def test_a_budget_that_suffices_changes_nothing(guess: Any, tmp_path: Path) -> None:
    found = gem_eval.evaluate(
        **settings(guess.url, tmp_path / "run", max_turns=1, max_requests=TOTAL)
    )

    assert (found.summary.episodes, found.summary.errors) == (TOTAL, 0)
    assert gem_eval.resume(found.path).summary == found.summary


def test_requests_that_fail_are_not_counted(guess: Any, answers: Any, tmp_path: Path) -> None:
    good = answers.chat(r"\boxed{8}")
    wrong = [answers.Answer(400, f"image {number} is broken".encode()) for number in range(6)]
    guess.answers = [good, *wrong, good]

    with pytest.raises(RunStopped, match="9 of 30 episodes"):
        gem_eval.evaluate(
            **settings(guess.url, tmp_path / "run", max_requests=3, max_turns=1, concurrency=2)
        )

    assert answered(guess) == 9


def test_policies_that_ask_no_model_cost_nothing(guess: Any, tmp_path: Path) -> None:
    policies = ["random", "solver", "noop", f"openai:m@{guess.url}"]
    given = settings(guess.url, tmp_path / "run", policies=policies, max_turns=1, max_requests=5)

    with pytest.raises(RunStopped, match="95 of 120 episodes"):
        gem_eval.evaluate(**given)


def costly(request: Request) -> Reply:
    return Reply(Message("assistant", r"\boxed{8}"), usage=Usage(60, 40))


def test_a_policy_of_ones_own_counts_too(tmp_path: Path) -> None:
    given = settings("", tmp_path / "run", policies=costly, max_total_tokens=500, max_turns=1)

    with pytest.raises(RunStopped, match=r"The budget of 500 tokens is spent .*: 500 by now"):
        gem_eval.evaluate(**given)


def test_a_policy_that_tells_no_tokens_costs_none(tmp_path: Path) -> None:
    async def free(request: Request) -> str:
        return r"\boxed{8}"

    found = gem_eval.evaluate(
        **settings("", tmp_path / "run", policies=free, max_total_tokens=5, max_cost=1.0)
    )

    assert found.summary.episodes == TOTAL


def test_a_server_that_tells_no_tokens_cannot_be_held_to_them(
    server: Any, tmp_path: Path, answers: Any
) -> None:
    choice = {"message": {"role": "assistant", "content": "7"}, "finish_reason": "stop"}
    server.answers = [answers.Answer(body=json.dumps({"choices": [choice]}).encode())]

    with pytest.raises(RunStopped, match=r"does not say how many tokens .*--max-total-tokens"):
        gem_eval.evaluate(**settings(server.url, tmp_path / "run", max_total_tokens=500))


def test_tokens_without_a_price_cannot_be_held_to_a_cost(tmp_path: Path) -> None:
    given = settings("", tmp_path / "run", policies=costly, max_cost=5.0)

    with pytest.raises(
        RunStopped, match=r"'costly' have tokens without a price.* Write \"costly\""
    ):
        gem_eval.evaluate(**given)


def test_a_budget_of_money_needs_the_price_of_each_model(guess: Any, tmp_path: Path) -> None:
    for prices, known in (({}, "none"), (PRICES, "'m'")):
        given = settings(guess.url, tmp_path / "run", max_cost=5.0, prices=prices)
        given["policies"] = [f"openai:other@{guess.url}"]
        with pytest.raises(SettingsError) as caught:
            gem_eval.evaluate(**given)
        said = str(caught.value)
        assert f"the model 'other' has no price; those with one: {known}." in said
        assert 'Write "other" = {prompt = 0.15, completion = 0.6} into a TOML file' in said

    assert not (tmp_path / "run").exists()
    assert guess.asked == []


@pytest.mark.parametrize("name", ["max_requests", "max_total_tokens", "max_cost"])
def test_a_budget_of_nothing_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}=0 "):
        gem_eval.evaluate(**settings("", tmp_path / "run", policies="noop", **{name: 0}))


@pytest.mark.slow
def test_costs_are_in_the_summary_and_the_table(guess: Any, gem_env: Run, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("m = {prompt = 1000, completion = 5000}")
    policies = ("--policy", f"openai:m@{guess.url}", "--policy", "random")
    options = ("--episodes", "10", "--max-turns", "1", "--max-cost", "5", "--prices", "prices.toml")

    done = gem_env("eval", "tiny:Guess", *policies, *options, "--out", "run", COLUMNS="300")

    assert done.returncode == 0, done.stderr
    header, first, second = done.stdout.splitlines()[:3]
    assert "tokens in/out  cost" in header
    assert "110/50  0.36" in first
    assert " - " in second
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert [result["cost"] for result in summary["results"]] == [pytest.approx(0.36), None]
    report = gem_env("report", "run", COLUMNS="300")
    assert "110/50  0.36" in report.stdout


@pytest.mark.slow
def test_the_command_stops_in_one_line_and_says_how_to_go_on(
    guess: Any, gem_env: Run, tmp_path: Path
) -> None:
    policy = ("--policy", f"openai:m@{guess.url}", "--policy-kwargs", '{"api_key_env": "MY_KEY"}')
    options = ("--episodes", "10", "--max-turns", "1", "--max-requests", "4", "--out", "my run")

    done = gem_env("eval", "tiny:Guess", *policy, *options, MY_KEY="sk-planted")

    assert done.returncode == 1
    assert done.stderr == (
        "gem-env eval: The budget of 4 requests is spent (--max-requests): 4 by now. 4 of 10 "
        "episodes are kept in my run. Go on with more: gem-env eval --resume 'my run' "
        "--max-requests 8\n"
    )
    assert done.stdout.startswith("environment  policy")
    assert gem_env("eval", "--resume", "my run", "--max-requests", "10").returncode == 0
    texts = [file.read_text() for file in (tmp_path / "my run").iterdir()]
    assert len(texts) == 3
    assert all("sk-planted" not in text for text in texts)


def test_wrong_prices_are_one_line_and_status_2(gem_env: Run, tmp_path: Path) -> None:
    done = gem_env("eval", "tiny:Guess", "--policy", "noop", "--prices", "none.toml")

    assert done.returncode == 2
    assert "The file none.toml holds no prices: it cannot be read (No such file" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_budget_may_stop_a_run_that_is_to_be_decided(guess: Any, tmp_path: Path) -> None:
    policies = ["random", f"openai:m@{guess.url}"]
    given = settings(guess.url, tmp_path / "run", policies=policies, max_requests=5)

    with pytest.raises(RunStopped, match="The budget of 5 requests"):
        gem_eval.evaluate(**{**given, "until": "decided", "tolerance": 0.001})


def test_who_waits_for_the_last_of_a_budget_goes_on_where_a_request_fails() -> None:
    async def play() -> list[str]:
        given = {"envs": "tiny:Guess", "policies": ["noop"], "max_requests": 2}
        spending = Spending(settings_from(given), {})
        await spending.begin()
        await spending.begin()
        third = asyncio.ensure_future(spending.begin())
        await asyncio.sleep(0)
        spending.end()  # which failed
        await third
        spending.count("noop", Amount.of([None]))
        fourth = asyncio.ensure_future(spending.begin())
        await asyncio.sleep(0)
        spending.end()
        said = [str(fourth.done())]
        spending.count("noop", Amount.of([None]))
        spending.end()
        with pytest.raises(gem_eval.PolicyError) as caught:
            await fourth
        return [*said, str(caught.value)]

    waits, said = asyncio.run(play())

    assert waits == "False"
    assert said == "The budget of 2 requests is spent (--max-requests): 2 by now."


def test_what_a_policy_waits_for_is_told_under_a_budget_too(tmp_path: Path) -> None:
    class Thinker:
        state = "thinking hard"

        async def __call__(self, request: Request) -> str:
            await asyncio.Event().wait()
            return ""

    given = settings("", tmp_path / "run", policies=Thinker(), episodes=1, max_requests=5)

    [result] = gem_eval.evaluate(**given, policy_timeout_s=0.01).summary.results

    assert result.first_error is not None
    assert "policy (thinking hard) did not answer" in result.first_error


class Slow(gem.SingleTurnEnv):
    """Scores an answer, which takes a while."""

    def pose(self) -> str:
        return "What is 2 + 2?"

    def gold(self) -> str:
        return "4"

    async def agrade(self, answer: str) -> float:
        await asyncio.sleep(0.05)
        return float(answer == self.gold())


class Asked:
    """Answers after a while."""

    name = "asked"

    async def __call__(self, request: Request) -> str:
        await asyncio.sleep(0.01)
        return "4"


@pytest.mark.parametrize("spent", [10, 16, 3])
def test_what_is_paid_for_is_scored_and_kept(tmp_path: Path, spent: int) -> None:
    gem.register("demo:Slow", f"{__name__}:Slow")
    options: dict[str, Any] = {"policies": Asked(), "episodes": 40, "concurrency": 16}

    with pytest.raises(RunStopped, match=rf"{spent} of 40 episodes are kept"):
        gem_eval.evaluate("demo:Slow", out=tmp_path / "run", max_requests=spent, **options)
    with pytest.raises(RunStopped, match=rf"{spent + 5} of 40 episodes are kept"):
        gem_eval.resume(tmp_path / "run", policies=Asked(), max_requests=spent + 5)

    assert not (tmp_path / "run" / "unlogged.json").exists()


def test_a_run_that_is_decided_needs_no_budget(tmp_path: Path) -> None:
    options: dict[str, Any] = {"policies": ["solver", Asked()], "until": "decided"}
    run = gem_eval.evaluate("tiny:Guess", out=tmp_path / "run", **options)
    assert run.summary.decisions[0].verdict == "WORSE"

    again = gem_eval.resume(run.path, policies=["solver", Asked()], max_requests=1)

    assert again.summary.decisions == run.summary.decisions


def test_nobody_asks_again_where_what_is_spent_is_not_known(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    body = b'{"choices": [{"message": {"content": "7"}, "finish_reason": "stop"}]}'
    server.answers = [answers.Answer(body=body)]
    options = {"max_total_tokens": 1000, "policy_retries": 3, "concurrency": 1}

    with pytest.raises(RunStopped, match="cannot be held without") as caught:
        gem_eval.evaluate(**settings(server.url, tmp_path / "run", **options))

    assert answered(server) == 1
    assert "go on with" not in str(caught.value)


def test_the_turns_of_a_parent_are_paid_for(guess: Any, answers: Any, tmp_path: Path) -> None:
    guess.answers = [answers.chat(r"\boxed{1}")]
    far_off = {"episodes": 1, "env_kwargs": {"highest": 1000}}
    run = gem_eval.evaluate(**settings(guess.url, tmp_path / "run", **far_off))
    before = answered(guess)

    children = gem_eval.branch(
        run.path, 1, f"openai:m@{guess.url}", turn=2, repeats=3, out=tmp_path / "children"
    )
    longer = gem_eval.resume(children.path, episodes=5, max_total_tokens=5 * 16)

    assert longer.summary.episodes == 5
    assert answered(guess) - before == 5  # a turn each: the others are the parent's
