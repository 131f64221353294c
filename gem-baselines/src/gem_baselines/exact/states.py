"""An environment as a graph of its states: where it begins, what may be done, what comes of it.

Everything is found by asking the environment itself, through snapshots, with chance enumerated.
Knows no environment by name, and nothing about what is worth doing.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from gem import Snapshot
from gem.content import Observation, observation_text
from gem.env import Env
from gem.errors import BadArguments, GemError, in_one_line
from gem_baselines.exact.chance import (
    Hidden,
    Looked,
    Uncountable,
    courses,
    courses_by_length,
)
from gem_baselines.exact.seat import OneSeat

__all__ = ["Ending", "Outcome", "Start", "StateGraph", "searched"]

T = TypeVar("T")

_MOST_STARTS = 5_000
_MOST_COURSES = 2_000  # of one step, and of one drawn action
_MOST_DRAWS = 8  # of one drawn action
_ENOUGH_COURSES = 24  # of an action that is drawn again until it is allowed


class Start(NamedTuple):
    """A state in which an episode may begin, and what the player then sees."""

    probability: Fraction
    state: int
    text: str


class Ending(NamedTuple):
    """How an episode ended. `success` is None where its last `info` says nothing of it."""

    terminated: bool
    truncated: bool
    success: bool | None


class Outcome(NamedTuple):
    """What may come of an action.

    Where the episode is over `state` is None; elsewhere `ending` is.
    """

    probability: Fraction
    reward: float
    text: str
    state: int | None
    ending: Ending | None


class _Saved(NamedTuple):
    """A state: of the environment, and what its seat is owed.

    `hidden` are the attributes of the environment that hold a number which nobody may look at.
    """

    snapshot: Snapshot
    hidden: list[str]
    owed: float


class StateGraph:
    """The states of one environment, by number, found as they are asked for.

    Of several seats they are those in which it is the turn of `seat`, and others draw what they do.
    Without a `seat` they are those of every turn, and an action earns what it earns all seats.
    States that have equal snapshots are one. Raises Uncountable where chance cannot be enumerated,
    where a state cannot be saved, and after `steps_left` steps, a number that is set from outside:
    each question to the environment is one (a step, a drawn action, a solution), and so is each
    outcome that a play is summed over.
    """

    def __init__(self, env: Env, steps_left: int, seat: int | None = None) -> None:
        self.steps_left = steps_left
        self._env = env
        self._seat = None if seat is None else OneSeat(env, seat)
        self._side = self._seat or env
        self._adds_seats = seat is None and len(env.seats) > 1
        self._numbers: dict[str, int] = {}
        self._snapshots: list[_Saved] = []
        self._at: int | None = None  # the state that the environment is in, where that is known
        self._outcomes: dict[tuple[int, str], tuple[Outcome, ...]] = {}
        self._actions: dict[int, Mapping[str, Fraction]] = {}

    def starts(self) -> tuple[Start, ...]:
        """Return where an episode may begin; the probabilities sum to 1.

        A start that is drawn again until something fits is taken as such an action is.
        """

        def begin(rng: random.Random) -> tuple[int, str]:
            self._at = None
            self._env.unwrapped.rng = rng
            observation, info = self._side.reset()
            return self._number(), _text(observation, info)

        found: Mapping[tuple[int, str], Fraction]
        try:
            found = _merged(begin, _MOST_STARTS)
        except Uncountable:
            found = _drawn_alike(courses_by_length(begin, at_most=_MOST_STARTS), "a start")
        return tuple(Start(probability, *start) for start, probability in found.items())

    def actions(self, state: int) -> Mapping[str, Fraction]:
        """Return the valid actions of a state, each with the probability that it is drawn.

        They are those that `sample_action` draws. Where it draws again until an action is allowed,
        its draws have no end: the actions must then share every number of draws alike. Raises
        Uncountable where they do not.
        """
        known = self._actions.get(state)
        if known is None:
            known = self._drawn(state)
            self._actions[state] = known
        return known

    def _drawn(self, state: int) -> Mapping[str, Fraction]:
        self._restore(state)

        def draw(rng: random.Random) -> str:
            self.count()
            self._env.unwrapped.sample_rng = rng
            return str(self._side.sample_action())

        return _drawn_alike(courses_by_length(draw, at_most=_MOST_COURSES), "a random action")

    def outcomes(self, state: int, action: str) -> tuple[Outcome, ...]:
        """Return what may come of an action; the probabilities sum to 1."""
        key = (state, action)
        known = self._outcomes.get(key)
        if known is None:
            known = self._step(state, action)
            self._outcomes[key] = known
        return known

    def _step(self, state: int, action: str) -> tuple[Outcome, ...]:
        def take(rng: random.Random) -> tuple[float, str, int | None, Ending | None]:
            self.count()
            self._restore(state)
            self._at = None
            self._env.unwrapped.rng = rng
            step = self._side.step(action)
            text = _text(step.observation, step.info)
            # `step.reward` is of the seat that acted alone: what others earn by its action is not
            # in it, as the loss of whoever is beaten by a last move.
            reward = math.fsum(step.rewards) if self._adds_seats else float(step.reward)
            if not (step.terminated or step.truncated):
                return reward, text, self._number(), None
            success = step.info.get("success")
            if success is not None:
                success = bool(success)
            return reward, text, None, Ending(step.terminated, step.truncated, success)

        return tuple(
            Outcome(probability, *outcome)
            for outcome, probability in _merged(take, _MOST_COURSES).items()
        )

    def solution(self, state: int) -> str | None:
        """Return what the environment's `solve()` says in a state."""
        self.count()
        self._restore(state)
        self._at = None
        try:
            return self._side.solve()
        except Looked as error:
            raise Uncountable(str(error)) from None

    def count(self) -> None:
        """Count a step of the search. Raises Uncountable once there were as many as may be."""
        if self.steps_left <= 0:
            raise Uncountable("more steps than may be taken")
        self.steps_left -= 1

    def _number(self) -> int:
        """Return the number of the state that the environment is in."""
        base: Any = self._env.unwrapped
        # The generator is no part of a state: what it will draw is enumerated.
        with suppress(AttributeError):
            del base.rng
        hidden = [name for name, value in vars(base).items() if isinstance(value, Hidden)]
        for name in hidden:  # a snapshot has plain numbers alone
            setattr(base, name, 0)
        owed = self._seat.owed if self._seat else 0.0
        try:
            snapshot = self._env.snapshot()
            key = json.dumps([owed, hidden, _states_in(snapshot)])
        except GemError as error:
            raise Uncountable(f"a state that cannot be saved ({error})") from error
        for name in hidden:
            setattr(base, name, Hidden())
        number = self._numbers.setdefault(key, len(self._snapshots))
        if number == len(self._snapshots):
            self._snapshots.append(_Saved(snapshot, hidden, owed))
        self._at = number
        return number

    def _restore(self, state: int) -> None:
        # To restore takes half of all time. A state that was just reached, or whose actions were
        # just drawn, is there still: `sample_action` changes nothing.
        if self._at == state:
            return
        self._at = state
        snapshot, hidden, owed = self._snapshots[state]
        self._env.restore(snapshot)
        if self._seat:
            self._seat.owed = owed
        for name in hidden:
            setattr(self._env.unwrapped, name, Hidden())


def searched(search: Callable[[StateGraph], T], graph: StateGraph, *, asked: str, env_id: str) -> T:
    """Return what a search of a graph finds. `asked` begins an error: "A yardstick of game:X".

    Raises Uncountable, with why nothing was found, and BadArguments where the environment fails.
    """
    try:
        return search(graph)
    except Uncountable:
        raise
    except RecursionError:
        raise Uncountable("episodes of too many turns") from None
    except Exception as error:  # an environment's own: it may raise anything
        raise BadArguments(
            f"{asked} was asked for, and the environment failed while its states were enumerated: "
            f"{in_one_line(error)}. Try `gem-env check {env_id}`.",
            subject=env_id,
        ) from error


def _drawn_alike(by_length: Iterable[list[tuple[Fraction, T]]], what: str) -> Mapping[T, Fraction]:
    """Return how probable each result is, from the courses of each number of draws.

    Raises Uncountable where the draws have no end, and are no mere repetition.
    """
    drawn: dict[T, Fraction] = {}
    shares_by_length: list[dict[T, Fraction]] = []
    courses_seen = 0
    for ended in itertools.islice(by_length, _MOST_DRAWS):
        of_length = _summed(ended)
        for result, probability in of_length.items():
            drawn[result] = drawn.get(result, Fraction(0)) + probability
        if sum(drawn.values()) == 1:
            return drawn
        if of_length:
            shares_by_length.append(_shares(of_length))
        courses_seen += len(ended)
        # Not at the second length at once: what gives up after a few tries ends by itself.
        if len(shares_by_length) > 1 and courses_seen >= _ENOUGH_COURSES:
            break
    # One length says nothing of the draws that go on: they may be for other results.
    is_repetition = len(shares_by_length) > 1 and all(
        shares == shares_by_length[0] for shares in shares_by_length
    )
    if not is_repetition:
        raise Uncountable(f"{what} takes more than {_MOST_DRAWS} draws")
    return shares_by_length[0]


def _merged(function: Callable[[random.Random], T], at_most: int) -> dict[T, Fraction]:
    """Return what a function may give, each result once with the probability of all its courses."""
    return _summed(courses(function, at_most=at_most))


def _summed(found: Iterable[tuple[Fraction, T]]) -> dict[T, Fraction]:
    """Return each result once, with the sum of its probabilities."""
    sums: dict[T, Fraction] = {}
    for probability, result in found:
        sums[result] = sums[result] + probability if result in sums else probability
    return sums


def _shares(probabilities: Mapping[T, Fraction]) -> dict[T, Fraction]:
    """Return the probabilities, made to sum to 1."""
    total = sum(probabilities.values(), Fraction(0))
    return {result: probability / total for result, probability in probabilities.items()}


def _states_in(snapshot: Snapshot | None) -> list[Mapping[str, Any]]:
    """Return the state of a stack, the outermost layer first."""
    states = []
    while snapshot is not None:
        states.append(snapshot.state)
        snapshot = snapshot.inner
    return states


def _text(observation: Observation, info: Mapping[str, Any]) -> str:
    """Return all that a player sees: the observation, and the state as text."""
    return f"{observation_text(observation)}\n{info.get('suffix')}"
