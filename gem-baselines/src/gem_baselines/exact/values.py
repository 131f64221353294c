"""The best, the worst and the random play of an environment, exactly, from its states.

A player knows what it was shown and what it did, never the state itself: what it can know of the
state is a belief, and the best and the worst play are found over beliefs. Returns are sums of
rewards, without a discount.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from gem_baselines.exact.chance import Uncountable
from gem_baselines.exact.states import StateGraph

__all__ = ["Play", "extreme_play", "random_play", "solver_play"]

_MOST_BELIEFS = 50_000
_ROUNDING = Fraction(1, 10**9)

Belief = tuple[tuple[int, Fraction], ...]
"""The states that are possible, by number, each with its probability; these sum to 1."""


class Play(NamedTuple):
    """What a way to play comes to: the expected return, and how probable each length is.

    Both are fractions: a sum of floats would depend on its order, and 1.0 not be 1.
    """

    value: Fraction
    turns: Mapping[int, Fraction]

    @property
    def mean_turns(self) -> Fraction:
        """The expected number of turns."""
        return sum((number * share for number, share in self.turns.items()), Fraction(0))


_OVER = Play(Fraction(0), {0: Fraction(1)})


def extreme_play(graph: StateGraph, better: Callable[[Fraction, Fraction], bool]) -> Play:
    """Return the play whose value is `better` than that of any other: `operator.gt` for the best.

    Among plays of equal value it is the one that is over first, on average, where more is better,
    and the one that lasts longest where less is.
    Raises Uncountable where there are too many states or beliefs.
    """
    known: dict[Belief, Play] = {}

    def play_from(belief: Belief) -> Play:
        found = known.get(belief)
        if found is not None:
            return found
        if len(known) >= _MOST_BELIEFS:
            raise Uncountable(f"more than {_MOST_BELIEFS:,} beliefs")
        chosen: Play | None = None
        for action in sorted({action for state, _ in belief for action in graph.actions(state)}):
            play = _after(graph, belief, action, play_from)
            if chosen is None or _is_better(play, chosen, better):
                chosen = play
        if chosen is None:
            raise Uncountable("a state without a valid action")
        known[belief] = chosen
        return chosen

    return _from_the_start(graph, play_from)


def _is_better(play: Play, chosen: Play, better: Callable[[Fraction, Fraction], bool]) -> bool:
    # A share of a reward, 1 - 2 / 3 say, was rounded before it came here.
    if abs(play.value - chosen.value) <= _ROUNDING:
        return better(-play.mean_turns, -chosen.mean_turns)
    return better(play.value, chosen.value)


def random_play(graph: StateGraph) -> Play:
    """Return what comes of valid actions that `sample_action` draws."""
    known: dict[int, Play] = {}

    def play_from(state: int) -> Play:
        found = known.get(state)
        if found is None:
            belief = ((state, Fraction(1)),)
            parts = []
            for action, probability in graph.actions(state).items():
                parts.append((probability, _after(graph, belief, action, each_by_itself)))
            found = _mixed(parts)
            known[state] = found
        return found

    def each_by_itself(belief: Belief) -> Play:
        # Such a play goes by the state, whatever the player may know of it.
        return _mixed([(weight, play_from(state)) for state, weight in belief])

    return _mixed([(start.probability, play_from(start.state)) for start in graph.starts()])


def solver_play(graph: StateGraph) -> Play:
    """Return what comes of what `solve()` says. Raises Uncountable where it says nothing."""
    known: dict[int, Play] = {}

    def play_from(state: int) -> Play:
        found = known.get(state)
        if found is None:
            action = graph.solution(state)
            if action is None:
                raise Uncountable("a state that solve() knows no action for")
            found = _after(graph, ((state, Fraction(1)),), action, each_by_itself)
            known[state] = found
        return found

    def each_by_itself(belief: Belief) -> Play:
        # Such a play goes by the state, whatever the player may know of it.
        return _mixed([(weight, play_from(state)) for state, weight in belief])

    return _mixed([(start.probability, play_from(start.state)) for start in graph.starts()])


def _from_the_start(graph: StateGraph, play_from: Callable[[Belief], Play]) -> Play:
    by_text: dict[str, dict[int, Fraction]] = {}
    for start in graph.starts():
        states = by_text.setdefault(start.text, {})
        states[start.state] = states.get(start.state, Fraction(0)) + start.probability
    return _mixed([_weighed(states, play_from) for states in by_text.values()])


def _after(
    graph: StateGraph, belief: Belief, action: str, play_from: Callable[[Belief], Play]
) -> Play:
    """Return what an action comes to: a turn, its reward, and the play from what is then known.

    What is shown after it tells states apart; those that it does not stay one belief.
    """
    value = Fraction(0)
    over = Fraction(0)
    by_text: dict[str, dict[int, Fraction]] = {}
    for state, weight in belief:
        for outcome in graph.outcomes(state, action):
            graph.count()  # known outcomes too: the sums take as long as the steps
            probability = weight * outcome.probability
            if outcome.reward:
                value += probability * Fraction(outcome.reward)
            if outcome.state is None:
                over += probability
                continue
            states = by_text.setdefault(outcome.text, {})
            states[outcome.state] = states.get(outcome.state, Fraction(0)) + probability
    parts = [_weighed(states, play_from) for states in by_text.values()]
    if over:
        parts.append((over, _OVER))
    later = _mixed(parts)
    turns = {number + 1: share for number, share in later.turns.items()}
    return Play(value + later.value, turns)


def _weighed(
    states: Mapping[int, Fraction], play_from: Callable[[Belief], Play]
) -> tuple[Fraction, Play]:
    """Return how probable it is to be in one of these states, and the play from there."""
    if len(states) == 1:  # nearly always, and fractions are slow
        [(state, total)] = states.items()
        return total, play_from(((state, Fraction(1)),))
    total = sum(states.values(), Fraction(0))
    belief = tuple(sorted((state, weight / total) for state, weight in states.items()))
    return total, play_from(belief)


def _mixed(parts: list[tuple[Fraction, Play]]) -> Play:
    """Return what plays come to of which each happens with a probability; these sum to 1."""
    if len(parts) == 1:
        return parts[0][1]
    turns: dict[int, Fraction] = {}
    for probability, play in parts:
        for number, share in play.turns.items():
            turns[number] = turns.get(number, Fraction(0)) + probability * share
    value = sum((probability * play.value for probability, play in parts), Fraction(0))
    return Play(value, dict(sorted(turns.items())))
