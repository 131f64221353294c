"""The tokens of one episode while it is played. Knows nothing about who plays it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.content import Message
from gem.conversation import Reply
from gem.errors import BadArguments
from gem.hosting import Failure

if TYPE_CHECKING:
    from gem.tokens.codec import ChatCodec

__all__ = ["Given", "TokenContext", "TokenTerms"]


Given = tuple[tuple[int, ...], "int | None"]


class TokenTerms(NamedTuple):
    """How an episode is tokenised, and its limits: of a turn, after the prompt, and in all."""

    codec: ChatCodec
    max_turn_tokens: int | None = None
    max_response_tokens: int | None = None
    max_length: int | None = None


class TokenContext:
    """What the model has been given and has said in one episode, in tokens."""

    def __init__(self, terms: TokenTerms) -> None:
        self._terms = terms
        self._ids: list[int] = []
        self._prompt_length = 0
        self._added: list[int] = []  # what the model is given now for the first time
        self._is_new = False  # whether a sequence begins with it
        self._seen = 0  # messages that the model was given or said
        self._since = 0  # the first of them after the last of a user
        self._said: Sequence[int] = ()

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
        self._is_new = added is None and self._prompt_length > 0
        if added is None:
            added = self._opening(messages, prompt, tools)
            self._ids, self._prompt_length, self._since = [], len(added), len(messages)
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
        since, said_at = self._since, self._seen
        added = codec.following(messages, since, said_at, self._said, tools)
        users = [at for at in range(said_at + 1, len(messages)) if messages[at].role == "user"]
        self._since = users[-1] + 1 if users else since
        return added

    def _opening(
        self, messages: Sequence[Message], prompt: str | None, tools: Sequence[Mapping[str, Any]]
    ) -> list[int]:
        codec = self._terms.codec
        return codec.opening(messages, tools) if prompt is None else codec.encode(prompt)

    def _room(self) -> int | None:
        turn, response, length = self._terms[1:]
        rooms = [
            turn,
            None if response is None else response - (len(self._ids) - self._prompt_length),
            None if length is None else length - len(self._ids),
        ]
        return min((room for room in rooms if room is not None), default=None)

    def answered(self, reply: Reply) -> dict[str, Any]:
        """Take in what the model said. Returns what a turn records of its tokens.

        Raises Failure where the reply has none.
        """
        if not reply.token_ids:
            raise Failure("policy_error", "ValueError: a reply has no tokens")
        self._said = reply.token_ids
        self._ids += reply.token_ids
        added, said = len(self._added), len(reply.token_ids)
        fields: dict[str, Any] = {
            "token_ids": (*self._added, *reply.token_ids),
            "mask": (0,) * added + (1,) * said,
        }
        if reply.logprobs is not None:
            fields["logprobs"] = (0.0,) * added + tuple(reply.logprobs)
        if self._is_new:
            fields["new_sequence"] = True
        return fields
