"""Find the tokens that the environment's turn adds to a conversation, for any chat template.

A template renders whole conversations. Here a small one is rendered in each turn, with the model's
last answer and what came back, and only the text after that answer is tokenised: the answer itself
is in tokens already, as the model gave it. Knows nothing about episodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain, groupby, takewhile
from numbers import Integral
from typing import Any, Literal, get_args

from gem.content import Message, TextPart, normalise_text
from gem.errors import BadArguments, in_one_line
from gem_train.tokens._calling import (
    Calling,
    Chat,
    Tools,
    calling_of,
    calls_in_tags,
    how_to_call,
    in_tags,
)
from gem_train.tokens._surroundings import MARK, Base, are_shown, base_of, end_of
from gem_train.tokens._tokenizer import Tokenizer, decoding, special_ids

__all__ = ["ChatCodec"]

OnRewrite = Literal["split", "refuse", "keep"]

_MOST_CLOSING = 8
"""How many tokens into what follows an answer the one is looked for that closes its turn."""


class ChatCodec:
    """Turn messages into tokens by a tokenizer's chat template, and tokens into text.

    `on_rewrite` says what happens where the template would now show the conversation otherwise
    than the model saw it, as those do that drop earlier reasoning: "split" starts another
    sequence with the prompt that the template writes, "refuse" raises, and "keep" goes on with
    what the model saw. `stop_ids` are tokens that end a turn, beside the tokenizer's own and the
    one the template writes. `template_options` are passed on to the template
    (`enable_thinking=False`).

    `tool_format` says how tools are called. With "template" it is found by rendering: a template
    that lists tools does so, and calls are read as it writes them; of any other the first message
    says how to call. A word of `gem.parsing.FAMILIES` reads calls in that format, whatever the
    template asks for. "text" leaves tools out of the prompt and calls in the text, for an
    environment that tells and reads them itself.

    Messages are text here. A subclass for models that see more overrides `_content`, `_tagged` and
    `_with_instructions`, which write messages as the template takes them, and `_encoded`, which
    tokenises what the template made of them.

    Raises BadArguments where the tokenizer has no template, or one that cannot be understood, and
    for `stop_ids` that are no ids.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        on_rewrite: OnRewrite = "split",
        stop_ids: Sequence[int] = (),
        template_options: Mapping[str, Any] | None = None,
        tool_format: str = "template",
    ) -> None:
        if on_rewrite not in get_args(OnRewrite):
            raise _bad("on_rewrite", f"is {on_rewrite!r}, and must be one of {get_args(OnRewrite)}")
        self.on_rewrite: OnRewrite = on_rewrite
        self._tokenizer = tokenizer
        self._options = dict(template_options or {})
        self._special = special_ids(tokenizer)
        self._decoding = decoding(tokenizer)
        self._bases: dict[tuple[Any, ...], Base] = {}
        self._tool_format = tool_format
        # The tokens that close the model's turn, if any do, by the role of what follows.
        self._ends = {"user": self._end_before(_user(_NEXT))}
        with suppress(BadArguments):  # some templates show no results of tools
            # GLM's models end a call otherwise than an answer.
            self._ends["tool"] = self._end_before(_RESULT)
        ends = {*_as_ids(stop_ids), *chain.from_iterable(self._ends.values())}
        if tokenizer.eos_token_id is not None:
            ends.add(tokenizer.eos_token_id)
        self.stop_ids = frozenset(ends)
        if tool_format not in ("template", "text"):
            # A word that there is not is refused now, and not in the first episode with tools.
            calling_of(self._render, tool_format)

    def _end_before(self, following: dict[str, Any]) -> tuple[int, ...]:
        """Return the tokens that close the model's turn before a message, none where none do."""
        tail = self._after_mark([_user("x"), _MARKED, following], ())
        # Up to what the message says: a token behind that closes no turn of the model.
        between = self.encode(tail.partition(_NEXT)[0])
        closer = self._closer(between)
        if closer is None:
            return ()
        # Cohere's later models close a turn by a token of their own, and then by the tokenizer's.
        is_closed_twice = between[closer + 1 : closer + 2] == [self._tokenizer.eos_token_id]
        return tuple(between[closer : closer + (2 if is_closed_twice else 1)])

    @cached_property
    def calling(self) -> Calling:
        """How tools are shown and called; found when a conversation with tools is first met."""
        return calling_of(self._render, self._tool_format)

    def encode(self, text: str) -> list[int]:
        """Tokenise a text, adding nothing; a lone surrogate is U+FFFD.

        No tokenizer takes a lone surrogate, and observations may hold one.
        """
        return list(self._tokenizer.encode(normalise_text(text), add_special_tokens=False))

    def text(self, ids: Sequence[int]) -> str:
        """Return what tokens of the model say, without those that end its turn."""
        closing = 1 if len(ids) > 0 and ids[-1] in self.stop_ids else 0
        for end in self._ends.values():
            if len(end) > closing and tuple(ids[-len(end) :]) == end:
                closing = len(end)
        return self.decode(ids[: len(ids) - closing])

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text that tokens spell, special ones too."""
        return self._tokenizer.decode(list(ids), **self._decoding)

    def message(self, ids: Sequence[int], tools: Tools = (), turn: int = 0) -> Message:
        """Return what tokens of the model say as a message, with the calls that are in its text.

        As `Calling.calls`, and none where there are no tools.
        """
        text = self.text(ids)
        if not tools:
            return Message("assistant", text)
        return Message("assistant", text, self.calling.calls(text, tools, turn))

    def opening(self, messages: Sequence[Message], tools: Tools = ()) -> list[int]:
        """Tokenise a whole conversation, up to where the model speaks."""
        chat = self._chat(messages, tools)
        if tools and self.calling.needs_instructions:
            chat = self._with_instructions(chat, how_to_call(tools))
        return self._encoded(self._opened(chat, self._listed(tools)), messages)

    def _opened(self, chat: Chat, tools: Tools) -> str:
        """Write a conversation, up to where the model speaks.

        Some templates refuse an empty answer, which a model gives all the same: it is written as
        any other, and what it says is taken out.
        """
        try:
            return self._render(chat, tools, opens=True)
        except BadArguments:
            # Users and tools may say the mark too, but nowhere as often as this.
            mark = MARK * (repr([*chat, *tools]).count(MARK) + 1)
            marked = [
                {**message, "content": mark} if _is_empty(message) else message for message in chat
            ]
            if marked == chat:
                raise
            return self._render(marked, tools, opens=True).replace(mark, "")

    def following(
        self,
        messages: Sequence[Message],
        turn_start: int,
        answer_at: int,
        answer_ids: Sequence[int],
        tools: Tools = (),
    ) -> list[int] | None:
        """Return the tokens between the model's last answer and where it speaks again.

        `messages[answer_at]` is that answer, and `answer_ids` are its tokens; what comes after it
        is new. `turn_start` is where the turn of the answer begins, behind the user's last message
        before it: templates that drop reasoning drop that of earlier turns once a user speaks
        again. In (system, user, answer, result, answer, user) the last answer is at 4 and its turn
        begins at 2.

        None where the template now shows the conversation otherwise than the model saw it, and
        `on_rewrite` is "split". Raises BadArguments where it is "refuse".
        """
        base = self._base(messages, tools)
        new = messages[answer_at + 1 :]
        # As long as no user speaks again a template has no cause to show earlier answers anew.
        is_new_turn = any(self._is_of_user(message, tools) for message in new)
        first = turn_start if is_new_turn else answer_at
        answers = self._chat(messages[first : answer_at + 1], tools)
        added = self._chat(new, tools)
        tail = self._tail(base, answers, added)
        if tail is None and self._is_of_before(base):
            self._bases.clear()
            base = self._base(messages, tools)
            tail = self._tail(base, answers, added)
        if tail is None and self.on_rewrite == "split":
            return None
        if tail is None and self.on_rewrite == "refuse":
            raise _bad(
                "on_rewrite",
                "is 'refuse', and the chat template rewrites what was said before (most often it "
                "drops reasoning). Choose 'split' or 'keep', or another template",
            )
        if tail is None:
            # "keep": what is added as the template would write it after any answer.
            tail = self._after_mark([*_without_system(base.chat), _MARKED, *added], (), opens=True)
        tail_ids = self._behind_answer(tail, new)
        # Where the template closes no turn by a token, the first one is of what was said.
        role = added[0]["role"] if added else "user"
        is_closed = len(self._ends.get(role, self._ends["user"])) > 0
        return self._unclosed(tail_ids, answer_ids) if is_closed else tail_ids

    def _encoded(self, text: str, messages: Sequence[Message]) -> list[int]:
        """Tokenise what the template wrote, in which these messages are all that is new."""
        return self.encode(text)

    def _behind_answer(self, tail: str, messages: Sequence[Message]) -> list[int]:
        """Tokenise what follows an answer. No text begins there."""
        length = len(self._mark_ids)
        if length > 0:
            marked = self._encoded(MARK + tail, messages)
            # Otherwise one token is of both, and the tail's own cannot be cut off.
            if marked[:length] == self._mark_ids:
                return marked[length:]
        return self._encoded(tail, messages)

    @cached_property
    def _mark_ids(self) -> list[int]:
        """The tokens of MARK, if the tokenizer puts a token before a text, as SentencePiece does.

        A text is then tokenised behind the mark where it does not begin anything. Empty for all
        other tokenizers.
        """
        mark_ids = self.encode(MARK)
        alone = self.encode("\n")
        marked = self.encode(f"{MARK}\n")
        # Behind the mark a line's end is a token less than alone, and is there at all.
        is_put = len(alone) > 1 and marked == [*mark_ids, *alone[1:]]
        return mark_ids if is_put else []

    def _is_of_user(self, message: Message, tools: Tools) -> bool:
        """Say whether the template takes a message for one of the user."""
        return message.role == "user" or (message.role == "tool" and self._tags_results(tools))

    def _tags_results(self, tools: Tools) -> bool:
        return bool(tools) and self.calling.results == "user"

    def _listed(self, tools: Tools) -> Tools:
        """Return the tools that the template lists."""
        return tools if tools and self.calling.is_listed else ()

    def _chat(self, messages: Sequence[Message], tools: Tools) -> Chat:
        """Return messages as the template takes them."""
        if not self._tags_results(tools):
            return [self._plain(message, tools) for message in messages]
        chat: Chat = []
        for role, group in groupby(messages, key=lambda message: message.role):
            if role == "tool":  # those of one turn are one message: users do not speak twice
                chat.append({"role": "user", "content": self._tagged([*group])})
            else:
                chat += [self._plain(message, tools) for message in group]
        return chat

    def _plain(self, message: Message, tools: Tools) -> dict[str, Any]:
        """Return a message as templates take it: with the calls of the model in its text alone.

        An environment may show calls too (an example of how a tool is used), beside the text.
        """
        content = self._content(message)
        calls = message.tool_calls
        if self._says_its_calls(message, tools):
            calls = ()
        elif tools and self.calling.needs_instructions and isinstance(content, str):
            # Such a template shows no calls: they are shown as the prompt asks for them.
            content = "\n".join(filter(None, [content, calls_in_tags(calls)]))
            calls = ()
        chat = replace(message, content="", tool_calls=calls).to_chat()
        return {**chat, "content": content}

    def _says_its_calls(self, message: Message, tools: Tools) -> bool:
        """Say whether a message's calls were read from its text, as those of the model are."""
        if not message.tool_calls:
            return True
        in_text = self.calling.calls(message.text, tools)
        return [call.name for call in in_text] == [call.name for call in message.tool_calls]

    def _content(self, message: Message) -> Any:
        """Return what a message says as templates take it. Raises BadArguments for an image."""
        if isinstance(message.content, str):
            return str(message.content)
        if all(isinstance(part, TextPart) for part in message.content):
            return message.text
        raise _bad("messages", "hold an image, and tokens are made of text alone")

    def _tagged(self, results: Sequence[Message]) -> Any:
        """Return the results of tools as what a user says, as `_content` returns one message."""
        return in_tags([replace(result, content=self._content(result)) for result in results])

    def _with_instructions(self, chat: Chat, instructions: str) -> Chat:
        """Put instructions into the first message: below what the system says, above a user."""
        first, *rest = chat
        parts = [first["content"], instructions]
        if first["role"] != "system":
            parts.reverse()
        return [{**first, "content": "\n\n".join(parts)}, *rest]

    def _unclosed(self, tail: list[int], answer_ids: Sequence[int]) -> list[int]:
        """Leave out the end of the model's turn where the model wrote it itself.

        An answer that a limit cut short has no such end, and gets the template's. Where that is of
        several tokens, the model may have written the first of them, or all.
        """
        closer = self._closer(tail) or 0
        closing = list(takewhile(self.stop_ids.__contains__, tail[closer:]))
        for length in range(len(closing), 0, -1):
            if list(answer_ids[-length:]) == closing[:length]:
                return tail[closer + length :]
        return tail

    def _closer(self, tail: Sequence[int]) -> int | None:
        """Return the place of the token that closes the model's turn, None where there is none."""
        return next((at for at, id in enumerate(tail[:_MOST_CLOSING]) if id in self._special), None)

    def _tail(self, base: Base, answers: Chat, added: Chat) -> str | None:
        """Return what the template writes after the last answer, None where it rewrites history.

        `answers` is the last answer, with those before it, and what came between, if a template
        may show them anew. The last is to stand where the template let the model speak, behind the
        same text: some put an empty `<think>` there. Those before it are looked for in that text.
        """
        if base.head is None:
            return None
        contents = [message["content"] for message in answers if message["role"] == "assistant"]
        if not contents[-1].strip():
            # An empty answer would be found anywhere, and of nothing, nothing can be rewritten.
            contents[-1] = MARK
            answers = _with_last(answers, MARK)
        *earlier, last = (base.opener + content for content in contents)
        head = base.head
        if earlier:
            opened = self._opened([*base.chat, *answers[:-1]], base.tools)
            if not are_shown(earlier, opened, len(base.head), base.lead):
                return None
            head = opened.removesuffix(base.opener)
        rendered = self._opened([*base.chat, *answers, *added], base.tools)
        if not rendered.startswith(head):
            return None
        at = end_of(rendered, last, len(head), base.lead)
        if at is None:
            return None
        # What the template wrote may only begin with what the model said. It ends where that ends
        # if the same follows a mark in its place, but for the white space that a template trims.
        marked = self._opened([*base.chat, *_with_last(answers, MARK), *added], base.tools)
        # The first one behind the head: users and tools may say the mark too.
        tail = marked[len(head) :].partition(MARK)[2]
        return rendered[at:] if rendered[at:].strip() == tail.strip() else None

    def _base(self, messages: Sequence[Message], tools: Tools) -> Base:
        """Return the smallest conversation to render turns after, found once for each kind.

        Its kind is by whom it is opened, and whether there are tools: what is said in it changes
        nothing of how a template writes what follows.
        """
        every_role = (message.role for message in messages)
        roles = list(takewhile(lambda role: role != "assistant", every_role))
        key = (tuple(roles), bool(tools))
        base = self._bases.get(key)  # once: another thread may clear them at any time
        if base is None:
            base = self._probed(roles, tools)
            if base.head is None:
                # The date that a template shows may have changed in between: it has not again.
                base = self._probed(roles, tools)
            self._bases[key] = base
        return base

    def _is_of_before(self, base: Base) -> bool:
        """Say whether the template now begins otherwise: some show the date, and it has changed."""
        if base.head is None:
            return False
        return not self._render(base.chat, base.tools, opens=True).startswith(base.head)

    def _probed(self, roles: Sequence[str], tools: Tools) -> Base:
        chat = [{"role": role, "content": f"x{role}"} for role in roles]
        whole = self._measured(chat, self._listed(tools))
        small = self._measured([_user("x")], ())
        # Where both are written alike the small one will do, which is rendered in every turn.
        is_appended = whole.head is not None and small.head is not None
        is_small = is_appended and (
            (whole.opener, whole.lead, whole.tail) == (small.opener, small.lead, small.tail)
        )
        return small if is_small else whole

    def _measured(self, chat: Chat, tools: Tools) -> Base:
        opened = self._render(chat, tools, opens=True)
        followed = self._render([*chat, _MARKED, _user("y")], tools, opens=True)
        base = base_of(chat, tools, opened, followed)
        if base.head is not None:
            return base
        # Some write tools, or the system's message, before the last of a user. Nothing moves
        # until a user speaks again.
        last = self._render([*chat, _MARKED], tools, opens=False)
        return base_of(chat, tools, opened, last)

    def _after_mark(self, chat: Chat, tools: Tools, *, opens: bool = False) -> str:
        rendered = self._render(chat, tools, opens=opens)
        if MARK not in rendered:
            raise _bad("tokenizer", "has a chat template that does not show what was said")
        # The first one: what follows may be of any text, this file's too.
        return rendered.partition(MARK)[2]

    def _render(self, chat: Chat, tools: Tools, *, opens: bool) -> str:
        try:
            return self._tokenizer.apply_chat_template(
                chat,
                tools=[dict(tool) for tool in tools] or None,
                tokenize=False,
                add_generation_prompt=opens,
                **self._options,
            )
        except Exception as error:
            raise _bad(
                "tokenizer",
                f"has a chat template that cannot show the roles "
                f"{', '.join(message['role'] for message in chat)} "
                f"({in_one_line(error, at_most=200)}). Use another "
                "template, or a wrapper that gives other roles",
            ) from error


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


_MARKED: dict[str, Any] = {"role": "assistant", "content": MARK}
_NEXT = "zqxj2"  # what is said after an answer where a template is tried; in no template
_RESULT: dict[str, Any] = {"role": "tool", "content": _NEXT, "tool_call_id": "zqxj4abcd"}


def _with_last(answers: Chat, content: str) -> Chat:
    """Return answers whose last one says something else."""
    return [*answers[:-1], {**answers[-1], "content": content}]


def _is_empty(message: Mapping[str, Any]) -> bool:
    """Say whether a message is an answer of the model that says nothing."""
    return message["role"] == "assistant" and not message["content"]


def _without_system(chat: Chat) -> Chat:
    """Leave out what some templates would write again with what the user says last."""
    return [message for message in chat if message["role"] != "system"] or chat


def _as_ids(stop_ids: Iterable[object]) -> list[int]:
    """Return ids of tokens. Raises BadArguments for texts, which would match no token."""
    ids = []
    for stop_id in stop_ids:
        if not isinstance(stop_id, Integral):
            raise _bad(
                "stop_ids",
                f"hold {stop_id!r:.60}, and must be ids of tokens. The id of a text that is one "
                "token is tokenizer.convert_tokens_to_ids(text)",
            )
        ids.append(int(stop_id))
    return ids


def _bad(subject: str, problem: str) -> BadArguments:
    message = f"A ChatCodec's {subject} {problem}."
    return BadArguments(message, subject=subject, problems=[problem])
