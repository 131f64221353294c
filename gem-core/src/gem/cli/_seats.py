"""What a screen says of several seats: who is shown what, what each has, and how it went.

Where there is one seat, or none is named, nothing says whose anything is. Knows nothing about
screens, or about who plays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gem.content import observation_text
from gem.env._step import Step

__all__ = ["addressed", "ending", "figures", "message", "said"]


def addressed(names: Sequence[str], texts: Mapping[int, str]) -> str:
    """Return what seats are shown, each text behind whose it is, and one for several once.

    >>> print(addressed(("X", "O"), {1: "Your move."}))
    [O] Your move.
    >>> print(addressed(("X", "O"), {0: "O wins.", 1: "O wins."}))
    [X, O] O wins.
    >>> addressed((), {0: "Your move."})
    'Your move.'
    """
    if len(names) < 2:
        return "".join(texts.values())
    owners: dict[str, list[str]] = {}
    for seat, text in texts.items():
        owners.setdefault(text, []).append(names[seat])
    return "\n".join(f"[{', '.join(seats)}] {text}".rstrip() for text, seats in owners.items())


def said(names: Sequence[str], seat: int, text: str) -> str:
    """Return what a seat answered, behind whose it is."""
    return f"[{names[seat]}] {text}" if len(names) > 1 else text


def message(names: Sequence[str], step: Step) -> str:
    """Return what a step shows: at the end to each seat, before that to the one whose turn it is.

    In a round the others are shown theirs when it is their turn.
    """
    if len(names) < 2:  # its info may use the names of several for its own things
        return observation_text(step.observation)
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


def ending(
    played: str, names: Sequence[str], totals: Sequence[float], successes: Sequence[bool | None]
) -> str:
    """Say how an episode ended: after what was played, whether each seat succeeded, and its total.

    >>> ending("1 turn", ("X", "O"), (1.0, -1.0), (True, False))
    'Over after 1 turn. X: success, total reward 1; O: no success, total reward -1.'
    >>> ending("1 turn", (), (1.0,), (True,))
    'Success after 1 turn, total reward 1.'
    """
    won = ["success" if success else "no success" for success in successes]
    if len(names) < 2:
        return f"{won[0].capitalize()} after {played}, total reward {totals[0]:g}."
    results = "; ".join(
        f"{name}: {how}, total reward {total:g}"
        for name, how, total in zip(names, won, totals, strict=True)
    )
    return f"Over after {played}. {results}."
