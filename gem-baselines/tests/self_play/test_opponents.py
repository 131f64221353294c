"""Which copies are met how often: more those that win, and nobody never."""

from __future__ import annotations

from gem_baselines.self_play.opponents import shared_out, weight_of


def test_a_copy_that_wins_more_is_met_more_often() -> None:
    lost, even, won = (weight_of(earned) for earned in (-1.0, 0.0, 1.0))

    assert lost == 4 * even
    assert 0 < won < even


def test_what_games_pay_beyond_1_counts_as_1() -> None:
    assert weight_of(-2.0) == weight_of(-1.0)
    assert weight_of(2.0) == weight_of(1.0)


def test_all_games_are_shared_out() -> None:
    for games in range(20):
        assert sum(shared_out(games, [1.0, 0.25, 0.02], turn=games)) == games


def test_games_of_equals_that_do_not_come_out_even_go_by_turns() -> None:
    met = [shared_out(1, [0.25] * 3, turn=turn).index(1) for turn in range(3)]

    assert sorted(met) == [0, 1, 2]


def test_thirds_beside_a_larger_share_are_equals_too() -> None:
    met = [shared_out(10, [1.0, 0.25, 0.25], turn) for turn in range(3)]

    assert [sum(each) for each in zip(*met, strict=True)] == [20, 5, 5]
