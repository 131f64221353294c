"""What a served wiki needs that no installation brings: the address of its server."""

from __future__ import annotations

__all__ = ["lacks"]


def lacks(url: str | None = None, **_: object) -> tuple[str, str] | None:
    """Return that a server is to be named, or None where one is."""
    if url is None:
        return "a server that you name", "url=ADDRESS, of kiwix-serve book=NAME too"
    return None
