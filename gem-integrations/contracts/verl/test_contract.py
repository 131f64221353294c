"""verl: its data set, its worker and its padding around our loop; the servers alone are replaced.

`AgentLoopWorker` runs in this process and not as an actor of Ray; nothing is stubbed.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import verl
from harness import CALL, GAME, PAYING, SEEDS, TOOLS, digest, expected, scripted, whole
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from transformers import LlamaConfig
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.llm_server import LLMServerClient
from verl.workers.rollout.replica import TokenOutput

from gem_integrations.episodes import Row
from gem_integrations.rows import rows

torch.set_num_threads(1)

PAYS = {"env_id": PAYING}


class Servers(LLMServerClient):
    """Answer by the script, and remember who was asked what."""

    def __init__(self, config: Any, tokenizer: Any) -> None:
        super().__init__(config)
        self.tokenizer = tokenizer
        self.first = ""
        self.tells_logprobs = True
        self.keeps_to_budget = True
        self.error: Exception | None = None
        self.asked: dict[str, list[list[int]]] = {}
        self.params: list[dict[str, Any]] = []

    async def generate(
        self, request_id: str, *, prompt_ids: Any, sampling_params: Any, **others: Any
    ) -> TokenOutput:
        assert set(others) == {"priority"}
        turns = self.asked.setdefault(request_id, [])
        turns.append(prompt_ids)
        self.params.append(sampling_params)
        if self.error is not None:
            raise self.error
        budget = sampling_params["max_tokens"] if self.keeps_to_budget else None
        said = scripted(self.tokenizer, prompt_ids, budget, first=self.first)
        version = 10 + len(turns)
        return TokenOutput(
            token_ids=said.ids,
            log_probs=said.logprobs if self.tells_logprobs else None,
            stop_reason="completed",
            extra_fields={"min_global_steps": version, "max_global_steps": version},
        )


class Rig(NamedTuple):
    """A worker with the configuration of the trainer, and the servers it asks."""

    worker: AgentLoopWorker
    servers: Servers
    config: Any
    folder: Path

    def batch(self, given: Sequence[dict[str, Any]], *, n: int = 1) -> DataProto:
        """Load rows as verl's trainer does, from a file, each `n` times."""
        file = self.folder / "train.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in given))
        data = RLHFDataset(str(file), self.servers.tokenizer, self.config.data)
        loaded = DataProto.from_single_dict(collate_fn([data[at] for at in range(len(data))]))
        return loaded.repeat(n, interleave=True)

    def generate(self, given: Sequence[dict[str, Any]], *, n: int = 1) -> DataProto:
        return asyncio.run(self.worker.generate_sequences(self.batch(given, n=n)))


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
                    f"{rollout}.prompt_length={prompt}",
                    f"{rollout}.response_length={response}",
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
