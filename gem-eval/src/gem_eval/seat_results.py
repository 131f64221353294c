"""Figures by seat, of environments of several seats: pure functions on what each seat did.

Knows nothing about whole episodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from gem.conversation import Usage
from gem.episode import Episode
from gem_eval import intervals
from gem_eval.line_ups import LineUpRef, PolicyRef
from gem_eval.prices import Prices, price_of

__all__ = ["SeatPlay", "SeatResult", "Tokens", "seat_plays", "seat_results", "usage_of"]

Interval = tuple[float, float] | None


class Tokens(BaseModel):
    """Tokens as the servers count them, over every episode whose replies say so."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    prompt: int
    completion: int


class SeatPlay(NamedTuple):
    """What one seat did in an episode, and who sat there.

    `group` is what the episode shares with those that are like it: its task, or else its seed.
    `is_forfeit` says that the seat's own policy ended the episode by an error.
    """

    seat: str
    policy: str
    group: int
    success: bool
    total_return: float
    turns: int
    is_error: bool
    is_forfeit: bool
    usage: Usage | None


class SeatResult(BaseModel):
    """One policy at one seat of a line-up, on one environment.

    `line_up` is what the run calls those that played together; of a policy that sat everywhere it
    is the policy. `seat` is None for all seats of a policy that rotates, together. `errors` are
    the episodes that an error ended, and `forfeits` those of them that this seat's own policy
    ended; rates and means are over the rest. Intervals are 95%: what was played from one seed, in
    every rotation, counts as alike. `tokens` and `cost` are of its own answers.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    env_id: str
    line_up: str
    seat: str | None
    policy: str
    episodes: int
    errors: int
    forfeits: int
    success_rate: float | None
    success_rate_ci95: Interval
    mean_return: float | None
    mean_return_ci95: Interval
    mean_turns: float | None
    tokens: Tokens | None
    cost: float | None = None


def seat_plays(episode: Episode) -> tuple[SeatPlay, ...]:
    """Reduce an episode to what each seat did; of one seat there is nothing to tell apart."""
    if not episode.seats:
        return ()
    return tuple(
        SeatPlay(
            seat=part.seats[0].name,
            policy=part.policy,
            group=part.seed if part.task is None else part.task,
            success=bool(part.success),
            total_return=part.total_reward,
            turns=len(part.turns),
            is_error=part.is_error,
            is_forfeit=part.stop_reason == "policy_error" and part.stopped_by == seat,
            usage=usage_of(part),
        )
        for seat, part in enumerate(episode.parts())
    )


def usage_of(episode: Episode) -> Usage | None:
    """Sum up the tokens of an episode's answers; None where no server has counted any."""
    counted = [turn.usage for turn in episode.turns if turn.usage is not None]
    if not counted:
        return None
    return Usage(
        sum(usage.prompt_tokens for usage in counted),
        sum(usage.completion_tokens for usage in counted),
    )


def seat_results(
    env_id: str, ref: PolicyRef, plays: Iterable[SeatPlay], prices: Prices
) -> Iterator[SeatResult]:
    """Yield the figures of each policy of a line-up at each of its seats.

    In the order of the seats; of a line-up that rotates in the order of its policies, of each
    first those of all its seats.
    """
    by_seat: dict[tuple[str, str], list[SeatPlay]] = defaultdict(list)
    for play in plays:
        by_seat[play.policy, play.seat].append(play)
    if not (isinstance(ref, LineUpRef) and ref.rotates):
        for (policy, seat), own in by_seat.items():
            yield _result(env_id, ref.name, seat, policy, own, prices)
        return
    seats = dict.fromkeys(seat for _, seat in by_seat)
    for member in dict.fromkeys(member.name for member in ref.members):
        of_member = {seat: by_seat[member, seat] for seat in seats if (member, seat) in by_seat}
        together = [play for own in of_member.values() for play in own]
        if len(of_member) > 1:
            yield _result(env_id, ref.name, None, member, together, prices)
        for seat, own in of_member.items():
            yield _result(env_id, ref.name, seat, member, own, prices)


def _result(
    env_id: str,
    line_up: str,
    seat: str | None,
    policy: str,
    plays: Sequence[SeatPlay],
    prices: Prices,
) -> SeatResult:
    scored = [play for play in plays if not play.is_error]
    rate = intervals.rate(_grouped(scored, lambda play: play.success))
    returns = intervals.mean(_grouped(scored, lambda play: play.total_return))
    counted = [play.usage for play in plays if play.usage is not None]
    tokens = None
    cost = None
    if counted:
        prompt = sum(usage.prompt_tokens for usage in counted)
        completion = sum(usage.completion_tokens for usage in counted)
        tokens = Tokens(prompt=prompt, completion=completion)
        price = price_of(policy, prices)
        cost = None if price is None else price.cost(prompt, completion)
    return SeatResult(
        env_id=env_id,
        line_up=line_up,
        seat=seat,
        policy=policy,
        episodes=len(plays),
        errors=sum(play.is_error for play in plays),
        forfeits=sum(play.is_forfeit for play in plays),
        success_rate=rate.value,
        success_rate_ci95=rate.ci95,
        mean_return=returns.value,
        mean_return_ci95=returns.ci95,
        mean_turns=sum(play.turns for play in scored) / len(scored) if scored else None,
        tokens=tokens,
        cost=cost,
    )


def _grouped(plays: Iterable[SeatPlay], of: Callable[[SeatPlay], Any]) -> list[list[Any]]:
    groups: Mapping[int, list[Any]] = defaultdict(list)
    for play in plays:
        groups[play.group].append(of(play))
    return list(groups.values())
