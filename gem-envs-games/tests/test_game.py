"""What every id of this pack must do, through `gem.make`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.plugin import plugin
from gem_envs_games.seated.listing import ENVS as SEATED

PlayOut = Callable[[gem.Env], list[gem.Step]]

GAMES = [
    spec
    for spec in plugin.envs
    if spec.namespace == "game" and not spec.requires and not spec.replaced_by
    if spec not in SEATED  # games of several seats have rules of their own: tests/seated
]
IDS = [spec.id for spec in GAMES]
WINNABLE = [spec.id for spec in GAMES if spec.check.winnable and not spec.check.needs_luck]
FAMILIES = [id for id in IDS if id.endswith("-easy")]
SEEDS = range(20)
AGAINST_THE_RULES = {
    "GuessTheNumber": ["\\boxed{0}"],
    "Mastermind": ["\\boxed{0}"],
    "Minesweeper": ["\\boxed{reveal 99 0}"],
    "Wordle": ["\\boxed{abcdefghij}"],
    "FifteenPuzzle": ["\\boxed{up}", "\\boxed{down}"],
    "Hangman": ["\\boxed{abcdefghij}"],
    "Sudoku": ["\\boxed{99 1 1}"],
    "TowerofHanoi": ["\\boxed{A A}"],
    "Game2048": ["\\boxed{up}", "\\boxed{down}", "\\boxed{left}", "\\boxed{right}"],
    "Sokoban": ["\\boxed{up}", "\\boxed{down}", "\\boxed{left}", "\\boxed{right}"],
    "Crosswords": ["\\boxed{99 0 A}"],
    "WordSearch": ["\\boxed{99 0 99 4}"],
    "WikiGame": ["\\boxed{No such page}"],
}


def family(env_id: str) -> str:
    return env_id.removeprefix("game:").partition("-")[0]


def started_with_a_move_against_the_rules(env_id: str, **kwargs: Any) -> tuple[gem.Env, str]:
    """Return a game, and a move that it refuses: not every start has one."""
    env = gem.make(env_id, **kwargs)
    for seed in itertools.count():
        env.reset(seed=seed)
        for action in AGAINST_THE_RULES[family(env_id)]:
            if env.fork().step(action).info.get("action_error") == "invalid":
                return env, action
    raise AssertionError


def played(env: gem.Env, choose: Callable[[], str | None], seed: int) -> list[gem.Step]:
    env.reset(seed=seed)
    steps: list[gem.Step] = []
    while not steps or not (steps[-1].terminated or steps[-1].truncated):
        action = choose()
        assert action is not None
        steps.append(env.step(action))
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("env_id", WINNABLE)
def test_solve_wins_every_seed_for_a_total_of_one(env_id: str) -> None:
    env = gem.make(env_id)

    episodes = [played(env, env.solve, seed) for seed in (range(2) if "2048" in env_id else SEEDS)]

    assert {steps[-1].info["success"] for steps in episodes} == {True}
    assert {(steps[-1].terminated, steps[-1].truncated) for steps in episodes} == {(True, False)}
    totals = [sum(step.reward for step in steps) for steps in episodes]
    if family(env_id) != "WikiGame":  # its steps cost
        assert totals == pytest.approx([1.0] * len(episodes), abs=1e-9)


@pytest.mark.parametrize("env_id", FAMILIES)
def test_a_refused_move_costs_a_turn_and_changes_nothing_else(env_id: str) -> None:
    env, action = started_with_a_move_against_the_rules(env_id)
    before = env.fork()

    step = env.step(action)

    assert step.reward == env.unwrapped.rewards.invalid  # type: ignore[attr-defined]
    assert (step.terminated, step.truncated) == (False, False)
    assert step.info["action_error"] == "invalid"
    assert step.info["suffix"] == before.unwrapped.suffix()  # type: ignore[attr-defined]
    assert "The turn is lost." in observation_text(step.observation)
    assert env.turn == 1
    assert env.solve() == before.solve()


@pytest.mark.parametrize("env_id", IDS)
def test_the_turn_limit_truncates_and_does_not_terminate(env_id: str) -> None:
    env, action = started_with_a_move_against_the_rules(env_id)
    assert env.max_turns is not None

    *_, last = [env.step(action) for _ in range(env.max_turns)]

    assert (last.terminated, last.truncated, last.info["success"]) == (False, True, False)
    assert "suffix" not in last.info
    assert observation_text(last.observation).endswith(
        "You have reached the maximum number of turns."
    )


@pytest.mark.parametrize("env_id", sorted({*FAMILIES} & {*WINNABLE}))
def test_winning_on_the_last_turn_terminates_and_does_not_truncate(
    play_out: PlayOut, env_id: str
) -> None:
    env, wasted = started_with_a_move_against_the_rules(env_id)
    assert env.max_turns is not None
    needed = len(play_out(env.fork()))
    for _ in range(env.max_turns - needed):
        env.step(wasted)

    last = play_out(env)[-1]

    assert env.turn == env.max_turns
    assert (last.terminated, last.truncated, last.info["success"]) == (True, False, True)


@pytest.mark.parametrize("text", ["", "no box", "\\boxed{}", "\\boxed{?}", "\x00", "\ud800"])
@pytest.mark.parametrize("env_id", IDS)
def test_an_answer_that_cannot_be_read_ends_the_game(env_id: str, text: str) -> None:
    env = gem.make(env_id)
    env.reset(seed=0)

    step = env.step(text)

    paid = -0.2 if family(env_id) == "WikiGame" else -0.1
    assert step[1:4] == (paid, True, False)
    assert step.info == {
        "success": False,
        "reward_parts": {"format_error": paid},
        "action_error": "format",
    }


@pytest.mark.parametrize("env_id", IDS)
def test_the_example_of_instructions_and_format_error_is_read(env_id: str) -> None:
    env = gem.make(env_id)
    instructions, _ = env.reset(seed=0)
    error = env.step("no box").observation
    env.reset(seed=0)

    from_instructions = env.step(observation_text(instructions))
    env.reset(seed=0)
    from_error = env.step(observation_text(error))

    assert from_instructions == from_error
    assert from_error.info.get("action_error") != "format"


@pytest.mark.parametrize("env_id", IDS)
def test_the_instructions_state_the_turns_of_the_episode(env_id: str) -> None:
    env = gem.make(env_id)

    for seed in SEEDS:
        observation, info = env.reset(seed=seed)
        assert f"You have {env.max_turns} turns." in observation_text(observation).replace(",", "")
        assert info["suffix"].splitlines()[-1].startswith("Enter your ")


@pytest.mark.slow
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


@pytest.mark.parametrize("max_turns", [0, -1])
@pytest.mark.parametrize("env_id", FAMILIES)
def test_a_game_without_a_turn_is_refused(env_id: str, max_turns: int) -> None:
    with pytest.raises(BadArguments, match=f"max_turns={max_turns}"):
        gem.make(env_id, max_turns=max_turns)


@pytest.mark.parametrize("env_id", FAMILIES)
def test_fail_is_paid_with_the_move_that_exhausts_the_turns(env_id: str) -> None:
    rewards = {"success": 0.0, "fail": -0.5, "invalid": -0.25}
    env, action = started_with_a_move_against_the_rules(env_id, rewards=rewards)
    assert env.max_turns is not None

    paid = [env.step(action).reward for _ in range(env.max_turns)]

    assert paid == [*[-0.25] * (env.max_turns - 1), -0.75]


@pytest.mark.parametrize("env_id", sorted({*FAMILIES} & {*WINNABLE}))
def test_twice_the_success_is_twice_the_total(env_id: str) -> None:
    env = gem.make(env_id, rewards={"success": 2.0, "step": 0.0})

    assert sum(step.reward for step in played(env, env.solve, 4)) == pytest.approx(2.0)
