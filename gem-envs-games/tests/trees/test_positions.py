"""What holds of every game tree."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gem_envs_games.trees import Position

from .games import ROOTS, random_play

GAMES = pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
SEEDS = range(30)


@GAMES
def test_either_seats_move_or_chance_does_or_all_is_over(root: Position) -> None:
    for seed in SEEDS:
        for position in random_play(root, seed):
            chances = position.chances()
            assert [bool(position.movers), bool(chances), position.is_over].count(True) == 1
            assert all(position.legal(seat) for seat in position.movers)
            assert not chances or sum(chance for _, chance in chances) == pytest.approx(1)


@GAMES
def test_no_two_actions_have_one_text(root: Position) -> None:
    for seed in SEEDS:
        for position in random_play(root, seed):
            for seat in position.movers:
                legal = position.legal(seat)
                assert len({*legal}) == len(legal)


@GAMES
def test_a_position_is_never_changed_and_can_be_a_key(root: Position) -> None:
    positions = [position for seed in SEEDS for position in random_play(root, seed)]
    again = [position for seed in SEEDS for position in random_play(root, seed)]

    assert positions == again
    assert [*map(hash, positions)] == [*map(hash, again)]


@GAMES
def test_what_perfect_information_means_is_kept(root: Position) -> None:
    for seed in SEEDS:
        for position in random_play(root, seed):
            if root.has_perfect_information:
                assert len(position.movers) == 1 or position.is_over
                assert position.known_to(0) == position.known_to(1)
            else:
                assert position.known_to(0) != position.known_to(1)


@GAMES
def test_only_the_prisoners_dilemma_is_not_zero_sum(root: Position) -> None:
    totals = {sum(position.returns()) for seed in SEEDS for position in random_play(root, seed)}

    assert (totals == {0.0}) == (type(root).__name__ != "PrisonersDilemma")


def test_the_trees_import_neither_numpy_nor_core() -> None:
    code = (
        "import sys; before = {*sys.modules}; import gem_envs_games.trees, "
        "gem_envs_games.trees.solving.stored, gem_envs_games.trees.solving.connect_four_search; "
        "new = {name.partition('.')[0] for name in {*sys.modules} - before}; "
        "print(new - {*sys.stdlib_module_names})"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "{'gem_envs_games'}"
