"""One seat's part of an episode, as an episode of one seat: for what scores or trains.

Knows nothing about how episodes are run.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gem.episode._episode import Episode, StopReason
    from gem.episode._seats import SeatOutcome
    from gem.episode._turn import Turn

__all__ = ["part_of"]


def part_of(episode: Episode, seat: int) -> Episode:
    """Return the part of one seat: nothing that another seat did, was shown or was told."""
    outcome = episode.seats[seat]
    own_turns = [turn for turn in episode.played_turns if turn.seat == seat]
    earned = _earned(episode, seat)
    errors = _errors_in_rounds(episode, seat)
    is_ended = _is_ended_by_environment(episode, seat)
    turns = []
    for number, turn in enumerate(own_turns):
        is_last = is_ended and number == len(own_turns) - 1
        error = errors.get(number)
        turns.append(_own_turn(turn, outcome, earned[number], error, is_last=is_last))
    return replace(
        episode,
        policy=outcome.policy,
        turns=tuple(turns),
        final_observation=outcome.final_observation,
        total_reward=outcome.total_reward,
        terminated=not episode.is_error and outcome.end == "terminated",
        truncated=episode.is_error or outcome.end != "terminated",
        stop_reason=_stop_reason(episode, outcome),
        error=_error(episode, seat),
        success=outcome.success,
        rewrites_history=outcome.rewrites_history,
        format=1,
        seats=(outcome,),
    )


def _earned(episode: Episode, seat: int) -> Mapping[int, float]:
    """Return what a seat earned from each of its turns to the next, by the turn's number.

    What came before its first turn counts there.
    """
    rewards: defaultdict[int, list[float]] = defaultdict(list)
    taken = 0
    for turn in episode.played_turns:
        taken += turn.seat == seat
        rewards[max(0, taken - 1)].append((turn.rewards or (0.0,) * (seat + 1))[seat])
    return {number: math.fsum(numbers) for number, numbers in rewards.items()}


def _errors_in_rounds(episode: Episode, seat: int) -> dict[int, str]:
    """Return why actions of a seat were refused in rounds, by its turn's number.

    That is known with the last action of a round alone, and stands there.
    """
    errors: dict[int, str] = {}
    taken = 0
    for turn in episode.played_turns:
        taken += turn.seat == seat
        told = turn.info.get("action_errors")
        if isinstance(told, Mapping) and str(seat) in told:
            errors[taken - 1] = told[str(seat)]
    return errors


def _own_turn(
    turn: Turn, outcome: SeatOutcome, reward: float, error: str | None, *, is_last: bool
) -> Turn:
    info: dict[str, Any] = dict(turn.info)
    info.pop("waiting_seats", None)  # who else was asked at the same moment
    info.pop("action_errors", None)
    if error is not None:
        # What the last action of the round says of itself counts more: a wrapper may have said it.
        info.setdefault("action_error", error)
    if "success" in info:  # that of all seats
        info["success"] = outcome.success
    return replace(
        turn,
        reward=reward,
        terminated=is_last and outcome.end == "terminated",
        truncated=is_last and outcome.end != "terminated",
        info=info,
        rewards=None,
        ends={},
    )


def _is_ended_by_environment(episode: Episode, seat: int) -> bool:
    """Say whether a step ended it for a seat: no limit of the run, and no error."""
    turns = episode.played_turns
    is_over = bool(turns) and (turns[-1].terminated or turns[-1].truncated)
    return is_over or any(str(seat) in turn.ends for turn in turns)


def _stop_reason(episode: Episode, outcome: SeatOutcome) -> StopReason:
    if not episode.is_error and outcome.end == "terminated":
        return "terminated"
    # It may be out by a limit of its own, in an episode that went on to its end.
    return "truncated" if episode.stop_reason == "terminated" else episode.stop_reason


def _error(episode: Episode, seat: int) -> str | None:
    """Return the error without what another seat's policy said in it."""
    if episode.error is None or episode.stopped_by in (None, seat):
        return episode.error
    return f"the policy of the seat {episode.seats[episode.stopped_by].name!r} failed"
