"""verl: its data set, its worker and its padding around our loop; the servers alone are replaced.

`AgentLoopWorker` runs in this process, and so does `AgentLoopWorkerTQ`, which `main_ppo` takes: in
its tests TransferQueue's functions are replaced as well. No module is stubbed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import verl
from harness import CALL, GAME, PAYING, SEEDS, TOOLS, digest, expected, scripted, whole

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for servers.py

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from servers import Servers
from transformers import LlamaConfig
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.trainer.ppo.v1 import agent_loop_tq
from verl.utils import tensordict_utils
from verl.utils.config import validate_config
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

import gem
from gem_integrations.episodes import Row
from gem_integrations.rows import rows

torch.set_num_threads(1)

EXAMPLES = HERE.parents[2] / "examples" / "trainers"
PAYS = {"env_id": PAYING}


class Rig(NamedTuple):
    """A worker with the configuration of the trainer, and the servers it asks."""

    worker: AgentLoopWorker
    servers: Servers
    config: Any
    folder: Path

    def loaded(self, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Load rows as verl's trainer does, from a file."""
        file = self.folder / "train.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in given))
        data = RLHFDataset(str(file), self.servers.tokenizer, self.config.data)
        columns: dict[str, Any] = collate_fn([data[at] for at in range(len(data))])
        return columns

    def generate(self, given: Sequence[dict[str, Any]], *, n: int = 1) -> DataProto:
        """Generate for each row `n` times."""
        batch = DataProto.from_single_dict(self.loaded(given)).repeat(n, interleave=True)
        return asyncio.run(self.worker.generate_sequences(batch))


MakeRig = Callable[..., Rig]


@pytest.fixture
def rig(tokenizer: Any, tmp_path: Path) -> MakeRig:
    """Return what makes a rig of the agent loops that a YAML file states."""

    def made(*overrides: str, prompt: int = 640, response: int = 480, **loops: Any) -> Rig:
        model = tmp_path / "model"
        LlamaConfig(
            architectures=["LlamaForCausalLM"],
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=1,
        ).save_pretrained(model)
        tokenizer.save_pretrained(model)
        entries = [
            {"name": name, "_target_": "gem_integrations.verl.EnvAgentLoop", **options}
            for name, options in loops.items()
        ]
        OmegaConf.save(OmegaConf.create(entries), tmp_path / "agent.yaml")
        rollout = "actor_rollout_ref.rollout"
        with initialize_config_dir(
            str(Path(verl.__file__).parent / "trainer" / "config"), version_base=None
        ):
            config = compose(
                "ppo_trainer",
                [
                    f"actor_rollout_ref.model.path={model}",
                    f"{rollout}.name=vllm",
                    f"data.max_prompt_length={prompt}",
                    f"data.max_response_length={response}",
                    f"{rollout}.calculate_log_probs=True",
                    f"{rollout}.agent.agent_loop_config_path={tmp_path / 'agent.yaml'}",
                    f"{rollout}.agent.default_agent_loop={next(iter(loops))}",
                    f"+data.cache_dir={tmp_path / 'cache'}",
                    "++data.filter_overlong_prompts_workers=null",
                    *overrides,
                ],
            )
        servers = Servers(config, tokenizer)
        return Rig(AgentLoopWorker(config, servers), servers, config, tmp_path)

    return made


def seeded(*seeds: int, **columns: Any) -> list[dict[str, Any]]:
    """Return rows of these seeds, with all that verl's loader wants."""
    plain = [*rows(GAME["env_id"], count=len(seeds))]
    return [row | {"seed": seed} | columns for row, seed in zip(plain, seeds, strict=True)]


class Received(NamedTuple):
    """One row of verl's batch without its padding."""

    ids: list[int]
    mask: list[int]
    logprobs: list[float] | None
    rewards: list[float]
    rm_scores: list[float]
    prompt_length: int


def received(out: DataProto, at: int) -> Received:
    """Take the padding off a row, and check that nothing else is in it."""
    batch = {name: tensor[at] for name, tensor in out.batch.items()}
    real = batch["attention_mask"].bool()
    width = len(batch["prompts"])
    assert torch.equal(batch["input_ids"], torch.cat([batch["prompts"], batch["responses"]]))
    assert not batch["response_mask"][~real[width:]].any()
    logprobs = batch.get("rollout_log_probs")
    prompt_length = int(real[:width].sum())
    return Received(
        ids=batch["input_ids"][real].tolist(),
        mask=[0] * prompt_length + batch["response_mask"][real[width:]].tolist(),
        logprobs=None if logprobs is None else logprobs[real[width:]].tolist(),
        rewards=out.non_tensor_batch["turn_scores"][at],
        rm_scores=batch["rm_scores"][real[width:]].tolist(),
        prompt_length=prompt_length,
    )


def check(got: Received, wanted: Row, shown: Counter[str]) -> None:
    """Compare token by token."""
    assert (got.ids, got.mask, got.rewards) == whole(wanted)
    assert got.prompt_length == len(wanted.prompt_ids)
    assert got.logprobs == wanted.response_logprobs
    *before, total = got.rm_scores
    assert not any(before)
    assert total == pytest.approx(sum(wanted.rewards))  # in float32
    shown["episodes"] += 1
    shown["tokens"] += len(got.ids)
    shown["logprobs"] += len(got.logprobs or ())
    shown["rewards"] += len(got.rewards)


def test_the_episodes_are_those_that_every_adapter_plays(
    rig: MakeRig, tokenizer: Any, shown: Counter[str], same_everywhere: list[str]
) -> None:
    out = rig(env=GAME).generate(seeded(*SEEDS))

    rows_received = [received(out, at) for at in range(len(SEEDS))]
    for got, seed in zip(rows_received, SEEDS, strict=True):
        check(got, expected(tokenizer, seed), shown)
    same_everywhere.append(digest((got.ids, got.mask, got.rewards) for got in rows_received))


def test_each_prompt_extends_the_one_before_it_and_its_answer(
    rig: MakeRig, tokenizer: Any, shown: Counter[str]
) -> None:
    made = rig(env=GAME)
    out = made.generate(seeded(*SEEDS))

    whole_rows = [received(out, at).ids for at in range(len(SEEDS))]
    for prompts in made.servers.asked.values():
        for before, after in pairwise(prompts):
            said = scripted(tokenizer, before).ids
            assert after[: len(before) + len(said)] == before + said
            shown["prefixes"] += 1
        assert any(row[: len(prompts[-1])] == prompts[-1] for row in whole_rows)


def test_a_group_shares_its_first_prompt_and_other_seeds_have_others(rig: MakeRig) -> None:
    out = rig(pays=PAYS).generate(seeded(5, 6), n=3)

    prompts = [tuple(row.tolist()) for row in out.batch["prompts"]]
    assert len({*prompts[:3]}) == len({*prompts[3:]}) == 1
    assert prompts[0] != prompts[3]


def test_a_row_without_a_seed_plays_its_index(rig: MakeRig, tokenizer: Any) -> None:
    given = seeded(0)[0] | {"seed": None, "extra_info": {"index": SEEDS[1]}}

    out = rig(env=GAME).generate([given])

    assert received(out, 0).ids == expected(tokenizer, SEEDS[1]).ids


def test_a_row_may_name_the_task(rig: MakeRig, tokenizer: Any) -> None:
    coin = gem.register("contract:Coin", "gem.testing.envs:Coin").id
    given = [seeded(3, task=task)[0] for task in (0, 1, 0)]

    out = rig(coin={"env_id": coin}).generate(given)

    said = [tokenizer.decode(row).partition(" lies up")[0][-5:] for row in out.batch["prompts"]]
    assert said == ["Heads", "Tails", "Heads"]


def test_rewards_are_summed_on_the_last_token_and_kept_by_turn(
    rig: MakeRig, tokenizer: Any, shown: Counter[str]
) -> None:
    out = rig(pays=PAYS).generate(seeded(7))

    got = received(out, 0)
    assert got.rewards == [1.0, 2.0, 3.0]
    check(got, expected(tokenizer, 7, **PAYS, system_prompt=None, max_turns=None), shown)


def test_an_environment_that_fails_costs_its_episode_alone(
    rig: MakeRig, tokenizer: Any, shown: Counter[str]
) -> None:
    loops = {
        "pays": PAYS,
        "fails": {**PAYS, "env_kwargs": {"fails_at": 2}},
        "unborn": {**PAYS, "env_kwargs": {"fails_at": 0}},
    }
    order = ["pays", "fails", "unborn", "pays"]
    given = [seeded(at, agent_name=name)[0] for at, name in enumerate(order)]

    out = rig(**loops).generate(given)

    for at in (0, 3):
        check(
            received(out, at),
            expected(tokenizer, at, **PAYS, system_prompt=None, max_turns=None),
            shown,
        )
    assert received(out, 1).rewards == [1.0, 0.0]
    unborn = received(out, 2)
    assert (sum(unborn.mask), unborn.rewards, sum(unborn.rm_scores)) == (0, [], 0.0)
    reasons = out.non_tensor_batch["stop_reason"].tolist()
    assert reasons == ["terminated", "env_error", "env_error", "terminated"]


def test_an_episode_that_never_began_fits_a_batch_without_logprobs(rig: MakeRig) -> None:
    loops = {"unborn": {**PAYS, "env_kwargs": {"fails_at": 0}}, "pays": PAYS}
    given = [seeded(1, agent_name="unborn")[0], seeded(2, agent_name="pays")[0]]
    made = rig("actor_rollout_ref.rollout.calculate_log_probs=False", **loops)

    out = made.generate(given)

    assert "rollout_log_probs" not in out.batch
    assert received(out, 1).rewards == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"max_turns": 2}, "max_turns"), ({"max_turn_tokens": 7}, "terminated")],
)
def test_limits_of_turns_end_or_cut_as_they_do_without_verl(
    rig: MakeRig, tokenizer: Any, shown: Counter[str], changes: dict[str, int], reason: str
) -> None:
    out = rig(env=GAME | changes).generate(seeded(SEEDS[3]))

    check(received(out, 0), expected(tokenizer, SEEDS[3], **changes), shown)
    assert out.non_tensor_batch["stop_reason"].tolist() == [reason]


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (5, "terminated"),  # the game ends at an answer without a guess
        (19, "max_tokens"),
        (25, "max_tokens"),
        (120, "max_tokens"),
        (130, "terminated"),
    ],
)
def test_a_response_ends_within_its_length_and_with_the_model(
    rig: MakeRig, tokenizer: Any, shown: Counter[str], limit: int, reason: str
) -> None:
    out = rig(response=limit, env=GAME).generate(seeded(SEEDS[3]))

    got = received(out, 0)
    check(got, expected(tokenizer, SEEDS[3], limit=limit), shown)
    assert len(got.ids) - got.prompt_length <= limit
    assert got.mask[-1] == 1
    assert out.non_tensor_batch["stop_reason"].tolist() == [reason]


def test_an_answer_beyond_the_budget_of_a_server_that_takes_none_is_cut(
    rig: MakeRig, tokenizer: Any, shown: Counter[str]
) -> None:
    made = rig(response=130, env=GAME)
    made.servers.keeps_to_budget = False

    out = made.generate(seeded(SEEDS[3]))

    check(received(out, 0), expected(tokenizer, SEEDS[3], limit=130), shown)


def test_a_prompt_that_is_too_long_costs_its_episode_alone(
    rig: MakeRig, tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    given = [seeded(7, agent_name="env")[0], seeded(7, agent_name="pays")[0]]
    made = rig(prompt=100, env=GAME, pays=PAYS)

    out = made.generate(given)

    assert out.batch["prompts"].shape == (2, 100)
    assert sum(received(out, 0).mask) == 0
    assert out.non_tensor_batch["stop_reason"].tolist() == ["prompt_length", "terminated"]
    assert received(out, 1).rewards == [1.0, 2.0, 3.0]
    assert "rollout.prompt_length is 100" in caplog.text


def test_no_prompt_is_longer_than_the_batch_is_wide_even_where_none_fits(rig: MakeRig) -> None:
    out = rig(prompt=8, env=GAME).generate(seeded(7))

    assert out.batch["prompts"].shape == (1, 8)


def test_a_tool_answers_within_the_response(
    rig: MakeRig, tokenizer: Any, shown: Counter[str]
) -> None:
    made = rig(env=GAME | TOOLS)
    made.servers.first = CALL

    out = made.generate(seeded(SEEDS[1]))

    got = received(out, 0)
    check(got, expected(tokenizer, SEEDS[1], first=CALL, **TOOLS), shown)
    assert "Nothing is known of the number" in tokenizer.decode(got.ids)


def test_an_engine_that_raises_is_verls_to_see(rig: MakeRig) -> None:
    made = rig(env=GAME)
    made.servers.error = ConnectionError("the server is gone")

    with pytest.raises(ConnectionError, match="the server is gone"):
        made.generate(seeded(1, 2))


def test_logprobs_are_left_out_where_the_servers_give_none(rig: MakeRig, tokenizer: Any) -> None:
    made = rig(env=GAME)
    made.servers.tells_logprobs = False

    out = made.generate(seeded(SEEDS[0]))

    assert "rollout_log_probs" not in out.batch
    assert received(out, 0).ids == expected(tokenizer, SEEDS[0]).ids


def test_sampling_parameters_reach_the_servers_with_what_is_left_of_the_response(
    rig: MakeRig,
) -> None:
    made = rig("actor_rollout_ref.rollout.temperature=0.5", response=480, env=GAME)
    made.generate(seeded(SEEDS[1]))

    assert [each["temperature"] for each in made.servers.params] == [0.5, 0.5]
    assert [each["max_tokens"] for each in made.servers.params] == [480, 480 - 120]


def test_a_batch_says_which_weights_began_and_ended_each_episode(rig: MakeRig) -> None:
    told = rig(env=GAME).generate(seeded(*SEEDS)).non_tensor_batch

    assert told["min_global_steps"].tolist() == [11, 11, 11, 11]
    assert told["max_global_steps"].tolist() == [11, 12, 14, 14]
    assert told["__num_turns__"].tolist() == [2, 4, 8, 8]


def test_options_of_the_chat_template_come_from_verls_own_configuration_too(
    rig: MakeRig, tokenizer: Any
) -> None:
    made = rig("+data.apply_chat_template_kwargs.add_generation_prompt=True", env=GAME)

    with pytest.raises(Exception, match="add_generation_prompt"):
        made.generate(seeded(1))


def test_an_option_that_there_is_not_is_named(rig: MakeRig) -> None:
    with pytest.raises(Exception, match=r"max_turn: Extra inputs.*max_turns"):
        rig(env=GAME | {"max_turn": 3}).generate(seeded(1))


class Queue:
    """What verl's trainer writes, without TransferQueue's actors."""

    def __init__(self) -> None:
        self.status: dict[str, str] = {}
        self.fields: dict[str, dict[str, Any]] = {}

    def init(self) -> None: ...

    async def async_kv_put(self, *, key: str, partition_id: str, tag: dict[str, str]) -> None:
        self.status[key] = tag["status"]

    async def async_kv_batch_put(
        self, *, keys: list[str], fields: Any, tags: list[dict[str, Any]], partition_id: str
    ) -> None:
        for at, key in enumerate(keys):
            self.fields[key] = {name: fields[name][at] for name in fields.keys()}  # noqa: SIM118


def queued(rig: Rig, given: Sequence[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> Queue:
    """Generate as the worker of `main_ppo` does, which puts each episode into a queue."""
    queue = Queue()
    monkeypatch.setattr(agent_loop_tq, "tq", queue)
    columns = rig.loaded(given)
    columns["uid"] = np.array([str(at) for at in range(len(given))], dtype=object)
    batch = tensordict_utils.get_tensordict(columns)
    tensordict_utils.assign_non_tensor_data(batch, "global_steps", 1)

    async def generate() -> None:
        plain = agent_loop_tq.AgentLoopWorkerTQ.__ray_metadata__.modified_class
        worker = plain(rig.config, rig.servers)
        await worker.generate_sequences(batch)
        await asyncio.gather(*worker.background_tasks)

    asyncio.run(generate())
    return queue


def test_the_worker_of_verls_trainer_queues_the_same(
    rig: MakeRig, tokenizer: Any, shown: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rig("actor_rollout_ref.rollout.n=2", env=GAME)

    queue = queued(made, seeded(*SEEDS), monkeypatch)

    assert set(queue.status.values()) == {"finished"}
    assert len(queue.fields) == 8
    for key, told in queue.fields.items():
        wanted = expected(tokenizer, SEEDS[int(key[0])])
        assert told["input_ids"].tolist() == wanted.ids
        assert told["response_mask"].tolist() == wanted.response_mask
        assert told["rollout_log_probs"].tolist() == wanted.response_logprobs
        assert told["rm_scores"].tolist()[-1] == sum(wanted.rewards) == told["rm_scores"].sum()
        assert told["extra_fields"]["turn_scores"] == wanted.rewards
        shown["episodes"] += 1
        shown["tokens"] += len(wanted.ids)
        shown["logprobs"] += len(told["rollout_log_probs"])
        shown["rewards"] += len(wanted.rewards)


def test_the_worker_of_verls_trainer_sees_an_engine_that_raises(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = rig("actor_rollout_ref.rollout.n=2", env=GAME)
    made.servers.error = ConnectionError("the server is gone")

    queue = queued(made, seeded(1, 2), monkeypatch)

    assert queue.status == {"0": "failure", "1": "failure"}
    assert "the server is gone" in caplog.text


@pytest.mark.parametrize("name", ["guess", "arithmetic", "tool"])
def test_the_loops_of_the_example_play(rig: MakeRig, name: str) -> None:
    agent = "actor_rollout_ref.rollout.agent"
    made = rig(
        f"{agent}.agent_loop_config_path={EXAMPLES / 'verl_grpo.yaml'}",
        f"{agent}.default_agent_loop={name}",
        "actor_rollout_ref.rollout.prompt_length=2048",  # in bytes
        env=GAME,
    )

    out = made.generate(seeded(SEEDS[0]))

    assert out.non_tensor_batch["stop_reason"].tolist() == ["terminated"]


def test_the_options_in_the_launch_command_of_the_example_are_verls(rig: MakeRig) -> None:
    script = (EXAMPLES / "verl_grpo.sh").read_text().replace("\\\n", " ")
    [command] = [line for line in script.splitlines() if "verl.trainer.main_ppo" in line]
    stated = [word for word in command.split() if "=" in word and "$" not in word]
    stated.remove("actor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B-Instruct")

    made = rig(*stated, "actor_rollout_ref.rollout.agent.num_workers=8", env=GAME)

    validate_config(made.config, use_reference_policy=False, use_critic=False)
    assert made.config.data.max_response_length == made.worker.rollout_config.response_length
