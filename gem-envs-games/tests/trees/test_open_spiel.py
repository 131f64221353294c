"""Exploitability is that of OpenSpiel for random policies. `nox -s open-spiel` runs it."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from gem_envs_games.trees import KuhnPoker, LeducPoker, LiarsDice, Position
from gem_envs_games.trees.solving import Policy, analysis_of, exploitability, uniform

from .games import random_policy

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

RANDOM_POLICIES = 100
CASES = [
    pytest.param(KuhnPoker(), "kuhn_poker", id="kuhn_poker"),
    pytest.param(LeducPoker(), "leduc_poker", id="leduc_poker"),
    pytest.param(LiarsDice(sides=3), "liars_dice(dice_sides=3)", id="liars_dice-3"),
    pytest.param(LiarsDice(), "liars_dice", id="liars_dice-6"),  # 3.5 s for each policy
]
Rows = dict[str, list[tuple[int, float]]]


def outcome_of(root: Position, action: int) -> str:
    """What our tree calls an outcome of chance that OpenSpiel numbers."""
    if isinstance(root, LiarsDice):
        return str(action + 1)
    suits = 2 if isinstance(root, LeducPoker) else 1
    return "JQK"[action // suits]


def paired(root: Position, game: Any) -> dict[str, tuple[str, tuple[str, ...], list[int]]]:
    """For each of OpenSpiel's information states ours, our actions and its own, in one order.

    Both trees are walked through in step; what ends pay and whose turn it is must be equal.
    """
    pairs: dict[str, tuple[str, tuple[str, ...], list[int]]] = {}
    waiting = [(root, game.new_initial_state())]
    while waiting:
        position, state = waiting.pop()
        assert position.is_over == state.is_terminal()
        if position.is_over:
            assert [*position.returns()] == state.returns()
            continue
        if state.is_chance_node():
            chances = dict(position.chances())
            theirs: dict[str, float] = {}
            for action, chance in state.chance_outcomes():
                outcome = outcome_of(root, action)
                theirs[outcome] = theirs.get(outcome, 0.0) + chance
                waiting.append((position.after(outcome), state.child(action)))
            assert chances == pytest.approx(theirs)
            continue
        [seat] = position.movers
        assert seat == state.current_player()
        actions = position.legal(seat)
        numbers = state.legal_actions()
        pairs[state.information_state_string()] = (position.known_to(seat), actions, numbers)
        for action, number in zip(actions, numbers, strict=True):
            waiting.append((position.after(action), state.child(number)))
    return pairs


class TheirTrees:
    """OpenSpiel's trees for best responses of both seats, built once: then it takes half as long.

    `pyspiel.exploitability` builds them for each policy. It is what best responses earn on
    average, where what is paid adds up to 0.
    """

    def __init__(self, game: Any, policy: Any) -> None:
        self.root = game.new_initial_state()
        self.best_responses = [
            pyspiel.TabularBestResponse(game, seat, policy) for seat in range(game.num_players())
        ]

    def exploitability(self, policy: Any) -> float:
        earned = 0.0
        for best_response in self.best_responses:
            best_response.set_policy(policy)
            earned += best_response.value_from_state(self.root)
        return earned / len(self.best_responses)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("root", "name"), CASES)
def test_exploitability_is_that_of_open_spiel(root: Position, name: str) -> None:
    game = pyspiel.load_game(name)
    pairs = paired(root, game)
    ours = analysis_of(root)

    def table(policy: Policy) -> Any:
        rows: Rows = {
            their_information: [*zip(numbers, policy(information, actions), strict=True)]
            for their_information, (information, actions, numbers) in pairs.items()
        }
        return pyspiel.TabularPolicy(rows)

    trees = TheirTrees(game, table(uniform))
    expected = pyspiel.exploitability(game, table(uniform))
    assert trees.exploitability(table(uniform)) == pytest.approx(expected, abs=1e-12, rel=0)
    assert exploitability(ours, [uniform, uniform]) == pytest.approx(expected, abs=1e-9, rel=0)
    for seed in range(1, RANDOM_POLICIES + 1):
        policy = functools.cache(random_policy(seed))  # it is asked by both
        expected = trees.exploitability(table(policy))
        assert exploitability(ours, [policy, policy]) == pytest.approx(expected, abs=1e-9, rel=0)
