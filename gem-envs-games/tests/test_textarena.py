from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import Step
from gem.env import Env
from gem.errors import GemError
from gem.testing import check_env
from gem_envs_games.textarena.chance import BRIEF_LOCK
from gem_envs_games.textarena.env import TextArenaGame
from gem_envs_games.textarena.listing import ENVS, family_of
from gem_envs_games.textarena.loading import load_game
from gem_envs_games.textarena.mending import put_in_order
from gem_envs_games.textarena.playing import started

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("textarena") is None,
    reason="the extra gem-envs-games[textarena] is not installed",
)

SWEEP = Path(__file__).with_name("textarena_sweep.py")
# One that deals, one with a board, one without chance.
CHECKED = ["Blackjack-v0", "Minesweeper-v0-small", "PegJump-v0"]
NOT_APPLICABLE = {
    "tasks",
    "different_seeds",
    "solve_succeeds",
    "solve_beats_noop",
    "solve_beats_random",
    "solve_beats_echo",
    "solve_beats_plea",
    "solving",
    "solve_is_fair",
}
HANOI = ["A C", "A B", "C B", "A C", "B A", "B C", "A C"]


def played(env: Env, actions: list[str], seed: int = 0) -> Step:
    env.reset(seed=seed)
    for action in actions:
        step = env.step(action)
    return step


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKED)
def test_every_line_of_the_contract_holds(name: str) -> None:
    report = check_env(f"ta:{name}", seeds=range(2), backends=("sync", "thread", "process"))

    assert report.failures == ()
    assert {line.name for line in report.lines if line.state == "skipped"} <= NOT_APPLICABLE


@pytest.mark.slow
def test_the_first_id_of_each_game_of_one_player_is_swept_with_the_counts_of_the_table() -> None:
    first = {family_of(spec.kwargs["name"]).name: spec.id for spec in reversed(ENVS)}
    ran = subprocess.run(
        [sys.executable, str(SWEEP), *first.values(), "--one-player", "--compare"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stderr == ""
    last = ran.stdout.splitlines()[-1]
    assert ", 0 failed, " in last
    assert last.endswith(" replayed the same, as in the table")


@pytest.mark.slow
def test_the_first_observation_is_the_prompt_the_board_and_how_to_answer() -> None:
    observation, info = gem.make("ta:TowerOfHanoi-v0").reset(seed=0)

    assert isinstance(observation, str)
    assert [message["kind"] for message in info["messages"]] == ["PROMPT", "GAME_BOARD"]
    assert observation.startswith("You are playing Tower of Hanoi with 3 disks.")
    assert "A: [3, 2, 1]" in observation
    assert observation.endswith("Only the last one counts.")


def test_a_step_shows_what_is_new_without_the_player_s_own_words() -> None:
    step = played(gem.make("ta:TowerOfHanoi-v0"), ["I take [A C]."])

    assert isinstance(step.observation, str)
    assert step.observation.startswith("You moved disk 1 from A to C.\nCurrent Board:")
    assert [message["kind"] for message in step.info["messages"]] == [
        "PLAYER_ACTION",
        "GAME_ACTION_DESCRIPTION",
        "GAME_BOARD",
    ]


@pytest.mark.parametrize("form", ["[%s]", "\\boxed{%s}", "%s", "I think [B C], no: \\boxed{%s}."])
def test_a_game_is_won_in_every_form_of_answer(form: str) -> None:
    step = played(gem.make("ta:TowerOfHanoi-v0"), [form % move for move in HANOI])

    assert step[1:4] == (1.0, True, False)
    assert step.info["success"] is True
    assert step.info["game_info"]["turn_count"] == 7


@pytest.mark.parametrize("name", ["TowerOfHanoi-v0", "Countdown-v0", "ThreeCardMonte-v0"])
def test_two_refusals_in_a_row_lose(name: str) -> None:
    env = gem.make(f"ta:{name}")
    first = played(env, ["[zzz]"])
    second = played(env, ["[zzz]", "[zzz]"])

    assert (first.terminated, first.info["action_error"]) == (False, "invalid")
    assert second.terminated
    assert second.info["action_error"] == "invalid"
    assert second.info["success"] is False


def test_a_refusal_is_told_by_its_reason() -> None:
    step = played(gem.make("ta:Slitherlink-v0"), ["[zzz]"])

    assert "Reason: Bad action format. Use [h row col]" in str(step.observation)


def test_a_wrong_answer_is_no_refusal() -> None:
    env = gem.make("ta:Minesweeper-v0")
    env.reset(seed=0)
    while "hit a mine" not in str((step := env.step(env.sample_action())).observation):
        pass

    assert "action_error" not in step.info


def test_a_turn_limit_of_the_game_truncates() -> None:
    env = gem.make("ta:LightsOut-v0")

    step = played(env, ["[0 0]"] * 20)

    assert (step.terminated, step.truncated, step.info["success"]) == (False, True, False)
    assert env.reward_range[0] <= step.reward <= 0.0


def test_a_turn_limit_of_ours_truncates_without_a_reward() -> None:
    step = played(gem.make("ta:LightsOut-v0", max_turns=3), ["[0 0]"] * 3)

    assert step[1:4] == (0.0, False, True)
    assert str(step.observation).endswith("You have reached the maximum number of turns.")


def test_a_game_that_raises_is_truncated_with_the_error() -> None:
    env = gem.make("ta:PegJump-v0")
    env.reset(seed=0)
    assert isinstance(env, TextArenaGame)
    assert env._playing is not None
    env._playing.game.state.game_state.clear()

    step = env.step("[4 5]")

    assert step[1:4] == (0.0, False, True)
    assert step.info["error"] == "KeyError: 'board'"


def test_a_game_that_cannot_be_reset_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    env = gem.make("ta:LightsOut-v0")
    env.reset(seed=0)
    assert isinstance(env, TextArenaGame)
    assert env._playing is not None
    game = type(env._playing.game)
    monkeypatch.setattr(game, "_prompt", lambda *_, **__: 1 / 0)

    with pytest.raises(GemError, match="raised on 10 seeds in a row"):
        env.reset(seed=0)


def test_the_fifteen_puzzle_can_be_solved() -> None:
    playing = started("FifteenPuzzle-v0", seed=0)
    rows = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, None, 15]]
    playing.game.board[:] = rows

    playing.tell("[left]")

    outcome = playing.outcome()
    assert outcome is not None
    assert (outcome.rewards, outcome.was_refused) == ((1.0,), (False,))


def test_the_best_button_wins_and_a_worse_one_costs_its_regret() -> None:
    env = TextArenaGame("Bandit-v0")
    env.reset(seed=0)
    snapshot = env.snapshot()
    chances = env._caught_up().game.state.game_state["ground_truth"]
    ranked = sorted(chances, key=chances.get)
    ends = {}
    for button in ranked:
        env.restore(snapshot)
        for _ in range(21):
            ends[button] = env.step(f"[{button}]")
    worst, best = ends[ranked[0]], ends[ranked[-1]]

    assert (best.terminated, best.reward, best.info["success"]) == (True, 1.0, True)
    assert "Congratulations" in str(best.observation)
    assert worst.reward == chances[ranked[0]] - chances[ranked[-1]]
    assert not worst.info["success"]
    assert [end.reward for end in ends.values()] == sorted(end.reward for end in ends.values())


def test_one_card_taken_three_times_is_no_set() -> None:
    step = played(gem.make("ta:Set-v0"), ["[1, 1, 1]"])

    assert step.info["action_error"] == "invalid"


def test_a_lost_2048_is_no_success_whatever_it_pays() -> None:
    env = gem.make("ta:2048-v0-5x5")
    paid = []
    for seed in range(4):
        env.reset(seed=seed)
        while not (step := env.step(env.sample_action())).terminated:
            pass
        paid.append(step.reward)
        assert step.info["success"] is ("Congratulations" in str(step.observation))

    assert max(paid) > 0.7


def test_a_snapshot_is_small_and_continues_alike() -> None:
    env = gem.make("ta:2048-v0")
    env.reset(seed=1)
    for _ in range(80):
        env.step(env.sample_action())
    snapshot = env.snapshot()
    plain = {name: value for name, value in snapshot.state.items() if name != "rng"}
    action = env.sample_action()

    expected = env.step(action)
    env.restore(snapshot)

    assert len(json.dumps(plain)) < 4096
    assert env.step(action) == expected


def test_a_fork_of_an_episode_is_not_mistaken_for_that_of_another_seed() -> None:
    one = gem.make("ta:2048-v0")
    other = gem.make("ta:2048-v0")
    one.reset(seed=1)
    first, _ = other.reset(seed=2)

    other.restore(one.snapshot())

    assert other.step("[left]") == one.step("[left]")
    assert "2048" in str(first)


def sampled(seed: int) -> list[str]:
    """Play a game that draws on every turn, and return all it showed."""
    env = gem.make("ta:Blackjack-v0-long")
    texts = [str(env.reset(seed=seed)[0])]
    while not (step := env.step(env.sample_action())).terminated:
        texts.append(str(step.observation))
    return texts


def test_games_in_threads_are_the_same_as_alone() -> None:
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(sampled, range(40)))

    assert together == [sampled(seed) for seed in range(40)]


def test_a_generator_that_searches_in_global_variables_has_its_own() -> None:
    game = load_game("Sokoban-v0")
    generate_room = vars(sys.modules[type(game).__module__])["generate_room"]
    searched = vars(sys.modules[generate_room.__module__])
    before = searched["explored_states"], searched["best_room_score"]

    rooms = [generate_room(dim=(6, 6), num_steps=10, num_boxes=1, seed=4)[1] for _ in range(2)]

    assert rooms[0].tolist() == rooms[1].tolist()
    assert (searched["explored_states"], searched["best_room_score"]) == before == (set(), -1)


def test_a_generator_is_mended_once_however_many_games_are_made() -> None:
    module = vars(sys.modules[type(load_game("Sokoban-v0")).__module__])
    mended = module["generate_room"]

    put_in_order(load_game("Sokoban-v0"))

    assert module["generate_room"] is mended


def is_locked() -> bool:
    """Say whether a step on another thread would wait."""

    def take() -> bool:
        if is_free := BRIEF_LOCK.acquire(blocking=False):
            BRIEF_LOCK.release()
        return not is_free

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(take).result()


class Witness(list[str]):
    """Answers which note whether steps waited while they were compared, and added to."""

    seen: list[bool]

    def __eq__(self, other: object) -> bool:
        self.seen.append(is_locked())
        return super().__eq__(other)

    __hash__ = None

    def append(self, answer: str) -> None:
        self.seen.append(is_locked())
        super().append(answer)


def test_a_fork_from_a_game_that_hangs_plays_on() -> None:
    env = gem.make("ta:2048-v0")
    env.reset(seed=1)
    fork = env.fork()
    assert isinstance(env, TextArenaGame)
    assert env._playing is not None
    expected = env.fork().step("[left]")
    inside = threading.Event()
    released = threading.Event()
    step = env._playing.game.step

    def hang(answer: str) -> Any:
        inside.set()
        released.wait()
        return step(answer)

    env._playing.game.step = hang
    with ThreadPoolExecutor(1) as thread:
        hung = thread.submit(env.step, "[left]")
        inside.wait()
        is_copied = env._playing.twin_if(env._seed, ["[left]"]) is not None
        forked = fork.step("[left]")
        released.set()

    assert forked == expected == hung.result()
    assert not is_copied


def test_a_fork_is_not_copied_from_the_middle_of_a_step() -> None:
    env = gem.make("ta:2048-v0")
    env.reset(seed=1)
    fork = env.fork()
    assert isinstance(env, TextArenaGame)
    assert env._playing is not None
    env._playing.answers = env._answers = witness = Witness()
    witness.seen = []

    forked = fork.step("[left]")
    own = env.step("[left]")

    assert forked == own
    assert witness.seen == [True, True]


@pytest.mark.parametrize("name", ["RushHour-v0", "LogicPuzzle-v0"])
def test_a_game_prints_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    played(gem.make(f"ta:{name}"), ["[zzz]", "[zzz]"])

    assert capsys.readouterr() == ("", "")
