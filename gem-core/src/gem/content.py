"""What passes between an environment and a policy: text, images, messages, tool calls.

Knows nothing about who sends it or how a conversation is kept.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args

__all__ = [
    "Action",
    "ImagePart",
    "Message",
    "Observation",
    "Part",
    "Role",
    "TextPart",
    "ToolCall",
    "ToolResult",
    "checked_observation",
    "is_shallow",
    "normalise_text",
    "observation_copy",
    "observation_from_json",
    "observation_text",
    "observation_to_json",
]

_THE_OBSERVATION = "The environment returned the observation"
_MAX_DEPTH = 64  # levels of JSON data; reading more could end a stack that is deep already

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text among other parts."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An encoded image: its bytes as a file would hold them, and their media type."""

    image: bytes
    media_type: str = "image/png"


Part = Union[TextPart, ImagePart]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a policy asks for. `arguments` is plain JSON data."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one call answered. An error is a result too: the policy reads it.

    `meta` has facts about the call as plain data (why it failed, what was cut off). The policy
    does not see it, it does not take part in comparisons, and a record leaves it out.
    """

    call_id: str
    content: str
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `call_id` says which call a tool message answers."""

    role: Role
    content: str | tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None

    @property
    def text(self) -> str:
        """The message's text; parts that are not text are left out."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data from which `from_json` rebuilds an equal message."""
        plain: dict[str, Any] = {"role": self.role, "content": _content_to_json(self.content)}
        if self.tool_calls:
            plain["tool_calls"] = [
                {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
                for call in self.tool_calls
            ]
        if self.call_id is not None:
            plain["call_id"] = self.call_id
        return plain

    def to_chat(self) -> dict[str, Any]:
        """Return the message as chat templates and trainers take it: a dict by role and content.

        Parts become a list of `{"type": "text", ...}` and `{"type": "image", "image": url}`, the
        image as a data URL. Arguments of calls stay a dict, as templates want them; a server of
        chat completions wants them as a JSON string.

        >>> Message("assistant", "", (ToolCall("1", "add", {"a": 2}),)).to_chat()["tool_calls"]
        [{'id': '1', 'type': 'function', 'function': {'name': 'add', 'arguments': {'a': 2}}}]
        """
        chat: dict[str, Any] = {"role": self.role, "content": _content_to_chat(self.content)}
        if self.tool_calls:
            chat["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": dict(call.arguments)},
                }
                for call in self.tool_calls
            ]
        if self.call_id is not None:
            chat["tool_call_id"] = self.call_id
        return chat

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Message:
        """Rebuild a message. Raises KeyError, TypeError or ValueError on data of another shape."""
        if not isinstance(plain, Mapping):
            raise TypeError(f"A message was expected, and this is {type(plain).__name__}.")
        if plain["role"] not in get_args(Role):
            raise ValueError(f"A message's role is one of {get_args(Role)}, not {plain['role']!r}.")
        calls = tuple(
            ToolCall(_string(call["id"]), _string(call["name"]), dict(call["arguments"]))
            for call in plain.get("tool_calls", ())
        )
        call_id = plain.get("call_id")
        answered = None if call_id is None else _string(call_id)
        return cls(plain["role"], _content_from_json(plain["content"]), calls, answered)


Observation = Union[str, Sequence[Part], Message, Sequence[Message]]
"""What an environment returns: text, parts (text and images), or messages with a role."""


class Action(str):
    """What a policy answers: a string that may also carry native tool calls.

    `tool_results` is for a replay: what the calls of this action, in order, answered when it was
    recorded. A tool is then not called again.

    >>> Action("hello"), Action("hello").tool_calls
    ('hello', ())
    """

    # Of the class, and set on an instance only where there are some: an action without them, as
    # most are, needs no dictionary of its own.
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()

    def __new__(
        cls,
        text: str = "",
        *,
        tool_calls: Sequence[ToolCall] = (),
        tool_results: Sequence[ToolResult] = (),
    ) -> Action:
        action = str.__new__(cls, text)
        if tool_calls:
            action.tool_calls = tuple(tool_calls)
        if tool_results:
            action.tool_results = tuple(tool_results)
        return action


def normalise_text(text: str) -> str:
    r"""Replace lone surrogates, which no encoding can write, by U+FFFD.

    >>> normalise_text("a\ud800b")
    'a\ufffdb'
    """
    if text.isascii():  # as most are, and this costs next to nothing
        return text
    # In UTF-16 a pair of surrogates is one character, which is what the policy meant.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_shallow(plain: Any) -> bool:
    """Say whether JSON data is nested no deeper than any Python, however busy, reads back.

    >>> is_shallow([[1], {"a": []}])
    True
    """
    # Level by level and not by recursion, which is what a deep value would break.
    level = [plain]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list, tuple))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return True
    return False


def checked_observation(value: Any, said_by: str) -> Observation:
    """Return a value that is an observation.

    Raises TypeError on any other; `said_by` begins the sentence: "reset returned the observation".
    """
    if isinstance(value, (str, Message)):
        return value
    if isinstance(value, Sequence):
        for kind in (Message, (TextPart, ImagePart)):
            if all(isinstance(piece, kind) for piece in value):
                return value
    raise TypeError(
        f"{said_by} {value!r:.60}, of type {type(value).__name__}. It must be text, a gem.Message, "
        "or a list of messages or of parts."
    )


def observation_text(observation: Observation) -> str:
    """Return the observation's text, its messages or parts joined by newlines.

    Raises TypeError on what is no observation.
    """
    if isinstance(observation, str):
        return observation
    if isinstance(observation, Message):
        return observation.text
    checked_observation(observation, _THE_OBSERVATION)
    return "\n".join(piece.text for piece in observation if not isinstance(piece, ImagePart))


def observation_to_json(observation: Observation) -> Any:
    """Return the observation as plain JSON data: a string, or a tagged list.

    Raises TypeError on what is no observation.
    """
    if isinstance(observation, str):
        return str(observation)
    if isinstance(observation, Message):
        return {"message": observation.to_json()}
    checked_observation(observation, _THE_OBSERVATION)
    if any(isinstance(piece, Message) for piece in observation):
        return {"messages": [piece.to_json() for piece in observation]}  # type: ignore[union-attr]
    return {"parts": _content_to_json(tuple(observation))}  # type: ignore[arg-type]


def observation_from_json(plain: Any) -> Observation:
    """Rebuild what `observation_to_json` wrote. Raises as `Message.from_json` does."""
    if isinstance(plain, str):
        return plain
    if not isinstance(plain, Mapping):
        raise TypeError(f"An observation was expected, and this is {type(plain).__name__}.")
    if "message" in plain:
        return Message.from_json(plain["message"])
    if "messages" in plain:
        return tuple(Message.from_json(message) for message in plain["messages"])
    return _parts_from_json(plain["parts"])


def observation_copy(observation: Observation) -> Observation:
    """Return the observation as nobody else can change it, and as a record gives it back.

    Raises TypeError or ValueError on what no record could hold.
    """
    if isinstance(observation, str):
        return str(observation)  # of a subclass too: a record has text and nothing more
    plain = observation_to_json(observation)
    if not is_shallow(plain):
        raise ValueError(f"an observation is nested more than {_MAX_DEPTH} deep")
    return observation_from_json(json.loads(json.dumps(plain, allow_nan=False)))


def _content_to_json(content: str | tuple[Part, ...]) -> Any:
    if isinstance(content, str):
        return str(content)
    return [_part_to_json(part) for part in content]


def _part_to_json(part: Part) -> dict[str, str]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    # The bytes as they came: encoding them anew would change the episode's fingerprint.
    return {"image": base64.b64encode(part.image).decode(), "media_type": part.media_type}


def _content_to_chat(content: str | tuple[Part, ...]) -> Any:
    if isinstance(content, str):
        return str(content)
    return [_part_to_chat(part) for part in content]


def _part_to_chat(part: Part) -> dict[str, str]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    encoded = base64.b64encode(part.image).decode("ascii")
    return {"type": "image", "image": f"data:{part.media_type};base64,{encoded}"}


def _content_from_json(plain: Any) -> str | tuple[Part, ...]:
    return plain if isinstance(plain, str) else _parts_from_json(plain)


def _parts_from_json(plain: Any) -> tuple[Part, ...]:
    return tuple(map(_part_from_json, plain))


def _part_from_json(plain: Mapping[str, Any]) -> Part:
    if "text" in plain:
        return TextPart(_string(plain["text"]))
    # Validated, or characters that are no base64 would be left out without a word.
    image = base64.b64decode(_string(plain["image"]), validate=True)
    return ImagePart(image, _string(plain["media_type"]))


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"A string was expected, and this is {type(value).__name__}.")
    return value
