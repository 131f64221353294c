"""Play one episode by token ids, for a framework that supplies the model and takes the tokens.

Knows nothing about any framework. An environment that fails costs its episode; a model that fails
is the framework's to see, and its exception goes there as it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
)

import gem
from gem.content import Message
from gem.conversation import Conversation
from gem.errors import BadArguments, problems_of
from gem.parsing import FAMILIES
from gem.rollouts import PlannedEpisode
from gem.tokens import ChatCodec, Sampled, Tokenizer, TokenPolicy, Trajectory
from gem_integrations.faults import (
    Faults,
    UnplayableError,
    holds_images,
    refused_images,
    try_to_begin,
)
from gem_integrations.images import ImageCodec, Processor
from gem_integrations.seats import refused_seats

__all__ = ["EnvOptions", "Limit", "Row", "UnplayableError", "filler_of", "one_row", "play"]


def _not_bool(value: Any) -> Any:
    if isinstance(value, bool):  # which pydantic reads as 1 or 0
        raise ValueError("Input should be a number, and no bool")  # pydantic takes no TypeError
    return value


Limit = Annotated[int, BeforeValidator(_not_bool), Field(ge=1)]
"""A count of turns or tokens, from 1 on."""
Seconds = Annotated[float, BeforeValidator(_not_bool), Field(gt=0)]

Options = TypeVar("Options", bound="EnvOptions")


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
    max_turns: Limit | None = None
    max_turn_tokens: Limit | None = None
    on_rewrite: Literal["refuse", "keep"] = "refuse"
    template_options: Mapping[str, Any] = {}
    tool_format: str = "template"
    step_timeout_s: Seconds | None = None

    _faults: Faults = PrivateAttr(default_factory=Faults)
    """Shared by the copies of these options, so that it knows all episodes of an adapter."""
    _seats: tuple[str, ...] = PrivateAttr(default=("agent",))

    # Here, as all others are: the codec, which knows too, is made once the model is loaded.
    @field_validator("tool_format")
    @classmethod
    def _is_known(cls, tool_format: str) -> str:
        known = ("template", "text", *FAMILIES)
        if tool_format not in known:
            raise ValueError(f"{tool_format!r} is not one of {', '.join(known)}")
        return tool_format

    @classmethod
    def of(cls: type[Options], given: Mapping[str, Any]) -> Options:
        """Return the options that a configuration states. Raises BadArguments for others."""
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            problems = problems_of(error)
            raise BadArguments(
                f"An adapter's options do not fit: {'; '.join(problems)}. They are "
                f"{', '.join(cls.model_fields)}.",
                subject="options",
                problems=problems,
            ) from None

    def try_out(
        self, framework: str, *, takes_images: bool = False, takes_seats: bool = False
    ) -> bool:
        """Make and reset one environment, as an adapter does before anything is trained.

        Return whether it shows an image at once; `seats` then has the names of its seats. Raises as
        `try_to_begin` does, and BadArguments where it shows one and the adapter, or its model,
        takes none, or has several seats and the adapter takes one.
        """
        begun = try_to_begin(
            self.env_id,
            env_kwargs=self.env_kwargs,
            wrappers=self.layers,
            timeout_s=self.step_timeout_s,
        )
        if len(begun.seats) > 1 and not takes_seats:
            raise refused_seats(self.env_id, begun.seats, framework)
        self._seats = begun.seats
        shows_images = holds_images(begun.observation)
        if shows_images and not takes_images:
            raise refused_images(self.env_id, framework)
        return shows_images

    @property
    def seats(self) -> tuple[str, ...]:
        """The names of the seats, once the environment was tried."""
        return self._seats

    @property
    def faults(self) -> Faults:
        """How the episodes of these options end in this process."""
        return self._faults

    @property
    def layers(self) -> tuple[Any, ...]:
        """The wrappers, innermost first."""
        if self.system_prompt is None:
            return self.wrappers
        return (*self.wrappers, {"id": "system_prompt", "text": self.system_prompt})

    def codec(self, tokenizer: Tokenizer) -> ChatCodec:
        """Return the codec for a tokenizer; it serves every episode."""
        return ChatCodec(tokenizer, **self._of_codecs)

    def image_codec(
        self, processor: Processor, *, processor_options: Mapping[str, Any] | None = None
    ) -> ImageCodec:
        """Return the codec for a model that sees; it serves every episode, without images too."""
        return ImageCodec(processor, processor_options=processor_options, **self._of_codecs)

    @property
    def _of_codecs(self) -> dict[str, Any]:
        return {
            "on_rewrite": self.on_rewrite,
            "template_options": self.template_options,
            "tool_format": self.tool_format,
        }


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

    Of several seats the engine answers for each; a `Request` says for which. A limit in tokens is
    then of each seat's own conversation.

    Raises what the engine raised; UnplayableError where the codec refuses, and where this episode
    is one of many that the environment ended by the same kind of error (`Faults`).
    """
    watched = _Watched(engine, codec)
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
        plan=[PlannedEpisode(0, 0, repeat, seed, task)],
        env_kwargs=options.env_kwargs,
        wrappers=options.layers,
        max_turns=options.max_turns,
        step_timeout_s=options.step_timeout_s,
    )
    number = options.faults.begin()
    try:
        [episode] = [episode async for episode in run]
        # First: a rollout makes any error of a policy a record, and this one is the framework's.
        if watched.error is not None:
            raise watched.error
        if episode.stop_reason == "policy_error" and not watched.is_silent:
            raise UnplayableError(
                f"An episode of {options.env_id} cannot be played: {episode.error}"
            )
        if episode.stop_reason != "policy_error":  # a silent engine says nothing about faults
            _count(options, number, episode)
    finally:
        options.faults.leave(number)
    return episode


def _count(options: EnvOptions, number: int, episode: gem.Episode) -> None:
    """Count how an episode ended. Raises UnplayableError where all of them end so."""
    shared = options.faults.end(
        number,
        env_id=options.env_id,
        start=(episode.seed, episode.task),
        error=episode.error if episode.is_error else None,
    )
    if shared is not None:
        raise shared


class _Watched:
    """An engine, with what became of it."""

    def __init__(self, engine: Engine, codec: ChatCodec) -> None:
        self._engine = engine
        self._codec = codec
        self.error: BaseException | None = None
        self.is_silent = False

    async def __call__(self, request: gem.Request) -> Sampled:
        try:
            sampled = await self._engine(request)
        except BaseException as error:
            self.error = error
            raise
        if isinstance(self._codec, ImageCodec):
            sampled = self._codec.cut(sampled)
        self.is_silent = len(sampled.ids) == 0
        return sampled


class Row(NamedTuple):
    """An episode as one prompt and one response, for trainers that take whole conversations.

    The response begins with the model's first token: `response_mask` is 1 where the model said
    it, `response_logprobs` 0.0 where it did not, and `spans` are first and one past last position
    of each turn in `ids`. An episode in which the model never spoke has a response of one token
    that nobody said, mask 0, and no rewards. `images` are those that `ids` have tokens for, in
    order and as `ImageCodec.images` returns them; there are none without such a codec.
    """

    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]
    response_logprobs: list[float] | None
    rewards: list[float]
    spans: list[tuple[int, int]]
    episode: gem.Episode
    images: Sequence[Any] = ()

    @property
    def ids(self) -> list[int]:
        """All tokens."""
        return self.prompt_ids + self.response_ids

    @property
    def logprobs(self) -> list[float] | None:
        """The logprobs of all tokens, 0.0 where the model did not say them."""
        if self.response_logprobs is None:
            return None
        return [0.0] * len(self.prompt_ids) + self.response_logprobs


def one_row(episode: gem.Episode, codec: ChatCodec) -> Row:
    """Return an episode as one row, of several seats the part of one (`Episode.of_seat`).

    Raises BadArguments where its history was rewritten, and for several seats as a whole.
    """
    if not episode.turns:
        prompt = codec.opening([Message("user", "")])
        return Row(prompt, [filler_of(codec)], [0], [0.0], [], [], episode)
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
        images=_images(episode, codec),
    )


def filler_of(codec: ChatCodec) -> int:
    """Return a token for a response that nobody said: one that ends a turn, where there is one."""
    return min(codec.stop_ids, default=0)  # which every vocabulary has


def _images(episode: gem.Episode, codec: ChatCodec) -> Sequence[Any]:
    """Return what the model saw: every turn of a record has its answer, so all of them count."""
    if not isinstance(codec, ImageCodec):
        return ()
    talk = Conversation()
    for turn in episode.turns:
        talk.observe(turn.observation, {"suffix": turn.suffix})
    return codec.images(talk.messages)
