"""What the wrappers of single seats share: names of seats, and hooks that may have to wait."""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Mapping
from typing import Any, TypeVar, Union

from gem._python.sync_async import is_awaitable
from gem.env._env import Env
from gem.errors import BadArguments

__all__ = ["OF_SEATS", "Course", "driven", "own_info", "seat_number"]

T = TypeVar("T")
Course = Generator[Any, Any, T]
"""What runs in either form: it yields what may be awaitable, and is sent what comes of it."""

OF_SEATS = frozenset({"seat", "rewards", "ends", "observations", "successes", "waiting_seats"})
"""What an info says of several seats: no policy is shown it."""


def seat_number(env: Env, seat: Any, *, subject: str) -> int:
    """Return the number of a seat that is named, or numbered. Raises BadArguments on no seat."""
    if isinstance(seat, str) and seat in env.seats:
        return env.seats.index(seat)
    if type(seat) is int and 0 <= seat < len(env.seats):
        return seat
    raise BadArguments(
        f"{subject} was given seat={seat!r:.40}. The seats are {', '.join(env.seats)}: give one of "
        f"these names, or a number from 0 to {len(env.seats) - 1}.",
        subject=subject,
    )


def own_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an info says beside the seats and the state that is shown."""
    return {
        name: value for name, value in info.items() if name not in OF_SEATS and name != "suffix"
    }


def driven(course: Course[T]) -> Union[T, Awaitable[T]]:
    """Run a course to its end; from the first value on that must be awaited, as a coroutine."""
    value = None
    try:
        while True:
            value = course.send(value)
            if is_awaitable(value):
                return _awaited(course, value)
    except StopIteration as end:
        result: T = end.value
        return result


async def _awaited(course: Course[T], value: Any) -> T:
    try:
        while True:
            sent = await value if is_awaitable(value) else value
            value = course.send(sent)
    except StopIteration as end:
        result: T = end.value
        return result
