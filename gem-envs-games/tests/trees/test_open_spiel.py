"""Exploitability is that of OpenSpiel for random policies. `nox -s open-spiel` runs it."""

from __future__ import annotations

from typing import Any

import pytest

from gem_envs_games.trees import KuhnPoker, LeducPoker, LiarsDice, Position
from gem_envs_games.trees.solving import analysis_of, exploitability, uniform

from .games import random_policy

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

CASES = [
    pytest.param(KuhnPoker(), "kuhn_poker", 100, id="kuhn_poker"),
    pytest.param(LeducPoker(), "leduc_poker", 100, id="leduc_poker"),
    pytest.param(LiarsDice(sides=3), "liars_dice(dice_sides=3)", 100, id="liars_dice-3"),
    # OpenSpiel takes 4 s for each policy here.
    pytest.param(LiarsDice(), "liars_dice", 3, id="liars_dice-6"),
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


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("root", "name", "policies"), CASES)
def test_exploitability_is_that_of_open_spiel(root: Position, name: str, policies: int) -> None:
    theirs = pyspiel.load_game(name)
    pairs = paired(root, theirs)
    ours = analysis_of(root)

    for seed in range(policies):
        policy = random_policy(seed) if seed else uniform
        rows: Rows = {
            their_information: [*zip(numbers, policy(information, actions), strict=True)]
            for their_information, (information, actions, numbers) in pairs.items()
        }
        expected = pyspiel.exploitability(theirs, pyspiel.TabularPolicy(rows))
        assert exploitability(ours, [policy, policy]) == pytest.approx(expected, abs=1e-9, rel=0)
