"""Play by token ids without a chat template: a conversation as one growing list of tokens.

Knows nothing about models. A rollout asks it for the tokens of each request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from gem.content import Message
from gem.conversation import Reply
from gem.errors import BadArguments
from gem.tokens import TokenContext, TokenTerms
from gem_baselines.text._tokenizer import Tokenizer

__all__ = ["TextCodec"]


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
    for limits below 1. It is a `gem.tokens.Codec`, and opens episodes within its own limits.
    """

    on_rewrite: Literal["split"] = "split"

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

    def open_episode(self) -> TokenContext:
        """Return the tokens of an episode that begins: a rollout asks for one each."""
        terms = TokenTerms(self, max_turn_tokens=self.max_answer_tokens, max_length=self.max_length)
        return terms.open_episode()

    def reply(self, ids: Sequence[int], logprobs: Sequence[float]) -> Reply:
        """Return what the model answered, as an environment takes it and a turn records it.

        Its `finish_reason` is "length" where a limit cut the answer. An answer that has as many
        tokens as it may is not cut where a closing stands after it.
        """
        is_ended = ids[-1] == self.tokenizer.end_id
        is_closed = bool(self._closing) and len(ids) == self.max_answer_tokens
        return Reply(
            self.message(ids),
            token_ids=tuple(ids),
            logprobs=tuple(logprobs),
            finish_reason="stop" if is_ended or is_closed else "length",
        )

    def message(
        self, ids: Sequence[int], tools: Sequence[Mapping[str, Any]] = (), turn: int = 0
    ) -> Message:
        """Return what the model answered, with the opening and the closing around it."""
        return Message("assistant", f"{self._opening}{self.tokenizer.decode(ids)}{self._closing}")

    def opening(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> list[int]:
        """Return the tokens of a sequence up to its first answer."""
        first, *others = (message.text for message in messages)
        return self._opened([self._without_instructions(first), *others])

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a sequence whose whole prompt a wrapper wrote, up to the answer."""
        return self._opened([self._without_instructions(text)])

    def _opened(self, texts: Sequence[str]) -> list[int]:
        ids = [self.tokenizer.begin_id]
        for text in texts:
            ids += self._observed(text)
        return ids + self._opening_ids

    def following(
        self,
        messages: Sequence[Message],
        turn_start: int,
        answer_at: int,
        answer_ids: Sequence[int],
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> list[int]:
        """Return the tokens from the end of an answer to the next: see `gem.tokens.Codec`."""
        ids = list(self._closing_ids)
        if not ids and answer_ids[-1] != self.tokenizer.end_id:
            # A limit cut the answer: its end is given to the model, and its mask is 0.
            ids.append(self.tokenizer.end_id)
        for message in messages[answer_at + 1 :]:
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
