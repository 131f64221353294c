"""What a policy is shown and what it answers: history, suffix, roles; Request and Reply.

This is the one policy protocol. Knows nothing about environments, tokens or servers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Union

from gem.content import Action, Message, Observation, Part, TextPart

__all__ = ["Conversation", "Policy", "PolicyAnswer", "Reply", "Request", "Usage", "as_reply"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one reply cost, as the server counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a policy: everything it may look at.

    `messages` is the whole conversation. `prompt` is set instead where a wrapper has already
    rendered a finished prompt: it is then used as it is and not templated again. `seed` is
    fixed by the run, the episode, the repeat and the turn, so a policy that samples with it
    is reproducible. `sample` and `solution` are filled only for a policy whose `wants` names
    them: an action that the environment drew, and its own solution of the current state.
    """

    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    prompt_ids: tuple[int, ...] | None = None
    token_budget: int | None = None
    seed: int = 0
    turn: int = 0
    env_id: str = ""
    task: int | None = None
    group: int | None = None
    seat: int = 0
    sample: str | None = None
    solution: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a policy. Token ids and logprobs, where present, have equal lengths."""

    message: Message
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    finish_reason: Literal["stop", "length", "tool_calls", "other"] | None = None
    usage: Usage | None = None

    @property
    def action(self) -> Action:
        """The answer as the environment takes it."""
        return Action(self.message.text, tool_calls=self.message.tool_calls)


PolicyAnswer = Union[Reply, Message, str]


class Policy(Protocol):
    """Anything that can be called with a request. A coroutine function is the usual form.

    Optional attributes: `name` (for logs), `wants` (a collection of "sample", "solution"),
    and `aclose` (a coroutine that frees what the policy holds).
    """

    def __call__(self, request: Request) -> Awaitable[PolicyAnswer] | PolicyAnswer: ...


def as_reply(answer: PolicyAnswer) -> Reply:
    """Accept a Reply, a Message or a plain string. Raises TypeError on anything else."""
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, Message):
        return Reply(answer)
    if isinstance(answer, str):
        calls = answer.tool_calls if isinstance(answer, Action) else ()
        return Reply(Message("assistant", str(answer), calls))
    raise TypeError(
        f"A policy returned {type(answer).__name__}. It must return a str, a Message or a Reply."
    )


class Conversation:
    r"""The messages so far. Every prompt extends the one before it, so prefixes can be cached.

    With `rewrites_history`, each observation is the whole prompt and replaces what came
    before; no suffix is appended to it.

    >>> talk = Conversation()
    >>> talk.observe("Guess.", {"suffix": "Turn 1."})
    >>> talk.answer(Message("assistant", "7"))
    >>> talk.observe("Lower.", {})
    >>> [message.text for message in talk.messages]
    ['Guess.\nTurn 1.', '7', 'Lower.']
    """

    def __init__(self, *, rewrites_history: bool = False) -> None:
        self.rewrites_history = rewrites_history
        self._messages: list[Message] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything said so far, oldest first."""
        return tuple(self._messages)

    def observe(self, observation: Observation, info: Mapping[str, Any]) -> None:
        """Add what the environment returned. `info["suffix"]` joins a user turn by a newline."""
        if self.rewrites_history:
            self._messages.clear()
            self._messages.extend(_as_messages(observation))
            return
        turn = _as_messages(observation)
        suffix = info.get("suffix")
        if suffix and turn[-1].role != "tool":
            turn[-1] = _with_suffix(turn[-1], suffix)
        self._messages.extend(turn)

    def answer(self, message: Message) -> None:
        """Add what the policy answered."""
        self._messages.append(message)


def _as_messages(observation: Observation) -> list[Message]:
    if isinstance(observation, str):
        return [Message("user", str(observation))]
    if isinstance(observation, Message):
        return [observation]
    messages = [piece for piece in observation if isinstance(piece, Message)]
    return messages or [Message("user", _parts(observation))]


def _parts(observation: Sequence[Any]) -> tuple[Part, ...]:
    return tuple(observation)


def _with_suffix(message: Message, suffix: str) -> Message:
    content: str | tuple[Part, ...]
    if isinstance(message.content, str):
        content = f"{message.content}\n{suffix}" if message.content else suffix
    else:
        content = (*message.content, TextPart(suffix))
    return Message(message.role, content, message.tool_calls, message.call_id)
