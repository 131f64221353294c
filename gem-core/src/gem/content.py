"""What passes between an environment and a policy: text, images, messages, tool calls.

Knows nothing about who sends it or how a conversation is kept.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Union

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
    "normalise_text",
    "observation_from_json",
    "observation_text",
    "observation_to_json",
]

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
    """What one call answered. An error is a result too: the policy reads it."""

    call_id: str
    content: str
    is_error: bool = False


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
        return _content_text(self.content)

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

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Message:
        """Rebuild a message. Raises KeyError or TypeError on data of another shape."""
        calls = tuple(
            ToolCall(call["id"], call["name"], call["arguments"])
            for call in plain.get("tool_calls", ())
        )
        content = _content_from_json(plain["content"])
        return cls(plain["role"], content, calls, plain.get("call_id"))


Observation = Union[str, Sequence[Part], Message, Sequence[Message]]
"""What an environment returns: text, parts (text and images), or messages with a role."""


class Action(str):
    """What a policy answers: a string that may also carry native tool calls.

    >>> Action("hello"), Action("hello").tool_calls
    ('hello', ())
    """

    tool_calls: tuple[ToolCall, ...]

    def __new__(cls, text: str = "", *, tool_calls: Sequence[ToolCall] = ()) -> Action:
        action = super().__new__(cls, text)
        action.tool_calls = tuple(tool_calls)
        return action


def normalise_text(text: str) -> str:
    """Replace lone surrogates, which no encoding can write, by U+FFFD.

    >>> normalise_text("a\\ud800b")
    'a\\ufffdb'
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def observation_text(observation: Observation) -> str:
    """Return the observation's text, its messages or parts joined by newlines."""
    if isinstance(observation, str):
        return observation
    if isinstance(observation, Message):
        return observation.text
    return "\n".join(
        piece.text for piece in observation if not isinstance(piece, ImagePart)
    )


def observation_to_json(observation: Observation) -> Any:
    """Return the observation as plain JSON data: a string, or a tagged list."""
    if isinstance(observation, str):
        return str(observation)
    if isinstance(observation, Message):
        return {"message": observation.to_json()}
    if any(isinstance(piece, Message) for piece in observation):
        return {"messages": [piece.to_json() for piece in observation]}  # type: ignore[union-attr]
    return {"parts": _content_to_json(tuple(observation))}  # type: ignore[arg-type]


def observation_from_json(plain: Any) -> Observation:
    """Rebuild what `observation_to_json` wrote."""
    if isinstance(plain, str):
        return plain
    if "message" in plain:
        return Message.from_json(plain["message"])
    if "messages" in plain:
        return tuple(Message.from_json(message) for message in plain["messages"])
    content = _content_from_json(plain["parts"])
    assert not isinstance(content, str)
    return content


def _content_text(content: str | tuple[Part, ...]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, TextPart))


def _content_to_json(content: str | tuple[Part, ...]) -> Any:
    if isinstance(content, str):
        return str(content)
    return [_part_to_json(part) for part in content]


def _part_to_json(part: Part) -> dict[str, str]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    return {"image": base64.b64encode(part.image).decode(), "media_type": part.media_type}


def _content_from_json(plain: Any) -> str | tuple[Part, ...]:
    if isinstance(plain, str):
        return plain
    return tuple(
        TextPart(part["text"])
        if "text" in part
        else ImagePart(base64.b64decode(part["image"]), part["media_type"])
        for part in plain
    )
