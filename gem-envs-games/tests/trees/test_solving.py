"""Exact values: against closed forms, and against each other."""

from __future__ import annotations

import functools
from random import Random

import pytest

from gem_envs_games.trees import (
    ConnectFour,
    KuhnPoker,
    LeducPoker,
    LiarsDice,
    Nim,
    Position,
    PrisonersDilemma,
    RockPaperScissors,
    TicTacToe,
)
from gem_envs_games.trees.solving import (
    Policy,
    SequenceForm,
    analysis_of,
    exploitability,
    find_equilibrium,
    from_table,
    nash_conv,
    uniform,
)
from gem_envs_games.trees.solving.connect_four_search import search_connect_four
from gem_envs_games.trees.solving.nim_sum import best_nim_move
from gem_envs_games.trees.solving.positions import PositionGraph
from gem_envs_games.trees.solving.stored import STORED, stored_equilibrium

from .games import ROOTS, played, random_play, random_policy


def name_of(root: Position) -> str:
    return type(root).__name__


def defect(information: str, actions: tuple[str, ...]) -> list[float]:
    return [0.0, 1.0]


def value(position: Position, policies: tuple[Policy, Policy]) -> float:
    """What the first seat earns, by the definition: an average over every course of the game."""
    if position.is_over:
        return position.returns()[0]
    if not position.movers:
        return sum(p * value(position.after(each), policies) for each, p in position.chances())
    [seat] = position.movers
    actions = position.legal(seat)
    shares = policies[seat](position.known_to(seat), actions)
    values = [value(position.after(action), policies) for action in actions]
    return sum(share * each for share, each in zip(shares, values, strict=True))


@functools.cache
def best_score(position: Position) -> float:
    """The minimax value of a position for the first seat, by recursion."""
    if position.is_over:
        return position.returns()[0]
    [seat] = position.movers
    scores = [best_score(position.after(action)) for action in position.legal(seat)]
    return min(scores) if seat else max(scores)


def kuhn_equilibrium(alpha: float) -> Policy:
    """Kuhn's family of equilibria of 1950: how often the first seat bets a jack, 0 to 1/3."""
    bets = {
        "0 J ": alpha,
        "0 Q ": 0.0,
        "0 K ": 3 * alpha,
        "0 J pb": 0.0,
        "0 Q pb": alpha + 1 / 3,
        "0 K pb": 1.0,
        "1 J p": 1 / 3,
        "1 Q p": 0.0,
        "1 K p": 1.0,
        "1 J b": 0.0,
        "1 Q b": 1 / 3,
        "1 K b": 1.0,
    }
    return lambda information, actions: [1 - bets[information], bets[information]]


@pytest.mark.parametrize("alpha", [0.0, 0.1, 1 / 3])
def test_kuhns_own_equilibria_are_equilibria_of_value_minus_an_eighteenth(alpha: float) -> None:
    game = analysis_of(KuhnPoker())
    policies = [kuhn_equilibrium(alpha)] * 2

    assert game.values(policies)[0] == pytest.approx(-1 / 18, abs=1e-12)
    assert exploitability(game, policies) == pytest.approx(0, abs=1e-12)


def test_a_jack_that_bets_too_often_can_be_exploited() -> None:
    assert exploitability(analysis_of(KuhnPoker()), [kuhn_equilibrium(0.33)] * 2) < 1e-9
    too_often = from_table({"0 J ": {"bet": 0.5, "pass": 0.5}, "0 K ": {"bet": 1.0}})
    game = analysis_of(KuhnPoker())

    assert exploitability(game, [too_often, kuhn_equilibrium(0.0)]) > 0.01


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (KuhnPoker(), 11 / 24),
        (LeducPoker(), 2.373611111111111),
        (LiarsDice(sides=3), 5 / 9),
        (RockPaperScissors(rounds=2), 0.0),
        (PrisonersDilemma(rounds=4), 3.0),  # 1.5 more for either on average, in each round
    ],
)
def test_uniform_play_is_as_exploitable_as_published(root: Position, expected: float) -> None:
    found = exploitability(analysis_of(root), [uniform, uniform])

    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "root", [KuhnPoker(), LeducPoker(), LiarsDice(sides=3), Nim((2, 3))], ids=name_of
)
def test_values_are_averages_over_every_course_of_the_game(root: Position) -> None:
    policies = (random_policy(0), random_policy(1))

    assert analysis_of(root).values(policies)[0] == pytest.approx(value(root, policies), abs=1e-12)


@pytest.mark.parametrize("root", [KuhnPoker(), LeducPoker(), Nim((2, 3)), TicTacToe()], ids=name_of)
def test_a_best_response_earns_what_is_said_and_nothing_earns_more(root: Position) -> None:
    game = analysis_of(root)
    policies = [random_policy(0), random_policy(1)]

    for seat in (0, 1):
        best, table = game.best_response(policies, seat)
        changed = [*policies]
        changed[seat] = from_table(table)
        assert game.values(changed)[seat] == pytest.approx(best, abs=1e-12)
        for other in range(2, 6):
            changed[seat] = random_policy(other)
            assert game.values(changed)[seat] <= best


def test_to_defect_always_is_an_equilibrium_and_earns_one_a_round() -> None:
    game = analysis_of(PrisonersDilemma(rounds=4))

    assert nash_conv(game, [defect, defect]) == 0
    assert game.values([defect, defect]) == (4.0, 4.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kuhn_poker", -1 / 18),
        ("leduc_poker", -0.085606424078),
        pytest.param("liars_dice", -7 / 258, marks=pytest.mark.slow),
    ],
)
def test_stored_equilibria_are_equilibria(name: str, expected: float) -> None:
    game = analysis_of(ROOTS[name])
    policies = [stored_equilibrium(name)] * 2

    assert game.values(policies)[0] == pytest.approx(expected, abs=1e-9)
    assert exploitability(game, policies) == pytest.approx(0, abs=1e-9)


def test_every_stored_game_is_checked() -> None:
    assert {*STORED} == {"kuhn_poker", "leduc_poker", "liars_dice"}


@pytest.mark.parametrize(
    ("root", "expected"), [(KuhnPoker(), -1 / 18), (LiarsDice(sides=3), 1 / 9)]
)
def test_an_equilibrium_is_found(root: Position, expected: float) -> None:
    game = SequenceForm(root)

    found = find_equilibrium(game, tolerance=1e-6)

    policies = [from_table(table) for table in found.tables]
    assert exploitability(game, policies) <= 1e-6
    assert found.value == pytest.approx(expected, abs=1e-5)


def test_an_equilibrium_is_looked_for_only_where_it_can_be_found() -> None:
    with pytest.raises(ValueError, match="not zero-sum between two seats"):
        find_equilibrium(SequenceForm(PrisonersDilemma(rounds=2)))
    with pytest.raises(RuntimeError, match=r"after 2 iterations it is 0\.\d+\. Raise"):
        find_equilibrium(SequenceForm(KuhnPoker()), max_iterations=2)


def test_what_a_seat_forgets_is_refused() -> None:
    with pytest.raises(ValueError, match=r"seat 0 forgets: '[XO.]+' comes after"):
        SequenceForm(played(TicTacToe(), *"01"))


def test_a_game_that_is_too_large_is_refused() -> None:
    for root in (PrisonersDilemma(rounds=10), ConnectFour()):
        with pytest.raises(ValueError, match=r"more than 1000 positions\. Pass a larger"):
            analysis_of(root, max_positions=1000)


@pytest.mark.parametrize(
    "shares", [[0.5, 0.6], [1.0], [1.5, -0.5], [float("nan"), 1.0], [0.5, 0.5, 0.0]]
)
def test_what_is_no_distribution_is_refused(shares: list[float]) -> None:
    def policy(information: str, actions: tuple[str, ...]) -> list[float]:
        return shares

    with pytest.raises(ValueError, match="one probability for each action, which add up to 1"):
        analysis_of(KuhnPoker()).values([policy, policy])


def test_tic_tac_toe_is_a_draw_and_best_play_never_loses_it() -> None:
    game = PositionGraph(TicTacToe())
    best = from_table(game.best_play())

    assert best_score(TicTacToe()) == 0
    assert exploitability(game, [best, best]) == 0
    for seat in (0, 1):
        opponents = [best, best]
        opponents[seat] = uniform
        assert game.values(opponents)[1 - seat] > 0.5


def test_best_play_wins_at_once_where_it_can() -> None:
    position = played(TicTacToe(), *"0132")

    assert PositionGraph(position).best_play()[position.known_to(0)] == {"6": 1.0}


@pytest.mark.parametrize("misere", [False, True])
def test_nim_is_played_without_fault_from_every_position(misere: bool) -> None:
    for piles in [(a, b, c) for a in range(5) for b in range(5) for c in range(1, 5)]:
        position = Nim(piles, misere=misere)
        move = best_nim_move(position)
        assert move in position.legal(0)
        assert best_score(position.after(move)) == best_score(position)


def test_the_search_of_connect_four_is_right_wherever_it_says_that_it_knows() -> None:
    positions = [
        position
        for seed in range(12)
        for position in [*random_play(ConnectFour(rows=4, columns=4), seed)][6:]
        if not position.is_over
    ]
    for position in positions:
        [seat] = position.movers
        found = search_connect_four(position)
        sign = -1 if seat else 1
        assert found.outcome == sign * best_score(position)
        assert best_score(position.after(found.move)) == best_score(position)


def test_the_search_of_connect_four_says_where_it_does_not_know() -> None:
    found = search_connect_four(ConnectFour(), max_positions=500)

    assert found.outcome is None
    assert found.move == "3"
    assert found.depth > 1


def test_the_search_of_connect_four_wins_at_once_and_parries_a_threat() -> None:
    three = played(ConnectFour(), *"010101")

    assert search_connect_four(three) == ("0", 1, 1)
    assert search_connect_four(played(three, "6")).move in {"0", "1"}
    threatened = played(ConnectFour(), *"01010")
    assert search_connect_four(threatened, max_positions=2000).move == "0"


def test_the_search_of_connect_four_beats_random_play() -> None:
    random = Random(0)
    position = ConnectFour()
    while not position.is_over:
        [seat] = position.movers
        if seat == 0:
            move = search_connect_four(position, max_positions=500).move
        else:
            move = random.choice(position.legal(seat))
        position = position.after(move)

    assert position.returns() == (1.0, -1.0)
