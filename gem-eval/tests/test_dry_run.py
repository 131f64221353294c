"""What an evaluation would do: compared with what it then does."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem_eval.preview import Preview, preview

KEY = "sk-0123456789abcdef"
OWN = """
import gem
from gem import ImagePart, TextPart

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


class Hostile(gem.Env):
    "Says what a terminal should not be told, and shows an image."

    max_turns = 4
    tools = (TOOL,)

    def reset(self, seed=None):
        image = ImagePart(b"\\x89PNG" * 200, "image/png")
        return (TextPart("Look.\\x1b[2J\\u202e\\ud800<script>"), image), {"suffix": "Now."}

    def step(self, action):
        raise AssertionError("a dry run takes no step")


class Finished(gem.Env):
    "Has its prompt finished."

    prompt_is_finished = True
    max_turns = 1

    def reset(self, seed=None):
        return "<|user|>Say \\x07 7.<|assistant|>", {}

    def step(self, action):
        return gem.Step("", 1.0, True, False, {})


class Failing(gem.Env):
    max_turns = 2

    def reset(self, seed=None):
        raise RuntimeError("the wheel\\ncame off")

    def step(self, action):
        return gem.Step("", 1.0, True, False, {})


class Once(gem.Env):
    "Is made once, and not again."

    max_turns = 3
    made = 0

    def __init__(self):
        Once.made += 1
        if Once.made > 2:
            raise SystemExit("made too often")

    def reset(self, seed=None):
        return "Go.", {}

    def step(self, action):
        return gem.Step("", 1.0, True, False, {})
"""


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def dry_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gem_env_here: Command
) -> Iterator[Command]:
    """Return a function that runs `gem-env eval --dry-run` beside a file of environments."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "own.py").write_text(OWN)

    yield partial(gem_env_here, "eval", "--dry-run")
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert left <= {"own.py", "prices.toml", "run"}


def previewed(**options: Any) -> Preview:
    return asyncio.run(preview(options))


def test_the_first_request_is_the_one_that_a_run_sends(
    server: Any, answers: Any, tmp_path: Path
) -> None:
    server.answers = [answers.chat(r"\boxed{8}")]
    kwargs = {"temperature": 0.5, "max_tokens": 64, "system": "Be brief."}
    options: dict[str, Any] = {
        "envs": ["tiny:Guess", "tiny:Numbered"],
        "policies": [f"openai:m@{server.url}"],
        "policy_kwargs": {"openai": kwargs},
        "episodes": 3,
        "seed": 7,
        "concurrency": 1,
    }
    found = previewed(**options, cache=str(tmp_path / "cache"))
    assert server.asked == []
    assert not (tmp_path / "cache").exists()

    gem_eval.evaluate(**options, out=tmp_path / "run")

    first_of_each: dict[bool, Any] = {}
    for asked in server.asked[1:]:  # after the look
        text = asked.body["messages"][1]["content"]
        first_of_each.setdefault("Say" in text, asked)
    sent = [forecast.request for forecast in found.forecasts]
    assert [request and request["body"] for request in sent] == [
        asked.body for asked in first_of_each.values()
    ]
    assert [request and request["url"] for request in sent] == [
        server.url + "/chat/completions"
    ] * 2
    [guess, numbered] = found.environments
    assert guess.prompt is not None
    assert guess.prompt["messages"] == server.asked[1].body["messages"][1:]
    assert numbered.starts[0].task is not None


def test_the_plan_is_that_of_the_run(server: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"envs": "tiny:Lamps", "policies": ["random", "noop"], "repeats": 2}
    found = previewed(**options, episodes=3)

    run = gem_eval.evaluate(**options, episodes=3, out=tmp_path / "run")

    [env] = found.environments
    episodes = sorted(run.episodes(), key=lambda episode: (episode.episode_index, episode.repeat))
    played = [episode.seed for episode in episodes if episode.policy == "noop"]
    assert (found.episodes, env.episodes) == (12, 6)
    assert [start.seed for start in env.starts] == played[:5]


def test_requests_tokens_and_money_are_estimated() -> None:
    prices = {"m": {"prompt": 1_000_000, "completion": 2_000_000}}
    kwargs = {"max_tokens": 10}
    policies = ["openai:m@http://localhost:1/v1", "random", "openai:n@http://localhost:1/v1"]
    found = previewed(
        envs="tiny:Guess",
        policies=policies,
        policy_kwargs={policies[0]: kwargs},
        episodes=2,
        max_turns=3,
        prices=prices,
    )

    [env] = found.environments
    assert env.prompt is not None
    characters = len(env.prompt["messages"][0]["content"])
    first = -(-characters // 4)
    priced, free, unpriced = found.forecasts
    # Three turns: no answer before the first, ten tokens before the second, twenty before the last.
    assert priced.requests == 6
    assert priced.prompt_tokens == 2 * (first + (first + 10) + (first + 20))
    assert priced.completion_tokens == 60
    assert priced.cost == priced.prompt_tokens + 2 * 60
    assert (free.requests, free.prompt_tokens, free.cost, free.request) == (None, None, None, None)
    assert (unpriced.prompt_tokens, unpriced.completion_tokens) == (6 * first, None)
    assert unpriced.cost is None


def test_the_table_is_followed_by_the_prompts(dry_run: Command, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("m = {prompt = 1, completion = 1}")
    options = ("--policy", "openai:m@http://localhost:1/v1", "--policy", "random", "--repeats", "2")

    done = dry_run("tiny:Guess", "tiny:Numbered", *options, "--prices", "prices.toml")

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "A dry run of 424 episodes, seed 0, each seed 2 times."
    assert lines[2].split() == [
        *("environment", "policy", "episodes", "requests"),
        *("prompt", "tokens", "answer", "tokens", "cost"),
    ]
    assert lines[3].split()[:3] == ["tiny:Guess", "m", "200"]
    assert lines[4].split()[3:] == ["-", "-", "-", "-"]
    assert "Altogether at most " in done.stdout
    assert "Estimated: as many requests as an environment allows turns" in done.stdout
    assert "The first request, of seed " in done.stdout
    assert ", task " in done.stdout
    assert "m: POST http://localhost:1/v1/chat/completions\n{\n" in done.stdout
    assert done.stdout.endswith("\nNo model was asked, and no folder was made.\n")
    assert KEY not in done.stdout


def test_an_environment_without_a_limit_of_turns_is_said(dry_run: Command) -> None:
    policy = ("--policy", "openai:m@http://localhost:1/v1")

    done = dry_run("tiny:Silent", *policy)

    assert "tiny:Silent has no limit of turns. --max-turns gives it one.\n" in done.stdout
    assert "tiny:Silent: no limit of turns; seeds " in done.stdout
    assert "Altogether" not in done.stdout


def test_a_hostile_prompt_is_shown_as_text(dry_run: Command) -> None:
    done = dry_run("./own.py:Hostile", "--policy", "openai:m@http://localhost:1/v1")

    assert done.returncode == 0
    assert not set(done.stdout) & {"\x1b", "\u202e", "\ud800"}
    assert "\\u001b[2J" in done.stdout
    assert "base64,iVBORw==" not in done.stdout
    assert "..." in done.stdout
    assert '[tool] {"type": "function", "function": {"name": "look"' in done.stdout


def test_an_image_is_whole_in_json(dry_run: Command) -> None:
    done = dry_run("./own.py:Hostile", "--policy", "openai:m@http://localhost:1/v1", "--json")

    plain = json.loads(done.stdout)
    [forecast] = plain["forecasts"]
    [message] = forecast["request"]["body"]["messages"]
    image = message["content"][1]["image_url"]["url"]
    assert len(image) > 1000
    assert plain["environments"][0]["prompt"]["messages"] == [message]
    assert plain["environments"][0]["max_turns"] == 4
    texts = [part.get("text", "") for part in message["content"]]
    tools = json.dumps(forecast["request"]["body"]["tools"])
    characters = len(tools) + sum(map(len, texts))
    assert forecast["prompt_tokens"] == 400 * -(-characters // 4)


def test_a_finished_prompt_is_shown(dry_run: Command) -> None:
    done = dry_run("./own.py:Finished", "--policy", "openai:m@http://localhost:1/v1")

    assert "\n<|user|>Say \\x07 7.<|assistant|>\n" in done.stdout
    assert "POST http://localhost:1/v1/completions\n" in done.stdout


def test_an_environment_that_fails_is_told_and_the_status_is_1(dry_run: Command) -> None:
    done = dry_run("tiny:Guess", "./own.py:Failing", "--policy", "openai:m@http://localhost:1/v1")

    assert done.returncode == 1
    assert "It fails: RuntimeError: the wheel came off (own.py, line " in done.stdout
    assert done.stdout.count("POST ") == 1


def test_one_that_cannot_be_made_again_has_no_known_limit(dry_run: Command) -> None:
    done = dry_run("./own.py:Once", "--policy", "noop", "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["environments"][0]["max_turns"] is None


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--resume", "my run"), "--dry-run and --resume my run were given.*report 'my run'"),
        (("--policy", "random"), "needs an environment's id"),
        (("tiny:Guess",), "needs --policy"),
        (("tiny:Nothing", "--policy", "random"), "tiny:Nothing"),
        (("tiny:Guess", "--policy", "openai:m"), "names no model and address"),
    ],
)
def test_wrong_use_is_one_line(dry_run: Command, arguments: tuple[str, ...], what: str) -> None:
    done = dry_run(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert re.search(what, line)
