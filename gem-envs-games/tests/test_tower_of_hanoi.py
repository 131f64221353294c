from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.tower_of_hanoi import moves_left, next_move

State = tuple[int, ...]  # the peg of each disk, smallest first


def started(**kwargs: Any) -> gem.Env:
    env = gem.make("game:TowerofHanoi-v0-easy", **kwargs)
    env.reset(seed=0)
    return env


def play(env: gem.Env, moves: Iterable[str]) -> list[gem.Step]:
    return [env.step(f"\\boxed{{{move}}}") for move in moves]


def solved(env: gem.Env, seed: int | None = None) -> int:
    if seed is not None:
        env.reset(seed=seed)
    while True:
        action = env.solve()
        assert action is not None
        step = env.step(action)
        if step.terminated or step.truncated:
            assert step.info["success"]
            return env.turn


def moved(state: State) -> Iterator[tuple[int, int, State]]:
    """Yield every legal move, from the rules alone, with the state it leads to."""
    for source, target in itertools.permutations(range(3), 2):
        for disk, peg in enumerate(state):
            if peg == target:
                break
            if peg == source:
                yield source, target, (*state[:disk], target, *state[disk + 1 :])
                break


def distances(disks: int) -> dict[State, int]:
    """Return the fewest moves to the last peg from every state, by breadth-first search."""
    goal = (2,) * disks
    found = {goal: 0}
    ahead = deque([goal])
    while ahead:
        state = ahead.popleft()
        for _, _, neighbour in moved(state):
            if neighbour not in found:
                found[neighbour] = found[state] + 1
                ahead.append(neighbour)
    return found


def piles(state: State) -> list[list[int]]:
    return [
        [disk + 1 for disk in reversed(range(len(state))) if state[disk] == peg] for peg in range(3)
    ]


def test_a_way_that_grew_longer_earns_nothing() -> None:
    env = gem.make("game:TowerofHanoi-v1-hard", max_turns=6, num_disks=2)
    paid = set()
    for seed in range(30):
        env.reset(seed=seed)
        step = env.step(env.sample_action())
        while not (step.terminated or step.truncated):
            step = env.step(env.sample_action())
        paid.add(round(step.reward, 9))

    assert min(paid) == 0.0


@pytest.mark.parametrize("disks", range(1, 7))
def test_the_moves_left_are_those_of_a_shortest_way(disks: int) -> None:
    assert all(moves_left(piles(state)) == far for state, far in distances(disks).items())


def test_scattered_disks_start_everywhere_but_at_the_goal() -> None:
    env = gem.make("game:TowerofHanoi-v0-easy", num_disks=2, scattered=True)

    starts = {env.reset(seed=seed)[1]["suffix"] for seed in range(300)}

    assert len(starts) == 3**2 - 1


def test_scattered_disks_pay_the_share_of_the_way_made() -> None:
    env = gem.make("game:TowerofHanoi-v1-hard", max_turns=1)
    for seed in range(20):
        env.reset(seed=seed)
        left = solved(gem.make("game:TowerofHanoi-v1-hard", max_turns=31), seed)
        step = env.fork().step(env.solve() or "")
        assert step.reward == pytest.approx(1 / left)
        assert env.step("\\boxed{A A}").reward == 0.0


@pytest.mark.parametrize("disks", range(1, 7))
def test_the_solver_takes_a_shortest_way_from_every_state(disks: int) -> None:
    far = distances(disks)
    nearer = {
        (state, source, target)
        for state in far
        for source, target, neighbour in moved(state)
        if far[neighbour] == far[state] - 1
    }

    assert len(far) == 3**disks
    assert next_move(piles((2,) * disks)) is None
    for state in far:
        if far[state]:
            assert (state, *(next_move(piles(state)) or ())) in nearer


@pytest.mark.parametrize(("disks", "moves"), [(1, 1), (3, 7), (4, 15), (5, 31), (8, 255)])
def test_the_solver_needs_the_fewest_moves_from_the_start(disks: int, moves: int) -> None:
    assert solved(started(num_disks=disks, max_turns=moves)) == moves


@given(st.lists(st.sampled_from(["A B", "A C", "B A", "B C", "C A", "C B"]), max_size=30))
def test_the_solver_recovers_from_any_moves(moves: list[str]) -> None:
    env = started(max_turns=100)
    for move in moves:
        if env.step(f"\\boxed{{{move}}}").terminated:
            return

    assert solved(env) <= len(moves) + 7


def test_the_board_is_shown_after_every_move() -> None:
    (step,) = play(started(), ["A C"])

    assert step.observation == "At turn 1, you moved disk 1 from A to C."
    assert step.info["suffix"] == (
        "The disks, bottom to top:\nA: [3, 2]\nB: []\nC: [1]\nEnter your next move."
    )


def test_the_first_board_follows_the_instructions() -> None:
    env = gem.make("game:TowerofHanoi-v0-easy")

    _, info = env.reset()

    assert info["suffix"].splitlines()[1:4] == ["A: [3, 2, 1]", "B: []", "C: []"]


@pytest.mark.parametrize("text", ["A C", "a c", "AC", "ac", "A,C", " a , C ", "(A, C)", "[A C]"])
def test_a_move_is_read_in_odd_spellings(text: str) -> None:
    assert play(started(), [text]) == play(started(), ["A C"])


@pytest.mark.parametrize("text", ["A", "A B C", "A D", "1 3", "A to C", "ACC", "\uff21 \uff23", ""])
def test_what_is_not_two_pegs_ends_the_game(text: str) -> None:
    (step,) = play(started(), [text])

    assert step.info["action_error"] == "format"
    assert "two of the pegs A, B and C" in observation_text(step.observation)


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        (["A A"], "must go to another peg"),
        (["B B"], "must go to another peg"),
        (["B C"], "no disk on B"),
        (["A C", "A C"], "disk 2 is larger than disk 1"),
    ],
)
def test_a_move_against_the_rules_is_refused_with_the_reason(moves: list[str], reason: str) -> None:
    step = play(started(), moves)[-1]

    assert step.info["action_error"] == "invalid"
    assert reason in observation_text(step.observation)


def test_all_disks_on_c_win() -> None:
    step = play(started(num_disks=2), ["A B", "A C", "B C"])[-1]

    assert step[1:4] == (1.0, True, False)
    assert step.info == {"success": True, "reward_parts": {"success": 1.0}}


def test_all_disks_on_b_do_not_win() -> None:
    step = play(started(num_disks=2), ["A C", "A B", "C B"])[-1]

    assert step[1:4] == (0.0, False, False)


def test_each_disk_on_c_earns_its_share_when_the_turns_run_out() -> None:
    step = play(started(max_turns=4), ["A C", "A B", "C B", "A C"])[-1]

    assert (step.terminated, step.truncated) == (False, True)
    assert step.reward == pytest.approx(1 / 3)
    assert step.info["reward_parts"]["disks_on_c"] == pytest.approx(1 / 3)


def test_a_refused_last_move_earns_the_share_and_its_own_reward() -> None:
    env = started(max_turns=2, rewards={"invalid": -0.5})

    assert play(env, ["A C", "A C"])[-1].reward == pytest.approx(1 / 3 - 0.5)


def test_random_sizes_are_the_published_ones_with_their_turns() -> None:
    env = gem.make("game:TowerofHanoi-v0-random")
    found = set()
    for seed in range(50):
        env.reset(seed=seed)
        found.add((env.num_disks, env.max_turns))  # type: ignore[attr-defined]

    assert found == {(3, 10), (4, 20), (5, 35)}


@pytest.mark.parametrize("disks", range(1, 9))
def test_turns_that_are_not_given_suffice(disks: int) -> None:
    env = started(num_disks=disks, max_turns=None)

    assert solved(env) < (env.max_turns or 0)


@pytest.mark.parametrize("disks", [0, -1, 65])
def test_a_number_of_disks_that_cannot_be_played_is_refused(disks: int) -> None:
    with pytest.raises(BadArguments, match=f"num_disks={disks}"):
        started(num_disks=disks)
