"""OpenRLHF: its loader, rollout actor and experiences around our executor; vLLM alone is replaced.

`vllm.py` beside this file is what stands for vLLM. The actor's class runs in this process, and in
one test by Ray, with OpenRLHF's own data set and dispatch.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import openrlhf
import pytest
import ray
import torch
from fragile import UNLUCKY
from harness import CALL, GAME, PAYING, SEEDS, TOOLS, Row, Said, digest, expected, scripted, whole

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for vllm.py

from openrlhf.datasets.prompts_dataset import PromptDataset
from openrlhf.datasets.utils import blending_datasets
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator
from openrlhf.trainer.ray.vllm_engine import RolloutRayActor, _load_agent_executor
from vllm import SamplingParams

import gem
from gem_integrations.rows import rows

torch.set_num_threads(1)

EXAMPLES = HERE.parents[2] / "examples" / "trainers"
PAYS = {"env_id": PAYING}
ALONE = {"system_prompt": None, "max_turns": None}
LENGTH = 1200


class Rig(NamedTuple):
    """A rollout actor that has loaded a user's file, and what makes experiences of its answers."""

    actor: Any
    generator: SamplesGenerator
    tokenizer: Any

    @property
    def engine(self) -> Any:
        return self.actor.llm

    async def respond(
        self, label: str, *, n: int = 1, length: int = LENGTH, **params: Any
    ) -> list[dict[str, Any]]:
        stated = {"max_tokens": None, "logprobs": 1} | params
        found: list[dict[str, Any]] = await self.actor.generate_responses(
            prompt=f"row of {label}",
            label=label,
            sampling_params=SamplingParams(**stated),
            max_length=length,
            hf_tokenizer=self.tokenizer,
            num_samples=n,
        )
        return found

    def generate(self, *labels: str, length: int = LENGTH, **asked: Any) -> list[Experience]:
        """Generate for rows of these labels at once."""

        async def all_of_them() -> list[list[dict[str, Any]]]:
            each = (self.respond(label, length=length, **asked) for label in labels)
            return list(await asyncio.gather(*each))

        return [
            self.generator._process_response_into_experience(response, max_len=length)
            for group in asyncio.run(all_of_them())
            for response in group
        ]


MakeRig = Callable[..., Rig]


@pytest.fixture
def rig(tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeRig:
    """Return what makes a rig of the options in a user's file."""
    monkeypatch.setenv("RAY_ADDRESS", "none: it runs here")

    def made(options: dict[str, Any], script: Any = None) -> Rig:
        file = tmp_path / "agent_func.py"
        file.write_text(
            "from gem_integrations.openrlhf import executor\n\n"
            f"AgentExecutor = executor(**{options!r})\n"
        )
        plain = RolloutRayActor.__ray_metadata__.modified_class
        actor = plain.__new__(plain)
        script = script or partial(scripted, tokenizer)
        asyncio.run(plain.__init__(actor, num_gpus=0, agent_func_path=str(file), script=script))
        strategy = SimpleNamespace(args=None)
        return Rig(actor, SamplesGenerator(strategy, None, None, tokenizer, [actor]), tokenizer)

    return made


def seeded(*seeds: int) -> list[str]:
    return [json.dumps({"seed": seed}) for seed in seeds]


class Received(NamedTuple):
    """One experience, as lists; `mask` is of all ids."""

    ids: list[int]
    mask: list[int]
    logprobs: list[float] | None


def received(got: Experience) -> Received:
    """Undo the shift by one: no first token is predicted."""
    ids, mask = got.sequences[0].tolist(), [0, *got.action_mask[0].int().tolist()]
    assert got.attention_mask[0].tolist() == [1] * len(ids)
    logprobs = got.rollout_log_probs
    told = None if logprobs is None else [0.0, *logprobs[0].tolist()]
    assert len(ids) == len(mask)
    return Received(ids, mask, told)


def check(got: Experience, wanted: Row, shown: Counter[str]) -> None:
    """Compare token by token."""
    ids, mask, logprobs = received(got)
    assert (ids, mask) == whole(wanted)[:2]
    assert logprobs == wanted.logprobs
    total = pytest.approx(sum(wanted.rewards))  # in float32
    assert got.rewards.item() == got.scores.item() == got.info["reward"].item() == total
    assert got.truncated.item() == wanted.truncated
    assert got.info["turns"].item() == len(wanted.rewards)
    shown["episodes"] += 1
    shown["tokens"] += len(ids)
    shown["logprobs"] += len(logprobs or ())
    shown["rewards"] += 1


def test_the_episodes_are_those_that_every_adapter_plays(
    rig: MakeRig, tokenizer: Any, shown: Counter[str], same_everywhere: list[str]
) -> None:
    experiences = rig(GAME).generate(*seeded(*SEEDS))

    played = []
    for got, seed in zip(experiences, SEEDS, strict=True):
        wanted = expected(tokenizer, seed)
        check(got, wanted, shown)
        # The parts are in no experience: OpenRLHF keeps the sum, which is compared above.
        played.append((*received(got)[:2], wanted.rewards))
    same_everywhere.append(digest(played))


def test_each_prompt_extends_the_one_before_it_and_its_answer(
    rig: MakeRig, tokenizer: Any, shown: Counter[str]
) -> None:
    made = rig(GAME)
    [experience] = made.generate(*seeded(SEEDS[3]))

    asked, ids = made.engine.asked, received(experience).ids
    for prompt, after in zip(asked, [*asked[1:], ids], strict=True):
        said = [*prompt, *scripted(tokenizer, prompt).ids]
        assert after[: len(said)] == said
        shown["prefixes"] += 1


def test_a_group_shares_its_first_prompt_and_other_seeds_have_others(rig: MakeRig) -> None:
    experiences = rig(PAYS).generate(*seeded(5, 6), n=3)

    begun = [tuple(received(each).ids[:60]) for each in experiences]
    assert len({*begun[:3]}) == len({*begun[3:]}) == 1
    assert begun[0] != begun[3]


def test_a_label_may_be_the_seed_alone(rig: MakeRig, tokenizer: Any, shown: Counter[str]) -> None:
    [experience] = rig(GAME).generate(str(SEEDS[1]))

    check(experience, expected(tokenizer, SEEDS[1]), shown)


def test_a_label_may_name_the_task(rig: MakeRig, tokenizer: Any) -> None:
    coin = gem.register("contract:Coin", "gem.testing.envs:Coin").id
    labels = [json.dumps({"seed": 3, "task": task}) for task in (0, 1, 0)]

    experiences = rig({"env_id": coin}).generate(*labels)

    begun = [tokenizer.decode(received(each).ids).partition(" lies up") for each in experiences]
    assert [text[-5:] for text, *_ in begun] == ["Heads", "Tails", "Heads"]


def test_rows_without_a_seed_play_an_episode_of_their_own_that_stays_the_same(
    rig: MakeRig,
) -> None:
    made = rig(PAYS)

    one, other, again = (received(each).ids for each in made.generate("red", "blue", "red"))

    assert one == again != other


def test_a_label_with_a_seed_that_is_none_is_refused(rig: MakeRig) -> None:
    with pytest.raises(Exception, match=r"seed='nine'.*python -m gem_integrations\.rows"):
        rig(PAYS).generate('{"seed": "nine"}')


def test_rewards_are_summed(rig: MakeRig, tokenizer: Any, shown: Counter[str]) -> None:
    [experience] = rig(PAYS).generate(*seeded(7))

    assert experience.rewards.tolist() == [6.0]
    check(experience, expected(tokenizer, 7, **PAYS, **ALONE), shown)


@pytest.mark.parametrize(
    ("fails", "turns", "reward"),
    [({**PAYS, "env_kwargs": {"fails_at": 2}}, 2.0, 1.0), ({"env_id": UNLUCKY}, 0.0, 0.0)],
)
def test_an_environment_that_fails_costs_its_episode_alone(
    rig: MakeRig,
    tokenizer: Any,
    shown: Counter[str],
    fails: dict[str, Any],
    turns: float,
    reward: float,
) -> None:
    well, ill = rig(PAYS), rig(fails)

    async def both() -> list[list[dict[str, Any]]]:
        return await asyncio.gather(well.respond("7"), ill.respond("7"))

    [fine], [failed] = asyncio.run(both())

    as_experience = well.generator._process_response_into_experience
    check(as_experience(fine, max_len=LENGTH), expected(tokenizer, 7, **PAYS, **ALONE), shown)
    got = as_experience(failed, max_len=LENGTH)
    assert got.rewards.tolist() == [reward]
    assert (got.truncated.item(), got.info["turns"].item()) == (True, turns)
    assert got.info["env_failed"].tolist() == [1.0]
    assert received(got).mask.count(1) == sum(end - start for start, end in failed["action_ranges"])
    assert len(failed["action_ranges"]) == turns


@pytest.mark.parametrize("changes", [{"max_turns": 2}, {"max_turn_tokens": 7}])
def test_limits_of_turns_end_or_cut_as_they_do_without_openrlhf(
    rig: MakeRig, tokenizer: Any, shown: Counter[str], changes: dict[str, int]
) -> None:
    [experience] = rig(GAME | changes).generate(*seeded(SEEDS[3]))

    check(experience, expected(tokenizer, SEEDS[3], **changes), shown)


@pytest.mark.parametrize("room", [5, 19, 25, 75, 85])
def test_a_sequence_ends_within_max_length_and_with_the_model(
    rig: MakeRig, tokenizer: Any, shown: Counter[str], room: int
) -> None:
    length = len(expected(tokenizer, SEEDS[3]).prompt_ids) + room

    [experience] = rig(GAME).generate(*seeded(SEEDS[3]), length=length)

    check(experience, expected(tokenizer, SEEDS[3], limit=room), shown)
    assert len(received(experience).ids) <= length
    assert received(experience).mask[-1] == 1


def test_an_answer_is_cut_at_openrlhfs_own_limit_of_new_tokens(
    rig: MakeRig, tokenizer: Any, shown: Counter[str]
) -> None:
    [experience] = rig(GAME).generate(*seeded(SEEDS[3]), max_tokens=7)

    check(experience, expected(tokenizer, SEEDS[3], max_turn_tokens=7), shown)


def test_a_prompt_that_is_too_long_costs_its_episode_alone(
    rig: MakeRig, caplog: pytest.LogCaptureFixture
) -> None:
    made = rig(GAME)

    too_long, fine = (
        *made.generate(*seeded(SEEDS[0]), length=100),
        *made.generate(*seeded(SEEDS[0])),
    )

    assert sum(received(too_long).mask) == 0
    assert (too_long.rewards.item(), too_long.truncated.item()) == (0.0, True)
    assert fine.rewards.item() == 1.0
    assert "data.max_len, which is 100" in caplog.text


def test_a_tool_answers_within_the_sequence(
    rig: MakeRig, tokenizer: Any, shown: Counter[str]
) -> None:
    made = rig(GAME | TOOLS, partial(scripted, tokenizer, first=CALL))

    [experience] = made.generate(*seeded(SEEDS[1]))

    check(experience, expected(tokenizer, SEEDS[1], first=CALL, **TOOLS), shown)
    assert "Nothing is known of the number" in tokenizer.decode(received(experience).ids)


def test_an_engine_that_raises_is_openrlhfs_to_see(rig: MakeRig) -> None:
    def gone(prompt_ids: Sequence[int], budget: int) -> Said:
        raise ConnectionError("the engine is gone")

    with pytest.raises(ConnectionError, match="the engine is gone"):
        rig(GAME, gone).generate(*seeded(1, 2), n=2)


def test_logprobs_are_left_out_where_openrlhf_asks_for_none(rig: MakeRig, tokenizer: Any) -> None:
    [experience] = rig(GAME).generate(*seeded(SEEDS[0]), logprobs=None)

    assert experience.rollout_log_probs is None
    assert received(experience).ids == expected(tokenizer, SEEDS[0]).ids


def test_an_episode_that_never_began_has_no_logprobs_either(rig: MakeRig) -> None:
    unborn = rig({"env_id": UNLUCKY})

    [without], [with_them] = unborn.generate("1", logprobs=None), unborn.generate("1")

    assert without.rollout_log_probs is None
    assert received(with_them).logprobs == [0.0] * len(received(with_them).ids)


def test_the_parameters_that_all_samples_share_stay_as_they_are(
    rig: MakeRig, tokenizer: Any
) -> None:
    made = rig(GAME)
    shared = SamplingParams(max_tokens=None, logprobs=1, temperature=0.5)

    asyncio.run(made.actor.generate_responses("row", "3", shared, LENGTH, tokenizer, num_samples=2))

    assert shared == SamplingParams(max_tokens=None, logprobs=1, temperature=0.5)
    assert {each.temperature for each in made.engine.params} == {0.5}
    assert [each.max_tokens for each in made.engine.params[:1]] == [
        LENGTH - len(expected(tokenizer, 3).prompt_ids)
    ]


def test_every_response_has_the_same_logs(rig: MakeRig) -> None:
    loops = [rig(PAYS), rig({"env_id": UNLUCKY})]

    logs = [asyncio.run(each.respond("1"))[0]["extra_logs"] for each in loops]

    assert logs[0].keys() == logs[1].keys()


def test_openrlhf_deals_the_rows_of_a_file_to_its_actors(
    rig: MakeRig,
    tokenizer: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shown: Counter[str],
) -> None:
    """All of it: the file, the data set, two actors of Ray, a batch of experiences."""
    rig(GAME)  # which writes the user's file
    given = list(rows(GAME["env_id"], count=4, seed=1))
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    monkeypatch.delenv("RAY_ADDRESS")
    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{HERE.parent}", prepend=":")
    ray.init(num_cpus=2, include_dashboard=False, address="local")
    actors = [
        RolloutRayActor.options(num_cpus=1).remote(
            num_gpus=0,
            agent_func_path=str(tmp_path / "agent_func.py"),
            script=partial(scripted, tokenizer),
        )
        for _ in range(2)
    ]
    strategy = SimpleNamespace(
        print=print,
        is_rank_0=lambda: True,
        args=SimpleNamespace(
            data=SimpleNamespace(input_key="input", label_key="label"),
            rollout=SimpleNamespace(batch_size=4, n_samples_per_prompt=2),
            vllm=SimpleNamespace(enable_sleep=False),
            algo=SimpleNamespace(
                dynamic_filtering_enable=False,
                advantage=SimpleNamespace(is_correction_level="token"),
            ),
        ),
    )
    data = blending_datasets(str(tmp_path / "train.jsonl"), strategy=strategy)
    prompts = PromptDataset(data, tokenizer, strategy)
    loader = torch.utils.data.DataLoader(prompts, batch_size=1, collate_fn=prompts.collate_fn)
    generator = SamplesGenerator(strategy, loader, None, tokenizer, actors)

    experiences, _, consumed, _ = generator.generate_samples(max_len=LENGTH, max_new_tokens=None)
    ray.shutdown()

    assert (consumed, len(experiences)) == (4, 8)
    by_label = {row["label"]: row["seed"] for row in given}
    for got in experiences:
        check(got, expected(tokenizer, by_label[got.labels[0]]), shown)


@pytest.mark.parametrize("name", ["guess", "arithmetic", "tool"])
def test_the_agent_of_the_example_plays(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("GEM_EXAMPLE", name)
    made = rig(GAME)
    made.actor.executor = _load_agent_executor(str(EXAMPLES / "openrlhf_agent.py"))

    [experience] = made.generate(*seeded(SEEDS[0]))

    assert experience.info["terminated"].tolist() == [1.0]


def test_the_options_in_the_launch_command_of_the_example_are_openrlhfs() -> None:
    """Its command line is read as text: what it imports needs a GPU."""
    source = Path(openrlhf.__file__).parent / "cli" / "train_ppo_ray.py"
    known = source.read_text().replace("{prefix}", "actor")
    stated = re.findall(r"(--[a-z]+\.[a-z_.]+) ", (EXAMPLES / "openrlhf_grpo.sh").read_text())

    assert [option for option in stated if f'"{option}"' not in known] == []
    assert len(stated) > 20
