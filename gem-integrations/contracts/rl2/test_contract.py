"""RL2: its groups, its rollout and its data set around our functions; the servers are replaced."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import wandb
from fragile import UNLUCKY
from harness import CALL, GAME, PAYING, SEEDS, TOOLS, digest, expected, whole
from omegaconf import OmegaConf
from RL2.datasets import RLDataset, Sample, SampleGroup
from rl2.engine import Engine, stub_sglang
from RL2.utils import communication

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.rl2 import environment

torch.set_num_threads(1)

PAYS = {"env_id": PAYING}
FIRST_IS_LONG = 0
"""With this seed, RL2's first two groups of six have the only long one."""


class Received(NamedTuple):
    """One sequence as RL2 gives it to its trainer, put together again."""

    ids: list[int]
    mask: list[int]
    logprobs: list[float]
    rewards: list[float]

    @classmethod
    def of(cls, tensors: dict[str, torch.Tensor]) -> Received:
        """RL2's tensors are shifted: what is predicted stands where it is predicted from."""
        first, mask = tensors["states"][:1].tolist(), [0, *tensors["action_mask"].tolist()]
        following = [
            action if is_said else state
            for action, is_said, state in zip(
                tensors["actions"].tolist(),
                mask[1:],
                [*tensors["states"].tolist()[1:], None],
                strict=True,
            )
        ]
        rewards = [0.0, *tensors["rewards"].tolist()]
        ends = [at for at, now in enumerate(mask) if now and not ([*mask, 0])[at + 1]]
        assert sum(rewards) == sum(rewards[at] for at in ends), "a reward where no action ends"
        return cls(
            [*first, *following],
            mask,
            [0.0, *tensors["llm_logps"].tolist()],
            [rewards[at] for at in ends],
        )


def config(tmp_path: Path, *, n: int = 1, most: int | None = 64) -> Any:
    return OmegaConf.create(
        {
            "responses_per_prompt": n,
            "apply_chat_template": True,
            "messages_key": "messages",
            "prompt_key": "prompt",
            "save_dir": str(tmp_path / "saved"),
            "sampling_params": {"temperature": 1.0, "max_new_tokens": most, "stop": None},
        }
    )


class Rig:
    """Groups of RL2's data set, an environment file's functions, and an engine."""

    def __init__(self, tokenizer: Any, tmp_path: Path) -> None:
        self.tokenizer = tokenizer
        self.tmp_path = tmp_path
        self.engine: Engine
        self.groups: list[SampleGroup] = []

    def play(
        self,
        *rows: Any,
        n: int = 1,
        most: int | None = 64,
        rounds: int = 1,
        engine: dict[str, Any] | None = None,
        broken: dict[str, Any] | None = None,
        **options: Any,
    ) -> list[list[Received]]:
        """Play a group for each row (a seed or more), and return each sample's only sequence.

        `broken` are other options for the first row.
        """
        functions = [environment(**{**GAME, **options}) for _ in rows]
        if broken is not None:
            functions[0] = environment(**{**GAME, **options, **broken})
        given = [{"seed": row} if isinstance(row, int) else row for row in rows]
        conf = config(self.tmp_path, n=n, most=most)
        data = RLDataset(conf, self.tokenizer, given)
        self.groups = [data.collate_fn((data[at],)) for at in range(len(data))]

        @communication.with_session
        async def main() -> None:
            self.engine = Engine(self.tokenizer)
            for name, value in (engine or {}).items():
                setattr(self.engine, name, value)
            async with self.engine as url:
                for _ in range(rounds):
                    await asyncio.gather(
                        *(
                            group.generate(url, each.generate)
                            for group, each in zip(self.groups, functions, strict=True)
                        )
                    )

        asyncio.run(main())
        return [received(group) for group in self.groups]


def received(group: SampleGroup) -> list[Received]:
    sequences, _ = group.to_all_tensor_dicts_and_metrics()
    assert all(len(each) <= 1 for each in sequences)
    return [Received.of(each[0]) for each in sequences if each]  # none of one that was aborted


@pytest.fixture
def rig(tokenizer: Any, tmp_path: Path) -> Rig:
    return Rig(tokenizer, tmp_path)


def assert_equal(got: Received, wanted: Any, shown: Counter[str]) -> None:
    ids, mask, rewards = whole(wanted)
    assert (got.ids, got.mask, got.logprobs, got.rewards) == (ids, mask, wanted.logprobs, rewards)
    shown["episodes"] += 1
    shown["tokens"] += len(ids)
    shown["rewards"] += len(rewards)


def test_episodes_are_those_of_direct_play(
    rig: Rig, tokenizer: Any, shown: Counter[str], same_everywhere: list[str]
) -> None:
    played = rig.play(*SEEDS)

    for seed, [got] in zip(SEEDS, played, strict=True):
        assert_equal(got, expected(tokenizer, seed), shown)
    same_everywhere.append(digest((each.ids, each.mask, each.rewards) for [each] in played))


def test_every_prompt_is_the_sequence_so_far(rig: Rig, tokenizer: Any, shown: Counter[str]) -> None:
    rig.play(*SEEDS)

    rows = [expected(tokenizer, seed) for seed in SEEDS]
    wanted = [row.ids[:start] for row in rows for start, _ in row.spans]
    assert sorted(rig.engine.asked) == sorted(wanted)
    shown["prompts"] += len(wanted)


def test_a_group_begins_alike_and_others_otherwise(rig: Rig, shown: Counter[str]) -> None:
    [first, second] = rig.play(1, 2, n=3, **PAYS)

    assert first[0] == first[1] == first[2]
    assert second[0].ids != first[0].ids
    shown["episodes"] += 6


def test_each_reward_is_on_the_last_token_of_its_action(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    [[got]] = rig.play(5, **PAYS)

    assert got.rewards == [1.0, 2.0, 3.0]
    assert_equal(got, expected(tokenizer, 5, **PAYS), shown)


def test_the_metrics_are_of_whole_episodes(rig: Rig) -> None:
    rig.play(5, **PAYS)

    _, metrics = rig.groups[0].to_all_tensor_dicts_and_metrics()
    assert metrics["rewards"] == [6.0]
    assert metrics["turns"] == [3]
    assert metrics["response_length"] == [19, 19, 19]
    assert metrics["length_clip_ratio"] == [False, False, False]


def test_samples_can_be_saved_and_printed(
    rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rig.play(29, n=2)
    rig.groups[0].print()
    rig.groups[0].save(7)

    [line] = (tmp_path / "saved" / "step7.jsonl").read_text().splitlines()
    assert [each["sample"] for each in json.loads(line)] == [{"seed": 29}] * 2
    assert "Turn 0" in capsys.readouterr().out


def test_a_step_that_raises_costs_its_own_episode(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    failing = {"env_kwargs": {"fails_at": 2}}
    [[got], [other]] = rig.play(1, 2, broken=failing, **PAYS)

    assert got.rewards == [1.0, 0.0]
    assert_equal(got, expected(tokenizer, 1, **PAYS, **failing), shown)
    assert_equal(other, expected(tokenizer, 2, **PAYS), shown)


def test_an_episode_that_cannot_begin_is_one_token_that_nobody_said(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    [[got], [other]] = rig.play(1, 2, broken={"env_id": UNLUCKY}, **PAYS)

    assert sum(got.mask) == 0
    assert got.rewards == []
    assert rig.groups[0].samples[0].metrics["rewards"] == [0.0]
    assert_equal(other, expected(tokenizer, 2, **PAYS), shown)


def test_the_number_of_turns_is_bounded(rig: Rig, tokenizer: Any, shown: Counter[str]) -> None:
    [[got]] = rig.play(1, max_turns=2, **PAYS)

    assert got.rewards == [1.0, 2.0]
    assert_equal(got, expected(tokenizer, 1, max_turns=2, **PAYS), shown)


@pytest.mark.parametrize("limits", [{"most": 8}, {"max_turn_tokens": 8}])
def test_an_answer_is_cut_where_either_limit_is(
    rig: Rig, tokenizer: Any, limits: dict[str, int], shown: Counter[str]
) -> None:
    [[got]] = rig.play(1, **limits, **PAYS)

    assert {each["max_new_tokens"] for each in rig.engine.params} == {8}
    assert rig.groups[0].samples[0].metrics["length_clip_ratio"] == [True] * 3
    assert_equal(got, expected(tokenizer, 1, max_turn_tokens=8, **PAYS), shown)


def test_all_that_follows_the_prompt_is_bounded(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    [[got]] = rig.play(1, max_response_tokens=50, **PAYS)

    wanted = expected(tokenizer, 1, limit=50, **PAYS)
    assert len(wanted.response_ids) <= 50
    assert len(wanted.rewards) == 2
    assert_equal(got, wanted, shown)


def test_without_any_limit_the_server_has_its_own(rig: Rig) -> None:
    rig.play(29, most=None)

    assert [each["max_new_tokens"] for each in rig.engine.params] == [None]


def test_a_tool_is_called(rig: Rig, tokenizer: Any, shown: Counter[str]) -> None:
    [[got]] = rig.play(29, engine={"first": CALL}, **TOOLS)

    assert "Nothing is known of the number." in tokenizer.decode(got.ids)
    assert_equal(got, expected(tokenizer, 29, first=CALL, **TOOLS), shown)


def test_an_aborted_sample_goes_on_where_it_was(
    rig: Rig, tokenizer: Any, shown: Counter[str]
) -> None:
    played = rig.play(3, rounds=4, engine={"aborts": [5, 0, 7]})

    [sample] = rig.groups[0].samples
    assert_equal(played[0][0], expected(tokenizer, 3), shown)
    assert sample.status == Sample.Status.DONE
    assert sample.metrics["response_length"] == [19] * 4
    assert [each["max_new_tokens"] for each in rig.engine.params[:4]] == [64, 59, 59, 52]
    shown["aborts"] += 3


def test_an_aborted_sample_is_saved_as_json(rig: Rig) -> None:
    rig.play(3, engine={"aborts": [5]})

    [sample] = rig.groups[0].samples
    assert sample.status == Sample.Status.ABORTED
    assert json.loads(json.dumps(sample.to_json()))["previous_response_length"] == 5


def test_a_finished_sample_is_left_alone(rig: Rig) -> None:
    rig.play(29, rounds=2)

    assert len(rig.engine.asked) == 1


def test_an_engine_that_says_nothing_ends_the_episode(rig: Rig) -> None:
    [[got]] = rig.play(29, engine={"is_silent": True})

    assert sum(got.mask) == 0


def test_what_the_engine_raises_reaches_the_framework(rig: Rig, shown: Counter[str]) -> None:
    with pytest.raises(communication.aiohttp.ClientResponseError, match="500"):
        rig.play(29, engine={"status": 500})
    shown["errors"] += 1


def test_a_row_without_a_seed_is_refused(rig: Rig) -> None:
    with pytest.raises(BadArguments, match="seed"):
        rig.play({"prompt": "x"})


def test_a_history_that_is_rewritten_is_refused(rig: Rig) -> None:
    with pytest.raises(UnplayableError, match="on_rewrite"):
        rig.play(3, system_prompt=None, wrappers=["concat"])


@pytest.fixture
def one_process(tmp_path: Path) -> Iterator[None]:
    """RL2's trainer runs under torchrun; here it is its only process."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1
    )
    communication.GLOO_GROUP = torch.distributed.new_group(backend="gloo")
    wandb.init(mode="disabled")
    yield
    torch.distributed.destroy_process_group()


def rollout_on_cpu(conf: Any, engine_url: str) -> Any:
    """Return RL2's rollout as it is but for the servers that it would start on GPUs."""
    stub_sglang()
    from RL2.workers.rollout import Rollout

    class OnCpu(Rollout):
        def _prepare_environment_variables(self) -> None:
            """No GPU is chosen."""

        def _launch_router_process(self) -> None:
            self.router_url = engine_url

        def _launch_server_process(self) -> None:
            self.worker_url, self.worker_urls = engine_url, [engine_url]

    return OnCpu(conf)


def test_a_rollout_keeps_what_is_aborted_and_goes_on_with_it(
    tokenizer: Any, tmp_path: Path, one_process: None, shown: Counter[str]
) -> None:
    """Two groups are asked for, and the one whose answers take long is aborted and kept."""
    tokenizer.save_pretrained(tmp_path / "model")
    lines = [json.dumps({"seed": seed}) + "\n" for seed in (3, 29, 29, 29, 29, 29)]
    (tmp_path / "rows.jsonl").write_text("".join(lines))
    (tmp_path / "env.py").write_text(
        "from gem_integrations.rl2 import environment\n"
        f"generate, reset, step = environment(**{GAME!r})\n"
    )
    train = {
        **OmegaConf.to_container(config(tmp_path, n=2)),
        "path": str(tmp_path / "rows.jsonl"),
        "prompts_per_rollout": 2,
        "partial_rollout": True,
        "dynamic_filtering": False,
    }
    conf = OmegaConf.create(
        {
            "server_args": {"model_path": str(tmp_path / "model"), "tp_size": 1},
            "train": train,
            "test": train,
            "env_path": str(tmp_path / "env.py"),
        }
    )

    @communication.with_session
    async def main() -> tuple[Any, SampleGroup]:
        engine = Engine(tokenizer)
        engine.holds_turns = True
        async with engine as url:
            torch.manual_seed(FIRST_IS_LONG)  # RL2 shuffles
            rollout = rollout_on_cpu(conf, url)
            batch = await rollout(True, 0)
            [kept] = rollout.sample_buffer
            assert {each.status for each in kept.samples} == {Sample.Status.ABORTED}
            assert {each.previous_response_length for each in kept.samples} == {2}
            return batch, await kept.generate(url, rollout.env.generate)

    (packed, groups), resumed = asyncio.run(main())
    short, long = expected(tokenizer, 29), expected(tokenizer, 3)
    assert groups.tolist() == [0, 1, 2, 3, 4]
    width = len(short.ids) - 1
    assert packed["states"].tolist() == [short.ids[:-1]] * 4
    assert packed["action_mask"].tolist() == [whole(short)[1][1:]] * 4
    assert packed["rewards"].tolist() == [[0.0] * (width - 1) + [1.0]] * 4
    for got in received(resumed):
        assert_equal(got, long, shown)
    shown["aborts"] += 2


def test_rl2s_own_environment_file_runs_unmodified(
    tokenizer: Any, tmp_path: Path, checkout: Path, shown: Counter[str]
) -> None:
    """`envs/gem.py` of the checkout imports `gem` and plays `rg:letter_counting`."""
    with pytest.raises(PackageNotFoundError):
        version("gem-llm")
    spec = importlib.util.spec_from_file_location("own", checkout / "envs" / "gem.py")
    assert spec is not None
    assert spec.loader is not None
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)

    @communication.with_session
    async def main() -> SampleGroup:
        group = SampleGroup(config(tmp_path, n=20), tokenizer, {})
        async with Engine(tokenizer) as url:
            return await group.generate(url, own.generate)

    group = asyncio.run(main())
    for got in received(group):
        assert "How many times" in tokenizer.decode(got.ids)
        assert len(got.rewards) == 1
        shown["unmodified"] += 1


def test_the_release_calls_reset_and_step(tokenizer: Any, shown: Counter[str]) -> None:
    """RL2 0.0.2, which this file's `reset` and `step` are for, in a process of its own."""
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, str(here / "release.py"), json.dumps(PAYS)],
        env={**os.environ, "PYTHONPATH": str(here.parent)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    tensors, metrics = json.loads(done.stdout.splitlines()[-1])
    got = Received.of({name: torch.tensor(each) for name, each in tensors.items()})
    assert_equal(got, expected(tokenizer, 5, **PAYS), shown)
    assert metrics["scores"] == [6.0]
