"""How an episode of several seats went for each of them: what an index keeps, and a page shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem.content import normalise_text
from gem.conversation import Usage
from gem.episode import FORMAT
from gem_eval.seat_results import SeatPlay

__all__ = [
    "SeatFigures",
    "TurnsOfSeat",
    "plays_of",
    "seat_named",
    "seats_as_json",
    "seats_from_json",
]

_MOST_SEATS = 64  # of whom a page shows figures
_MOST_NAME = 200


class SeatFigures(NamedTuple):
    """How an episode went for one seat, and who sat there.

    `outcome` is "succeeded", "failed" or "error". `is_blamed` says that the seat's own policy ended
    the episode, by an error or without room for an answer. Tokens are None where no answer says
    how many it took.
    """

    number: int
    name: str
    policy: str
    total_return: float
    outcome: str
    end: str
    turns: int
    prompt_tokens: int | None
    completion_tokens: int | None
    is_blamed: bool


class TurnsOfSeat:
    """The sums over the turns of one seat."""

    def __init__(self) -> None:
        self.count = 0
        self.tokens: tuple[int, int] | None = None

    def add(self, usage: Any) -> None:
        """Count a turn, with the tokens of its answer if they are on record."""
        self.count += 1
        if usage is not None:
            prompt, completion = self.tokens or (0, 0)
            self.tokens = (prompt + usage[0], completion + usage[1])


def seats_as_json(record: Mapping[str, Any], turns: Mapping[int, TurnsOfSeat]) -> str | None:
    """Return what an index keeps of the seats of a record; None where there is one.

    Raises KeyError, TypeError, ValueError or AttributeError on what are no seats.
    """
    if record["format"] == FORMAT:  # another is of several seats
        return None
    outcomes = record["seats"]
    figures = []
    for number, outcome in enumerate(outcomes[:_MOST_SEATS]):
        own_turns = turns.get(number, TurnsOfSeat())
        prompt, completion = own_turns.tokens or (None, None)
        result = {True: "succeeded", False: "failed"}.get(outcome["success"], "error")
        figures.append(
            SeatFigures(
                number=number,
                name=normalise_text(outcome["name"])[:_MOST_NAME],
                policy=normalise_text(outcome["policy"]),
                total_return=float(outcome["total_reward"]),
                outcome=result,
                end=normalise_text(outcome["end"])[:_MOST_NAME],
                turns=own_turns.count,
                prompt_tokens=prompt,
                completion_tokens=completion,
                is_blamed=record.get("stopped_by") == number,
            )
        )
    return json.dumps(figures)


def plays_of(seats: Sequence[SeatFigures], group: int, stop: str) -> tuple[SeatPlay, ...]:
    """Return what a summary by seat takes. `group` is the episode's task, or else its seed."""
    return tuple(
        SeatPlay(
            seat=seat.name,
            policy=seat.policy,
            group=group,
            success=seat.outcome == "succeeded",
            total_return=seat.total_return,
            turns=seat.turns,
            is_error=seat.outcome == "error",
            is_forfeit=seat.is_blamed and stop == "policy_error",
            usage=(
                None
                if seat.prompt_tokens is None or seat.completion_tokens is None
                else Usage(seat.prompt_tokens, seat.completion_tokens)
            ),
        )
        for seat in seats
    )


def seats_from_json(text: str | None) -> tuple[SeatFigures, ...]:
    """Return what `seats_as_json` kept."""
    return () if text is None else tuple(map(SeatFigures._make, json.loads(text)))


def seat_named(word: str, seats: tuple[SeatFigures, ...]) -> SeatFigures | None:
    """Return the seat that an address names, by its name or its number; None where it is none."""
    for seat in seats:
        if seat.name == word:
            return seat
    return next((seat for seat in seats if str(seat.number) == word), None)
