"""Views: what a tabular policy takes for the state of an episode, read out of its conversation.

A view is a plain function from a Request to a text, the key of a row in the table. Knows nothing
about tables or learning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gem.conversation import Request
from gem.errors import BadArguments
from gem.parsing import boxed
from gem_baselines.boards import board_of, cells_of, every_cell
from gem_baselines.errors import did_you_mean

__all__ = ["VIEWS", "View", "view_named"]

# The published texts of GuessTheNumber: its rules, and its answer to a guess that missed.
_BOUNDS = re.compile(r"a whole number from (-?\d+) to (-?\d+), both included")
_HINT = re.compile(r"you guessed (-?\d+), and the target number is (higher|lower)\.")
_MOST_NUMBERS = 10_000  # actions of a table: beyond this it would not fit a laptop's memory


class View(NamedTuple):
    """A way to read a state.

    `key` returns the state of a request as text; two requests with one key are one state.
    `actions` returns the actions that an environment of these arguments has; it is None where
    they cannot be known from the arguments, and whoever makes the policy must list them.
    `answers` returns the text that each action stands for in a request, None where it is not
    allowed there; without it the actions are themselves the texts, and all allowed.
    """

    key: Callable[[Request], str]
    actions: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None
    answers: Callable[[Request], tuple[str | None, ...]] | None = None


def view_named(name: object) -> View:
    """Return a view by its name. Raises BadArguments on one that there is not."""
    # It may be anything that JSON holds: an environment's actions are looked up by it before the
    # types of a policy's arguments are checked.
    if isinstance(name, str) and name in VIEWS:
        return VIEWS[name]
    raise BadArguments(
        f"The view {name!r:.60} was asked for, and there is none of that name. "
        f"{did_you_mean(str(name), VIEWS)}The views are {', '.join(VIEWS)}.",
        subject="view",
    )


def _whole(request: Request) -> str:
    """Return the whole conversation, or the finished prompt that stands for it."""
    if request.prompt is not None:
        # As the one message that a record has in its place: an update reads states from records.
        return f"user: {request.prompt}"
    return "\n\n".join(f"{message.role}: {message.text}" for message in request.messages)


def _last(request: Request) -> str:
    """Return the last observation alone."""
    if request.prompt is not None:
        return request.prompt
    return request.messages[-1].text


def _interval(request: Request) -> str:
    """Return the numbers that the hints of GuessTheNumber leave, as "LOW..HIGH".

    Costs time linear in the conversation. Raises BadArguments where the text states no bounds.
    """
    text = _observations(request)
    bounds = _BOUNDS.search(text)
    if bounds is None:
        raise BadArguments(
            f"The view 'interval' was asked for on {request.env_id or 'an environment'}, and its "
            "first text names no two bounds as GuessTheNumber's does. Take the view 'whole' or "
            "'last'.",
            subject="view",
        )
    low = int(bounds[1])
    high = int(bounds[2])
    for hint in _HINT.finditer(text):
        guess = int(hint[1])
        if hint[2] == "higher":
            low = max(low, guess + 1)
        else:
            high = min(high, guess - 1)
    return f"{low}..{high}"


def _observations(request: Request) -> str:
    """Return what the environment wrote; of a finished prompt that is all of it."""
    if request.prompt is not None:
        return request.prompt
    # Without the policy's answers: what it writes itself is no hint.
    texts = [message.text for message in request.messages if message.role != "assistant"]
    return "\n".join(texts)


def _guesses(env_kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a guess of each number between the bounds. Raises BadArguments where they vary."""
    low = env_kwargs.get("min_number")
    high = env_kwargs.get("max_number")
    if not isinstance(low, int) or not isinstance(high, int):
        raise BadArguments(
            "The view 'interval' was asked for, and the environment's arguments min_number and "
            f"max_number are {low!r} and {high!r}, not two numbers. Set both in env_kwargs of a "
            "GuessTheNumber, or take the view 'whole' or 'last' and list the actions.",
            subject="view",
        )
    if not 0 <= high - low < _MOST_NUMBERS:
        raise BadArguments(
            f"The view 'interval' was asked for from {low} to {high}, and a table has 1 to "
            f"{_MOST_NUMBERS} actions. Set min_number and max_number closer to each other.",
            subject="view",
        )
    return tuple(boxed(str(number)) for number in range(low, high + 1))


VIEWS: Mapping[str, View] = {
    "whole": View(_whole),
    "last": View(_last),
    "interval": View(_interval, _guesses),
    "tic_tac_toe": View(board_of, every_cell, cells_of),
}
"""Every view by its name. A new one is one more entry."""
