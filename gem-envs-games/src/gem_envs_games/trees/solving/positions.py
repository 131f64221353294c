"""A game of perfect information as the graph of its positions, for exact values by induction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gem_envs_games.trees.position import Position
from gem_envs_games.trees.solving.policies import Policy, Table, checked
from gem_envs_games.trees.solving.sequence_form import too_large

__all__ = ["PositionGraph"]


class _Decision(NamedTuple):
    """A position before its end. `following` are numbers of positions, one for each action."""

    seat: int
    information: str
    actions: tuple[str, ...]
    following: tuple[int, ...]


class PositionGraph:
    """The positions that can be reached, each once, however many ways lead there.

    What follows a position has a smaller number, so that one pass upwards settles all values;
    the root is the last.
    """

    def __init__(self, root: Position, *, max_positions: int = 1_000_000) -> None:
        self.seats = len(root.returns())
        self._nodes: list[_Decision | tuple[float, ...]] = []
        numbers: dict[Position, int] = {}
        waiting = [root]
        while waiting:
            position = waiting[-1]
            if position in numbers:
                waiting.pop()
                continue
            if position.is_over:
                node: _Decision | tuple[float, ...] = position.returns()
            else:
                seat = position.movers[0]
                actions = position.legal(seat)
                following = [position.after(action) for action in actions]
                new = [each for each in following if each not in numbers]
                if new:
                    waiting += new  # it is looked at again when these have their numbers
                    continue
                numbers_after = tuple([numbers[each] for each in following])
                node = _Decision(seat, position.known_to(seat), actions, numbers_after)
            if len(numbers) == max_positions:
                raise too_large(root, max_positions)
            numbers[position] = len(self._nodes)
            self._nodes.append(node)
            waiting.pop()

    def values(self, policies: Sequence[Policy]) -> tuple[float, ...]:
        """Return what each seat earns on average where seat `i` plays `policies[i]`."""
        values: list[tuple[float, ...]] = []
        for node in self._nodes:
            if not isinstance(node, _Decision):
                values.append(node)
                continue
            probabilities = checked(policies[node.seat], node.information, node.actions)
            after = [values[number] for number in node.following]
            values.append(
                tuple(
                    sum(
                        probability * value[seat]
                        for probability, value in zip(probabilities, after, strict=True)
                    )
                    for seat in range(self.seats)
                )
            )
        return values[-1]

    def best_response(self, policies: Sequence[Policy], seat: int) -> tuple[float, Table]:
        """Return what a seat earns at best against the others' policies, and how it plays."""
        values: list[float] = []
        table: dict[str, dict[str, float]] = {}
        for node in self._nodes:
            if not isinstance(node, _Decision):
                values.append(node[seat])
                continue
            after = [values[number] for number in node.following]
            if node.seat == seat:
                best = max(after)
                table[node.information] = {node.actions[after.index(best)]: 1.0}
                values.append(best)
            else:
                probabilities = checked(policies[node.seat], node.information, node.actions)
                pairs = zip(probabilities, after, strict=True)
                values.append(sum(probability * value for probability, value in pairs))
        return values[-1], table

    def best_play(self) -> Table:
        """Return a best action for every position, where each seat plays for itself alone.

        In a zero-sum game no policy earns more against perfect play. Of actions that are
        equally good it takes the one after which the game is over soonest if the seat wins, and
        latest if it does not, then the first.
        """
        outcomes: list[tuple[tuple[float, ...], int]] = []
        table: dict[str, dict[str, float]] = {}
        for node in self._nodes:
            if not isinstance(node, _Decision):
                outcomes.append((node, 0))
                continue
            best = node.following[0]
            for number in node.following[1:]:
                if _rank(outcomes[number], node.seat) > _rank(outcomes[best], node.seat):
                    best = number
            table[node.information] = {node.actions[node.following.index(best)]: 1.0}
            values, moves = outcomes[best]
            outcomes.append((values, moves + 1))
        return table


def _rank(outcome: tuple[tuple[float, ...], int], seat: int) -> tuple[float, int]:
    values, moves = outcome
    own = values[seat]
    return own, -moves if own > 0 else moves
