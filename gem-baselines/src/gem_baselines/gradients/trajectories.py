"""Every trajectory of a small environment, for policies that see the history as text.

A policy has a row for each history that it may see: all that it was shown and did. In every row
it has every action that `sample_action` draws in any state, as a table has, so that it may also
play what is not allowed. Knows nothing about estimators.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import gem
from gem.errors import BadArguments
from gem.specs import EnvSpec
from gem_baselines.exact.chance import Uncountable
from gem_baselines.exact.states import Ending, Outcome, StateGraph, searched
from gem_baselines.learning_policy import Floats

__all__ = ["Integers", "Trajectories", "Trajectory", "trajectories_of"]

MOST_TRAJECTORIES = 5_000
MOST_PARAMETERS = 2_000
_MOST_STATES = 5_000
_MOST_STEPS = 600_000
_ROUNDING = 1e-9  # a return is a sum of floats

Integers = NDArray[np.int64]
History = tuple[str, ...]


class Trajectory(NamedTuple):
    """One way that an episode may go: what was seen, done and earned in each turn.

    `start` is the number of the state that it began in, `rows` and `actions` are the policy's.
    """

    start: int
    rows: tuple[int, ...]
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    ending: Ending


class Trajectories:
    """All trajectories of an environment, and their turns one after another as arrays.

    Of trajectories: `chances`, the probability of all that the environment draws on the way;
    `starts`, `lengths`, and `first`, the place of the first turn. Of turns: `owner`, the
    trajectory; `rows`, `actions` and `rewards`. Trajectories of one start stand together.
    """

    def __init__(
        self,
        env_id: str,
        action_names: tuple[str, ...],
        found: Mapping[Trajectory, Fraction],
        rows: int,
    ) -> None:
        self.env_id = env_id
        self.action_names = action_names
        self.all = tuple(found)
        self.shape = (rows, len(action_names))
        self.chances: Floats = np.array([float(chance) for chance in found.values()])
        self.starts: Integers = np.array([each.start for each in self.all])
        self.lengths: Integers = np.array([len(each.rows) for each in self.all])
        self.first: Integers = np.cumsum(self.lengths) - self.lengths
        self.owner: Integers = np.repeat(np.arange(len(self.all)), self.lengths)
        self.rows: Integers = np.concatenate([each.rows for each in self.all])
        self.actions: Integers = np.concatenate([each.actions for each in self.all])
        self.rewards: Floats = np.concatenate([each.rewards for each in self.all])

    @property
    def parameters(self) -> int:
        """How many logits a policy has: one for each action in each history."""
        return self.shape[0] * self.shape[1]

    def totals(self, numbers: Floats) -> Floats:
        """Return the sum of a number of turns over each trajectory."""
        return np.bincount(self.owner, numbers, len(self.all)).astype(np.float64)


def trajectories_of(env_id: str, env_kwargs: Mapping[str, Any] | None = None) -> Trajectories:
    """Enumerate the trajectories of an environment, in a fixed order.

    Raises BadArguments where they cannot be enumerated, where they or the histories are too many,
    where there are several seats, and where the environment fails.
    """
    with gem.make(env_id, **(env_kwargs or {})) as env:
        spec = env.spec
        assert spec is not None, "gem.make gives every environment its spec"
        graph = StateGraph(env, _MOST_STEPS)
        asked = f"The gradients of {spec.id}"
        if len(env.seats) > 1:
            raise BadArguments(
                f"{asked} were asked for, and it has {len(env.seats)} seats, each with returns of "
                "its own, where this is of one policy and its return. Take an environment of one "
                "seat, or a class of your own that is a `gem.SeatView`.",
                subject=spec.id,
            )
        try:
            return searched(
                lambda graph: _enumerated(graph, spec), graph, asked=asked, env_id=spec.id
            )
        except Uncountable as error:
            raise BadArguments(
                f"{asked} were asked for, and its episodes cannot be enumerated: {error}. Take an "
                "environment that is smaller or draws from lists, or make this one smaller by "
                "--env-kwargs, as by fewer turns.",
                subject=spec.id,
            ) from error


def _enumerated(graph: StateGraph, spec: EnvSpec) -> Trajectories:
    action_names = _actions_of_all_states(graph, spec.id)
    number = _number_of_trajectories(graph, action_names)
    if number > MOST_TRAJECTORIES:
        raise _TooLarge(spec.id, number, "trajectories", MOST_TRAJECTORIES)
    listing = _Listing(graph, action_names, spec.success_return)
    found = listing.run()
    parameters = len(listing.rows) * len(action_names)
    if parameters > MOST_PARAMETERS:
        raise _TooLarge(spec.id, parameters, "parameters of a policy", MOST_PARAMETERS)
    return Trajectories(spec.id, action_names, found, len(listing.rows))


class _TooLarge(Uncountable):
    """There are more of something than may be."""

    def __init__(self, env_id: str, number: int, what: str, most: int) -> None:
        super().__init__(f"{env_id} has {number:,} {what}, and {most:,} are the most")


def _actions_of_all_states(graph: StateGraph, env_id: str) -> tuple[str, ...]:
    """Return every action that is drawn in any state that can be reached by such actions.

    They come in the order in which they are met. Raises Uncountable where states are too many.
    """
    actions: dict[str, None] = {}
    tried: set[tuple[int, str]] = set()
    states = dict.fromkeys(start.state for start in graph.starts())
    has_grown = True
    while has_grown:
        has_grown = False
        for state in list(states):
            actions.update(dict.fromkeys(graph.actions(state)))
        for state in list(states):
            if len(states) > _MOST_STATES:
                raise Uncountable(
                    f"{env_id} has more than {_MOST_STATES:,} states, which are the most"
                )
            for action in actions:
                if (state, action) in tried:
                    continue
                tried.add((state, action))
                has_grown = True
                for outcome in graph.outcomes(state, action):
                    if outcome.state is not None:
                        states[outcome.state] = None
    return tuple(actions)


def _number_of_trajectories(graph: StateGraph, action_names: tuple[str, ...]) -> int:
    """Count trajectories without listing them: those from a state are counted once."""
    known: dict[int, int] = {}

    def count_from(state: int) -> int:
        if state not in known:
            number = 0
            for action in action_names:
                for outcome in graph.outcomes(state, action):
                    number += 1 if outcome.state is None else count_from(outcome.state)
            known[state] = number
        return known[state]

    return sum(count_from(start.state) for start in graph.starts())


class _Listing:
    """Goes every way through a graph, and numbers the histories as it meets them."""

    def __init__(
        self, graph: StateGraph, action_names: tuple[str, ...], success_return: float
    ) -> None:
        self.rows: dict[History, int] = {}
        self._graph = graph
        self._action_names = action_names
        self._success_return = success_return
        self._found: dict[Trajectory, Fraction] = {}

    def run(self) -> Mapping[Trajectory, Fraction]:
        """Return each trajectory with its chance; what no policy can tell apart is one."""
        for number, start in enumerate(self._graph.starts()):
            before = Trajectory(number, (), (), (), Ending(False, False, None))
            self._go_on(start.state, (start.text,), before, start.probability)
        return self._found

    def _go_on(self, state: int, history: History, before: Trajectory, chance: Fraction) -> None:
        row = self.rows.setdefault(history, len(self.rows))
        for action, name in enumerate(self._action_names):
            for outcome in self._graph.outcomes(state, name):
                now = before._replace(
                    rows=(*before.rows, row),
                    actions=(*before.actions, action),
                    rewards=(*before.rewards, outcome.reward),
                )
                chance_now = chance * outcome.probability
                if outcome.state is not None:
                    history_now = (*history, name, outcome.text)
                    self._go_on(outcome.state, history_now, now, chance_now)
                    continue
                ended = now._replace(ending=self._ending(outcome, sum(now.rewards)))
                self._found[ended] = self._found.get(ended, Fraction(0)) + chance_now

    def _ending(self, outcome: Outcome, total: float) -> Ending:
        assert outcome.ending is not None, "an outcome without a state has an ending"
        if outcome.ending.success is not None:
            return outcome.ending
        return outcome.ending._replace(success=total >= self._success_return - _ROUNDING)
