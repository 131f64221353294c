"""Play by token ids without a chat template: a conversation as one growing list of tokens.

Knows nothing about models. A rollout asks it for the tokens of each request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from gem.content import Message
from gem.conversation import Reply
from gem.errors import BadArguments
from gem_baselines.text._tokenizer import Tokenizer

__all__ = ["TextCodec", "TextTokens"]


class TextCodec:
    r"""How conversations become tokens: what a policy is shown, and what stands around an answer.

    A sequence is the special token `begin`, then for each turn what the environment told, the
    opening, the model's answer and the closing. Every prompt extends the one before it and its
    answer; a history that a wrapper rewrites begins a new sequence each turn.

    - `opening` and `closing` are the texts around each answer, such as `\boxed{` and `}`: the
      model writes only what is between. Both are in the action that the environment takes, and
      in the tokens, where their mask is 0. Without an opening the special token `answer` stands
      there.
    - `max_answer_tokens` bounds an answer, the special token `end` included, with which a model
      may end it earlier.
    - `max_length` bounds a sequence. An episode that has no room for another answer ends as
      `max_tokens`.
    - `instructions_end` is the text with which the instructions end that open the first message:
      what stands before its end is left out. None shows all. An episode whose first message does
      not hold it ends as `policy_error`.
    - `digest` is applied to what the environment told, before it is tokenised: message by
      message, and after the instructions are left out.

    Tools are not shown, and parts of a message that are no text are left out. Raises BadArguments
    for limits below 1.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        opening: str = "",
        closing: str = "",
        max_answer_tokens: int | None = None,
        max_length: int | None = None,
        instructions_end: str | None = None,
        digest: Callable[[str], str] | None = None,
    ) -> None:
        limits = {"max_answer_tokens": max_answer_tokens, "max_length": max_length}
        for name, limit in limits.items():
            if limit is not None and limit < 1:
                raise BadArguments(
                    f"{name}={limit} was asked for, and an answer has a token at least. Give 1 or "
                    "more, or None for no limit.",
                    subject=name,
                )
        self.tokenizer = tokenizer
        self.max_answer_tokens = max_answer_tokens
        self.max_length = max_length
        self._opening = opening
        self._closing = closing
        self._opening_ids = tokenizer.encode(opening) or [tokenizer.answer_id]
        self._closing_ids = tokenizer.encode(closing)
        self._instructions_end = instructions_end
        self._digest = digest

    def open_episode(self) -> TextTokens:
        """Return the tokens of an episode that begins: a rollout asks for one each."""
        return TextTokens(self)

    def reply(self, ids: Sequence[int], logprobs: Sequence[float]) -> Reply:
        """Return what the model answered, as an environment takes it and a turn records it.

        Its `finish_reason` is "length" where a limit cut the answer. An answer that has as many
        tokens as it may is not cut where a closing stands after it.
        """
        is_ended = ids[-1] == self.tokenizer.end_id
        is_closed = bool(self._closing) and len(ids) == self.max_answer_tokens
        text = f"{self._opening}{self.tokenizer.decode(ids)}{self._closing}"
        return Reply(
            Message("assistant", text),
            token_ids=tuple(ids),
            logprobs=tuple(logprobs),
            finish_reason="stop" if is_ended or is_closed else "length",
        )

    def opening_tokens(self, messages: Sequence[Message], prompt: str | None) -> list[int]:
        """Return the tokens of a sequence up to its first answer."""
        if prompt is None:
            first, *others = (message.text for message in messages)
            texts = [self._without_instructions(first), *others]
        else:
            texts = [self._without_instructions(prompt)]
        ids = [self.tokenizer.begin_id]
        for text in texts:
            ids += self._observed(text)
        return ids + self._opening_ids

    def following_tokens(self, messages: Sequence[Message], answer_ids: Sequence[int]) -> list[int]:
        """Return the tokens from the end of an answer to the next; `messages` came meanwhile."""
        ids = list(self._closing_ids)
        if not ids and answer_ids[-1] != self.tokenizer.end_id:
            # A limit cut the answer: its end is given to the model, and its mask is 0.
            ids.append(self.tokenizer.end_id)
        for message in messages:
            ids += self._observed(message.text)
        return ids + self._opening_ids

    def _observed(self, text: str) -> list[int]:
        return self.tokenizer.encode(text if self._digest is None else self._digest(text))

    def _without_instructions(self, text: str) -> str:
        if self._instructions_end is None:
            return text
        _, end, rest = text.partition(self._instructions_end)
        if not end:
            raise BadArguments(
                f"The instructions up to {self._instructions_end!r:.60} were to be left out, and "
                f"the first message has no such text: {text!r:.200}. Give as instructions_end "
                "words with which its instructions end, or None to show them.",
                subject="instructions_end",
            )
        return rest


class TextTokens:
    """The tokens of one episode while it is played: a `gem.conversation.EpisodeTokens`."""

    def __init__(self, codec: TextCodec) -> None:
        self._codec = codec
        self._ids: list[int] = []  # of the sequence that is being made
        self._added: list[int] = []  # what the model is given now for the first time
        self._is_new = False  # whether a second or later sequence begins with that
        self._seen = 0  # messages that the model was given before its last answer
        self._answer_ids: Sequence[int] = ()

    def ask(
        self,
        messages: Sequence[Message],
        prompt: str | None,
        tools: Sequence[Mapping[str, Any]],
        *,
        is_rewritten: bool,
    ) -> tuple[tuple[int, ...], int | None] | None:
        """Return all tokens that the model continues, and how many it may add, if any."""
        if self._ids and prompt is None and not is_rewritten:
            # The model's answer follows the messages that it had seen; all after that is new.
            new = list(islice(messages, self._seen + 1, None))
            self._added = self._codec.following_tokens(new, self._answer_ids)
            self._is_new = False
        else:
            # The first sequence of an episode is not marked: only one that follows another.
            self._is_new = bool(self._ids)
            self._added = self._codec.opening_tokens(messages, prompt)
            self._ids = []
        self._ids += self._added
        self._seen = len(messages)
        room = self._room()
        if room is not None and room <= 0:
            return None
        return tuple(self._ids), room

    def _room(self) -> int | None:
        rooms = []
        if self._codec.max_answer_tokens is not None:
            rooms.append(self._codec.max_answer_tokens)
        if self._codec.max_length is not None:
            rooms.append(self._codec.max_length - len(self._ids))
        return min(rooms, default=None)

    def answered(self, reply: Reply) -> dict[str, Any]:
        """Take in what the model answered. Returns the fields of a turn that record its tokens.

        Raises ValueError where the reply has no tokens.
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
