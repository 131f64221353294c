"""What every id of this pack must do, through `gem.make`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments
from gem.snapshot import Snapshot
from gem_envs_games.plugin import plugin

IDS = [spec.id for spec in plugin.envs]
FAMILIES = [id for id in IDS if id.endswith("-easy")]
SEEDS = range(20)


def refused(env_id: str) -> str:
    return "\\boxed{A A}" if "Hanoi" in env_id else "\\boxed{0}"


def played(env: gem.Env, choose: Callable[[], str | None], seed: int) -> list[gem.Step]:
    env.reset(seed=seed)
    steps: list[gem.Step] = []
    while not steps or not (steps[-1].terminated or steps[-1].truncated):
        action = choose()
        assert action is not None
        steps.append(env.step(action))
    return steps


@pytest.mark.parametrize("env_id", IDS)
def test_solve_wins_every_seed_for_a_total_of_one(env_id: str) -> None:
    env = gem.make(env_id)

    episodes = [played(env, env.solve, seed) for seed in SEEDS]

    assert {steps[-1].info["success"] for steps in episodes} == {True}
    assert {(steps[-1].terminated, steps[-1].truncated) for steps in episodes} == {(True, False)}
    totals = [sum(step.reward for step in steps) for steps in episodes]
    assert totals == pytest.approx([1.0] * len(SEEDS), abs=1e-9)


@pytest.mark.parametrize("env_id", IDS)
def test_sampled_actions_are_never_refused(env_id: str) -> None:
    env = gem.make(env_id)

    steps = [step for seed in SEEDS for step in played(env, env.sample_action, seed)]

    assert {step.info.get("action_error") for step in steps} == {None}


@pytest.mark.parametrize("env_id", IDS)
def test_looking_at_actions_does_not_change_the_episode(env_id: str) -> None:
    looked, plain = gem.make(env_id), gem.make(env_id)
    actions = ["\\boxed{2 1}", "\\boxed{3}", "\\boxed{A B}", "\\boxed{1 2 3 4}"]

    def look() -> str:
        looked.sample_action()
        looked.solve()
        return next(left)

    left = iter(actions)
    watched = played(looked, look, 5)
    left = iter(actions)

    assert watched == played(plain, lambda: next(left), 5)
    assert looked.reset() == plain.reset()


@pytest.mark.parametrize("env_id", IDS)
def test_two_seeds_draw_different_samples(env_id: str) -> None:
    env = gem.make(env_id)
    draws = []
    for seed in SEEDS:
        env.reset(seed=seed)
        draws.append(env.sample_action())

    assert len(set(draws)) > 1


@pytest.mark.parametrize("env_id", FAMILIES)
def test_a_refused_move_costs_a_turn_and_changes_nothing_else(env_id: str) -> None:
    env, clean = gem.make(env_id), gem.make(env_id)
    env.reset(seed=1)
    _, before = clean.reset(seed=1)

    step = env.step(refused(env_id))

    assert step[1:4] == (0.0, False, False)
    assert step.info["action_error"] == "invalid"
    assert step.info["suffix"] == before["suffix"]
    assert "The turn is lost." in observation_text(step.observation)
    assert env.turn == 1
    assert env.solve() == clean.solve()


@pytest.mark.parametrize("env_id", IDS)
def test_the_turn_limit_truncates_and_does_not_terminate(env_id: str) -> None:
    env = gem.make(env_id, max_turns=2)
    env.reset(seed=0)

    first, last = env.step(refused(env_id)), env.step(refused(env_id))

    assert (first.terminated, first.truncated) == (False, False)
    assert (last.terminated, last.truncated, last.info["success"]) == (False, True, False)
    assert "suffix" not in last.info
    assert observation_text(last.observation).endswith(
        "You have reached the maximum number of turns."
    )


@pytest.mark.parametrize("env_id", FAMILIES)
def test_winning_on_the_last_turn_terminates_and_does_not_truncate(env_id: str) -> None:
    env = gem.make(env_id)
    turns = len(played(env, env.solve, 3))
    short = gem.make(env_id, max_turns=turns)

    last = played(short, short.solve, 3)[-1]

    assert (last.terminated, last.truncated, last.info["success"]) == (True, False, True)


@pytest.mark.parametrize("text", ["", "no box", "\\boxed{}", "\\boxed{?}", "\x00", "\ud800"])
@pytest.mark.parametrize("env_id", IDS)
def test_an_answer_that_cannot_be_read_ends_the_game(env_id: str, text: str) -> None:
    env = gem.make(env_id)
    env.reset(seed=0)

    step = env.step(text)

    assert step[1:4] == (-0.1, True, False)
    assert step.info == {
        "success": False,
        "reward_parts": {"format_error": -0.1},
        "action_error": "format",
    }


@pytest.mark.parametrize("env_id", IDS)
def test_an_answer_that_cannot_be_read_on_the_last_turn_does_not_truncate(env_id: str) -> None:
    env = gem.make(env_id, max_turns=1)
    env.reset(seed=0)

    assert env.step("no box")[1:4] == (-0.1, True, False)


@pytest.mark.parametrize("env_id", IDS)
def test_the_example_of_instructions_and_format_error_is_taken(env_id: str) -> None:
    env = gem.make(env_id)
    instructions, _ = env.reset(seed=0)
    error = env.step("no box").observation
    env.reset(seed=0)

    from_instructions = env.step(observation_text(instructions))
    env.reset(seed=0)
    from_error = env.step(observation_text(error))

    assert from_instructions == from_error
    assert "action_error" not in from_error.info


@pytest.mark.parametrize("env_id", IDS)
def test_the_instructions_state_the_turns_of_the_episode(env_id: str) -> None:
    env = gem.make(env_id)

    for seed in SEEDS:
        observation, info = env.reset(seed=seed)
        assert f"You have {env.max_turns} turns." in observation_text(observation)
        assert info["suffix"].splitlines()[-1].startswith("Enter your ")


@given(st.integers(), st.lists(st.text(alphabet="\\boxed{} 0123456789ABC-"), max_size=8), st.data())
@pytest.mark.parametrize("env_id", IDS)
def test_reward_parts_add_up_and_stay_in_range(
    env_id: str, seed: int, texts: list[str], data: st.DataObject
) -> None:
    env = gem.make(env_id)
    lowest, highest = env.reward_range
    env.reset(seed=seed)
    is_over = False

    for text in texts:
        if is_over:
            break
        step = env.step(data.draw(st.sampled_from([text, f"\\boxed{{{text}}}", env.solve() or ""])))
        is_over = step.terminated or step.truncated
        assert sum(step.info["reward_parts"].values()) == pytest.approx(step.reward, abs=1e-9)
        assert lowest <= step.reward <= highest
        assert isinstance(step.info["success"], bool)
        assert ("suffix" in step.info) == (not is_over)


@pytest.mark.parametrize("env_id", IDS)
def test_a_fork_and_a_restored_snapshot_continue_alike(env_id: str) -> None:
    env = gem.make(env_id)
    env.reset(seed=8)
    env.step(env.sample_action())

    twin = env.fork()
    copy = gem.make(env_id)
    copy.restore(Snapshot.from_json(env.snapshot().to_json()))
    actions = [env.solve() or "", "\\boxed{-5}", "\\boxed{1 2}", "\\boxed{A B}"]
    continued = [
        [each.step(actions[0]), each.reset(), each.step(actions[1])] for each in (env, twin, copy)
    ]

    assert continued[0] == continued[1] == continued[2]


@pytest.mark.parametrize("env_id", FAMILIES)
def test_a_fork_plays_on_its_own(env_id: str) -> None:
    env = gem.make(env_id)
    env.reset(seed=8)
    move = env.solve()

    env.fork().step("no box")
    env.fork().step(env.sample_action())

    assert env.solve() == move
    assert env.turn == 0


@pytest.mark.parametrize("env_id", IDS)
def test_a_negative_and_a_huge_seed_are_seeds(env_id: str) -> None:
    env = gem.make(env_id)

    assert env.reset(seed=-1) == env.reset(seed=-1)
    assert env.reset(seed=2**80) == env.reset(seed=2**80)


@pytest.mark.parametrize("max_turns", [0, -1])
@pytest.mark.parametrize("env_id", FAMILIES)
def test_a_game_without_a_turn_is_refused(env_id: str, max_turns: int) -> None:
    with pytest.raises(BadArguments, match=f"max_turns={max_turns}"):
        gem.make(env_id, max_turns=max_turns)


@pytest.mark.parametrize("env_id", FAMILIES)
def test_fail_is_paid_with_the_move_that_exhausts_the_turns(env_id: str) -> None:
    env = gem.make(env_id, max_turns=2, rewards={"fail": -0.5, "invalid": -0.25})
    env.reset(seed=0)

    assert [env.step(refused(env_id)).reward for _ in range(2)] == [-0.25, -0.75]


@pytest.mark.parametrize("env_id", FAMILIES)
def test_twice_the_success_is_twice_the_total(env_id: str) -> None:
    env = gem.make(env_id, rewards={"success": 2.0})

    assert sum(step.reward for step in played(env, env.solve, 4)) == pytest.approx(2.0)
