"""Levels of tokens for each colouring, their legend, and the picture of all. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gem_eval.viewing.token_columns import Token

__all__ = ["Bars", "bars_of", "colour", "legend", "outliers", "value_of"]

_EDGES: Mapping[str, tuple[float, ...]] = {
    "lp": (0.05, 0.5, 1.5, 3.0),
    "ent": (0.1, 0.4, 0.9, 1.6),
    "adv": (0.1, 0.5, 1.0, 1.5),
    "diff": (0.02, 0.05, 0.15, 0.4),
}
"""From which size on a value has the levels 1 to 4."""

_MINUS = "\N{MINUS SIGN}"
_MOST_BARS = 500
_HEIGHT = 56.0
_WIDTH = 1000.0
_MOST_OUTLIERS = 20
_LEAST_OUTLIER = 0.05


class Bars(NamedTuple):
    """A picture of one value a token: the paths of what is above 0 and below it, and where 0 is."""

    above: str
    below: str
    zero: float
    low: float
    high: float
    values: int


def value_of(token: Token, by: str, advantage: float | None) -> float | None:
    """Return what a token is coloured by. `advantage` is that of its turn."""
    if not token.is_generated:
        return None
    found: Mapping[str, Callable[[], float | None]] = {
        "mask": lambda: 1.0,
        "lp": lambda: token.logprob,
        "ent": lambda: token.entropy,
        "adv": lambda: advantage,
        "diff": lambda: token.difference,
    }
    return found[by]()


def colour(token: Token, by: str, value: float | None) -> str:
    """Return the class of a token: `p1` to `p4` up, `m1` to `m4` down, or "" for next to nothing.

    `off` is what the model was given, `on` what it said where that alone is shown.
    """
    if not token.is_generated:
        return "off"
    if by == "mask":
        return "on"
    if value is None:
        return ""
    level = sum(abs(value) >= edge for edge in _EDGES[by])
    if not level:
        return ""
    return f"{'m' if value < 0 else 'p'}{level}"


def legend(by: str) -> list[tuple[str, str]]:
    """Return the classes of a colouring, each with what it stands for."""
    if by == "mask":
        return [("on", "said by the model, mask 1: trained on"), ("off", "given to it, mask 0")]
    edges = _EDGES[by]
    up = [(f"p{level}", f"{edge:g}") for level, edge in enumerate(edges, start=1)]
    down = [(f"m{level}", f"{_MINUS}{edge:g}") for level, edge in enumerate(edges, start=1)]
    if by == "lp":
        return [("", f"above {_MINUS}{edges[0]:g}"), *_ranges(down, "and below")]
    if by == "ent":
        return [("", f"under {edges[0]:g}"), *_ranges(up, "nats and more")]
    signed = [(css, f"+{label}") for css, label in up]
    return [*reversed(down), ("", "0"), *signed]


def _ranges(steps: Sequence[tuple[str, str]], last: str) -> list[tuple[str, str]]:
    found = []
    for number, (css, label) in enumerate(steps):
        is_last = number + 1 == len(steps)
        end = last if is_last else f"to {steps[number + 1][1]}"
        found.append((css, f"{label} {end}"))
    return found


def outliers(tokens: Sequence[tuple[int, Token]], by: str) -> list[tuple[int, Token, float]]:
    """Return the tokens with the lowest logprobs, lowest first, each with its turn and that.

    Under the colouring by difference they are those whose two columns part most.
    """
    found = []
    for turn, token in tokens:
        value = token.difference if by == "diff" else token.logprob
        if value is not None and abs(value) >= _LEAST_OUTLIER:
            found.append((turn, token, value))
    key = (lambda each: -abs(each[2])) if by == "diff" else (lambda each: each[2])
    return sorted(found, key=key)[:_MOST_OUTLIERS]


def bars_of(values: Sequence[float | None], by: str) -> Bars | None:
    """Draw a value of each token that the model said, in order. None where none is known.

    Of many tokens each bar shows the one of several that is farthest from 0.
    """
    known = [value for value in values if value is not None]
    size = max(map(abs, known), default=0.0)
    if not known:
        return None
    is_signed = by in ("adv", "diff")
    zero = _HEIGHT / 2 if is_signed else 0.0 if by == "lp" else _HEIGHT
    room = _HEIGHT / 2 if is_signed else _HEIGHT
    count = min(len(values), _MOST_BARS)
    width = _WIDTH / count
    paths = {True: "", False: ""}
    for number in range(count):
        start = number * len(values) // count
        end = max((number + 1) * len(values) // count, start + 1)
        of_bar = [value for value in values[start:end] if value is not None]
        if not of_bar or not size:
            continue
        value = max(of_bar, key=abs)
        height = math.copysign(abs(value) / size * room, value)
        left = f"M{number * width:.1f} {zero:g}"
        paths[value > 0] += f"{left}v{-height:.1f}h{width * 0.8:.2f}v{height:.1f}z"
    return Bars(paths[True], paths[False], zero, min(known), max(known), len(values))
