"""How far an environment's return can go: exactly where that can be found, else by playing."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import gem
from gem.conversation import Request
from gem.env import Env
from gem.episode import Episode
from gem.errors import BadArguments
from gem.specs import EnvSpec, WrapperRef
from gem_baselines.exact.chance import Uncountable
from gem_baselines.exact.states import StateGraph, searched
from gem_baselines.exact.values import Play, extreme_play, random_play, solver_play

__all__ = ["Figure", "Yardstick", "yardstick"]

_Z99 = 2.5758293035489004  # standard deviations on each side that hold 99 % of a normal spread
_MOST_TURNS = 10_000  # of an episode that is played
_MOST_STEPS = 600_000
"""Steps that one figure may take to enumerate, as StateGraph counts them: 5 to 15 CPU seconds."""
_ROUNDING = 1e-9


class Figure(NamedTuple):
    """What one way to play returns in an episode, from `low` to `high`: one value where exact.

    `high` is infinite where nothing bounds it. `turns` is how probable each number of turns is,
    None where only an interval is known; `how` says in words how it was found.
    """

    low: float
    high: float
    how: str
    is_exact: bool = False
    mean_turns: float | None = None
    turns: Mapping[int, float] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        turns = None if self.turns is None else {str(n): p for n, p in self.turns.items()}
        return {
            **self._asdict(),
            "high": self.high if math.isfinite(self.high) else None,
            "turns": turns,
        }


class Yardstick(NamedTuple):
    """The best, the random and the worst return of one environment; `worst` may be unknown.

    `env_kwargs` are all arguments that it was made with, those of its spec too. Of several seats,
    whose number is `seats`, a return is that of `seat`, while the others draw their actions by
    `sample_action`. Without a `seat` it is the sum over them, which says nothing of who plays well.
    """

    env_id: str
    best: Figure
    random: Figure
    worst: Figure | None
    env_kwargs: Mapping[str, Any] = {}
    seats: int = 1
    seat: str | None = None

    def normalised(self, mean_return: float) -> float | None:
        """Return where a return lies: 0 as random play, 1 as the best; None unless both are exact.

        >>> figure = lambda value: Figure(value, value, "", is_exact=True)
        >>> Yardstick("", best=figure(1.0), random=figure(0.5), worst=None).normalised(0.75)
        0.5
        """
        room = self.best.low - self.random.low
        if not (self.best.is_exact and self.random.is_exact) or room <= 0:
            return None
        return (mean_return - self.random.low) / room


def yardstick(
    env_id: str,
    env_kwargs: Mapping[str, Any] | None = None,
    *,
    seat: str | None = None,
    episodes: int = 1_000,
    seed: int = 0,
    most_steps: int = _MOST_STEPS,
) -> Yardstick:
    """Return what the best, the random and the worst play of an environment return.

    Of several seats it is the play of `seat`, by its name, against others that play at random.
    Valid actions are those that `sample_action` draws, and the worst play is the worst of them.
    Exact where all starts, all that chance does and all that a player may come to know can be
    enumerated in `most_steps` steps a figure. Else `episodes` are played with seeds that `seed`
    fixes, and a figure is the 99 % interval of its mean. The best return then lies between that of
    `solve()` and the most that the environment declares: the hint `bound`, or the top of
    `reward_range` in every turn. It is exact where `solve()` reaches that from every start. Raises
    BadArguments where an episode fails, as without `sample_action`, and for a seat that there is
    not.
    """
    if episodes < 2:
        raise BadArguments(
            f"episodes={episodes} was asked for. An interval takes 2 at least.", subject="episodes"
        )
    with gem.make(env_id, **(env_kwargs or {})) as env:
        spec = env.spec
        assert spec is not None, "gem.make gives every environment its spec"
        seats = env.seats
        number = None
        own_spec = spec
        # What several seats declare is of a seat and of one step of its own. Others' steps pay it
        # too, and a return without a `seat` is of all of them.
        most = _most(env, spec) if len(seats) == 1 else math.inf
        if seat is not None:
            number = _seat_number(seats, seat, spec.id)
            view = WrapperRef(id="seat_view", kwargs={"seat": seat, "opponents": "random"})
            own_spec = spec.model_copy(update={"wrappers": (*spec.wrappers, view)})
        graph = StateGraph(env, most_steps, number)

        def played(wanted: str) -> list[Episode]:
            return _played(own_spec, wanted, episodes, seed)

        def exactly(play: Callable[[StateGraph], Play]) -> Play:
            graph.steps_left = most_steps
            return searched(play, graph, asked=f"A yardstick of {spec.id}", env_id=spec.id)

        # One episode first: what fails or never ends fails here, before all that is enumerated.
        _played(own_spec, "sample", 1, seed)
        random = _random(exactly, played)
        return Yardstick(
            env_id=spec.id,
            best=_best(exactly, played, random, most),
            random=random,
            worst=_worst(exactly),
            env_kwargs=dict(spec.kwargs),
            seats=len(seats),
            seat=seat,
        )


Exactly = Callable[[Callable[[StateGraph], Play]], Play]
Played = Callable[[str], list[Episode]]


def _seat_number(seats: Sequence[str], seat: str, env_id: str) -> int:
    if len(seats) == 1 or seat not in seats:
        there = "it has one seat: ask without" if len(seats) == 1 else f"take {' or '.join(seats)}"
        raise BadArguments(
            f"A yardstick of the seat {seat!r} of {env_id} was asked for; {there}.", subject="seat"
        )
    return seats.index(seat)


def _most(env: Env, spec: EnvSpec) -> float:
    """Return what no episode returns more of, as far as the environment declares it.

    A return from which an episode counts as a success is no such declaration.
    """
    for hints in (spec.check, env.unwrapped.check_hints):
        if hints is not None and hints.bound is not None:
            return hints.bound
    most = env.reward_range[1]
    if env.single_turn or most <= 0.0:  # there is one turn at least
        return most
    return most * (env.max_turns or math.inf)


def _best(exactly: Exactly, played: Played, random: Figure, most: float) -> Figure:
    try:
        best = exactly(lambda graph: extreme_play(graph, operator.gt))
        return _figure(best, "every action in everything that a player may know")
    except Uncountable as error:
        why_not = str(error)
    try:
        solved = exactly(solver_play)
    except Uncountable:
        return _best_by_playing(played, random, most, why_not)
    value = float(solved.value)
    if math.isclose(value, most, abs_tol=1e-9) and random.low <= most:
        # Without turns: another play that returns as much may be over sooner.
        how = f"solve() from every start returns the most declared, {most:g}"
        return Figure(value, value, how, is_exact=True)
    return _between(value, most, "solve() from every start", random, why_not)


def _best_by_playing(played: Played, random: Figure, most: float, why_not: str) -> Figure:
    try:
        solved = played("solution")
    except _NotOffered:
        return _between(random.low, most, "random play", random, why_not)
    low, _ = _interval(solved)
    return _between(low, most, f"solve() in {len(solved):,} episodes", random, why_not)


def _between(low: float, most: float, least: str, random: Figure, why_not: str) -> Figure:
    """Return the best return as an interval, from that of a play to the most declared."""
    if max(low, random.low) > most + _ROUNDING:
        how = f"at least {least}, more than what is declared, {most:g} ({why_not})"
        return Figure(low, math.inf, how)
    return Figure(low, max(most, low), f"at least {least}, at most what is declared ({why_not})")


def _random(exactly: Exactly, played: Played) -> Figure:
    try:
        return _figure(exactly(random_play), "every action that sample_action draws")
    except Uncountable as error:
        why_not = str(error)
    drawn = played("sample")
    return Figure(*_interval(drawn), f"{len(drawn):,} episodes ({why_not})")


def _worst(exactly: Exactly) -> Figure | None:
    try:
        worst = exactly(lambda graph: extreme_play(graph, operator.lt))
    except Uncountable:
        return None
    return _figure(worst, "every valid action in everything that a player may know")


def _figure(play: Play, how: str) -> Figure:
    turns = {number: float(share) for number, share in play.turns.items()}
    value = float(play.value)
    return Figure(value, value, how, True, float(play.mean_turns), turns)


class _Player:
    """Answer with what the environment itself offers: its `sample`, or its `solution`."""

    def __init__(self, wanted: str) -> None:
        self.wants = (wanted,)
        self.name = wanted
        self.was_offered = True

    def __call__(self, request: Request) -> str:
        answer: str | None = getattr(request, self.name)
        if answer is None:
            self.was_offered = False
        return answer or ""


class _NotOffered(Exception):
    """An environment knows no solution of a state that was reached."""


def _played(spec: EnvSpec, wanted: str, episodes: int, seed: int) -> list[Episode]:
    """Return episodes of such play. Raises _NotOffered, and BadArguments where one failed."""
    player = _Player(wanted)
    played = gem.run(
        player, spec, episodes=episodes, seed=seed, concurrency=1, max_turns=_MOST_TURNS
    )
    if not player.was_offered:
        raise _NotOffered
    for episode in played:
        if episode.error is not None or episode.stop_reason == "max_turns":
            raise BadArguments(
                f"A yardstick of {spec.id} was asked for, and an episode ended by "
                f"{episode.stop_reason}: {episode.error or f'over {_MOST_TURNS:,} turns.'}",
                subject=spec.id,
            )
    return played


def _interval(episodes: list[Episode]) -> tuple[float, float]:
    """Return the 99 % interval of the mean return."""
    returns = np.array([episode.total_reward for episode in episodes])
    mean = float(returns.mean())
    half = _Z99 * float(returns.std(ddof=1)) / math.sqrt(len(returns))
    return mean - half, mean + half
