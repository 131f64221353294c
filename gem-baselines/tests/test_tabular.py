"""The tabular policy: its gradient, what it draws, and that nothing but updates changes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gem
from gem.content import Message
from gem.conversation import Request
from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines.learning_policy import Batch, Floats
from gem_baselines.table_learning import PlayedTurns, Steps, log_softmax, surrogate
from gem_baselines.tabular import TabularPolicy

ACTIONS = ["\\boxed{1}", "\\boxed{2}", "\\boxed{3}"]


def asked(state: str, seed: int = 0) -> Request:
    return Request(messages=(Message("user", state),), seed=seed)


def policy(**changes: object) -> TabularPolicy:
    arguments = {"view": "whole", "actions": ACTIONS, "learning_rate": 0.1, **changes}
    return TabularPolicy(**arguments)  # type: ignore[arg-type]


def played(seed: int, player: TabularPolicy) -> list[Episode]:
    kwargs = {"highest": 3, "max_turns": 3}
    return gem.run(player, "gem.testing.envs:Guess", env_kwargs=kwargs, episodes=8, seed=seed)


def batch(episodes: list[Episode], *, has_targets: bool = False) -> Batch:
    advantages = [np.array([turn.reward for turn in one.turns]) - 0.3 for one in episodes]
    return Batch(episodes, advantages, advantages if has_targets else None)


@pytest.fixture
def turns() -> tuple[Floats, PlayedTurns]:
    """Return a table, and turns that an older table played: some of their ratios are clipped."""
    chance = np.random.default_rng(3)
    older = chance.normal(size=(4, 3))
    rows = chance.integers(0, 4, 40)
    actions = chance.integers(0, 3, 40)
    log_probs = log_softmax(older[rows])[np.arange(40), actions]
    newer = older + 0.3 * chance.normal(size=(4, 3))
    return newer, PlayedTurns(rows, actions, chance.normal(size=40), log_probs, 7)


def test_the_gradient_is_that_of_finite_differences(turns: tuple[Floats, PlayedTurns]) -> None:
    logits, batch_of_turns = turns
    step = surrogate(logits, batch_of_turns, 0.2)
    small = 1e-6
    measured = np.zeros_like(logits)
    for place in np.ndindex(*logits.shape):
        moved = np.zeros_like(logits)
        moved[place] = small
        above = surrogate(logits + moved, batch_of_turns, 0.2).loss
        below = surrogate(logits - moved, batch_of_turns, 0.2).loss
        measured[place] = (above - below) / (2 * small)

    assert 0.1 < step.clip_share < 0.9
    assert np.allclose(step.gradient, measured, atol=1e-8)


def test_at_the_policy_that_played_it_is_the_gradient_of_reinforce(
    turns: tuple[Floats, PlayedTurns],
) -> None:
    logits, older = turns
    own = log_softmax(logits[older.rows])[np.arange(40), older.actions]
    probs = np.exp(log_softmax(logits))
    expected = np.zeros_like(logits)
    for row, action, advantage in zip(older.rows, older.actions, older.advantages, strict=True):
        expected[row] -= advantage * (np.eye(3)[action] - probs[row]) / 7

    step = surrogate(logits, older._replace(log_probs=own), 0.2)

    assert np.allclose(step.gradient, expected, atol=1e-12)
    assert step.clip_share == 0.0


def test_a_step_of_sgd_is_the_gradient_times_the_rate() -> None:
    steps = Steps("sgd", 0.5, 2)
    steps.add_rows(1)

    assert steps.stepped(np.zeros((1, 2)), np.array([[1.0, -2.0]])).tolist() == [[-0.5, 1.0]]


def test_the_first_step_of_adam_is_the_rate_against_the_sign() -> None:
    steps = Steps("adam", 0.5, 2)
    steps.add_rows(1)

    moved = steps.stepped(np.zeros((1, 2)), np.array([[3.0, -0.01]]))

    assert np.allclose(moved, [[-0.5, 0.5]], atol=1e-5)


def test_it_draws_as_often_as_its_probabilities_say() -> None:
    player = policy()
    for seed in range(20):
        player.update(batch(played(seed, player)))
    [start] = {key for key in player._rows if "assistant" not in key}
    probs = np.exp(log_softmax(player._logits[player._rows[start]]))
    text = start.removeprefix("user: ")

    drawn = [player(asked(text, seed)) for seed in range(4000)]

    assert max(probs) - min(probs) > 0.2  # else it had learnt nothing, and this showed nothing
    assert np.allclose([drawn.count(each) / 4000 for each in ACTIONS], probs, atol=0.03)


def test_asking_changes_nothing() -> None:
    player = policy()
    player.update(batch(played(0, player)))
    before = {name: array.tobytes() for name, array in arrays(player).items()}

    for seed in range(10):
        player(asked(f"a state that it never met {seed}", seed))

    assert {name: array.tobytes() for name, array in arrays(player).items()} == before


def arrays(player: TabularPolicy) -> dict[str, Floats]:
    return {"logits": player._logits, "moment": player._steps.first_moment}


def test_greedily_it_takes_the_most_probable_action_whatever_the_seed() -> None:
    player = policy()
    for seed in range(5):
        player.update(batch(played(seed, player)))
    player.is_greedy = True
    start, row = next(iter(player._rows.items()))

    answers = {player(asked(start.removeprefix("user: "), seed)) for seed in range(20)}

    assert answers == {ACTIONS[int(player._logits[row].argmax())]}


def test_a_restored_policy_goes_on_bit_for_bit(tmp_path: Path) -> None:
    first = policy(critic_rate=0.5)
    for seed in range(3):
        first.update(batch(played(seed, first), has_targets=True))
    first.save(tmp_path)
    second = TabularPolicy(**first.describe())
    second.restore(tmp_path)

    figures_of_first = [
        first.update(batch(played(seed, first), has_targets=True)) for seed in (7, 8)
    ]
    figures_of_second = [
        second.update(batch(played(seed, second), has_targets=True)) for seed in (7, 8)
    ]

    assert figures_of_first == figures_of_second
    assert first._logits.tobytes() == second._logits.tobytes()
    assert first._expected.tobytes() == second._expected.tobytes()


def test_a_table_of_other_actions_is_not_restored(tmp_path: Path) -> None:
    policy().save(tmp_path)

    with pytest.raises(BadArguments, match="made with the same actions"):
        policy(actions=["yes", "no"]).restore(tmp_path)


def test_a_critic_moves_to_the_mean_of_its_targets(episode: Callable[..., Episode]) -> None:
    player = policy(actions=["act"], view="last", critic_rate=0.5)
    records = [episode([0.0]), episode([0.0])]
    targets = [np.array([1.0]), np.array([3.0])]

    before = player.values(records)
    player.update(Batch(records, targets, targets))

    assert [values.tolist() for values in before] == [[0.0], [0.0]]
    assert [values.tolist() for values in player.values(records)] == [[1.0], [1.0]]


def test_without_a_critic_there_are_no_values() -> None:
    with pytest.raises(BadArguments, match="critic_rate"):
        policy().values([])


def test_a_batch_by_token_is_refused(episode: Callable[..., Episode]) -> None:
    player = policy(actions=["act"], critic_rate=0.5)

    with pytest.raises(BadArguments, match=r"it has no tokens\. Choose an estimator by turn"):
        player.values([], per="token")
    with pytest.raises(BadArguments, match="it has no tokens"):
        player.update(Batch([episode([1.0])], [np.ones(1)], per="token"))


def test_it_learns_from_nobody_elses_actions(episode: Callable[..., Episode]) -> None:
    with pytest.raises(BadArguments, match=r"'act'.*played itself"):
        policy().update(batch([episode([1.0])]))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"actions": ["a", "a"]}, "each another"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"clip": -1.0}, "clip is -1.0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"critic_rate": 2.0}, "critic_rate is 2.0"),
        ({"view": "hole"}, "Did you mean 'whole'"),
    ],
)
def test_arguments_that_cannot_be_are_named(change: dict[str, object], problem: str) -> None:
    with pytest.raises(BadArguments, match=problem):
        policy(**change)


def test_what_a_state_does_not_allow_is_never_answered() -> None:
    policy = TabularPolicy("tic_tac_toe", [f"\\boxed{{{cell}}}" for cell in range(9)])
    full = Request((Message("user", "X O X\nO X O\n6 X O"),), seed=5)

    assert policy(full) == "\\boxed{6}"
    assert policy.probabilities(full) == {"\\boxed{6}": 1.0}


def test_entropy_pulls_towards_the_uniform_policy() -> None:
    rows = np.array([0])
    played = PlayedTurns(rows, rows, np.zeros(1), np.log([0.9]), 1)
    logits = np.log([[0.9, 0.1]])

    plain = surrogate(logits, played, 0.2)
    pulled = surrogate(logits, played, 0.2, entropy_weight=1.0)

    assert np.allclose(plain.gradient, 0.0)
    assert pulled.gradient[0, 0] > 0 > pulled.gradient[0, 1]


def test_the_slope_of_the_entropy_is_that_of_the_loss() -> None:
    rows = np.array([0, 0])
    logits = np.array([[0.3, -0.2, 1.0]])
    step = 1e-6
    start = PlayedTurns(rows, np.array([1, 2]), np.array([0.5, -1.0]), np.zeros(2), 1)
    log_probs = log_softmax(logits[rows])[np.arange(2), start.actions]
    played = start._replace(log_probs=log_probs)

    found = surrogate(logits, played, 0.2, entropy_weight=0.3).gradient[0]

    for column in range(3):
        nudge = np.zeros((1, 3))
        nudge[0, column] = step
        above = surrogate(logits + nudge, played, 0.2, entropy_weight=0.3).loss
        below = surrogate(logits - nudge, played, 0.2, entropy_weight=0.3).loss
        assert found[column] == pytest.approx((above - below) / (2 * step), abs=1e-5)
