"""Read line-ups of several seats off `--policy` and `--rotate`, or off a file of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gem_eval.errors import SettingsError

__all__ = ["policies_from"]


def policies_from(given: Sequence[Any], *, rotates: bool) -> list[Any]:
    """Return policies as `gem_eval.evaluate` takes them. Raises SettingsError.

    Texts that name a seat are one line-up, `first=A` and `second=B`; where the policies rotate, all
    of them are one. A file may also have line-ups as tables and lists.

    >>> policies_from(["first=solver", "second=random"], rotates=False)
    [{'first': 'solver', 'second': 'random'}]
    >>> policies_from(["openai:m@http://localhost/v1?x=1"], rotates=False)
    ['openai:m@http://localhost/v1?x=1']
    """
    pinned = {text: seat for text in given if (seat := _seat_in(text)) is not None}
    if rotates:
        return [_rotating(given, pinned)]
    if not pinned:
        return [tuple(one) if isinstance(one, list) else one for one in given]
    line_up: dict[str, str] = {}
    for text in given:
        seat = pinned.get(text) if isinstance(text, str) else None
        if seat is None:
            first = next(iter(pinned))
            raise _misfit(
                f"--policy {first} names a seat, and --policy {text} none. Give each with its "
                "seat, --policy SEAT=POLICY, or none."
            )
        if seat in line_up:
            raise _misfit(
                f"The seat {seat!r} was given two policies, {line_up[seat]} and "
                f"{text.partition('=')[2]}. Give it one; --config takes "
                "several line-ups."
            )
        line_up[seat] = text.partition("=")[2]
        if not line_up[seat]:
            raise _misfit(f"--policy {text} has no policy behind the seat. Write SEAT=POLICY.")
    return [line_up]


def _rotating(given: Sequence[Any], pinned: Mapping[str, str]) -> tuple[str, ...]:
    if pinned:
        raise _misfit(
            f"--rotate has policies change seats, and --policy {next(iter(pinned))} stays at its "
            "own. Leave one of both out."
        )
    names = [one for one in given if isinstance(one, str)]
    if len(names) < max(2, len(given)):
        raise _misfit(
            "--rotate has the policies change seats. Give one for each seat, --policy A --policy B "
            "--rotate; one policy may be there twice."
        )
    return tuple(names)


def _seat_in(text: Any) -> str | None:
    """Return the seat that stands before a policy; None where there is none.

    What has a colon before the first `=` is a policy with an argument, an address say.
    """
    if not isinstance(text, str):
        return None
    seat, sign, _ = text.partition("=")
    return seat if sign and seat and ":" not in seat else None


def _misfit(text: str) -> SettingsError:
    return SettingsError(text, option="policies")
