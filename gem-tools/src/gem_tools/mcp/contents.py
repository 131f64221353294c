"""What a server offers and answers, as text and plain data. Nothing of it is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gem.content import normalise_text
from gem.parsing import NotPlainError, plain

if TYPE_CHECKING:
    from mcp.types import CallToolResult

__all__ = ["as_description", "as_name", "as_parameters", "as_text"]

MOST_DESCRIPTION = 4_000
MOST_SCHEMA = 64 * 1024
MOST_NAME = 64

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


def as_name(text: str) -> str:
    """Return a name as servers of models take it: other characters become "_".

    >>> as_name("files.read/all")
    'files_read_all'
    """
    return _NO_NAME.sub("_", text[:MOST_NAME])


def as_description(text: str | None) -> str:
    """Return a description of at most 4000 characters."""
    beginning = normalise_text((text or "")[: MOST_DESCRIPTION + 1])
    return beginning if len(beginning) <= MOST_DESCRIPTION else f"{beginning[:MOST_DESCRIPTION]}..."


def as_parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments. Raises NotPlainError where it is out of bounds."""
    copied: dict[str, Any] = plain(dict(schema))
    copied = {name: value for name, value in copied.items() if value is not None}
    copied.setdefault("properties", {})
    if len(json.dumps(copied)) > MOST_SCHEMA:
        raise NotPlainError(f"its schema has more than {MOST_SCHEMA} characters")
    return copied


def as_text(result: CallToolResult) -> str:
    """Return what a policy reads of a result. What is no text is named with its size."""
    pieces = [_piece(block) for block in result.content]
    if not pieces and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False, default=str)
    return "\n".join(pieces)


def _piece(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type in {"image", "audio"}:
        return _named(block.type, block.mime_type, block.data)
    if block.type == "resource_link":
        return f"[link: {block.name:.200} {block.uri!s:.2000}]"
    resource = block.resource
    text = getattr(resource, "text", None)
    if text is not None:
        return f"[{resource.uri!s:.2000}]\n{text}"
    return _named(f"{resource.uri!s:.2000}", resource.mime_type, resource.blob)


def _named(what: str, media_type: str | None, data: str) -> str:
    size = len(data) * 3 // 4
    return f"[{what}: {(media_type or 'of no stated type'):.100}, {size} bytes]"
