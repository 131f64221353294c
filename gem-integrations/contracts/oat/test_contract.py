"""Oat's own actors, store, collectors and data sets drive the adapter; only vllm is scripted.

`stubs.py` says which modules are stubs. PPOMultiTurnLearner's batch preparation runs without its
model, its critic and a GPU: what it does to transitions is plain numpy.
"""

from __future__ import annotations

import dataclasses
import os
import runpy
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed
import tyro
import vllm
from fragile import UNLUCKY
from harness import GAME, PAYING, SEEDS, chat_tokenizer, digest, expected, scripted, whole
from oat.actors import RewardActor
from oat.algorithms.ppo import PPOActor, PPOArgs, PPOLearner
from oat.algorithms.ppo_multiturn import (
    MultiTurnFeedbackCollector,
    MultiTurnTransitionDataset,
    PPOMultiTurnActor,
    PPOMultiTurnLearner,
)
from oat.collectors.base import FeedbackCollector
from oat.types import Transition, TransitionData
from oat.utils.data import TransitionDataset
from oat.utils.deepspeed import DeepspeedStrategy
from oat.utils.ipc import PlasmaShmClient
from pyarrow import plasma

from gem.errors import BadArguments
from gem.tools import FunctionTool
from gem_integrations.episodes import UnplayableError
from gem_integrations.oat import (
    EnvActorMixin,
    EnvArgs,
    EnvLearnerMixin,
    EnvMultiTurnActorMixin,
)

torch.set_num_threads(1)
EXAMPLE = Path(__file__).parents[3] / "examples" / "trainers" / "oat_ppo.py"


@dataclass
class Args(EnvArgs, PPOArgs):
    """The arguments of a run, as a user states them."""


class Engine:
    """Stands for vllm's LLM: answers token ids as the script says."""

    tokenizer: Any = None
    calls: list[list[list[int]]]

    def __init__(self, **_: Any) -> None:
        self.calls = []

    def get_tokenizer(self) -> Any:
        return self.tokenizer

    def generate(
        self, *, prompt_token_ids: Any, sampling_params: Any, lora_request: Any, use_tqdm: bool
    ) -> list[Any]:
        self.calls.append(prompt_token_ids)
        asked = zip(prompt_token_ids, sampling_params, strict=True)
        return [self.answer(prompt, params) for prompt, params in asked]

    def answer(self, prompt: list[int], params: Any) -> Any:
        assert (params.n, params.logprobs) == (1, 1)
        assert self.tokenizer.eos_token_id in params.stop_token_ids
        said = scripted(self.tokenizer, prompt, params.max_tokens)
        return completion(prompt, said.ids, said.logprobs or (), said.finish_reason or "stop")


def completion(
    prompt: list[int], ids: Sequence[int], logprobs: Sequence[float], reason: str
) -> Any:
    """Return what vllm returns for one prompt: the sampled token's logprob, and the best one's."""
    told = [
        {id: SimpleNamespace(logprob=each), -1: SimpleNamespace(logprob=0.0)}
        for id, each in zip(ids, logprobs, strict=True)
    ]
    said = SimpleNamespace(text="", token_ids=tuple(ids), logprobs=told, finish_reason=reason)
    return SimpleNamespace(prompt_token_ids=prompt, outputs=[said])


class OfSeeds:
    """Plays the seeds that the test says, round after round."""

    asked: Sequence[int] | None = None

    def seeds(self, round_index: int) -> list[int]:
        return list(self.asked) if self.asked else super().seeds(round_index)  # type: ignore[misc]


class Actor(OfSeeds, EnvActorMixin, PPOActor):
    """What a user writes, with seeds to choose."""


class MultiTurnActor(OfSeeds, EnvMultiTurnActorMixin, PPOMultiTurnActor):
    """The same for Oat's multi-turn PPO."""


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Return the tokenizer of every contract, without the first token that Oat would demand."""
    made = chat_tokenizer()
    made.bos_token = None
    return made


@pytest.fixture(scope="module")
def store() -> Iterator[Any]:
    with plasma.start_plasma_store(plasma_store_memory=50_000_000) as (path, _):
        yield SimpleNamespace(get_shm_path=lambda: path)


@pytest.fixture(scope="module")
def ranks() -> Iterator[Any]:
    """One rank, as Oat's collectors ask for it."""
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    yield torch.distributed.group.WORLD
    torch.distributed.destroy_process_group()


@pytest.fixture
def acting(tokenizer: Any, store: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes an actor, its model loaded as Oat loads it."""

    def act(cls: type[Any], *seeds: int, engine: type[Engine] = Engine, **options: Any) -> Any:
        monkeypatch.setattr(vllm, "LLM", type("LLM", (engine,), {"tokenizer": tokenizer}))
        sizes = {
            "num_samples": 1,
            "num_envs": max(1, len(seeds)),
            "rollout_batch_size_per_device": 1,
        }
        actor = cls(store, {}, Args(**{"oracle": "", **sizes, **options}))
        actor.asked = seeds
        actor.init(0, "")
        return actor

    return act


def stored(actor: Any, prompts: int) -> list[Any]:
    """Let an actor step, and take what it put into the store."""
    placeholders = [""] * prompts
    handle = actor.step(placeholders, placeholders)
    found: list[Any] = PlasmaShmClient(actor.ipc_server).deserialize_ipc(handle)
    return found


def game(**changes: Any) -> dict[str, Any]:
    return {**GAME, "generate_max_length": 256, **changes}


def chained(turns: Sequence[Any]) -> tuple[list[int], list[int], list[float], list[float]]:
    """Return the ids, mask, logprobs and rewards of one episode, of what Oat got of each turn."""
    ids: list[int] = []
    mask: list[int] = []
    logprobs: list[float] = []
    for turn in turns:
        added = turn.prompt_ids[len(ids) :]
        assert turn.prompt_ids[: len(ids)] == ids
        ids += [*added, *turn.response_ids]
        mask += [0] * len(added) + [1] * len(turn.response_ids)
        logprobs += [0.0] * len(added) + [*turn.response_logprobs]
    rewards = [turn.rewards for turn in turns]
    return ids, mask, logprobs, [each[-1] if isinstance(each, list) else each for each in rewards]


def episodes_of(data: Sequence[Any]) -> list[list[Any]]:
    """Take turns apart: where a prompt does not extend the one before, an episode begins."""
    found: list[list[Any]] = []
    for each in data:
        before = [*found[-1][-1].prompt_ids, *found[-1][-1].response_ids] if found else [-1]
        if each.prompt_ids[: len(before)] == before:
            found[-1].append(each)
        else:
            found.append([each])
    return found


def turns_of(tokenizer: Any, *seeds: int) -> int:
    return sum(len(expected(tokenizer, seed).rewards) for seed in seeds)


def test_transitions_are_the_episodes_token_by_token(
    acting: Any, tokenizer: Any, shown: Counter[str]
) -> None:
    actor = acting(Actor, *SEEDS, **game(turn_reward="reward"))
    data = stored(actor, turns_of(tokenizer, *SEEDS))

    for turns, seed in zip(episodes_of(data), SEEDS, strict=True):
        ids, mask, logprobs, rewards = chained(turns)
        row = expected(tokenizer, seed)
        assert (ids, mask, logprobs) == (row.ids, whole(row)[1], row.logprobs)
        assert rewards == row.rewards
        shown["tokens"] += len(ids)
        shown["rewards"] += len(rewards)
        shown["episodes"] += 1
        shown["prefixes"] += len(turns) - 1


def test_the_multi_turn_actor_collects_the_episodes_token_by_token(
    acting: Any, tokenizer: Any, same_everywhere: list[str], shown: Counter[str]
) -> None:
    actor = acting(MultiTurnActor, *SEEDS, **game())
    played = [chained(turns) for turns in stored(actor, 1)]

    assert [each[2] for each in played] == [expected(tokenizer, seed).logprobs for seed in SEEDS]
    same_everywhere.append(digest([(ids, mask, rewards) for ids, mask, _, rewards in played]))
    assert same_everywhere == [digest([whole(expected(tokenizer, seed)) for seed in SEEDS])]
    shown["tokens"] += sum(len(each[0]) for each in played)
    shown["episodes"] += len(SEEDS)


@pytest.mark.parametrize(("gamma", "returns"), [(1.0, [6.0, 5.0, 3.0]), (0.5, [2.75, 3.5, 3.0])])
def test_the_last_token_of_a_turn_earns_its_discounted_return(
    acting: Any, gamma: float, returns: list[float]
) -> None:
    data = stored(acting(Actor, 1, env_id=PAYING, turn_gamma=gamma), 3)

    assert [each.rewards[-1] for each in data] == returns  # of rewards 1, 2 and 3
    assert all(not any(each.rewards[:-1]) for each in data)
    assert [len(each.rewards) for each in data] == [len(each.response_ids) for each in data]


def test_returns_are_normalised_over_the_whole_batch(acting: Any, shown: Counter[str]) -> None:
    data = stored(acting(Actor, 1, 2, 3, env_id=PAYING, rebn=True), 9)

    returns = np.array([6.0, 5.0, 3.0] * 3)
    wanted = (returns - returns.mean()) / returns.std()
    assert [each.rewards[-1] for each in data] == pytest.approx(wanted.tolist())
    shown["rewards"] += 9


def test_oats_collector_takes_as_many_transitions_as_there_are_prompts(
    acting: Any, ranks: Any, shown: Counter[str]
) -> None:
    actor = acting(Actor, env_id=PAYING, num_envs=2)
    collector = FeedbackCollector(actor.args, [actor], PlasmaShmClient(actor.ipc_server))
    prompts = [""] * 16
    data, metrics = collector.collect_feedback(prompts, prompts, prompts, ranks)

    assert len(data) == 16  # of three rounds of two episodes of three turns
    assert metrics["actor/episode_return"] == 6.0
    assert metrics["actor/episode_turns"] == 3.0
    assert metrics["actor/num_transitions"] == 16
    shown["transitions"] += len(data)


def test_oats_multi_turn_collector_takes_whole_episodes(acting: Any, ranks: Any) -> None:
    actor = acting(MultiTurnActor, env_id=PAYING, num_envs=2, rollout_batch_size_per_device=8)
    collector = MultiTurnFeedbackCollector(actor.args, [actor], PlasmaShmClient(actor.ipc_server))
    episodes, metrics = collector.collect_feedback([""], [""], [""], ranks)

    assert [[each.rewards for each in turns] for turns in episodes] == [[1.0, 2.0, 3.0]] * 4
    assert [[each.done for each in turns] for turns in episodes] == [[False, False, True]] * 4
    assert metrics["actor/mean_episode_return"] == metrics["actor/episode_return"] == 6.0


def test_oats_multi_turn_learner_makes_the_returns_of_our_own(
    acting: Any, tokenizer: Any, shown: Counter[str]
) -> None:
    actor = acting(MultiTurnActor, 1, 2, env_id=PAYING, gamma=0.5, rollout_batch_size_per_device=6)
    learner = object.__new__(PPOMultiTurnLearner)
    learner.args, learner.critic = actor.args, None
    learner.pi_buffer, learner.query_step = [], 0
    learner.process_feedback_data(stored(actor, 1))
    rank = SimpleNamespace(is_rank_0=lambda: False, args=actor.args)
    items = MultiTurnTransitionDataset(learner.pi_buffer, tokenizer, rank)

    drawn = sorted(float(items[at]["advantages"]) for at in range(len(items)))
    counted = sorted(float(each.info["returns"]) for each in learner.pi_buffer)
    assert set(drawn) == set(counted) == {2.75, 3.5, 3.0}  # of rewards 1, 2 and 3
    shown["advantages"] += len(drawn)


def test_oats_data_set_holds_prompt_and_response_of_each_turn(
    acting: Any, tokenizer: Any, shown: Counter[str]
) -> None:
    data = stored(acting(Actor, 1, 2, env_id=PAYING), 6)
    rank = SimpleNamespace(is_rank_0=lambda: False, args=Args(oracle=""))
    items = TransitionDataset(data, tokenizer, rank)
    batch = items.collate_fn([items[at] for at in range(6)])

    for row, each in enumerate(data):
        ids = [*each.prompt_ids, *each.response_ids]
        assert batch["input_ids"][row, : len(ids)].tolist() == ids
        assert batch["prompt_ids_lens"][row] == len(each.prompt_ids)
        assert batch["action_logprobs"][row] == each.response_logprobs
        shown["tokens"] += len(ids)


def test_texts_are_those_of_the_tokens(acting: Any, tokenizer: Any) -> None:
    [turns] = stored(acting(MultiTurnActor, SEEDS[-1], **game()), 1)

    for each in turns:
        assert tokenizer.decode(each.prompt_ids) == each.prompt
        assert tokenizer.decode(each.response_ids) == each.response + "<|im_end|>"
        assert each.obs.splitlines()[-1] in each.prompt


def test_episodes_are_sampled_together(acting: Any, tokenizer: Any) -> None:
    actor = acting(Actor, *range(8), env_id=PAYING, batch_wait_s=5.0)
    stored(actor, 24)

    assert [len(call) for call in actor.llm.calls] == [8, 8, 8]


def test_seeds_are_respected_and_samples_of_one_begin_alike(acting: Any) -> None:
    actors = [acting(MultiTurnActor, *seeds, env_id=PAYING) for seeds in ((1, 2), (2, 1))]
    first, second = ([turns[0].prompt_ids for turns in stored(each, 1)] for each in actors)
    group = stored(acting(MultiTurnActor, 1, env_id=PAYING, num_samples=3), 1)

    assert first == second[::-1]
    assert first[0] != first[1]
    assert [turns[0].prompt_ids for turns in group] == [first[0]] * 3


def test_rounds_and_actors_have_seeds_of_their_own(acting: Any) -> None:
    first, second = (
        acting(Actor, env_id=PAYING, num_envs=5),
        acting(Actor, env_id=PAYING, num_envs=5),
    )
    second.actor_id = 1
    drawn = [seed for each in (first, second) for at in range(3) for seed in each.seeds(at)]

    assert len(set(drawn)) == 30
    assert first.seeds(2) == acting(Actor, env_id=PAYING, num_envs=5).seeds(2)


def test_an_environment_that_fails_costs_its_own_episode(
    acting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import harness

    reset, step = harness.Paying.reset, harness.Paying.step

    def fail_reset(self: Any, seed: int | None = None) -> Any:
        if seed == 3:
            raise OSError("the board is lost")
        return reset(self, seed)

    def fail_step(self: Any, action: str) -> Any:
        if self.episode_seed == 2 and self.turn == 1:
            raise OSError("the board is lost")
        return step(self, action)

    monkeypatch.setattr(harness.Paying, "reset", fail_reset)
    monkeypatch.setattr(harness.Paying, "step", fail_step)
    episodes = stored(acting(MultiTurnActor, 1, 2, 3, 4, env_id=PAYING), 1)

    rewards = [[each.rewards for each in turns] for turns in episodes]
    assert rewards == [[1.0, 2.0, 3.0], [1.0, 0.0], [1.0, 2.0, 3.0]]
    assert episodes[1][-1].done
    assert 0.0 < episodes[0][0].info["actor/episode_error"] < 1.0


def test_environments_that_all_fail_at_once_are_one_error(acting: Any) -> None:
    actor = acting(Actor, *range(1, 17), env_id=UNLUCKY)

    with pytest.raises(UnplayableError, match="the last 16 in this process all ended"):
        actor.step([""])


def test_an_episode_ends_at_its_most_turns(acting: Any, tokenizer: Any) -> None:
    [turns] = stored(acting(MultiTurnActor, SEEDS[-1], **game(max_turns=2)), 1)

    assert chained(turns)[0] == expected(tokenizer, SEEDS[-1], max_turns=2).ids
    assert turns[-1].done


@pytest.mark.parametrize("limit", [{"max_turn_tokens": 5}, {"generate_max_length": 5}])
def test_an_answer_is_cut_at_its_most_tokens_and_its_turn_is_closed(
    acting: Any, tokenizer: Any, limit: dict[str, int], shown: Counter[str]
) -> None:
    [turns] = stored(acting(MultiTurnActor, SEEDS[-1], **game(**limit)), 1)
    ids, mask, _, _ = chained(turns)
    row = expected(tokenizer, SEEDS[-1], max_turn_tokens=5)

    assert (ids, mask) == (row.ids, whole(row)[1])
    assert all(each.response_is_truncated for each in turns)
    shown["tokens"] += len(ids)


@pytest.mark.parametrize("ignores", [True, False])
def test_a_cut_answer_is_left_out_of_the_loss_where_oat_is_told_so(
    acting: Any, ignores: bool
) -> None:
    options = {"max_turn_tokens": 5, "ignore_no_eos": ignores}
    data = stored(acting(Actor, SEEDS[-1], **game(**options)), 4)

    assert {each.loss_mask for each in data} == {not ignores}


def test_a_sequence_ends_at_the_most_that_the_model_takes(acting: Any, tokenizer: Any) -> None:
    limit = len(expected(tokenizer, SEEDS[-1]).ids) - 10
    [turns] = stored(acting(MultiTurnActor, SEEDS[-1], **game(max_model_len=limit)), 1)

    assert len(chained(turns)[0]) <= limit
    assert chained(turns)[0] == expected(tokenizer, SEEDS[-1]).ids[: len(chained(turns)[0])]


def test_prompts_that_are_all_too_long_are_one_error(acting: Any) -> None:
    with pytest.raises(UnplayableError, match="none has a turn: max_tokens"):
        acting(Actor, 1, **game(max_model_len=20)).step([""])


def double(number: int) -> str:
    """Double a number."""
    return str(2 * number)


def test_a_tool_answers_within_the_episode(acting: Any, tokenizer: Any) -> None:
    call = '<tool_call>{"name": "double", "arguments": {"number": 21}}</tool_call>'

    class Calling(Engine):
        def answer(self, prompt: list[int], params: Any) -> Any:
            text = call if len(self.calls) == 1 else "done"
            ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
            return completion(prompt, ids, [-1.0] * len(ids), "stop")

    actor = acting(MultiTurnActor, 1, engine=Calling, env_id=PAYING, env_kwargs='{"length": 1}')
    tools = {"id": "tools", "tools": [FunctionTool(double)], "format": "hermes"}
    actor.options = actor.options.model_copy(update={"wrappers": (tools,)})
    turns = stored(actor, 1)[0]

    assert len(turns) == 2
    assert "42" in turns[1].prompt


def test_an_engine_that_fails_fails_the_actor_as_it_is(acting: Any) -> None:
    class Lost(Engine):
        def answer(self, prompt: list[int], params: Any) -> Any:
            raise ConnectionError("the engine is gone")

    with pytest.raises(ConnectionError, match="the engine is gone"):
        acting(Actor, *SEEDS, engine=Lost, **game()).step([""])


def test_oats_reward_actor_plays_too(acting: Any) -> None:
    cls = type("OfRewards", (OfSeeds, EnvActorMixin, RewardActor), {})

    assert [each.rewards[-1] for each in stored(acting(cls, 1, env_id=PAYING), 3)] == [
        6.0,
        5.0,
        3.0,
    ]


def test_the_arguments_come_from_oats_own_command_line(acting: Any) -> None:
    line = ["--env-id", PAYING, "--env-kwargs", '{"length": 2}', "--max-turns", "7", "--rebn"]
    args = tyro.cli(Args, args=[*line, "--critic-type", "ppo"])

    options = args.env_options
    assert (options.env_id, options.env_kwargs, options.max_turns) == (PAYING, {"length": 2}, 7)
    assert (args.rebn, args.critic_type, options.on_rewrite) == (True, "ppo", "split")


def test_an_argument_that_is_no_json_is_one_error() -> None:
    with pytest.raises(BadArguments, match="is not JSON"):
        Args(oracle="", env_id=PAYING, wrappers="python_tool").env_options  # noqa: B018


def test_the_learner_gets_placeholders_by_oats_own_loader(ranks: Any) -> None:
    cls = type("Learner", (EnvLearnerMixin, PPOLearner), {})
    learner = object.__new__(cls)
    args = Args(oracle="", max_train=40, rollout_batch_size_per_device=16)
    strategy = object.__new__(DeepspeedStrategy)
    strategy.args, strategy.seed = args, 0
    learner.prepare_data(strategy, None)

    batches = [[len(each) for each in batch] for batch in learner.prompts_dataloader]
    assert batches == [[16, 16, 16]] * 2
    assert learner.evaluate(learner.eval_prompts_dataloader, 1) == {}


@pytest.mark.parametrize("critic", ["grpo", "drgrpo"])
def test_what_a_turn_earns_is_its_advantage(critic: str) -> None:
    learner = object.__new__(type("Learner", (EnvLearnerMixin, PPOLearner), {}))
    learner.args = SimpleNamespace(critic_type=critic, num_samples=2)
    rewards = torch.tensor([[0.0, 0.0, 6.0], [0.0, 5.0, 0.0]])

    assert learner.compute_monte_carlo_advantages(rewards, None).tolist() == [6.0, 5.0]


def test_what_is_sent_is_what_oat_declares(acting: Any) -> None:
    [one] = stored(acting(Actor, 1, env_id=PAYING, env_kwargs='{"length": 1}'), 1)
    [[turn]] = stored(acting(MultiTurnActor, 1, env_id=PAYING, env_kwargs='{"length": 1}'), 1)

    assert (type(one), type(turn)) == (TransitionData, Transition)
    assert all(getattr(turn, field.name) is not None for field in dataclasses.fields(turn))
    assert np.isfinite(turn.rewards)


def command_line(folder: Path, *asked: str) -> list[str]:
    """Return what the example's script would give to Python."""
    python = folder / "python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    script = ["sh", str(EXAMPLE.with_suffix(".sh")), *asked]
    done = subprocess.run(script, env={"PATH": path}, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[1:]


@pytest.mark.parametrize("name", ["guess", "arithmetic", "tool"])
def test_the_environments_of_the_example_are_played(acting: Any, tmp_path: Path, name: str) -> None:
    example = runpy.run_path(str(EXAMPLE))
    args = tyro.cli(example["Args"], args=command_line(tmp_path, name, "--gpus", "4"))
    names = [field.name for field in dataclasses.fields(EnvArgs)]
    options = {each: getattr(args, each) for each in names} | {"num_envs": 2}
    single = acting(example["Actor"], **options)
    multi = acting(example["MultiTurnActor"], **options)

    assert (args.gpus, args.num_samples, args.rebn) == (4, 1, True)
    assert len(stored(single, 2)) == 2
    assert [turns[-1].done for turns in stored(multi, 1)] == [True, True]
