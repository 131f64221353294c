"""TRL: GRPOTrainer around our rollout function and our tools; the model's `generate` is scripted.

Nothing is stubbed. vLLM is not here: where a test says so, an engine that follows the script
stands for TRL's `VLLMGeneration`. Where logprobs are compared with the model's, nothing is.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for trl_rig.py

import torch
import trl
from harness import CALL, GAME, PAYING, SEEDS, TOOLS, Paying, Row, digest, expected, scripted, whole
from trl_rig import CONFIG, Received, Scripted, Watched, tiny, trainer_of

import gem
from gem.errors import BadArguments
from gem_integrations.rows import rows
from gem_integrations.trl import environment, reward_func, rollout_func

PAYS = {"env_id": PAYING}
PLAIN = {"system_prompt": None, "max_turns": None}
"""Undoes what `GAME` says beside its environment."""


class Fragile(Paying):
    """Fails at its second turn from seed 7, and at its beginning from seed 8."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.fails_at = {7: 2, 8: 0}.get(self.episode_seed or 0)
        return super().reset(seed)


FRAGILE = gem.register("contract:Fragile", Fragile).id

MakeTrainer = Callable[..., Watched]


@pytest.fixture
def scripted_trainer(tokenizer: Any, tmp_path: Path) -> MakeTrainer:
    """Make trainers whose model follows the script, over the prompts given."""

    def make(prompts: Sequence[Any], *, first: str = "", model: Any = None, **options: Any) -> Any:
        model = model or tiny(tokenizer, Scripted)
        model.first = first
        trainer_options = {each: options.pop(each) for each in CONFIG if each in options}
        others = {each: options.pop(each) for each in ("args",) if each in options}
        played = {"rollout_func": rollout_func(**(options or GAME))}
        return trainer_of(
            tokenizer,
            model,
            prompts,
            tmp_path,
            reward_funcs=reward_func,
            **played,
            **trainer_options,
            **others.get("args", {}),
        )

    return make


class Engine:
    """Stands for VLLMGeneration: says what the script says, however long."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer, self.syncs = tokenizer, 0

    def sync_weights(self) -> None:
        self.syncs += 1

    def generate(self, prompts: Any, images: Any, num_generations: int) -> Any:
        assert (images, num_generations) == (None, 1)
        said = [scripted(self.tokenizer, each) for each in prompts]
        logprobs = [[[each] for each in answer.logprobs or ()] for answer in said]
        return prompts, [list(each.ids) for each in said], logprobs, None


def label(seed: int) -> str:
    """Return a prompt that fixes an episode."""
    return json.dumps({"seed": seed})


def check(got: Received, rewards: Sequence[float], wanted: Row, shown: Counter[str]) -> None:
    """Compare an episode, token by token, with the one played without TRL."""
    assert got.prompt_ids == wanted.prompt_ids
    assert got.response_ids == wanted.response_ids
    assert got.response_mask == wanted.response_mask
    assert got.logprobs == pytest.approx(wanted.response_logprobs, abs=1e-5)
    assert list(rewards) == wanted.rewards
    shown["tokens"] += len(wanted.ids)
    shown["rewards"] += len(wanted.rewards)
    shown["episodes"] += 1


# the canonical episodes


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_groups_reach_the_loss_as_they_were_played(
    scripted_trainer: MakeTrainer,
    tokenizer: Any,
    shown: Counter[str],
    same_everywhere: list[str],
    engine: str,
) -> None:
    trainer = scripted_trainer(list(map(label, SEEDS)), per_device_train_batch_size=8)
    vllm = Engine(tokenizer)
    if engine == "vllm":
        trainer.use_vllm, trainer.vllm_generation, trainer._last_loaded_step = True, vllm, -1
    else:
        assert isinstance(trainer.model, Scripted)

    trainer.train()

    [batch], [given] = trainer.batches, trainer.given
    for at, got in enumerate(batch):
        wanted = expected(tokenizer, SEEDS[at // 2])
        check(got, given["turn_rewards"][at], wanted, shown)
        assert given["env_reward"][at] == pytest.approx(sum(wanted.rewards))
        assert given["episode"][at].seed == SEEDS[at // 2]
    assert vllm.syncs == (engine == "vllm")
    same_everywhere.append(
        digest(
            (
                got.prompt_ids + got.response_ids,
                [0] * len(got.prompt_ids) + got.response_mask,
                given["turn_rewards"][at],
            )
            for at, got in enumerate(batch)
            if at % 2 == 0
        )
    )
    assert same_everywhere[-1] == digest([whole(expected(tokenizer, seed)) for seed in SEEDS])


def test_every_prompt_of_the_engine_extends_the_one_before(
    scripted_trainer: MakeTrainer, shown: Counter[str]
) -> None:
    trainer = scripted_trainer([label(SEEDS[3])], per_device_train_batch_size=2)

    trainer.train()

    prompts = trainer.model.asked[::2]  # two of a group, that say the same
    got = trainer.batches[0][0]
    assert len(prompts) == GAME["max_turns"]
    assert all(later[: len(prompt)] == prompt for prompt, later in pairwise(prompts))
    assert all((got.prompt_ids + got.response_ids)[: len(each)] == each for each in prompts)
    shown["prompts"] += len(prompts)


def test_rewards_are_told_by_turn_and_summed(
    scripted_trainer: MakeTrainer, shown: Counter[str]
) -> None:
    trainer = scripted_trainer(["", ""], **PAYS)

    trainer.train()

    assert trainer.given[0]["turn_rewards"] == [[1.0, 2.0, 3.0]] * 4
    assert trainer.state.log_history[0]["rewards/reward_func/mean"] == pytest.approx(6.0)
    shown["rewards"] += 12


# seeds


def starts(trainer: Watched) -> list[list[tuple[int, tuple[int, ...]]]]:
    """Return each call's seeds, and the prompts that followed from them."""
    return [
        [
            (episode.seed, tuple(got.prompt_ids))
            for episode, got in zip(given["episode"], batch, strict=True)
        ]
        for given, batch in zip(trainer.given, trainer.batches, strict=True)
    ]


def test_a_group_shares_its_seed_and_each_step_has_others(
    scripted_trainer: MakeTrainer, shown: Counter[str]
) -> None:
    trainer = scripted_trainer([""] * 6, max_steps=3, **PAYS)

    trainer.train()

    played = [start for step in starts(trainer) for start in step]
    assert played[::2] == played[1::2]
    assert len(set(played)) == 6
    assert len({prompt for _, prompt in played}) == 6
    shown["episodes"] += len(played)


@pytest.mark.parametrize(("seed", "is_same"), [(1, True), (2, False)])
def test_seeds_follow_from_the_run_alone(
    scripted_trainer: MakeTrainer, seed: int, is_same: bool
) -> None:
    runs = [
        scripted_trainer([""] * 6, max_steps=2, args={"seed": each}, **PAYS) for each in (1, seed)
    ]

    for run in runs:
        run.train()

    assert (starts(runs[0]) == starts(runs[1])) is is_same


def test_calls_of_one_step_have_seeds_of_their_own(scripted_trainer: MakeTrainer) -> None:
    often = {"gradient_accumulation_steps": 2, "steps_per_generation": 1}
    trainer = scripted_trainer([""] * 6, args=often, **PAYS)

    trainer.train()

    assert len(trainer.given) == 2
    assert len({seed for step in starts(trainer) for seed, _ in step}) == 4


def test_an_evaluation_plays_the_same_episodes_at_any_step(
    scripted_trainer: MakeTrainer,
) -> None:
    often = {"eval_strategy": "steps", "eval_steps": 1, "num_generations_eval": 1}
    trainer = scripted_trainer([""] * 4, max_steps=2, args=often, **PAYS)

    trainer.train()
    trainer.evaluate()

    trained, evaluated, trained_again, *evaluated_again = starts(trainer)
    assert evaluated_again == [evaluated] * 2  # also where a step is evaluated twice
    assert len({*trained, *evaluated, *trained_again}) == 8


def test_rows_of_a_data_set_fix_episodes(scripted_trainer: MakeTrainer) -> None:
    given = list(rows(PAYING, count=2, seed=5))
    trainer = scripted_trainer([each["label"] for each in given], **PAYS)

    trainer.train()

    seeds = [episode.seed for episode in trainer.given[0]["episode"]]
    assert seeds == [given[0]["seed"]] * 2 + [given[1]["seed"]] * 2


# faults and limits


def test_an_environment_that_fails_costs_its_episode_alone(
    scripted_trainer: MakeTrainer, tokenizer: Any, shown: Counter[str]
) -> None:
    seeds = [1, 7, 8, 2]
    trainer = scripted_trainer(
        list(map(label, seeds)), per_device_train_batch_size=8, env_id=FRAGILE
    )

    trainer.train()

    [batch], [given] = trainer.batches, trainer.given
    for at in (0, 6):
        wanted = expected(tokenizer, seeds[at // 2], **PAYS, **PLAIN)
        check(batch[at], given["turn_rewards"][at], wanted, shown)
    assert given["turn_rewards"][2] == [1.0, 0.0]
    assert (sum(batch[4].response_mask), given["turn_rewards"][4]) == (0, [])
    assert given["env_reward"][2:6] == [1.0, 1.0, None, None]
    reasons = [episode.stop_reason for episode in given["episode"][::2]]
    assert reasons == ["terminated", "env_error", "env_error", "terminated"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"max_turns": 2}, "max_turns"), ({"max_turn_tokens": 7}, "terminated")],
)
def test_limits_of_turns_end_or_cut_as_they_do_without_trl(
    scripted_trainer: MakeTrainer,
    tokenizer: Any,
    shown: Counter[str],
    changes: dict[str, int],
    reason: str,
) -> None:
    trainer = scripted_trainer([label(SEEDS[3])], per_device_train_batch_size=2, **GAME | changes)

    trainer.train()

    wanted = expected(tokenizer, SEEDS[3], **changes)
    check(trainer.batches[0][0], trainer.given[0]["turn_rewards"][0], wanted, shown)
    assert trainer.given[0]["episode"][0].stop_reason == reason


@pytest.mark.parametrize("limit", [10, 40, 80, 150])
def test_no_completion_is_longer_than_the_trainer_allows(
    scripted_trainer: MakeTrainer, tokenizer: Any, shown: Counter[str], limit: int
) -> None:
    trainer = scripted_trainer(
        [label(SEEDS[3])], per_device_train_batch_size=2, max_completion_length=limit
    )

    trainer.train()

    got = trainer.batches[0][0]
    check(
        got, trainer.given[0]["turn_rewards"][0], expected(tokenizer, SEEDS[3], limit=limit), shown
    )
    assert len(got.response_ids) <= limit


def test_a_prompt_longer_than_the_context_is_one_masked_token(
    scripted_trainer: MakeTrainer, tokenizer: Any
) -> None:
    model = tiny(tokenizer, Scripted, max_position_embeddings=64)
    trainer = scripted_trainer([""], model=model, per_device_train_batch_size=2)

    trainer.train()

    assert [sum(each.response_mask) for each in trainer.batches[0]] == [0, 0]
    assert trainer.given[0]["env_reward"] == [None, None]


def test_what_is_cut_is_masked_where_trl_is_told_to(
    scripted_trainer: MakeTrainer, tokenizer: Any
) -> None:
    later = expected(tokenizer, SEEDS[3]).spans[1]  # the second answer
    limit = later[1] - 3 - len(expected(tokenizer, SEEDS[3]).prompt_ids)
    trainer = scripted_trainer(
        [label(SEEDS[0]), label(SEEDS[3])],
        max_completion_length=limit,
        args={"mask_truncated_completions": True},
    )

    trainer.train()

    masks = trainer.outputs[0]["completion_mask"] * trainer.outputs[0]["tool_mask"]
    assert (masks.sum(1) > 0).tolist() == [True, True, False, False]


def test_what_the_model_raises_reaches_the_trainer(
    scripted_trainer: MakeTrainer, tokenizer: Any
) -> None:
    trainer = scripted_trainer(["", ""])
    trainer.model.error = RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory") as raised:
        trainer.train()

    assert raised.value is trainer.model.error


def test_processes_that_share_a_model_are_refused(
    scripted_trainer: MakeTrainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = scripted_trainer(["", ""])
    trainer.is_fsdp_enabled = True
    monkeypatch.setattr(type(trainer.accelerator), "num_processes", 2)

    with pytest.raises(BadArguments, match="2 processes were to play with one model"):
        trainer.rollout_func([""], trainer)


def test_it_runs_where_a_loop_is_running(scripted_trainer: MakeTrainer) -> None:
    trainer = scripted_trainer(["", ""], **PAYS)

    async def notebook() -> Any:
        return trainer.rollout_func(["", ""], trainer)

    assert asyncio.run(notebook())["env_reward"] == [6.0, 6.0]


# tools


def test_a_tool_is_called_in_the_text(
    scripted_trainer: MakeTrainer, tokenizer: Any, shown: Counter[str]
) -> None:
    trainer = scripted_trainer(
        [label(SEEDS[1])], per_device_train_batch_size=2, first=CALL, **GAME | TOOLS
    )

    trainer.train()

    wanted = expected(tokenizer, SEEDS[1], first=CALL, **TOOLS)
    assert "Nothing is known of the number." in tokenizer.decode(wanted.ids)
    check(trainer.batches[0][0], trainer.given[0]["turn_rewards"][0], wanted, shown)


class Caller(Scripted):
    """Calls the tool, then guesses 25 and 12, then is silent; as Qwen3 writes calls."""

    CALLS = (
        ("lookup", {"text": "the number"}),
        ("act", {"text": r"\boxed{25}"}),
        ("act", {"text": r"\boxed{12}"}),
    )

    def generate(self, input_ids: Any, attention_mask: Any, generation_config: Any) -> Any:
        prompts = [self.tokenizer.decode(each) for each in input_ids]
        said = [self._said(each.count("<tool_response>")) for each in prompts]
        ids = [self.tokenizer.encode(each, add_special_tokens=False) for each in said]
        width = max(map(len, ids))
        filler = generation_config.pad_token_id
        padded = torch.tensor([[*each, *[filler] * (width - len(each))] for each in ids])
        return torch.cat([input_ids, padded], 1)

    def _said(self, calls: int) -> str:
        if calls == len(self.CALLS):
            return "Done.<|im_end|>"
        name, arguments = self.CALLS[calls]
        call = json.dumps({"name": name, "arguments": arguments})
        return f"<tool_call>\n{call}\n</tool_call><|im_end|>"


@pytest.fixture
def qwen(tokenizer: Any) -> Iterator[Any]:
    """Give the tokenizer of bytes TRL's own template of Qwen3, which has tools."""
    before = tokenizer.chat_template
    path = Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    tokenizer.chat_template = path.read_text(encoding="utf-8")
    yield tokenizer
    tokenizer.chat_template = before
    tokenizer.response_template = None


def test_tools_of_an_environment_are_methods(
    qwen: Any, tmp_path: Path, shown: Counter[str]
) -> None:
    game = environment(GAME["env_id"], **TOOLS)
    prompt = [{"role": "user", "content": "Play to win. "}]
    data = [{"prompt": prompt, "seed": seed} for seed in SEEDS[:2]]
    model = tiny(qwen, Caller)
    trainer = trainer_of(
        qwen, model, data, tmp_path, environment_factory=game, max_completion_length=3000
    )

    trainer.train()

    [batch] = trainer.batches
    wanted = [expected(qwen, seed, max_turns=2).rewards for seed in SEEDS[:2]]
    assert [sum(each) for each in wanted] == [1.0, 1.0]
    logged = trainer.state.log_history[0]
    assert logged[f"rewards/{GAME['env_id']}/mean"] == pytest.approx(1.0)
    assert (logged["tools/call_frequency"], logged["tools/failure_frequency"]) == (3.0, 0.0)
    for at, got in enumerate(batch):
        said = qwen.decode(got.response_ids)
        assert said.count("Nothing is known of the number.") == 1
        assert said.count("The episode is over.") == (at < 2)  # those were won at the first guess
        assert 0 < sum(got.response_mask) < len(got.response_mask)
    assert "lookup" in qwen.decode(batch[0].prompt_ids)
    shown["episodes"] += len(batch)


def test_an_environment_of_tools_that_fails_costs_its_episode_alone(
    qwen: Any, tmp_path: Path
) -> None:
    prompt = [{"role": "user", "content": "Play. "}]
    data = [{"prompt": prompt, "seed": seed} for seed in (7, 8, 1)]
    model = tiny(qwen, Caller)
    model.CALLS = (("act", {"text": "x"}),) * 3
    trainer = trainer_of(
        qwen,
        model,
        data,
        tmp_path,
        environment_factory=environment(FRAGILE),
        max_completion_length=3000,
        per_device_train_batch_size=6,
    )

    trainer.train()

    assert [each.get_reward() for each in trainer.environments[::2]] == [1.0, None, 6.0]
    assert "the board is lost" in qwen.decode(trainer.batches[0][0].response_ids)


# logprobs


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_are_the_models_own(
    tokenizer: Any, tmp_path: Path, shown: Counter[str], temperature: float
) -> None:
    played = rollout_func(FRAGILE, max_turn_tokens=12, env_kwargs={"length": 4})
    trainer = trainer_of(
        tokenizer,
        tiny(tokenizer),
        [label(seed) for seed in (1, 7, 8, 2)],  # of different lengths, and one without an answer
        tmp_path,
        per_device_train_batch_size=8,
        reward_funcs=reward_func,
        rollout_func=played,
        temperature=temperature,
        learning_rate=0.0,
    )

    trainer.train()

    [out] = trainer.outputs
    ids = torch.cat([out["prompt_ids"], out["completion_ids"]], 1)
    mask = torch.cat([out["prompt_mask"], out["completion_mask"]], 1)
    with torch.no_grad():
        own, _, _ = trainer._get_per_token_logps_and_entropies(
            trainer.model, ids, mask, out["completion_ids"].shape[1]
        )
    told = (out["completion_mask"] * out["tool_mask"]).bool()
    apart = (own - out["sampling_per_token_logps"]).abs()[told].max().item()
    assert told.sum() > 200
    assert apart < 1e-4
    assert not out["sampling_per_token_logps"][out["tool_mask"] == 0].any()
    shown["logprobs"] += int(told.sum())


def test_logprobs_are_of_what_was_sampled_from(tokenizer: Any, tmp_path: Path) -> None:
    trainer = trainer_of(
        tokenizer,
        tiny(tokenizer),
        ["", ""],
        tmp_path,
        top_k=1,
        reward_funcs=reward_func,
        rollout_func=rollout_func(PAYING, max_turn_tokens=12),
    )

    trainer.train()

    assert not trainer.outputs[0]["sampling_per_token_logps"].any()  # there was but one choice


def test_members_of_a_group_differ_and_runs_do_not(tokenizer: Any, tmp_path: Path) -> None:
    runs = [
        trainer_of(
            tokenizer,
            tiny(tokenizer),
            ["", ""],
            tmp_path,
            reward_funcs=reward_func,
            rollout_func=rollout_func(PAYING, max_turn_tokens=12),
        )
        for _ in range(2)
    ]

    for run in runs:
        torch.rand(len(runs[0].batches))  # what else draws numbers does not matter
        run.train()

    assert runs[0].batches == runs[1].batches
    first, second, *_ = runs[0].batches[0]
    assert first.prompt_ids == second.prompt_ids
    assert first.response_ids != second.response_ids


def test_a_large_batch_is_sampled_in_parts(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem_integrations.trl._MOST_SCORES", 2 * 1000 * len(tokenizer))
    trainer = trainer_of(
        tokenizer,
        tiny(tokenizer, Scripted),
        [label(seed) for seed in SEEDS],
        tmp_path,
        per_device_train_batch_size=8,
        reward_funcs=reward_func,
        rollout_func=rollout_func(**GAME),
    )

    trainer.train()

    for at, got in enumerate(trainer.batches[0]):
        assert got.response_ids == expected(tokenizer, SEEDS[at // 2]).response_ids
