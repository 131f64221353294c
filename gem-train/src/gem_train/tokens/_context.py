"""The tokens of one episode while it is played. Knows nothing about who plays it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gem.content import Message
from gem.conversation import Reply
from gem.errors import BadArguments

if TYPE_CHECKING:
    from gem_train.tokens._codec import OnRewrite

__all__ = ["Codec", "Given", "TokenContext", "TokenTerms"]


Given = tuple[tuple[int, ...], "int | None"]


class Codec(Protocol):
    """What turns messages into tokens, and tokens into a message: `ChatCodec`, or your own.

    The tokens of an episode are those of `opening`, or of `encode` where a wrapper writes the
    whole prompt, then an answer of the model, those of `following`, the next answer, and so on.
    """

    @property
    def on_rewrite(self) -> OnRewrite:
        """What happens where history is rewritten on the way: see `ChatCodec`."""

    def opening(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> list[int]:
        """Tokenise a conversation, up to where the model speaks."""

    def following(
        self,
        messages: Sequence[Message],
        turn_start: int,
        answer_at: int,
        answer_ids: Sequence[int],
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> list[int] | None:
        """Return the tokens from the end of the model's last answer to where it speaks again.

        `messages[answer_at]` is that answer, `answer_ids` are its tokens, and what comes after it
        is new. None begins another sequence, with the tokens of `opening`.
        """

    def encode(self, text: str) -> list[int]:
        """Tokenise a whole prompt, up to where the model speaks."""

    def message(
        self, ids: Sequence[int], tools: Sequence[Mapping[str, Any]] = (), turn: int = 0
    ) -> Message:
        """Return what the model answered; `turn` counts the answers of an episode."""


class TokenTerms(NamedTuple):
    """How an episode is tokenised, and its limits: of a turn, after the prompt, and in all."""

    codec: Codec
    max_turn_tokens: int | None = None
    max_response_tokens: int | None = None
    max_length: int | None = None

    def open_episode(self) -> TokenContext:
        """Return the tokens of an episode that begins: a rollout asks for one each."""
        return TokenContext(self)


class TokenContext:
    """What the model has been given and has said in one episode, in tokens."""

    def __init__(self, terms: TokenTerms) -> None:
        self._terms = terms
        self._ids: list[int] = []  # of the sequence that is being made, in order
        self._prompt_length = 0  # of it; 0 before the first request
        self._added: list[int] = []  # what the model is given now for the first time
        self._is_new = False  # whether a second or later sequence begins with that
        self._seen = 0  # messages that the model was given before its last answer
        self._turn_start = 0  # the place of the first message after the last of a user
        self._answer_ids: Sequence[int] = ()

    def ask(
        self,
        messages: Sequence[Message],
        prompt: str | None,
        tools: Sequence[Mapping[str, Any]],
        *,
        is_rewritten: bool,
    ) -> Given | None:
        """Return all tokens that the model continues, and how many it may add.

        `is_rewritten` says that the messages do not extend those of the last turn. None where a
        limit leaves no room for an answer. Raises BadArguments for what cannot be tokenised.
        """
        added = self._added_by(messages, prompt, tools, is_rewritten)
        # Before the prompt's length is set below: of the first sequence a turn records nothing.
        self._is_new = added is None and self._prompt_length > 0
        if added is None:
            added = self._opening(messages, prompt, tools)
            self._ids = []
            self._prompt_length = len(added)
            self._turn_start = len(messages)
        # Only now: `following` wants the turn that the answer is of.
        self._turn_start = _after_last_user(messages, self._turn_start)
        self._added = added
        self._ids += added
        self._seen = len(messages)
        room = self._room()
        return None if room is not None and room <= 0 else (tuple(self._ids), room)

    def _added_by(
        self,
        messages: Sequence[Message],
        prompt: str | None,
        tools: Sequence[Mapping[str, Any]],
        is_rewritten: bool,
    ) -> list[int] | None:
        codec = self._terms.codec
        if self._prompt_length == 0:
            return None
        if prompt is not None or is_rewritten:
            if codec.on_rewrite == "split":
                return None
            raise BadArguments(
                f"An episode's history is rewritten by a wrapper, and the codec was made with "
                f"on_rewrite={codec.on_rewrite!r}. Leave the wrapper out, or choose 'split'.",
                subject="on_rewrite",
            )
        # The model's answer follows what it had seen; all after that is new.
        answer_at = self._seen
        return codec.following(messages, self._turn_start, answer_at, self._answer_ids, tools)

    def _opening(
        self, messages: Sequence[Message], prompt: str | None, tools: Sequence[Mapping[str, Any]]
    ) -> list[int]:
        codec = self._terms.codec
        return codec.opening(messages, tools) if prompt is None else codec.encode(prompt)

    def _room(self) -> int | None:
        """Return how many tokens the answer may have: what the closest limit leaves."""
        terms = self._terms
        rooms = []
        if terms.max_turn_tokens is not None:
            rooms.append(terms.max_turn_tokens)
        if terms.max_response_tokens is not None:
            rooms.append(terms.max_response_tokens - (len(self._ids) - self._prompt_length))
        if terms.max_length is not None:
            rooms.append(terms.max_length - len(self._ids))
        return min(rooms, default=None)

    def answered(self, reply: Reply) -> dict[str, Any]:
        """Take in what the model said. Returns what a turn records of its tokens.

        Raises ValueError where the reply has none.
        """
        if not reply.token_ids:
            raise ValueError("a reply has no tokens")
        self._answer_ids = reply.token_ids
        self._ids += reply.token_ids
        # A turn records what it added alone: the turns of a sequence, one after another, are all
        # of its tokens, and none is recorded twice.
        num_added = len(self._added)
        fields: dict[str, Any] = {
            "token_ids": (*self._added, *reply.token_ids),
            "mask": (0,) * num_added + (1,) * len(reply.token_ids),
        }
        if reply.logprobs is not None:
            fields["logprobs"] = (0.0,) * num_added + tuple(reply.logprobs)
        if self._is_new:
            fields["new_sequence"] = True
        return fields


def _after_last_user(messages: Sequence[Message], otherwise: int) -> int:
    """Return the place after the last message of a user, or another where there is none."""
    places = range(len(messages), 0, -1)
    return next((at for at in places if messages[at - 1].role == "user"), otherwise)
