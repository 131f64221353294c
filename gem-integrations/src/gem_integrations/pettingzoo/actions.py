r"""Actions as text: what form they have, what a text says, which are legal, and a sample.

An action is plain JSON data here, a number for Discrete, until `value_of` makes it a value of its
space. A text is hostile: reading it raises nothing but `RefusedAction`, in linear time.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import numpy as np
from gymnasium import spaces

from gem.parsing import NotPlainError, boxed, last_boxed, read_json

__all__ = ["RefusedAction", "can_be_read", "form_of", "legal_of", "read", "sampled", "value_of"]

Space = spaces.Space[Any]
_MOST_LISTED = 100  # legal actions
_MOST_CHARACTERS = 20  # of a charset, to be listed


class RefusedAction(Exception):
    """An action that cannot be taken. `kind` is "format" or "invalid", the text says why."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def can_be_read(space: Space) -> bool:
    """Say whether this module knows how an action of a space is written."""
    if isinstance(space, spaces.Dict):
        return all(map(can_be_read, space.spaces.values()))
    if isinstance(space, spaces.Tuple):
        return all(map(can_be_read, space.spaces))
    known = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary, spaces.Box, spaces.Text)
    return isinstance(space, known)


def form_of(space: Space) -> str:
    """Return what an action of a space is, for instructions.

    >>> form_of(spaces.Discrete(9)), form_of(spaces.MultiBinary(3))
    ('a whole number from 0 to 8', 'a JSON list of 3 whole numbers, each 0 or 1')
    """
    if isinstance(space, spaces.Discrete):
        return f"a whole number from {space.start} to {space.start + space.n - 1}"
    if isinstance(space, spaces.Text):
        characters = space.characters
        of = f" of {characters}" if len(characters) <= _MOST_CHARACTERS else ""
        return f"a text of {space.min_length} to {space.max_length} characters{of}"
    if isinstance(space, spaces.Dict):
        parts = [f'"{name}", {form_of(part)}' for name, part in space.spaces.items()]
        return f"a JSON object of {'; '.join(parts)}"
    if isinstance(space, spaces.Tuple):
        return f"a JSON list of {len(space.spaces)}: {'; '.join(map(form_of, space.spaces))}"
    shape = space.shape or ()
    if isinstance(space, spaces.Box):
        what = "whole numbers" if np.issubdtype(space.dtype, np.integer) else "numbers"
        limits = f"from {_limits(space.low)} to {_limits(space.high)}"
        if not shape:
            return f"a {what[:-1]} {limits}"
        return f"a JSON list of {_size(shape)} {what}, {limits}"
    if isinstance(space, spaces.MultiBinary):
        return f"a JSON list of {_size(shape)} whole numbers, each 0 or 1"
    if isinstance(space, spaces.MultiDiscrete):
        highest = (space.start + space.nvec - 1).tolist()
        return (
            f"a JSON list of {_size(shape)} whole numbers, from {space.start.tolist()} to {highest}"
        )
    return f"an action of {space}"


def legal_of(space: Space, mask: Any) -> str | None:
    """Return the legal actions that a mask of a Discrete space names; None where it names none."""
    if mask is None or not isinstance(space, spaces.Discrete):
        return None
    legal = (np.flatnonzero(np.asarray(mask)) + space.start).tolist()
    listed = ", ".join(map(str, legal[:_MOST_LISTED]))
    more = len(legal) - _MOST_LISTED
    return f"{listed} and {more} more" if more > 0 else listed


def read(space: Space, text: str) -> Any:
    r"""Return the plain action in the last box of a text, or in all of it where it has no box.

    >>> read(spaces.Discrete(9), r"The middle: \boxed{4}"), read(spaces.MultiBinary(2), "[1, 0]")
    (4, [1, 0])
    """
    inside = last_boxed(text)
    written = (text if inside is None else inside).strip()
    if isinstance(space, spaces.Text):
        return written
    try:
        return read_json(written)
    except NotPlainError as error:
        raise RefusedAction("format", f"It could not be read: {error}.") from error


def value_of(space: Space, plain: Any, mask: Any = None) -> Any:
    """Return plain data as a value of a space. Raises RefusedAction where it is none, or masked.

    >>> value_of(spaces.Box(-1, 1, (2,)), [0, 0.5])
    array([0. , 0.5], dtype=float32)
    """
    value = _converted(space, plain)
    if value is None or not space.contains(value):
        raise RefusedAction("invalid", f"It is not {form_of(space)}.")
    is_masked = mask is not None and isinstance(space, spaces.Discrete)
    if is_masked and not np.asarray(mask)[plain - int(space.start)]:  # type: ignore[attr-defined]
        raise RefusedAction("invalid", "It is not legal now.")
    return value


def sampled(space: Space, mask: Any, rng: random.Random) -> str:
    """Return an action, a legal one where a mask says which, as a policy writes it."""
    own = copy.deepcopy(space)  # the game's own generator is not to move
    own.seed(rng.getrandbits(31))
    if mask is not None and isinstance(space, spaces.Discrete):
        value = own.sample(np.asarray(mask, dtype=np.int8))
    else:
        value = own.sample()
    plain = _plain(value)
    return boxed(plain if isinstance(space, spaces.Text) else json.dumps(plain))


def _converted(space: Space, plain: Any) -> Any:
    """Return plain data as the kind of value that a space has; None where it can be none."""
    if isinstance(space, spaces.Discrete):
        return plain if type(plain) is int else None
    if isinstance(space, spaces.Text):
        return plain if isinstance(plain, str) else None
    if isinstance(space, spaces.Dict):
        if not isinstance(plain, dict) or plain.keys() != space.spaces.keys():
            return None
        return {name: _converted(part, plain[name]) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        if not isinstance(plain, list) or len(plain) != len(space.spaces):
            return None
        return tuple(map(_converted, space.spaces, plain))
    return _converted_array(space, plain)


def _converted_array(space: Space, plain: Any) -> Any:
    try:
        numbers = np.asarray(plain)
    except ValueError:  # lists of different lengths
        return None
    # A list of texts, of bools, or of ints too long for a machine is no array of numbers.
    if numbers.shape != space.shape or numbers.dtype.kind not in "iuf":
        return None
    if np.issubdtype(space.dtype, np.integer):
        if numbers.dtype.kind == "f":
            return None
        limits = np.iinfo(space.dtype)
        if numbers.size and (numbers.min() < limits.min or numbers.max() > limits.max):
            return None
        return numbers.astype(space.dtype)
    with np.errstate(over="ignore"):  # beyond float32 it becomes infinite, and is refused as that
        return numbers.astype(space.dtype)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, str) else np.asarray(value).tolist()


def _limits(bounds: Any) -> str:
    """Return the bounds of a Box, one number where all are alike."""
    flat = np.unique(np.asarray(bounds))
    return f"{flat[0]:g}" if flat.size == 1 else json.dumps(np.asarray(bounds).tolist())


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
