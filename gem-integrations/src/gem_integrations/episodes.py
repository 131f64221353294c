"""Play one episode by token ids, for a framework that supplies the model and takes the tokens.

Knows nothing about any framework. An environment that fails costs its episode; a model that fails
is the framework's to see, and its exception goes there as it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

import gem
from gem.content import Message
from gem.errors import BadArguments, GemError
from gem.planning import Assignment
from gem.tokens import ChatCodec, Sampled, TokenPolicy, Trajectory
from gem.tokens.codec import Tokenizer

__all__ = ["EnvOptions", "Row", "UnplayableError", "one_row", "play"]


class UnplayableError(GemError):
    """An episode could not go on for a reason that every other episode has too."""


class EnvOptions(BaseModel):
    """What an adapter is told about its environment; the same names for every framework.

    `env_kwargs` and `wrappers` are those of `gem.make`. `system_prompt` opens every episode.
    `max_turns` ends an episode as truncated, `max_turn_tokens` cuts an answer.
    `template_options` go to the chat template (`{"enable_thinking": False}`), and `on_rewrite` is
    the codec's: "refuse", or "keep" for templates that drop earlier reasoning. `tool_format` is the
    codec's too: "template" reads tool calls as the chat template asks for them.
    `step_timeout_s` is seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    env_id: str
    env_kwargs: Mapping[str, Any] = {}
    wrappers: tuple[Any, ...] = ()
    system_prompt: str | None = None
    max_turns: int | None = None
    max_turn_tokens: int | None = None
    on_rewrite: Literal["refuse", "keep"] = "refuse"
    template_options: Mapping[str, Any] = {}
    tool_format: str = "template"
    step_timeout_s: float | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> EnvOptions:
        """Return the options that a configuration states. Raises BadArguments for others."""
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            problems = [
                f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()
            ]
            raise BadArguments(
                f"An adapter's options do not fit: {'; '.join(problems)}. They are "
                f"{', '.join(cls.model_fields)}.",
                subject="options",
                problems=problems,
            ) from None

    @property
    def layers(self) -> tuple[Any, ...]:
        """The wrappers, innermost first."""
        if self.system_prompt is None:
            return self.wrappers
        return (*self.wrappers, {"id": "system_prompt", "text": self.system_prompt})

    def codec(self, tokenizer: Tokenizer) -> ChatCodec:
        """Return the codec for a tokenizer; it serves every episode."""
        return ChatCodec(
            tokenizer,
            on_rewrite=self.on_rewrite,
            template_options=self.template_options,
            tool_format=self.tool_format,
        )


Engine = Callable[[gem.Request], Awaitable[Sampled]]
"""From a request, whose `prompt_ids` and `token_budget` are set, to what the model said. It may
say nothing at all: the episode then ends where it was, truncated."""


async def play(
    options: EnvOptions,
    engine: Engine,
    codec: ChatCodec,
    *,
    seed: int,
    task: int | None = None,
    repeat: int = 0,
    max_response_tokens: int | None = None,
    max_length: int | None = None,
) -> gem.Episode:
    """Play one episode on the running event loop: the one that `seed` and `task` fix.

    Raises what the engine raised; UnplayableError where the codec refuses.
    """
    watched = _Watched(engine)
    policy = TokenPolicy(
        watched,
        codec,
        max_turn_tokens=options.max_turn_tokens,
        max_response_tokens=max_response_tokens,
        max_length=max_length,
    )
    run = gem.rollout(
        policy,
        options.env_id,
        plan=[Assignment(0, 0, repeat, seed, task)],
        env_kwargs=options.env_kwargs,
        wrappers=options.layers,
        max_turns=options.max_turns,
        step_timeout_s=options.step_timeout_s,
    )
    [episode] = [episode async for episode in run]
    if watched.error is not None:
        raise watched.error
    if episode.stop_reason == "policy_error" and not watched.is_silent:
        raise UnplayableError(f"An episode of {options.env_id} cannot be played: {episode.error}")
    return episode


class _Watched:
    """An engine, with what became of it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.error: BaseException | None = None
        self.is_silent = False

    async def __call__(self, request: gem.Request) -> Sampled:
        try:
            sampled = await self._engine(request)
        except BaseException as error:
            self.error = error
            raise
        self.is_silent = len(sampled.ids) == 0
        return sampled


class Row(NamedTuple):
    """An episode as one prompt and one response, for trainers that take whole conversations.

    The response begins with the model's first token: `response_mask` is 1 where the model said
    it, `response_logprobs` 0.0 where it did not, and `spans` are first and one past last position
    of each turn in `ids`. An episode in which the model never spoke has a response of one token
    that nobody said, mask 0, and no rewards.
    """

    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]
    response_logprobs: list[float] | None
    rewards: list[float]
    spans: list[tuple[int, int]]
    episode: gem.Episode

    @property
    def ids(self) -> list[int]:
        """All tokens."""
        return self.prompt_ids + self.response_ids

    @property
    def logprobs(self) -> list[float] | None:
        """The logprobs of all tokens, 0.0 where the model did not say them."""
        told = self.response_logprobs
        return None if told is None else [0.0] * len(self.prompt_ids) + told


def one_row(episode: gem.Episode, codec: ChatCodec) -> Row:
    """Return an episode as one row. Raises BadArguments where its history was rewritten."""
    if not episode.turns:
        prompt = codec.opening([Message("user", "")])
        return Row(prompt, [min(codec.stop_ids)], [0], [0.0], [], [], episode)
    sequence = Trajectory.of(episode).sequence
    logprobs = sequence.response_logprobs
    return Row(
        prompt_ids=list(sequence.prompt_ids),
        response_ids=list(sequence.response_ids),
        response_mask=list(sequence.response_mask),
        response_logprobs=None if logprobs is None else list(logprobs),
        rewards=list(sequence.rewards),
        spans=list(sequence.spans),
        episode=episode,
    )
