"""What a page shows of a turn: who said what, how much of it, and what came of it.

Long text is folded, and text without end is cut: a page says so, and has a link to the whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gem.content import (
    ImagePart,
    Message,
    Observation,
    TextPart,
    ToolCall,
    observation_from_json,
    observation_text,
)
from gem.episode import Turn
from gem.errors import in_one_line
from gem.parsing import last_boxed
from gem_eval.viewing.text import Piece, answer_pieces, pieces

__all__ = [
    "UNREADABLE",
    "Body",
    "Call",
    "Image",
    "Said",
    "TurnView",
    "final_said",
    "images_of",
    "is_picture",
    "tools_text",
    "turn_view",
    "view_of",
]

_FOLDED = 3000  # characters that are shown before the rest is folded
_MOST = 40_000  # characters that a page has of one text
_MOST_INFO = 4000
_MOST_MESSAGES = 40
_MOST_CALLS = 40
_MOST_ARGUMENTS = 300
_LONGEST_SEARCH = 100_000  # characters of an answer's end: 2 MB of braces take a second, a turn

UNREADABLE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading a record raises that is none, or not what was indexed."""

IMAGE_TYPES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
"""Kinds of images that a page shows, and how their bytes begin: pictures that hold no script."""


class Body(NamedTuple):
    """A text: what is shown at once, what is folded, and how many characters are left out."""

    pieces: tuple[Piece, ...]
    folded: tuple[Piece, ...] = ()
    folded_length: int = 0
    left_out: int = 0


class Image(NamedTuple):
    """An image of an observation, by its number in that; None where it is none to be shown."""

    number: int
    media_type: str
    shown: ImagePart | None


class Said(NamedTuple):
    """What one side said to the policy before a turn: a role, text, images."""

    role: str
    body: Body
    images: tuple[Image, ...] = ()


class Call(NamedTuple):
    """A call of a tool and what it answered."""

    text: str
    body: Body
    preview: str
    is_error: bool
    is_answered: bool


class TurnView(NamedTuple):
    """A turn as a page shows it, from 1. `problem` says why it cannot be read, if it cannot.

    `rewards` and `returns`, what each seat earned by it and so far, have one number a seat.
    `waiting` are the seats that were asked at the same moment and answered after it, and `out`
    those that it put out.
    """

    number: int
    rewards: tuple[float, ...] = (0.0,)
    returns: tuple[float, ...] = (0.0,)
    parts: tuple[tuple[str, float], ...] = ()
    heard: tuple[Said, ...] = ()
    left_out_messages: int = 0
    repeats_tools: bool = False
    reasoning: Body | None = None
    reasoning_words: int = 0
    answer: Body | None = None
    calls: tuple[Call, ...] = ()
    left_out_calls: int = 0
    info: str = ""
    tokens: tuple[int, int] | None = None
    finish_reason: str | None = None
    seat: int = 0
    waiting: tuple[int, ...] = ()
    out: tuple[int, ...] = ()
    policy_s: float = 0.0
    step_s: float = 0.0
    short: str = ""
    problem: str = ""

    @property
    def reward(self) -> float:
        """What the seat that acted earned."""
        return self._own(self.rewards)

    @property
    def return_so_far(self) -> float:
        """What the seat that acted has earned so far."""
        return self._own(self.returns)

    def _own(self, numbers: tuple[float, ...]) -> float:
        """Return the number of the seat that acted; of one seat the only one, as ever called."""
        return numbers[self.seat if 0 <= self.seat < len(numbers) else 0]

    @property
    def has_tool_error(self) -> bool:
        """Whether a tool failed."""
        return any(call.is_error for call in self.calls)


def turn_view(
    plain: Any, number: int, before: tuple[float, ...], tool_text: str | None = None
) -> tuple[TurnView, Turn | None]:
    """Return what a page shows of a turn as it stands in a log, and the turn.

    `before` are the returns so far, one a seat; `tool_text` is what tools answered in the turn
    before of the same seat.
    """
    try:
        turn = Turn.from_json(plain)
        return view_of(turn, number, before, tool_text), turn
    except UNREADABLE as error:
        problem = in_one_line(error, at_most=300)
        return TurnView(number, returns=before, problem=problem), None


def tools_text(turn: Turn | None) -> str | None:
    """Return what the tools of a turn answered, as the next observation has it."""
    if turn is None or not turn.tool_results:
        return None
    return "\n".join(result.content for result in turn.tool_results)


def final_said(plain: Any) -> tuple[Said, ...]:
    """Return what the environment said at the end. Of what cannot be read, nothing."""
    try:
        return tuple(_said(observation_from_json(plain), None))[:_MOST_MESSAGES]
    except UNREADABLE:
        return ()


def images_of(observation: Observation) -> Iterator[ImagePart]:
    """Yield the images of an observation, in the order in which a page numbers them."""
    for _, content in _contents(observation):
        if not isinstance(content, str):
            yield from (part for part in content if isinstance(part, ImagePart))


def is_picture(image: ImagePart) -> bool:
    """Say whether an image is of a kind that a page shows, by its bytes as well."""
    beginning = IMAGE_TYPES.get(image.media_type)
    return beginning is not None and image.image.startswith(beginning)


def view_of(turn: Turn, number: int, before: tuple[float, ...], tool_text: str | None) -> TurnView:
    """Return what a page shows of a turn. Raises one of `UNREADABLE` where it is none."""
    rewards = tuple(map(float, turn.rewards or (turn.reward,)))
    heard = tuple(_said(turn.observation, turn.suffix))
    usage = turn.usage
    repeats = tool_text is not None and observation_text(turn.observation) == tool_text
    return TurnView(
        number=number,
        rewards=rewards,
        returns=tuple(so_far + reward for so_far, reward in zip(before, rewards, strict=True)),
        parts=tuple((str(name), float(part)) for name, part in turn.reward_parts.items()),
        heard=heard[:_MOST_MESSAGES],
        left_out_messages=max(0, len(heard) - _MOST_MESSAGES),
        repeats_tools=repeats and not turn.suffix,
        reasoning=None if not turn.reasoning else _body(pieces, turn.reasoning),
        reasoning_words=len((turn.reasoning or "").split()),
        answer=_body(answer_pieces, _string(turn.action)),
        calls=tuple(_calls(turn)),
        left_out_calls=max(0, len(turn.tool_calls) - _MOST_CALLS),
        info=_info(turn),
        tokens=None if usage is None else (int(usage.prompt_tokens), int(usage.completion_tokens)),
        finish_reason=None if turn.finish_reason is None else _string(turn.finish_reason),
        seat=int(turn.seat),
        waiting=_waiting(turn.info.get("waiting_seats")),
        out=tuple(int(seat) for seat in turn.ends)[:_MOST_MESSAGES],
        policy_s=float(turn.policy_s),
        step_s=float(turn.step_s),
        short=_short(turn),
    )


def _info(turn: Turn) -> str:
    """Return the info of a turn in JSON, without what the page shows as a round."""
    waiting = turn.info.get("waiting_seats")
    info = turn.info
    if _waiting(waiting):
        info = {name: value for name, value in info.items() if name != "waiting_seats"}
    return _json(info) if info else ""


def _waiting(seats: Any) -> tuple[int, ...]:
    """Return the seats that a record says were asked as well; none where it says something else."""
    if isinstance(seats, list) and all(type(seat) is int for seat in seats):
        return tuple(seats[:_MOST_MESSAGES])
    return ()


def _said(observation: Observation, suffix: str | None) -> Iterator[Said]:
    contents = _contents(observation)
    if suffix:
        # The suffix is what ends the message, whatever the message is made of.
        role, content = contents[-1] if contents else ("user", "")
        joined = f"{content}\n{suffix}" if isinstance(content, str) else None
        if joined is not None:
            contents = [*contents[:-1], (role, joined)]
        else:
            contents = [*contents, (role, suffix)]
    number = 0
    for role, content in contents:
        if isinstance(content, str):
            yield Said(role, _body(pieces, content))
            continue
        text = "\n".join(part.text for part in content if isinstance(part, TextPart))
        images = []
        for part in content:
            if isinstance(part, ImagePart):
                shown = part if is_picture(part) else None
                images.append(Image(number, part.media_type, shown))
                number += 1
        yield Said(role, _body(pieces, text), tuple(images))


def _contents(observation: Observation) -> list[tuple[str, str | tuple[Any, ...]]]:
    """Return the messages of an observation, each as a role and its text or parts."""
    if isinstance(observation, str):
        return [("user", observation)]
    if isinstance(observation, Message):
        return [(observation.role, observation.content)]
    if any(isinstance(piece, Message) for piece in observation):
        return [(piece.role, piece.content) for piece in observation if isinstance(piece, Message)]
    return [("user", tuple(observation))]


def _calls(turn: Turn) -> Iterator[Call]:
    results = {result.call_id: result for result in turn.tool_results}
    for call in turn.tool_calls[:_MOST_CALLS]:
        result = results.get(call.id)
        content = "" if result is None else _string(result.content)
        yield Call(
            text=_call_text(call),
            body=_body(pieces, content),
            preview=" ".join(content[:200].split())[:100],
            is_error=result is not None and bool(result.is_error),
            is_answered=result is not None,
        )


def _call_text(call: ToolCall) -> str:
    arguments = ", ".join(f"{name}={_json(value)}" for name, value in call.arguments.items())
    if len(arguments) > _MOST_ARGUMENTS:
        arguments = f"{arguments[:_MOST_ARGUMENTS]}…"
    return f"{call.name}({arguments})"


def _short(turn: Turn) -> str:
    """Return a turn's answer in a few characters: the last boxed one, a call, or how it begins."""
    if turn.tool_calls:
        return f"{turn.tool_calls[0].name}(…)"[:24]
    # What begins before these can change no box that begins in them.
    boxed = last_boxed(turn.action[-_LONGEST_SEARCH:])
    text = " ".join(turn.action[:200].split()) if boxed is None else boxed
    return text if len(text) <= 22 else f"{text[:21]}…"


def _body(cut_up: Any, text: str) -> Body:
    shown = text[:_MOST]
    left_out = len(text) - len(shown)
    if left_out:
        cut_up = pieces  # the last box of a part need not be that of the whole
    if len(shown) <= _FOLDED:
        return Body(tuple(cut_up(shown)), left_out=left_out)
    # Of a long answer the end matters as well: there is what was parsed.
    head = shown[: _FOLDED // 2]
    rest = shown[_FOLDED // 2 :]
    return Body(tuple(pieces(head)), tuple(cut_up(rest)), len(rest), left_out)


def _json(value: Mapping[str, Any] | Sequence[Any] | Any) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=None, default=str)
    return text if len(text) <= _MOST_INFO else f"{text[:_MOST_INFO]}…"


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text was expected, and this is {type(value).__name__}")
    return value
