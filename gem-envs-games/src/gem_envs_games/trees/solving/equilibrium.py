"""Equilibria of zero-sum games of two seats, by CFR+ with predictions.

Counterfactual regret minimisation gives every decision a learner of its own. Here each is
predictive regret matching+ (Farina, Kroer and Sandholm, Faster game solving via predictive
Blackwell approachability, AAAI 2021), the seats learn in turn, and iteration `t` counts `t ** 2`
in the average.
"""

from __future__ import annotations

from typing import NamedTuple

from gem_envs_games.trees.solving.analysis import exploitability
from gem_envs_games.trees.solving.policies import Table, from_table
from gem_envs_games.trees.solving.sequence_form import Decision, SequenceForm

__all__ = ["Equilibrium", "find_equilibrium", "table_of_weights"]

_LOOK_EVERY = 25  # iterations from one look at the exploitability to the next


class Equilibrium(NamedTuple):
    """Average policies of all iterations. Decisions that a seat never comes to have no row."""

    tables: tuple[Table, Table]
    value: float
    exploitability: float
    iterations: int


def find_equilibrium(
    game: SequenceForm, *, tolerance: float = 1e-6, max_iterations: int = 10_000
) -> Equilibrium:
    """Find policies whose exploitability is at most `tolerance`, in units of what is paid.

    Deterministic. The value is the first seat's. An iteration takes a microsecond for each
    sequence and ending. Raises ValueError if the game has not two seats or is not zero-sum, and
    RuntimeError if `max_iterations` do not suffice.

    >>> from gem_envs_games.trees import KuhnPoker
    >>> round(find_equilibrium(SequenceForm(KuhnPoker())).value * 18, 3)
    -1.0
    """
    if game.seats != 2 or any(abs(sum(ending.payoffs)) > 1e-12 for ending in game.endings):
        raise ValueError(
            "An equilibrium was asked for of a game that is not zero-sum between two seats, where "
            "this method finds none. Use best_response and nash_conv there."
        )
    learners = (_Learner(game, 0), _Learner(game, 1))
    gap = float("inf")
    for iteration in range(1, max_iterations + 1):
        for seat, learner in enumerate(learners):
            learner.learn(game.gains(seat, {1 - seat: learners[1 - seat].weights}))
            learner.remember(iteration**2)
        if iteration % _LOOK_EVERY == 0 or iteration == max_iterations:
            first = table_of_weights(game.decisions[0], learners[0].average)
            second = table_of_weights(game.decisions[1], learners[1].average)
            policies = (from_table(first), from_table(second))
            gap = exploitability(game, policies)
            if gap <= tolerance:
                return Equilibrium((first, second), game.values(policies)[0], gap, iteration)
    raise RuntimeError(
        f"An exploitability of {tolerance} was asked for, and after {max_iterations} iterations it "
        f"is {gap:.2g}. Raise max_iterations or the tolerance."
    )


def table_of_weights(decisions: list[Decision], weights: list[float]) -> Table:
    """Return the policy of one seat whose sequences have these weights, up to a factor."""
    table: dict[str, dict[str, float]] = {}
    for information, actions, parent, first in decisions:
        if weights[parent] > 0.0:
            own = weights[first : first + len(actions)]
            total = sum(own)
            shares = [weight / total for weight in own]
            table[information] = dict(zip(actions, shares, strict=True))
    return table


class _Learner:
    """One seat's regrets, the weights that it plays now, and their average, all by sequence."""

    def __init__(self, game: SequenceForm, seat: int) -> None:
        size = game.sizes[seat]
        self._decisions = game.decisions[seat]
        self._regrets = [0.0] * size
        self._policy = [1.0] * size
        for decision in self._decisions:
            self._play(decision, [0.0] * len(decision.actions))
        self.weights = [1.0] * size
        self._weigh()
        self.average = [0.0] * size

    def learn(self, gains: list[float]) -> None:
        """Take what each sequence earns where it ends, and change the policy."""
        regrets = self._regrets
        policy = self._policy
        # From the last decisions to the first: what follows a sequence is added before it is used.
        for decision in reversed(self._decisions):
            first = decision.first
            end = first + len(decision.actions)
            value = sum([policy[number] * gains[number] for number in range(first, end)])
            gains[decision.parent] += value
            predictions = []
            for number in range(first, end):
                instant = gains[number] - value
                regret = max(regrets[number] + instant, 0.0)
                regrets[number] = regret
                # The last regret stands for the next one, which is not yet known.
                predictions.append(max(regret + instant, 0.0))
            self._play(decision, predictions)
        self._weigh()

    def remember(self, factor: float) -> None:
        """Add the weights that are played now to their average, this many times."""
        pairs = zip(self.average, self.weights, strict=True)
        self.average = [average + factor * weight for average, weight in pairs]

    def _play(self, decision: Decision, shares: list[float]) -> None:
        """Play each action of a decision by its share, or all alike where no share is positive."""
        total = sum(shares)
        for number, share in enumerate(shares, start=decision.first):
            self._policy[number] = share / total if total > 0.0 else 1 / len(shares)

    def _weigh(self) -> None:
        for _, actions, parent, first in self._decisions:
            weight = self.weights[parent]
            for number in range(first, first + len(actions)):
                self.weights[number] = weight * self._policy[number]
