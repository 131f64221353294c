"""The cookbook's own rollouts and data assembly drive the adapter; only the sampler is scripted."""

from __future__ import annotations

import asyncio
import pickle
import runpy
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tinker
import torch
from harness import GAME, PAYING, SEEDS, digest, expected, scripted, whole
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
from tinker_cookbook.rl.data_processing import assemble_training_data, compute_advantages
from tinker_cookbook.rl.rollout_strategy import RetryOnFailure
from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.rl.types import Trajectory, TrajectoryGroup
from tinker_cookbook.tokenizer_utils import register_tokenizer

import gem
from gem.tools import FunctionTool
from gem_integrations.tinker import GemDatasetBuilder, GemGroupBuilder, GemOptions

torch.set_num_threads(1)
EXAMPLE = Path(__file__).parents[3] / "examples" / "trainers" / "tinker_grpo.py"
Example = tuple[list[int], list[int], list[float], list[float]]


class Scripted(TokenCompleter):
    """Answers as the script says; `most` tokens at most, as a sampler's `max_tokens`."""

    def __init__(self, tokenizer: Any, most: int | None = None) -> None:
        self._tokenizer, self._most = tokenizer, most
        self.prompts: list[list[int]] = []

    async def __call__(
        self, model_input: tinker.ModelInput, stop: Any, *, max_tokens: int | None = None
    ) -> TokensWithLogprobs:
        assert self._tokenizer.eos_token_id in stop
        prompt = model_input.to_ints()
        self.prompts.append(prompt)
        budgets = [each for each in (self._most, max_tokens) if each is not None]
        said = scripted(self._tokenizer, prompt, min(budgets, default=None))
        reason = "length" if said.finish_reason == "length" else "stop"
        return TokensWithLogprobs([*said.ids], [*(said.logprobs or ())], stop_reason=reason)


def group(tokenizer: Any, seed: int, size: int = 1, **options: Any) -> GemGroupBuilder:
    known = GemOptions.of(options)
    return GemGroupBuilder(known, known.codec(tokenizer), size, seed)


def rolled(builder: GemGroupBuilder, policy: TokenCompleter) -> TrajectoryGroup:
    return asyncio.run(do_group_rollout(builder, policy))


def game(tokenizer: Any, seed: int, **changes: Any) -> Trajectory:
    builder = group(tokenizer, seed, **{**GAME, **changes})
    [trajectory] = rolled(builder, Scripted(tokenizer)).trajectories_G
    return trajectory


def rewards(trajectory: Trajectory) -> list[float]:
    return [each.reward for each in trajectory.transitions]


def example(trajectory: Trajectory) -> Example:
    """Return ids, mask, logprobs and advantages of the one training example of an episode."""
    alone = TrajectoryGroup([trajectory], [0.0], [{}])
    other = TrajectoryGroup([trajectory, trajectory], [1.0, -1.0], [{}, {}])
    assert compute_advantages([alone])[0].tolist() == [0.0]
    data, _ = assemble_training_data([other], compute_advantages([other]))
    first, _ = data
    told = {name: tensor.data for name, tensor in first.loss_fn_inputs.items()}
    ids = [*first.model_input.to_ints(), int(told["target_tokens"][-1])]
    assert ids[1:] == [int(each) for each in told["target_tokens"]]
    mask = [0, *(int(each) for each in told["mask"])]
    return ids, mask, [0.0, *told["logprobs"]], [0.0, *told["advantages"]]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_training_example_is_the_episode_token_by_token(
    tokenizer: Any, shown: Counter[str], seed: int
) -> None:
    trajectory, row = game(tokenizer, seed), expected(tokenizer, seed)
    ids, mask, logprobs, advantages = example(trajectory)

    assert (ids, mask, logprobs) == (row.ids, whole(row)[1], row.logprobs)
    assert rewards(trajectory) == row.rewards
    assert advantages == [float(each) for each in mask]  # one, where the model spoke
    shown["tokens"] += len(ids)
    shown["rewards"] += len(row.rewards)
    shown["episodes"] += 1


def test_all_adapters_receive_these_trajectories(
    tokenizer: Any, same_everywhere: list[str]
) -> None:
    played = [game(tokenizer, seed) for seed in SEEDS]
    same_everywhere.append(digest([(*example(each)[:2], rewards(each)) for each in played]))

    assert same_everywhere == [digest([whole(expected(tokenizer, seed)) for seed in SEEDS])]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_prompt_extends_the_one_before_and_its_answer(
    tokenizer: Any, shown: Counter[str], seed: int
) -> None:
    turns = game(tokenizer, seed).transitions

    for turn, following in pairwise(turns):
        before = [*turn.ob.to_ints(), *turn.ac.tokens]
        assert following.ob.to_ints()[: len(before)] == before
        shown["prefixes"] += 1


def test_each_turn_has_its_own_reward_and_only_the_last_is_done(tokenizer: Any) -> None:
    builder = group(tokenizer, 1, env_id=PAYING)
    [trajectory] = rolled(builder, Scripted(tokenizer)).trajectories_G

    assert rewards(trajectory) == [1.0, 2.0, 3.0]
    assert [each.episode_done for each in trajectory.transitions] == [False, False, True]
    assert trajectory.stop_reason == "completed"
    assert trajectory.transitions[-1].metrics["env_error"] == 0.0


def test_the_episodes_of_a_group_begin_alike_and_those_of_others_do_not(tokenizer: Any) -> None:
    groups = [
        rolled(group(tokenizer, seed, 3, env_id=PAYING), Scripted(tokenizer)) for seed in (1, 2, 1)
    ]
    first, other, again = (
        [each.transitions[0].ob.to_ints() for each in every.trajectories_G] for every in groups
    )

    assert first == again == [first[0]] * 3
    assert other == [other[0]] * 3
    assert other != first


def test_rewards_are_centred_within_a_group(tokenizer: Any, shown: Counter[str]) -> None:
    class Varied(Scripted):
        async def __call__(self, *given: Any, **limits: Any) -> TokensWithLogprobs:
            said = await super().__call__(*given, **limits)
            if len(self.prompts) == 1:  # one of the four episodes guesses nothing
                said = TokensWithLogprobs(said.tokens[:4], said.logprobs[:4], "stop")
            return said

    played = rolled(group(tokenizer, SEEDS[0], 4, **GAME), Varied(tokenizer))
    [advantages] = compute_advantages([played])
    data, _ = assemble_training_data([played], [advantages])

    assert len(set(played.get_total_rewards())) == 2
    assert abs(float(advantages.sum())) < 1e-6
    assert len(data) == 4
    shown["advantages"] += 4


def test_an_environment_that_fails_ends_its_own_episode_alone(tokenizer: Any) -> None:
    class Mixed(GemGroupBuilder):
        """Of three environments the second fails at its second turn, the third at once."""

        async def make_envs(self) -> Sequence[Any]:
            kwargs = ({}, {"fails_at": 2}, {"fails_at": 0})
            builders = [group(tokenizer, 1, env_id=PAYING, env_kwargs=each) for each in kwargs]
            self.made += [env for each in builders for env in await each.make_envs()]
            return self.made

    options = GemOptions.of({"env_id": PAYING})
    builder = Mixed(options, options.codec(tokenizer), 3, 1)
    played = rolled(builder, Scripted(tokenizer))

    assert [rewards(each) for each in played.trajectories_G] == [[1.0, 2.0, 3.0], [1.0, 0.0], [0.0]]
    reasons = [each.stop_reason for each in played.trajectories_G]
    assert reasons == ["completed", "env_error", "env_error"]
    assert played.get_total_rewards() == [6.0, 1.0, 0.0]
    data, origins = assemble_training_data([played], compute_advantages([played]))
    assert [each["traj_idx"] for each in origins] == [0, 1]  # the third has no token to train on
    assert len(data) == 2


def test_an_episode_ends_at_its_most_turns(tokenizer: Any) -> None:
    trajectory = game(tokenizer, SEEDS[-1], max_turns=2)

    assert len(trajectory.transitions) == 2
    assert trajectory.stop_reason == "max_turns"
    assert rewards(trajectory) == expected(tokenizer, SEEDS[-1], max_turns=2).rewards


def test_an_answer_is_cut_at_its_most_tokens_and_its_turn_is_closed(
    tokenizer: Any, shown: Counter[str]
) -> None:
    trajectory = game(tokenizer, SEEDS[-1], max_turn_tokens=5)
    row = expected(tokenizer, SEEDS[-1], max_turn_tokens=5)

    assert {len(each.ac.tokens) for each in trajectory.transitions} == {5}
    assert example(trajectory)[:3] == (row.ids, whole(row)[1], row.logprobs)
    shown["tokens"] += len(row.ids)


def test_an_answer_that_the_sampler_itself_cut_is_closed_too(tokenizer: Any) -> None:
    builder = group(tokenizer, SEEDS[-1], **GAME)
    [trajectory] = rolled(builder, Scripted(tokenizer, most=5)).trajectories_G
    row = expected(tokenizer, SEEDS[-1], max_turn_tokens=5)

    assert example(trajectory)[:2] == (row.ids, whole(row)[1])


def test_a_sequence_ends_at_its_most_tokens(tokenizer: Any) -> None:
    whole_length = len(expected(tokenizer, SEEDS[-1]).ids)
    limit = whole_length - 40
    builder = group(tokenizer, SEEDS[-1], **GAME, max_trajectory_tokens=limit)
    [trajectory] = rolled(builder, Scripted(tokenizer)).trajectories_G

    assert trajectory.stop_reason == "max_tokens"
    assert len(example(trajectory)[0]) <= limit


def test_a_prompt_that_is_too_long_ends_its_episode(tokenizer: Any) -> None:
    builder = group(tokenizer, SEEDS[0], **GAME, max_trajectory_tokens=20)
    policy = Scripted(tokenizer)
    played = rolled(builder, policy)

    assert (policy.prompts, played.get_total_rewards()) == ([], [0.0])


def test_what_the_cookbook_leaves_unfinished_is_ended(tokenizer: Any) -> None:
    builder = group(tokenizer, SEEDS[0], 2, **GAME, max_trajectory_tokens=20)

    async def run() -> int:
        await do_group_rollout(builder, Scripted(tokenizer))
        return len(asyncio.all_tasks())

    assert asyncio.run(run()) == 1


def test_an_episode_is_tried_again_where_the_cookbook_is_told_to(tokenizer: Any) -> None:
    class Flaky(Scripted):
        async def __call__(self, *given: Any, **limits: Any) -> TokensWithLogprobs:
            said = await super().__call__(*given, **limits)
            if len(self.prompts) == 2:
                raise ConnectionError("the sampler is gone")
            return said

    async def run() -> tuple[TrajectoryGroup, int]:
        builder = group(tokenizer, 1, 2, env_id=PAYING)
        strategy = RetryOnFailure(max_retries=1)
        played = await do_group_rollout(builder, Flaky(tokenizer), strategy=strategy)
        return played, len(asyncio.all_tasks())

    played, tasks = asyncio.run(run())
    assert [rewards(each) for each in played.trajectories_G] == [[1.0, 2.0, 3.0]] * 2
    assert [each.error_type for each in played.rollout_errors] == ["ConnectionError"]
    assert tasks == 1


def double(number: int) -> str:
    """Double a number."""
    return str(2 * number)


def test_a_tool_answers_within_the_episode(tokenizer: Any) -> None:
    class Calling(Scripted):
        async def __call__(self, *given: Any, **limits: Any) -> TokensWithLogprobs:
            await super().__call__(*given, **limits)
            call = '<tool_call>{"name": "double", "arguments": {"number": 21}}</tool_call>'
            text = call if len(self.prompts) == 1 else "done"
            ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
            return TokensWithLogprobs(ids, [-1.0] * len(ids))

    tools = {"id": "tools", "tools": [FunctionTool(double)], "format": "hermes"}
    builder = group(tokenizer, 1, env_id=PAYING, env_kwargs={"length": 1}, wrappers=[tools])
    [trajectory] = rolled(builder, Calling(tokenizer)).trajectories_G

    assert "42" in tokenizer.decode(trajectory.transitions[1].ob.to_ints())
    assert len(trajectory.transitions) == 2


def test_a_sampler_that_fails_fails_the_rollout_as_it_is(tokenizer: Any) -> None:
    class Lost(Scripted):
        async def __call__(self, *given: Any, **limits: Any) -> TokensWithLogprobs:
            if len(self.prompts) == 1:
                raise ConnectionError("the sampler is gone")
            return await super().__call__(*given, **limits)

    with pytest.raises(ConnectionError, match="the sampler is gone"):
        rolled(group(tokenizer, SEEDS[-1], **GAME), Lost(tokenizer))


def test_the_data_set_of_a_configuration_gives_other_groups_each_batch(tokenizer: Any) -> None:
    register_tokenizer("of-bytes", lambda: tokenizer)
    options = {name: each for name, each in GAME.items() if name != "env_id"}
    builder = GemDatasetBuilder(
        model_name_for_tokenizer="of-bytes",
        env_id=str(GAME["env_id"]),
        options=options,
        batch_size=3,
        group_size=2,
        num_batches=4,
        test_groups=5,
    )
    train, test = asyncio.run(builder())
    assert test is not None
    seeds = [each.seed for at in range(len(train)) for each in train.get_batch(at)]

    assert len({*seeds, *(each.seed for each in test.get_batch(0))}) == 12 + 5
    assert [each.seed for each in train.get_batch(1)] == seeds[3:6]
    played = rolled(train.get_batch(0)[0], Scripted(tokenizer))
    assert len(played.trajectories_G) == 2
    assert train.get_batch(0)[0].logging_tags() == [GAME["env_id"]]


def test_a_group_can_be_sent_to_another_process(tokenizer: Any) -> None:
    builder = pickle.loads(pickle.dumps(group(tokenizer, SEEDS[0], **GAME)))  # noqa: S301 - ours
    [trajectory] = rolled(builder, Scripted(tokenizer)).trajectories_G

    assert rewards(trajectory) == expected(tokenizer, SEEDS[0]).rewards


def test_an_episode_leaves_a_record_that_says_how_it_was_played(tokenizer: Any) -> None:
    builder = group(tokenizer, SEEDS[0], **GAME)

    async def run() -> gem.Episode | None:
        kept = list(await builder.make_envs())
        builder.make_envs = lambda: _given(kept)  # type: ignore[method-assign, assignment]
        await do_group_rollout(builder, Scripted(tokenizer))
        return kept[0].episode

    episode = asyncio.run(run())
    assert episode is not None

    assert (episode.env_id, episode.seed) == (GAME["env_id"], SEEDS[0])
    assert episode.wrappers == ({"id": "system_prompt", "kwargs": {"text": "Play to win."}},)
    played = [turn.action for turn in episode.turns]
    assert played == expected(tokenizer, SEEDS[0]).actions


async def _given(kept: list[Any]) -> list[Any]:
    return kept


@pytest.mark.parametrize("name", ["guess", "arithmetic", "tool"])
def test_the_environments_of_the_example_are_played(tokenizer: Any, name: str) -> None:
    config_of = runpy.run_path(str(EXAMPLE))["config_of"]
    register_tokenizer("Qwen/Qwen3-4B-Instruct-2507", lambda: tokenizer)
    config = config_of(EXAMPLE.with_suffix(".yaml"), name)
    train, test = asyncio.run(config.dataset_builder())
    played = rolled(train.get_batch(0)[0], Scripted(tokenizer))

    assert len(played.trajectories_G) == 8
    assert not any(each.transitions[-1].metrics["env_error"] for each in played.trajectories_G)
    assert (len(train), len(test.get_batch(0))) == (50, 64)
