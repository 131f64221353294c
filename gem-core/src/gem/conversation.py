"""What a policy is shown and what it answers: history, suffix, roles; Request and Reply.

This is the one policy protocol. Knows nothing about environments, tokens or servers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, Protocol, Union, overload

from gem._python.fast_dataclass import quick
from gem.content import Action, Message, Observation, Part, TextPart

__all__ = [
    "Conversation",
    "EpisodeTokens",
    "Messages",
    "Policy",
    "PolicyAnswer",
    "PolicyTokens",
    "Reply",
    "Request",
    "Usage",
    "as_reply",
    "name_of",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one reply cost, as the server counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a policy: everything it may look at.

    `messages` is the whole conversation: a sequence that never changes, and equals the tuple of
    its messages. `prompt` is set instead where a wrapper has already rendered a finished prompt:
    it is then used as it is and not templated again. `seed` is fixed by the run, the episode, the
    repeat and the turn, so a policy that samples with it is reproducible. `sample` and `solution`
    are filled only for a policy whose `wants` names them: an action that the environment drew,
    and its own solution of the current state.
    """

    messages: Sequence[Message] = ()
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
    """One answer of a policy. Token ids and logprobs, where present, have equal lengths.

    `reasoning` is what the model thought before it answered, where its server tells it apart: it
    is recorded, and neither the environment nor a later prompt has it.
    """

    message: Message
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    finish_reason: Literal["stop", "length", "tool_calls", "other"] | None = None
    usage: Usage | None = None
    reasoning: str | None = None

    @property
    def action(self) -> Action:
        """The answer as the environment takes it."""
        return Action(self.message.text, tool_calls=self.message.tool_calls)


# The hot path of a rollout makes both in every turn.
_quick_message = quick(Message)
_quick_reply = quick(Reply)

PolicyAnswer = Union[Reply, Message, str]


class Policy(Protocol):
    """Anything that can be called with a request. A coroutine function is the usual form.

    Optional attributes: `name` (for logs), `wants` (a collection of "sample", "solution"),
    `state` (what it waits for beside answers, in one line: a late episode's error has it),
    `tokens` (a PolicyTokens, for a policy that plays by token ids), `uses_screen` (True where it
    asks at the terminal, so that an evaluation plays one episode at a time and shows nothing), and
    `aclose` (a coroutine that frees what the policy holds). A policy whose prompt does not
    fit the model raises `gem.errors.ModelLengthError`: its episode ends as `model_length`.
    """

    def __call__(self, request: Request) -> Awaitable[PolicyAnswer] | PolicyAnswer: ...


class EpisodeTokens(Protocol):
    """The tokens of one episode: what the model was given and what it answered, in order.

    A rollout calls `ask` before each request and `answered` after each reply. What either raises
    ends the episode as `policy_error`.
    """

    def ask(
        self,
        messages: Sequence[Message],
        prompt: str | None,
        tools: Sequence[Mapping[str, Any]],
        *,
        is_rewritten: bool,
    ) -> tuple[tuple[int, ...], int | None] | None:
        """Return the request's `prompt_ids` and `token_budget`, None where no token may follow.

        `messages`, `prompt` and `tools` are those of the request. `is_rewritten` says that the
        messages do not extend those of the turn before. None ends the episode as `max_tokens`.
        """

    def answered(self, reply: Reply) -> Mapping[str, Any]:
        """Take in a reply, and return the fields of `Turn` that record its tokens."""


class PolicyTokens(Protocol):
    """What the attribute `tokens` of a policy offers, such as that of `gem.tokens.TokenPolicy`."""

    def open_episode(self) -> EpisodeTokens:
        """Return the tokens of an episode that begins."""


def name_of(policy: object) -> str:
    """Return the name under which a policy, or another callable, is recorded."""
    name = getattr(policy, "name", None) or getattr(policy, "__name__", None)
    return str(name or type(policy).__name__)


def as_reply(answer: PolicyAnswer) -> Reply:
    """Accept a Reply, a Message or a plain string. Raises TypeError on anything else."""
    if type(answer) is str:  # as most are
        return _quick_reply(_quick_message("assistant", answer))
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, Message):
        return _quick_reply(answer)
    if isinstance(answer, str):
        calls = answer.tool_calls if isinstance(answer, Action) else ()
        return _quick_reply(_quick_message("assistant", str(answer), calls))
    raise TypeError(
        f"A policy returned {type(answer).__name__}. It must return a str, a Message or a Reply."
    )


class Messages(Sequence[Message]):
    """A conversation as it was at one moment: equal to the tuple of its messages, and as fixed.

    It costs the same however long the conversation is, because each message is made when it is
    read. `tuple(messages)` keeps them.
    """

    __slots__ = ("_end", "_flat")

    def __init__(self, flat: list[Any]) -> None:
        # The conversation's own list, and not a copy: it only ever grows, and what is added later
        # lies behind the end that is noted here.
        self._flat = flat
        self._end = len(flat)

    def __len__(self) -> int:
        return self._end // 2

    def __iter__(self) -> Iterator[Message]:
        flat = islice(self._flat, self._end)
        return map(_message, flat, flat)  # one iterator twice: it gives a role, then a content

    @overload
    def __getitem__(self, index: int) -> Message: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...

    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(map(self.__getitem__, range(len(self))[index]))
        place = 2 * range(len(self))[index]
        return _message(self._flat[place], self._flat[place + 1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Messages, tuple)) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    # A pickle, or a copy, is of these messages alone, and not of what follows in the list.
    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


def _message(role: Any, content: Any) -> Message:
    # A message that has more than a role and a content stands whole, after its class.
    return content if role is Message else _quick_message(role, content)


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

    __slots__ = ("_flat", "rewrites_history")

    def __init__(self, *, rewrites_history: bool = False) -> None:
        self.rewrites_history = rewrites_history
        # Role, content, role, content: flat, because thousands of conversations are held at once
        # and the garbage collector visits every message, but no text. A message that has more
        # than these, tool calls say, is kept whole: the class stands in the place of a role, and
        # the message in that of a content. ["user", "Add 2 and 3.", Message, Message(...)]
        self._flat: list[Any] = []

    @property
    def messages(self) -> Messages:
        """All messages so far, oldest first."""
        return Messages(self._flat)

    def observe(self, observation: Observation, info: Mapping[str, Any]) -> None:
        """Add what the environment returned. `info["suffix"]` joins a user turn by a newline."""
        if self.rewrites_history:
            # A new list, not a cleared one: a Request that was given out still reads the old.
            self._flat = []
            suffix = None
        else:
            suffix = info.get("suffix")
        if isinstance(observation, str):
            text = str(observation)
            self._flat += "user", _text_with_suffix(text, suffix) if suffix else text
            return
        turn = _as_messages(observation)
        # The answer of a tool is the tool's: templates show nothing of the environment in it.
        if suffix and turn[-1].role != "tool":
            turn[-1] = _with_suffix(turn[-1], suffix)
        for message in turn:
            self.answer(message)

    def answer(self, message: Message) -> None:
        """Add a message: what the policy answered."""
        if type(message) is not Message or message.tool_calls or message.call_id is not None:
            self._flat += Message, message
        else:
            self._flat += message.role, message.content


def _as_messages(observation: Message | Sequence[Any]) -> list[Message]:
    if isinstance(observation, Message):
        return [observation]
    messages = [piece for piece in observation if isinstance(piece, Message)]
    return messages or [Message("user", tuple(observation))]


def _with_suffix(message: Message, suffix: str) -> Message:
    content: str | tuple[Part, ...]
    if isinstance(message.content, str):
        content = _text_with_suffix(message.content, suffix)
    else:
        content = (*message.content, TextPart(suffix))
    return Message(message.role, content, message.tool_calls, message.call_id)


def _text_with_suffix(text: str, suffix: str) -> str:
    return f"{text}\n{suffix}" if text else suffix
