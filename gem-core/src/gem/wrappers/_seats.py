"""What the wrappers of single seats share: the seat itself, and courses that may have to wait."""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Mapping, Sequence
from typing import Any, TypeVar, Union

from gem._python.sync_async import is_awaitable, wait_for
from gem.env._env import Env
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments

__all__ = [
    "OF_SEATS",
    "AsSeat",
    "Course",
    "awaited",
    "driven",
    "error_in_round",
    "own_info",
    "seat_number",
    "waited_for",
]

T = TypeVar("T")
Course = Generator[Any, Any, T]
"""What runs in either form: it yields what may be awaitable, and is sent what comes of it."""

OF_SEATS = frozenset(
    {"seat", "rewards", "ends", "observations", "successes", "waiting_seats", "action_errors"}
)
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


def error_in_round(info: Mapping[str, Any], seat: int) -> dict[str, str]:
    """Return what the end of a round says of a seat's action, as the info of that seat has it."""
    errors = info.get("action_errors")
    if isinstance(errors, Mapping) and seat in errors:
        return {"action_error": errors[seat]}
    return {}


class AsSeat(Wrapper):
    """An environment of several seats as one of them meets it: as if there were no other."""

    all_seats = True
    seats = ("agent",)
    seat = 0
    zero_sum = False

    def __init__(self, env: Env, number: int) -> None:
        super().__init__(env)
        self._number = number

    @property
    def rewrites_history(self) -> bool:  # type: ignore[override]
        return self.env.shown_to(self._number)[0]

    @property
    def prompt_is_finished(self) -> bool:  # type: ignore[override]
        return self.env.shown_to(self._number)[1]

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:  # type: ignore[override]
        return self.env.shown_to(self._number)[2]


def driven(course: Course[T]) -> Union[T, Awaitable[T]]:
    """Run a course to its end; from the first value on that must be awaited, as a coroutine."""
    value = None
    try:
        while True:
            value = course.send(value)
            if is_awaitable(value):
                return awaited(course, value)
    except StopIteration as end:
        result: T = end.value
        return result


async def awaited(course: Course[T], value: Any = None) -> T:
    """Run a course to its end and await what must be; `value` is what it has yielded already."""
    try:
        while True:
            sent = await value if is_awaitable(value) else value
            value = course.send(sent)
    except StopIteration as end:
        result: T = end.value
        return result


def waited_for(course: Course[T]) -> T:
    """Run a course to its end, and let each value that must be awaited hold up this thread."""
    value: Any = None
    try:
        while True:
            value = course.send(wait_for(value) if is_awaitable(value) else value)
    except StopIteration as end:
        result: T = end.value
        return result
