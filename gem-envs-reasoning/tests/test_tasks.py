"""Every task of the library: posed, answered, judged and played again."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem_envs_reasoning.answers import tagged
from gem_envs_reasoning.listing import NAMES

pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")

WITHOUT_SOLUTION = {"boxnet", "rush_hour"}
SLOW = {"futoshiki", "intermediate_integration", "knight_swap", "puzzle24", "zebra_puzzles"}
"""Generators that take a tenth of a second and more for one question."""


def posed(name: str, seed: int, **kwargs: Any) -> tuple[str, gem.Env]:
    env = gem.make(f"rg:{name}", **kwargs)
    observation, _ = env.reset(seed=seed)
    return str(observation), env


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_scores_one_and_an_empty_answer_nothing(name: str) -> None:
    question, env = posed(name, seed=1)
    with env, env.fork() as twin:
        solution = env.solve()
        assert question.endswith("Only the last one is read.")
        assert (solution is None) == (name in WITHOUT_SOLUTION)
        if solution is not None:
            right = env.step(solution)
            assert (right.reward, right.terminated, right.truncated) == (1.0, True, False)
            assert right.info["success"] is True
        nothing = twin.step("")
        assert (nothing.reward, nothing.info["success"]) == (0.0, False)
        assert nothing.info["action_error"] == "format"


@pytest.mark.parametrize("name", sorted({*NAMES} - SLOW - WITHOUT_SOLUTION))
def test_the_solution_of_another_question_is_judged_by_this_one(name: str) -> None:
    env = gem.make(f"rg:{name}")
    texts = set()
    for seed in range(8):
        env.reset(seed=seed)
        texts.add(str(env.solve()))
    rewards = []
    for text in sorted(texts):
        env.reset(seed=8)
        rewards.append(env.step(text).reward if text != env.solve() else 0.0)

    assert min(rewards) < 1.0


@pytest.mark.parametrize("name", sorted({*NAMES} - SLOW))
def test_the_same_seed_poses_the_same_question_whatever_others_draw(name: str) -> None:
    question, env = posed(name, seed=5)
    random.seed(9)
    again, twin = posed(name, seed=5)

    assert (question, env.solve()) == (again, twin.solve())


@pytest.mark.parametrize("name", sorted({*NAMES} - SLOW))
def test_no_question_touches_global_chance_or_prints(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    import numpy as np

    posed(name, seed=6)  # first: what it imports is then imported
    capfd.readouterr()
    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002 - it is watched
    _, env = posed(name, seed=7)
    env.step(tagged("7"))

    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("split", ["train", "eval"])
def test_the_indices_of_training_and_evaluation_lie_apart(split: str) -> None:
    env = gem.make("rg:count_bits", split=split)
    indices = {env.reset(seed=seed)[1]["index"] for seed in range(2_000)}

    half = range(2**31) if split == "train" else range(2**31, 2**32)
    assert len(indices) > 1_990
    assert all(index in half for index in indices)


@pytest.mark.parametrize("name", ["leg_counting", "list_functions", "acre"])
def test_training_and_evaluation_share_no_question(name: str) -> None:
    asked = {
        split: {posed(name, seed, split=split)[0] for seed in range(300)}
        for split in ("train", "eval")
    }

    assert len(asked["train"]) > 280
    assert not asked["train"] & asked["eval"]


def test_neighbouring_seeds_share_no_question() -> None:
    env = gem.make("rg:leg_counting")
    one, other = ({str(env.reset(seed=seed + run)[0]) for seed in range(200)} for run in (0, 10**6))

    assert not one & other


def test_rollouts_of_every_task_replay() -> None:
    ids = [f"rg:{name}" for name in sorted({*NAMES} - SLOW)]

    async def play() -> list[gem.Episode]:
        def policy(request: gem.Request) -> str:
            return tagged("12")

        return [episode async for episode in gem.rollout(policy, ids, seed=3)]

    episodes = asyncio.run(play())
    reports = [gem.replay(episode) for episode in episodes]

    assert {episode.env_id for episode in episodes} == set(ids)
    assert {episode.stop_reason for episode in episodes} == {"terminated"}
    assert {report.state for report in reports} == {"same"}


_ELSEWHERE = """
import hashlib, json, sys, gem
digests = {}
for name in json.loads(sys.argv[1]):
    env, digest = gem.make(f"rg:{name}"), hashlib.sha256()
    for seed in range(1 if name in sys.argv[2] else 3):
        digest.update(env.reset(seed=seed)[0].encode())
        digest.update(str(env.solve()).encode())
    digests[name] = digest.hexdigest()
print(json.dumps(digests))
"""


@pytest.mark.slow
def test_processes_with_other_hashes_pose_the_same_questions_and_know_the_same_answers() -> None:
    found = []
    for hashes in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", _ELSEWHERE, json.dumps(NAMES), " ".join(SLOW)],
            env={**os.environ, "PYTHONHASHSEED": hashes},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(done.stdout))  # nothing but this line was printed

    assert found[0] == found[1]
    assert sorted(found[0]) == sorted(NAMES)


def test_a_snapshot_holds_the_index_alone_and_continues_elsewhere() -> None:
    question, env = posed("zebra_puzzles", seed=2)
    saved = gem.Snapshot.from_json(env.snapshot().to_json())
    with gem.make(saved.spec or "") as other:
        other.restore(saved)

        assert len(json.dumps(saved.to_json())) < 10_000
        assert other.solve() == env.solve()
        assert other.step(str(env.solve())).info["success"]
    assert question.splitlines()[0]


@pytest.mark.parametrize("name", ["chain_sum", "word_ladder", "rearc", "codeio"])
def test_a_level_changes_what_is_asked(name: str) -> None:
    asked = [[posed(name, seed, level=level)[0] for seed in range(10)] for level in (0, 1, None)]

    assert asked[0] != asked[1]


def test_a_level_may_name_attributes_and_values_stand_over_it() -> None:
    level = {"num_digits": 3}
    for seed in range(10):
        question, env = posed("chain_sum", seed, level=level, min_terms=5, max_terms=5)

        assert len(re.findall(r"\d+ [+-]", question)) == 4
        assert env.solve()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"level": 99}, r"levels 0 to 35.*by attribute num_animals 0 to 35"),
        ({"level": -1}, "levels 0 to 35"),
        ({"level": {"legs": 0}}, "by attribute num_animals"),
        ({"level": {"num_animals": 36}}, "num_animals 0 to 35"),
        ({"level": "hard"}, "level"),
        ({"animals": 3}, r"no 'animals'.*max_animals"),
        ({"seed_": 3}, "no 'seed_'"),
        ({"min_animals": 0}, "min_animals"),
        ({"min_animals": "3"}, "another level or other values"),
        ({"split": "test"}, "split"),
        ({"format_error_reward": 1.0}, "between -1 and 0"),
    ],
)
def test_what_cannot_be_made_is_one_error_that_says_what_can(
    kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadArguments, match=message):
        gem.make("rg:leg_counting", **kwargs)


def test_a_task_without_a_curriculum_says_so() -> None:
    with pytest.raises(BadArguments, match="no curriculum"):
        gem.make("rg:acre", level=0)


def test_a_level_that_the_library_cannot_make_says_why() -> None:
    with pytest.raises(BadArguments, match="rotation must be in"):
        gem.make("rg:caesar_cipher", level=3)


def test_a_level_at_which_the_library_finds_no_puzzle_is_refused_at_once() -> None:
    with pytest.raises(BadArguments, match=r"finds none\. Choose a lower one"):
        gem.make("rg:jugs", level=3)
    assert posed("jugs", 0, level=1)[0]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_cube_of_any_size_is_posed_and_solved(level: int) -> None:
    for seed in range(5):
        question, env = posed("rubiks_cube", seed, level=level)
        moves = str(env.solve()).removeprefix("<answer>").removesuffix("</answer>").split()
        with env, env.fork() as twin:
            assert f"{3 + level}" in question.splitlines()[0]
            assert env.step(tagged(" ".join(moves))).info["success"]
            assert not twin.step(tagged(" ".join(moves[:-1]))).info["success"]


def test_a_cube_is_turned_by_layers_and_numbered_moves_are_read() -> None:
    _, env = posed("rubiks_cube", seed=0, cube_size=5)
    moves = str(env.solve()).removeprefix("<answer>").removesuffix("</answer>").split()
    numbered = "\n".join(f"{place}. {move}" for place, move in enumerate(moves, 1))
    layered = " ".join(moves) + " 2R 2R' 1Fw 1Fw' U2 U2"
    with env, env.fork() as twin:
        assert env.step(tagged(numbered)).info["success"]
        assert twin.step(tagged(layered)).info["success"]


def test_partial_credit_is_the_librarys_and_never_a_success() -> None:
    _, env = posed("spell_backward", seed=0)
    solution = str(env.solve()).removeprefix("<answer>").removesuffix("</answer>")
    almost = tagged(solution[:-1] + "?")
    with gem.make("rg:spell_backward", binary=True) as strict:
        strict.reset(seed=0)
        step = env.step(almost)
        strict_step = strict.step(almost)

    assert 0 < step.reward < 1
    assert strict_step.reward == 0.0
    assert step.info["success"] is strict_step.info["success"] is False


def test_the_price_of_an_answer_that_is_not_found_is_a_parameter() -> None:
    _, env = posed("leg_counting", seed=0, format_error_reward=-0.1)

    assert env.reward_range == (-0.1, 1.0)
    assert env.step("418").reward == -0.1


def test_a_box_is_read_as_well() -> None:
    _, env = posed("leg_counting", seed=0)
    number = str(env.solve()).removeprefix("<answer>").removesuffix("</answer>")

    assert env.step(rf"It is \boxed{{{number}}}.").reward == 1.0


def test_copying_the_string_rarely_answers_what_to_insert() -> None:
    env = gem.make("rg:string_insertion")
    copied = 0
    for seed in range(100):
        question, _ = env.reset(seed=seed)
        shown = re.findall(r"[A-E]{5,}", str(question))[-1]
        copied += env.solve() == tagged(shown)

    assert 0 < copied < 50


def test_a_syllogism_is_as_often_false_as_true() -> None:
    env = gem.make("rg:syllogism")
    count = 0
    for seed in range(400):
        env.reset(seed=seed)
        count += env.solve() == tagged("Yes")

    assert 160 < count < 240


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["thread", "process"])
def test_verdicts_are_the_same_on_every_backend(backend: str) -> None:
    ids = [f"rg:{name}" for name in ("countdown", "simple_integration", "list_functions", "codeio")]

    async def prints(**kwargs: Any) -> dict[tuple[int, int], str]:
        run = gem.rollout(_solver, ids, episodes=8, seed=1, **kwargs)
        found = [episode async for episode in run]
        assert sum(bool(episode.success) for episode in found) == len(found)
        return {
            (episode.env_index, episode.episode_index): episode.fingerprint() for episode in found
        }

    alone = asyncio.run(prints(concurrency=1))
    workers = {"num_workers": 2} if backend == "process" else {}

    assert asyncio.run(prints(backend=backend, **workers)) == alone


class _Solver:
    wants = ("solution",)

    def __call__(self, request: gem.Request) -> str:
        return request.solution or ""


_solver = _Solver()
