"""Episodes by token ids for a framework that supplies the model: what ends them, what is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem.testing.envs import Lamps
from gem.tokens import Sampled
from gem_integrations.episodes import EnvOptions, Row, UnplayableError, one_row, play
from gem_integrations.stepping import SteppedEpisode

GAME = "bridged:Lamps"
END = 1


class Tokenizer:
    """Letters as tokens. With `forgets`, its template drops earlier reasoning, up to "so"."""

    eos_token_id: int | None = END
    all_special_ids: tuple[int, ...] = (END,)

    def __init__(self, *, forgets: bool = False) -> None:
        self.forgets = forgets

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return list(text.replace("<end>", "\x01").encode())

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        return bytes(ids).decode()

    def apply_chat_template(
        self, chat: list[dict[str, Any]], *, add_generation_prompt: bool, **options: Any
    ) -> str:
        last = max(at for at, each in enumerate(chat) if each["role"] == "user")
        kept = [
            each["content"].rpartition("so")[2] if self.forgets and at < last else each["content"]
            for at, each in enumerate(chat)
        ]
        roles = [each["role"] for each in chat]
        shown = "".join(f"{role}:{text}<end>" for role, text in zip(roles, kept, strict=True))
        return shown + "assistant:" if add_generation_prompt else shown


@pytest.fixture(autouse=True)
def _game() -> None:
    gem.register(GAME, Lamps)


def played(
    engine: Callable[[gem.Request], Any], *, forgets: bool = False, **options: Any
) -> tuple[gem.Episode, Row]:
    limits = {name: options.pop(name) for name in ("max_length",) if name in options}
    chosen = EnvOptions.of({"env_id": GAME, **options})
    codec = chosen.codec(Tokenizer(forgets=forgets))  # type: ignore[arg-type]

    async def asked(request: gem.Request) -> Sampled:
        said: Sampled = engine(request)
        return said

    episode = asyncio.run(play(chosen, asked, codec, seed=3, **limits))
    return episode, one_row(episode, codec)


def light(request: gem.Request) -> Sampled:
    said = [*f"{request.turn + 1}".encode(), END]
    return Sampled(said, [-0.5] * len(said), "stop")


def test_a_row_is_what_the_model_was_given_and_said() -> None:
    episode, row = played(light, system_prompt="Call it.")

    assert bytes(row.prompt_ids).startswith(b"system:Call it.\x01user:")
    assert bytes(row.response_ids).startswith(b"1\x01")
    assert len(row.response_ids) == len(row.response_mask) == len(row.response_logprobs or ())
    assert row.logprobs == [0.0] * len(row.prompt_ids) + (row.response_logprobs or [])
    said = [bytes(row.ids[start:stop]) for start, stop in row.spans]
    assert said == [b"%d\x01" % (at + 1) for at in range(len(episode.turns))]
    assert sum(row.rewards) == episode.total_reward


def test_the_seed_fixes_the_episode() -> None:
    assert played(light)[1]._replace(episode=None) == played(light)[1]._replace(episode=None)  # type: ignore[arg-type]


def test_what_the_engine_raises_is_raised_as_it_is() -> None:
    def broken(request: gem.Request) -> Sampled:
        raise ConnectionResetError("the engine is gone")

    with pytest.raises(ConnectionResetError, match="the engine is gone"):
        played(broken)


def test_an_engine_that_says_nothing_ends_the_episode_and_no_more() -> None:
    episode, row = played(lambda request: Sampled([], None, "other"))

    assert (episode.stop_reason, episode.truncated) == ("policy_error", True)
    assert (row.response_mask, row.rewards, row.logprobs) == ([0], [], [0.0] * len(row.ids))


def test_a_template_that_rewrites_is_refused_for_all_episodes_or_kept() -> None:
    def think(request: gem.Request) -> Sampled:
        return Sampled([*b"one is out, so 1", END], None, "stop")

    with pytest.raises(UnplayableError, match="drops reasoning"):
        played(think, forgets=True)
    episode, row = played(think, forgets=True, on_rewrite="keep", max_turns=3)
    assert (len(episode.turns), len(row.spans), row.logprobs) == (3, 3, None)


def test_an_environment_that_cannot_begin_gives_a_row_that_nobody_said() -> None:
    def fails(**kwargs: Any) -> gem.Env:
        raise OSError("no board")

    gem.register("bridged:Broken", fails)
    episode, row = played(light, env_id="bridged:Broken")

    assert episode.stop_reason == "env_error"
    assert (row.response_ids, row.response_mask, row.rewards, row.spans) == ([END], [0], [], [])


def test_without_a_token_that_ends_a_turn_a_row_that_nobody_said_has_another() -> None:
    class Endless(Tokenizer):
        eos_token_id = None
        all_special_ids = ()

    options = EnvOptions.of({"env_id": GAME})
    codec = options.codec(Endless())  # type: ignore[arg-type]

    async def silent(request: gem.Request) -> Sampled:
        return Sampled([])

    row = one_row(asyncio.run(play(options, silent, codec, seed=3)), codec)

    assert codec.stop_ids == frozenset()
    assert (row.response_ids, row.response_mask, row.rewards) == ([0], [0], [])


def test_limits_end_an_episode_with_the_model_speaking() -> None:
    opening = len(played(light)[1].prompt_ids)
    episode, row = played(light, max_length=opening + 40)

    assert len(row.ids) <= opening + 40
    assert row.response_mask[-1] == 1
    assert episode.truncated


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"env": GAME}, "env_id: Field required; env: Extra inputs are not permitted"),
        ({"env_id": GAME, "max_turns": "many"}, "max_turns: Input should be a valid integer"),
        ({"env_id": GAME, "on_rewrite": "split"}, "on_rewrite: "),
        ({"env_id": GAME, "max_turns": 0}, "max_turns: Input should be greater than or equal to 1"),
        ({"env_id": GAME, "max_turns": True}, "max_turns: Value error, Input should be a number"),
        ({"env_id": GAME, "max_turn_tokens": -3}, "max_turn_tokens: Input should be greater than"),
        ({"env_id": GAME, "step_timeout_s": -1}, "step_timeout_s: Input should be greater than 0"),
        ({"env_id": GAME, "step_timeout_s": 0}, "step_timeout_s: Input should be greater than 0"),
        ({"env_id": GAME, "step_timeout_s": True}, "step_timeout_s: Value error, Input should be"),
        ({"env_id": GAME, "step_timeout_s": float("nan")}, "step_timeout_s: Input should be"),
        (
            {"env_id": GAME, "tool_format": "nope"},
            "tool_format: Value error, 'nope' is not one of template, text, hermes, ",
        ),
    ],
)
def test_options_that_do_not_fit_are_named_with_those_that_do(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadArguments) as caught:
        EnvOptions.of(options)

    assert told in str(caught.value)
    assert "They are env_id, env_kwargs, wrappers, system_prompt" in str(caught.value)


@pytest.mark.parametrize("tool_format", ["template", "text", "hermes", "pythonic"])
def test_options_may_be_what_a_command_line_gives(tool_format: str) -> None:
    options = EnvOptions.of(
        {"env_id": GAME, "max_turns": "3", "step_timeout_s": "0.5", "tool_format": tool_format}
    )

    assert (options.max_turns, options.step_timeout_s) == (3, 0.5)
    assert options.tool_format == tool_format


# an episode that the framework steps


def stepped(*, forgets: bool = False, **options: Any) -> SteppedEpisode:
    chosen = EnvOptions.of({"env_id": GAME, **options})
    return SteppedEpisode(chosen, chosen.codec(Tokenizer(forgets=forgets)), seed=3)  # type: ignore[arg-type]


async def finish(live: SteppedEpisode) -> list[float]:
    """Answer to the end, and return the reward after each answer."""
    rewards = []
    while request := await live.request():
        live.answer(light(request))
        await live.request()
        rewards.append(live.reward)
    return rewards


def test_a_stepped_episode_is_the_one_that_is_played() -> None:
    live = stepped(system_prompt="Call it.", max_turns=3)
    rewards = asyncio.run(finish(live))

    episode, row = played(light, system_prompt="Call it.", max_turns=3)
    assert live.episode is not None
    assert live.episode.fingerprint() == episode.fingerprint()
    assert rewards == row.rewards


def test_a_question_stays_until_it_is_answered() -> None:
    async def scenario() -> tuple[object, object, float]:
        live = stepped()
        first = await live.request()
        again = await live.request()
        reward = live.reward
        await live.cancel()
        return first, again, reward

    first, again, reward = asyncio.run(scenario())
    assert first is again
    assert reward == 0.0


def test_an_answer_without_a_word_ends_it_and_earns_nothing() -> None:
    async def scenario() -> SteppedEpisode:
        live = stepped()
        for said in (light, lambda request: Sampled([], None, "other")):
            request = await live.request()
            assert request is not None
            live.answer(said(request))
        assert await live.request() is None
        return live

    live = asyncio.run(scenario())
    assert live.episode is not None
    assert (len(live.episode.turns), live.reward) == (1, 0.0)


def test_a_stepped_episode_that_cannot_go_on_says_so_whenever_it_is_asked() -> None:
    async def scenario() -> None:
        live = stepped(forgets=True)
        await live.request()
        live.answer(Sampled([*b"one is out, so 1", END], None, "stop"))
        for _ in range(2):
            with pytest.raises(UnplayableError, match="drops reasoning"):
                await live.request()

    asyncio.run(scenario())


@pytest.mark.parametrize("begun", [False, True])
def test_a_stepped_episode_that_is_left_leaves_nothing_running(begun: bool) -> None:
    async def scenario() -> set[asyncio.Task[Any]]:
        live = stepped()
        if begun:
            await live.request()
        await live.cancel()
        return asyncio.all_tasks()

    assert len(asyncio.run(scenario())) == 1
