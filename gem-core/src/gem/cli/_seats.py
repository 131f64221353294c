"""What a screen says of several seats: who is shown what, what each has, and how it went.

Knows nothing about screens, or about who plays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem.env._step import Step

__all__ = ["addressed", "figures", "message", "results"]


def addressed(names: Sequence[str], texts: Mapping[int, str]) -> str:
    """Return what seats are shown, each text behind whose it is, and one for several once.

    >>> print(addressed(("X", "O"), {1: "Your move."}))
    [O] Your move.
    >>> print(addressed(("X", "O"), {0: "O wins.", 1: "O wins."}))
    [X, O] O wins.
    """
    owners: dict[str, list[str]] = {}
    for seat, text in texts.items():
        owners.setdefault(text, []).append(names[seat])
    return "\n".join(f"[{', '.join(seats)}] {text}".rstrip() for text, seats in owners.items())


def message(names: Sequence[str], step: Step) -> str:
    """Return what a step shows: at the end to each seat, before that to the one whose turn it is.

    In a round the others are shown theirs when it is their turn.
    """
    from gem.content import observation_text

    if not (step.terminated or step.truncated):
        return addressed(names, {step.seat: observation_text(step.observation)})
    shown = {seat: observation_text(each) for seat, each in step.observations.items()}
    return addressed(names, {seat: text for seat, text in shown.items() if text})


def figures(names: Sequence[str], values: Sequence[float]) -> str:
    """Return a number for each seat.

    >>> figures(("X", "O"), (0.5, -0.5))
    'X 0.5, O -0.5'
    """
    return ", ".join(f"{name} {value:g}" for name, value in zip(names, values, strict=True))


def results(names: Sequence[str], totals: Sequence[float], successes: Sequence[bool | None]) -> str:
    """Say of each seat whether it succeeded, and what it has.

    >>> results(("X", "O"), (1.0, -1.0), (True, False))
    'X: success, total reward 1; O: no success, total reward -1'
    """
    won = ["success" if success else "no success" for success in successes]
    return "; ".join(
        f"{name}: {how}, total reward {total:g}"
        for name, how, total in zip(names, won, totals, strict=True)
    )
