"""ROLL: its managers and its registration of environments on our `gem`; the model is a proxy.

`BaseLLMProxy` is what ROLL puts a model behind, and `scripted` is registered as one of its own. In
place of the actor `GroupQueueManager` there is a queue in this process. Nothing is stubbed.
"""

from __future__ import annotations

import copy
import threading
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import pytest
import torch
from fragile import UNLUCKY
from harness import CALL, CLOSER, GAME, PAYING, SEEDS, TOOLS, Row, digest, expected, scripted, whole
from roll.distributed.scheduler.protocol import DataProto
from roll.pipeline.agentic.env_manager.step_env_manager import StepEnvManager
from roll.pipeline.agentic.env_manager.traj_env_manager import TrajEnvManager
from roll.pipeline.agentic.llm_proxy import BaseLLMProxy, register_llm_proxy
from roll_rig import cluster, manager_of, run  # noqa: F401  (`cluster` is a fixture)

import gem
from gem.errors import BadArguments
from gem_integrations.roll import RollEnv, TokenEnvManager, register_all

torch.set_num_threads(1)

pytestmark = pytest.mark.usefixtures("cluster")

ADAPTED = {"wrappers": ["gem_integrations.roll:RollEnv"]}


@register_llm_proxy("scripted")
class Scripted(BaseLLMProxy):
    """Answer by the script, as ROLL's `PolicyProxy` gives it: with the end of the turn."""

    asked: list[list[int]]
    error: Exception | None = None
    first: str = ""

    def generate(
        self, messages: Any, lm_input: DataProto, generation_config: dict[str, Any]
    ) -> DataProto:
        ids = lm_input.batch["input_ids"][0].tolist()
        Scripted.asked.append(ids)
        if Scripted.error is not None:
            raise Scripted.error
        budget = generation_config["max_new_tokens"]
        said = scripted(self.tokenizer, ids, budget, first=Scripted.first)
        lm_input.batch["responses"] = torch.tensor([said.ids])
        lm_input.batch["infer_logprobs"] = torch.tensor([said.logprobs])
        return lm_input


class Received(NamedTuple):
    """An episode as ROLL's batch has it, without its padding."""

    ids: list[int]
    mask: list[int]
    logprobs: list[float]
    rewards: list[float]
    scores: list[float]
    metrics: dict[str, float]

    @classmethod
    def of(cls, row: DataProto) -> Received:
        batch = row.batch
        length = int(batch["attention_mask"][0].sum())
        return cls(
            batch["input_ids"][0, :length].tolist(),
            batch["response_mask"][0, :length].int().tolist(),
            [0.0, *batch["infer_logprobs"][0, : length - 1].tolist()],
            list(row.non_tensor_batch["step_scores"][0]),
            batch["scores"][0, :length].tolist(),
            row.meta_info["metrics"],
        )


@pytest.fixture(autouse=True)
def engine() -> type[Scripted]:
    Scripted.asked, Scripted.error, Scripted.first = [], None, ""
    return Scripted


class Rig:
    """Managers as ROLL's worker makes them, each in its thread."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def manager(self, cls: type[TrajEnvManager] = TokenEnvManager, **options: Any) -> Any:
        game = {
            "env_type": GAME["env_id"],
            "system": GAME["system_prompt"],
            "max_steps": GAME["max_turns"],
        }
        return manager_of(cls, self.tokenizer, proxy="scripted", **{**game, **options})

    def play(self, seed: int, cls: type[TrajEnvManager] = TokenEnvManager, **options: Any) -> Any:
        [row] = run(self.manager(cls, **options), seed)
        return Received.of(row)


class Listening(gem.Wrapper):
    """Keep the actions that an environment is given."""

    def __init__(self, env: gem.Env) -> None:
        super().__init__(env)
        self.actions: list[str] = []

    def on_step(self, action: str, step: gem.Step) -> gem.Step:
        self.actions.append(action)
        return step


@pytest.fixture
def rig(tokenizer: Any) -> Rig:
    return Rig(tokenizer)


def paying(**kwargs: Any) -> dict[str, Any]:
    return {"env_type": PAYING, **kwargs}


def assert_equal(got: Received, wanted: Row, shown: Counter[str]) -> None:
    ids, mask, rewards = whole(wanted)
    assert (got.ids, got.mask, got.logprobs, got.rewards) == (ids, mask, wanted.logprobs, rewards)
    assert got.scores == [0.0] * (len(ids) - 1) + [sum(rewards)]
    shown["episodes"] += 1
    shown["tokens"] += len(ids)
    shown["rewards"] += len(rewards)


def test_the_package_gem_is_ours() -> None:
    with pytest.raises(PackageNotFoundError):
        version("gem-llm")
    from roll.pipeline.agentic import env

    assert env.gem is gem
    assert {"local:sokoban", "local:frozen_lake"} <= {each.id for each in gem.list_envs("local:*")}


def test_episodes_are_those_of_direct_play(
    rig: Rig, tokenizer: Any, shown: Counter[str], same_everywhere: list[str]
) -> None:
    played = [rig.play(seed) for seed in SEEDS]

    for seed, got in zip(SEEDS, played, strict=True):
        assert_equal(got, expected(tokenizer, seed), shown)
    same_everywhere.append(digest((each.ids, each.mask, each.rewards) for each in played))


def test_every_prompt_is_the_sequence_so_far(
    rig: Rig, tokenizer: Any, engine: type[Scripted], shown: Counter[str]
) -> None:
    rig.play(3)

    row = expected(tokenizer, 3)
    assert engine.asked == [row.ids[:start] for start, _ in row.spans]
    shown["prompts"] += len(engine.asked)


def test_an_episode_has_the_groups_seed_and_its_number(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    rows = run(rig.manager(**paying(group_seed=7, episodes=3)), 4)

    for episode, row in enumerate(rows):
        wanted = expected(tokenizer, 11 + episode, env_id=PAYING)
        assert_equal(Received.of(row), wanted, shown)


def test_several_managers_play_at_once(rig: Rig, tokenizer: Any, shown: Counter[str]) -> None:
    """As in ROLL's worker: a thread each, two of one group and one of another."""
    managers = [rig.manager(**paying(group_seed=seed, episodes=2)) for seed in (1, 1, 9)]
    threads = [threading.Thread(target=run, args=(each, 0)) for each in managers]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    first, twin, other = ([Received.of(row) for row in m.output_queue.rows] for m in managers)
    assert first == twin
    assert [each.ids for each in first] != [each.ids for each in other]
    for seed, got in zip((1, 2, 9, 10), [*first, *other], strict=True):
        assert_equal(got, expected(tokenizer, seed, env_id=PAYING), shown)


def test_metrics_reach_roll(rig: Rig) -> None:
    metrics = rig.play(5, **paying()).metrics

    assert metrics["env/T/raw_reward"] == 6.0
    assert metrics["env/T/env_failed"] == 0.0
    assert metrics["env/T/num_actions"] == 3
    assert rig.play(29).metrics["env/T/success"] == 1.0


def test_a_step_that_raises_costs_its_own_episode(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    rows = run(rig.manager(**paying(episodes=2, fails_at=2)), 5)

    for seed, row in zip((5, 6), rows, strict=True):
        wanted = expected(tokenizer, seed, env_id=PAYING, env_kwargs={"fails_at": 2})
        assert wanted.rewards == [1.0, 0.0]
        assert_equal(Received.of(row), wanted, shown)
        assert row.meta_info["metrics"]["env/T/env_failed"] == 1.0


def test_an_episode_that_cannot_begin_is_one_token_that_nobody_said(
    rig: Rig, engine: type[Scripted], shown: Counter[str]
) -> None:
    rows = run(rig.manager(**paying(episodes=2, env_type=UNLUCKY)), 0)

    assert engine.asked == []
    for row in rows:
        assert sum(Received.of(row).mask) == 0
        assert row.meta_info["drop_flag"] is True
        shown["episodes"] += 1


def test_a_row_without_an_answer_fits_into_a_batch(rig: Rig) -> None:
    [lost] = run(rig.manager(**paying(env_type=UNLUCKY)), 0)
    [good] = run(rig.manager(**paying()), 0)

    assert DataProto.concat([lost, good]).batch.batch_size[0] == 2


def test_the_end_of_any_models_turn_is_no_part_of_its_action(tokenizer: Any) -> None:
    other = copy.deepcopy(tokenizer)
    other.add_special_tokens({"eos_token": "<end_of_turn>"})
    other.chat_template = other.chat_template.replace(CLOSER, "<end_of_turn>")
    manager = Rig(other).manager()
    listening = manager.env.env = Listening(manager.env.env)

    [row] = run(manager, SEEDS[2])

    ends = int((row.batch["input_ids"][0] == other.eos_token_id).sum())
    assert ends > len(listening.actions) > 1
    assert not any("<end_of_turn>" in action for action in listening.actions)


def test_the_number_of_turns_is_bounded(rig: Rig, tokenizer: Any, shown: Counter[str]) -> None:
    got = rig.play(1, **paying(max_steps=2))

    assert_equal(got, expected(tokenizer, 1, env_id=PAYING, max_turns=2), shown)


def test_an_answer_is_cut(rig: Rig, tokenizer: Any, shown: Counter[str]) -> None:
    got = rig.play(1, **paying(most=8))

    assert_equal(got, expected(tokenizer, 1, env_id=PAYING, max_turn_tokens=8), shown)


def test_a_sequence_that_is_full_ends_its_episode(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    prompt = len(expected(tokenizer, 1, env_id=PAYING).prompt_ids)
    got = rig.play(1, **paying(length=prompt + 50))

    wanted = expected(tokenizer, 1, env_id=PAYING, limit=50)
    assert len(wanted.rewards) == 2
    assert_equal(got, wanted, shown)


def test_a_prompt_that_fills_the_sequence_is_never_answered(
    rig: Rig, engine: type[Scripted], shown: Counter[str]
) -> None:
    [row] = run(rig.manager(**paying(length=20)), 0)

    assert engine.asked == []
    assert sum(Received.of(row).mask) == 0
    shown["episodes"] += 1


def test_a_tool_is_called(
    rig: Rig, tokenizer: Any, engine: type[Scripted], shown: Counter[str]
) -> None:
    engine.first = CALL
    got = rig.play(29, **TOOLS)

    assert "Nothing is known of the number." in tokenizer.decode(got.ids)
    assert_equal(got, expected(tokenizer, 29, first=CALL, **TOOLS), shown)


def test_what_the_engine_raises_reaches_the_framework(
    rig: Rig, engine: type[Scripted], shown: Counter[str]
) -> None:
    engine.error = ConnectionError("the engine is gone")

    with pytest.raises(ConnectionError, match="the engine is gone"):
        rig.play(3)
    shown["errors"] += 1


def test_a_history_that_is_rewritten_is_refused(rig: Rig) -> None:
    with pytest.raises(BadArguments, match="StepEnvManager"):
        rig.manager(wrappers=["concat"])


def test_options_of_the_codec_are_checked(rig: Rig) -> None:
    with pytest.raises(BadArguments, match="on_rewrit"):
        rig.manager(codec={"on_rewrit": "keep"})


def as_roll_writes_it(row: Row, tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return a row's ids and mask with ROLL's own close of a turn in place of the template's.

    The template ends a line after the model's turn, and ROLL closes the turn once more instead.
    """
    ids, mask = list(row.ids), [0] * len(row.prompt_ids) + row.response_mask
    for _, stop in row.spans[:-1]:
        assert ids[stop - 1] == tokenizer.eos_token_id
        assert tokenizer.decode(ids[stop]) == "\n"
        ids[stop] = tokenizer.eos_token_id
    return ids, mask


def test_rolls_own_manager_differs_by_one_token_a_turn(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    """Unmodified `TrajEnvManager`: all else, rewards and what the model said included, is equal."""
    for seed in SEEDS:
        got = rig.play(seed, TrajEnvManager, template="{observation}\n{suffix}", **ADAPTED)
        wanted = expected(tokenizer, seed)
        assert (got.ids, got.mask) == as_roll_writes_it(wanted, tokenizer)
        assert (got.logprobs, got.rewards) == (wanted.logprobs, wanted.rewards)
        shown["unmodified"] += 1


def test_rolls_own_manager_outlives_an_environment_that_cannot_begin(rig: Rig) -> None:
    got = rig.play(3, TrajEnvManager, **paying(env_type=UNLUCKY), **ADAPTED)

    assert got.rewards == [0.0]
    assert got.metrics["env/T/env_failed"] == 1.0


def test_rolls_own_environment_runs_in_its_own_manager(rig: Rig) -> None:
    """`frozen_lake` as ROLL registers it, through our `gem.make`."""
    got = rig.play(3, TrajEnvManager, env_type="frozen_lake", size=4, p=0.8)

    assert len(got.rewards) == GAME["max_turns"]
    assert got.metrics["env/T/action_is_valid"] == 0.0


def test_steps_are_samples_with_a_reward_each(rig: Rig, tokenizer: Any) -> None:
    """Unmodified `StepEnvManager`, which shows the newest observation alone."""
    manager = rig.manager(
        StepEnvManager,
        env_type=PAYING,
        template="{env_instruction}{current_observation}",
        wrappers=[{"id": "gem_integrations.roll:RollEnv", "env_instruction": "Play.\n"}],
    )
    [row] = run(manager, 5)

    assert row.non_tensor_batch["step_scores"].tolist() == [1.0, 2.0, 3.0]
    assert row.non_tensor_batch["episode_scores"].tolist() == [6.0] * 3
    first = tokenizer.decode(row.batch["input_ids"][0][row.batch["prompt_mask"][0]])
    assert "Play.\nstart" in first


def test_every_installed_environment_is_registered_once_more() -> None:
    ids = register_all()

    assert "roll:game.GuessTheNumber-v0-hard" in ids
    env = gem.make("roll:game.GuessTheNumber-v0-hard")
    assert isinstance(env, RollEnv)
    assert env.reset(seed=3)[0] == gem.make(GAME["env_id"]).reset(seed=3)[0]
    assert register_all() == ids
