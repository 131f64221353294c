"""Check where a policy's server is, and find the key to it. Asks nobody."""

from __future__ import annotations

import os

import httpx  # heavy: 0.1 s

from gem.errors import BadArguments

__all__ = ["check_address", "key_from"]


def check_address(text: str, *, of: str, subject: str) -> None:
    """Refuse what is no plain HTTP address of `of`. Raises BadArguments, about `subject`."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise BadArguments(
            f"The address of {of} is not a URL: {error}. Write it like http://localhost:8000/v1.",
            subject=subject,
        ) from error
    if url.scheme not in {"http", "https"}:
        raise BadArguments(
            f"The address of {of} begins with neither http:// nor https://. Write it like "
            "http://localhost:8000/v1.",
            subject=subject,
        )
    if url.userinfo or url.query or url.fragment or not url.host:
        raise BadArguments(
            f"The address of {of} has a user, a query or a fragment, or no host. Give the plain "
            "address, and the key in an environment variable, OPENAI_API_KEY by default.",
            subject=subject,
        )


def key_from(variable: str, *, subject: str) -> str:
    """Return the key that an environment variable holds, empty where there is none.

    Raises BadArguments, about `subject`, for one that no header can carry.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise BadArguments(
            f"The key in the environment variable {variable} has characters that no HTTP header "
            "can carry. Set it again.",
            subject=subject,
        )
    return key
