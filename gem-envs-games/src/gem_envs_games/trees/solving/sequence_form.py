"""A game tree in sequence form: each seat's decisions, and what their ends pay.

A sequence is what one seat does on the way to a position: its actions, each where it was taken
(Koller, Megiddo and von Stengel, Fast algorithms for finding randomized strategies in game trees,
1994). The weight of a sequence is the product of the probabilities of its actions, so that what
a seat earns is linear in the weights of each seat.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gem_envs_games.trees.position import Position
from gem_envs_games.trees.solving.policies import Policy, Table, checked

__all__ = ["Decision", "Ending", "SequenceForm", "too_large"]

_EMPTY = 0  # the number of the sequence of no actions


class Decision(NamedTuple):
    """An information state of one seat. Its actions end the sequences `first`, `first + 1`, ...

    `parent` is the sequence that leads here, which has a smaller number.
    """

    information: str
    actions: tuple[str, ...]
    parent: int
    first: int


class Ending(NamedTuple):
    """The ends of the game that one sequence of each seat reaches.

    `payoffs` has what each seat earns there, times the probability of chance, summed.
    """

    sequences: tuple[int, ...]
    payoffs: tuple[float, ...]


class SequenceForm:
    """A whole game, where nobody forgets. Moves at once are taken one by one, unseen.

    `decisions[seat]` are in an order in which what leads to a decision comes before it;
    `sizes[seat]` says how many sequences a seat has, the empty one, 0, included.

    Raises ValueError where a seat forgets what it knew, or the tree has more than
    `max_positions` positions.
    """

    def __init__(self, root: Position, *, max_positions: int = 1_000_000) -> None:
        self.seats = len(root.returns())
        self.decisions: tuple[list[Decision], ...] = tuple([] for _ in range(self.seats))
        self.sizes = [1] * self.seats
        self._known: dict[str, Decision] = {}
        payoffs: dict[tuple[int, ...], tuple[float, ...]] = {}
        waiting: list[tuple[Position, tuple[int, ...], float]] = [
            (root, (_EMPTY,) * self.seats, 1.0)
        ]
        for count in itertools.count():
            if not waiting:
                break
            if count == max_positions:
                raise too_large(root, max_positions)
            position, sequences, probability = waiting.pop()
            if position.is_over:
                earned = [probability * amount for amount in position.returns()]
                if sequences in payoffs:
                    before = payoffs[sequences]
                    earned = [sum(pair) for pair in zip(before, earned, strict=True)]
                payoffs[sequences] = tuple(earned)
            elif position.movers:
                waiting += self._moves(position, sequences, probability)
            else:
                for outcome, chance in position.chances():
                    waiting.append((position.after(outcome), sequences, probability * chance))
        self.endings = [Ending(*item) for item in payoffs.items()]

    def _moves(
        self, position: Position, sequences: tuple[int, ...], probability: float
    ) -> list[tuple[Position, tuple[int, ...], float]]:
        """Return what follows a position by every action of its movers."""
        decisions = [self._decision(position, seat, sequences[seat]) for seat in position.movers]
        following = []
        for choice in itertools.product(*[range(len(each.actions)) for each in decisions]):
            actions = []
            after = list(sequences)
            for seat, decision, number in zip(position.movers, decisions, choice, strict=True):
                actions.append(decision.actions[number])
                after[seat] = decision.first + number
            following.append((position.after(*actions), tuple(after), probability))
        return following

    def _decision(self, position: Position, seat: int, parent: int) -> Decision:
        information = position.known_to(seat)
        decision = self._known.get(information)
        if decision is None:
            actions = position.legal(seat)
            decision = Decision(information, actions, parent, self.sizes[seat])
            self.sizes[seat] += len(actions)
            self.decisions[seat].append(decision)
            self._known[information] = decision
        elif decision.parent != parent:
            raise ValueError(
                f"{type(position).__name__} was to be brought into sequence form, and seat {seat} "
                f"forgets: {information!r} comes after different actions of its own. Let known_to "
                "name all that a seat has done."
            )
        return decision

    def weights(self, policy: Policy, seat: int) -> list[float]:
        """Return the weight of every sequence of a seat that plays a policy."""
        weights = [1.0] * self.sizes[seat]
        for information, actions, parent, first in self.decisions[seat]:
            weight = weights[parent]
            probabilities = checked(policy, information, actions)
            for number, probability in enumerate(probabilities, start=first):
                weights[number] = weight * probability
        return weights

    def values(self, policies: Sequence[Policy]) -> tuple[float, ...]:
        """Return what each seat earns on average where seat `i` plays `policies[i]`."""
        weights = [self.weights(policy, seat) for seat, policy in enumerate(policies)]
        values = [0.0] * self.seats
        for sequences, payoffs in self.endings:
            weight = 1.0
            for seat, sequence in enumerate(sequences):
                weight *= weights[seat][sequence]
            for seat, payoff in enumerate(payoffs):
                values[seat] += weight * payoff
        return tuple(values)

    def best_response(self, policies: Sequence[Policy], seat: int) -> tuple[float, Table]:
        """Return what a seat earns at best against the others' policies, and how it plays."""
        others = [other for other in range(self.seats) if other != seat]
        gains = self.gains(seat, {other: self.weights(policies[other], other) for other in others})
        table: dict[str, dict[str, float]] = {}
        # From the last decisions to the first: what follows a sequence is settled before it.
        for information, actions, parent, first in reversed(self.decisions[seat]):
            after = gains[first : first + len(actions)]
            best = max(after)
            table[information] = {actions[after.index(best)]: 1.0}
            gains[parent] += best
        return gains[_EMPTY], table

    def gains(self, seat: int, weights: Mapping[int, Sequence[float]]) -> list[float]:
        """Return what each sequence of a seat earns where it ends, were it played surely.

        `weights` are those of all other seats' sequences.
        """
        gains = [0.0] * self.sizes[seat]
        for sequences, payoffs in self.endings:
            gain = payoffs[seat]
            for other, of_other in weights.items():
                gain *= of_other[sequences[other]]
            gains[sequences[seat]] += gain
        return gains


def too_large(root: Position, max_positions: int) -> ValueError:
    """Return the error for a game that is not walked through whole."""
    return ValueError(
        f"{type(root).__name__} was to be walked through whole, and has more than {max_positions} "
        "positions. Pass a larger max_positions, or start from a later position."
    )
