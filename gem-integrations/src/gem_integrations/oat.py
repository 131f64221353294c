"""Play GEM's environments in Oat's actors: one transition a turn, by token ids.

An actor plays many episodes at once around its own `generate`. Knows nothing about learning.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from gem_integrations.frameworks import require

require("oat")

from oat.types import Transition, TransitionData

import gem
from gem.content import observation_text
from gem.env import key_seed, stream
from gem.errors import BadArguments
from gem.returns import rebn
from gem.tokens import Sampled, Trajectory, TurnSample
from gem_integrations.curricula import Curriculum
from gem_integrations.episodes import EnvOptions, UnplayableError, play
from gem_integrations.faults import EPISODES

__all__ = ["EnvActorMixin", "EnvArgs", "EnvLearnerMixin", "EnvMultiTurnActorMixin"]

_IN_JSON = ("env_kwargs", "wrappers", "template_options")


@dataclass
class EnvArgs:
    """What a run is told beside Oat's own arguments: `class Args(EnvArgs, PPOArgs)`.

    The first ones are the options of every adapter, those with braces or brackets as JSON;
    `schedule`, the components of a `gem.Schedule`, takes the place of `env_id` and `env_kwargs`. An
    actor plays `num_envs` episodes at once, and `num_samples` (Oat's) of each seed. A request
    waits up to `batch_wait_s` seconds for others. `turn_reward` is what a turn's last token gets:
    the return from there on, discounted by `turn_gamma` a turn, or its own reward. `rebn`
    normalises those over the batch of an actor.
    """

    env_id: str = ""
    schedule: str = ""
    env_kwargs: str = "{}"
    wrappers: str = "[]"
    system_prompt: str | None = None
    max_turns: int | None = None
    max_turn_tokens: int | None = None
    on_rewrite: Literal["split", "refuse", "keep"] = "split"
    template_options: str = "{}"
    tool_format: str = "template"
    step_timeout_s: float | None = None
    num_envs: int = 16
    batch_wait_s: float = 0.05
    turn_reward: Literal["return", "reward"] = "return"
    turn_gamma: float = 1.0
    rebn: bool = False

    @property
    def env_options(self) -> EnvOptions:
        """The options of the environments. Raises BadArguments for what they cannot be."""
        return _OatOptions.of(self._stated())

    @property
    def curriculum(self) -> Curriculum[_OatOptions] | None:
        """What an actor plays by a schedule, None without one. Raises what `Curriculum` does."""
        if not self.schedule:
            return None
        options = self._stated()
        if options.pop("env_id") or options.pop("env_kwargs"):
            raise BadArguments(
                "A schedule was given, and env_id or env_kwargs as well. Its components have "
                "those: leave them out.",
                subject="schedule",
            )
        components = _from_json(self.schedule, "schedule")
        return Curriculum(
            gem.Schedule(components), options, framework="Oat", kind=_OatOptions, takes_seats=True
        )

    def _stated(self) -> dict[str, Any]:
        options = {name: getattr(self, name) for name in _OatOptions.model_fields}
        return options | {name: _from_json(options[name], name) for name in _IN_JSON}


def _from_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadArguments(
            f"{name} is not JSON ({error}): {text[:80]!r}. Write it as JSON, quoted for the shell.",
            subject="options",
        ) from error


class _OatOptions(EnvOptions):
    """The options of every adapter. Turns are samples, so an episode may have many sequences."""

    on_rewrite: Literal["split", "refuse", "keep"] = "split"  # type: ignore[assignment]


class _Playing:
    """An actor that plays episodes. Stands before one of Oat's actors in the order of bases."""

    args: Any
    generate: Any

    def init(self, actor_id: int, save_path: str) -> None:
        """Try the environment, then load the model as Oat does, and make ready to play.

        Raises the errors of `gem.make`, and UnplayableError where no episode can begin.
        """
        self.curriculum: Curriculum[_OatOptions] | None = self.args.curriculum
        if self.curriculum is None:
            self.options: EnvOptions = self.args.env_options
            self.options.try_out("Oat", takes_seats=True)
        else:
            self.options = self.curriculum.any_options
        super().init(actor_id, save_path)  # type: ignore[misc]
        self.sampling_params: Any = self.sampling_params
        self.sampling_params.n = 1  # of a prompt: an episode goes on with one answer
        self.tokenizer: Any = self.tokenizer
        self.codec = self.options.codec(self.tokenizer)
        self.sampling_params.stop_token_ids = sorted(self.codec.stop_ids)
        self._rounds = 0

    def seeds(self, round_index: int) -> list[int]:
        """Return the seeds of one round of episodes: other ones each round and in each actor."""
        who = (self.args.seed, self.args.group_rank, self.actor_id)  # type: ignore[attr-defined]
        return [key_seed("oat", *who, round_index, number) for number in range(self.args.num_envs)]

    def steer(self, schedule: gem.Schedule, episodes: Sequence[gem.Episode]) -> None:
        """Change the weights after a round of this actor's; override it. By itself it does not."""

    def played(self, least: int) -> list[gem.Episode]:
        """Play rounds of episodes until they have so many turns; those without one are left out.

        Of several seats the model plays all of them, and each part is an episode of its own here.
        Raises what `generate` raised, and UnplayableError where so many in a row have no turn
        that none will, or all end by the same kind of error.
        """
        episodes: list[gem.Episode] = []
        in_vain = 0
        while sum(len(episode.turns) for episode in episodes) < least:
            fresh = asyncio.run(self._round(self.seeds(self._rounds)))
            self._rounds += 1
            if self.curriculum is not None and self.curriculum.schedule is not None:
                self.steer(self.curriculum.schedule, fresh)
            parts = chain.from_iterable(episode.parts() for episode in fresh)
            episodes += (part for part in parts if part.turns)
            in_vain = 0 if any(episode.turns for episode in fresh) else in_vain + len(fresh)
            if in_vain >= EPISODES:
                first = fresh[0]
                raise UnplayableError(
                    f"{in_vain} episodes of {first.env_id} were played, and none has a turn: "
                    f"{first.error or first.stop_reason}. Repair that, or for `max_tokens` let "
                    "`max_model_len` leave room for an answer after the first prompt."
                )
        return episodes

    async def _round(self, seeds: Sequence[int]) -> list[gem.Episode]:
        size = len(seeds) * self.args.num_samples
        batch: Any = gem.MicroBatch(
            self._sampled, max_batch=size, max_wait_s=self.args.batch_wait_s
        )
        options = self._options_of(seeds)
        plays = (
            play(
                chosen,
                batch,
                self.codec,
                seed=seed,
                repeat=repeat,
                max_length=self.args.max_model_len,
            )
            for seed, chosen in zip(seeds, options, strict=True)
            for repeat in range(self.args.num_samples)
        )
        try:
            return list(await asyncio.gather(*plays))
        finally:
            await batch.aclose()

    def _options_of(self, seeds: Sequence[int]) -> list[EnvOptions]:
        """Return the options of each episode of a round."""
        if self.curriculum is None:
            return [self.options] * len(seeds)
        key = key_seed("oat schedule", *seeds)
        return [self.curriculum.choose(key, number)[1] for number in range(len(seeds))]

    def _sampled(self, requests: list[gem.Request]) -> Any:
        """Answer many requests by one call of Oat's `generate`."""
        params = [self._params(request.token_budget) for request in requests]
        outputs = self.generate([list(request.prompt_ids or ()) for request in requests], params)
        return [_sampled(output.outputs[0]) for output in outputs]

    def _params(self, budget: int | None) -> Any:
        params = copy.copy(self.sampling_params)
        if budget is not None:
            params.max_tokens = min(budget, params.max_tokens)
        return params

    def _prompt(self, sample: TurnSample) -> str:
        return self.codec.decode(sample.prompt_ids)

    def _counts(self, sample: TurnSample) -> bool:
        """Whether a turn is trained on: by Oat's `ignore_no_eos` not where it was cut."""
        ignores = getattr(self.args, "ignore_no_eos", False)
        return not (ignores and sample.finish_reason == "length")


class EnvActorMixin(_Playing):
    """`class Actor(EnvActorMixin, PPOActor)`: every turn is a sample of Oat's PPO learner."""

    def step(
        self,
        prompts: Sequence[str] | None = None,
        formatted_prompts: Sequence[str] | None = None,
        references: Sequence[str] | None = None,
    ) -> Any:
        """Play episodes, and return a handle to one TransitionData for each prompt.

        The prompts only say how many: those of the data set are placeholders. Of more turns than
        these, that many are drawn, in the order that they were played.
        """
        count = len(prompts) if prompts else self.args.rollout_batch_size_per_device
        episodes = self.played(count)
        data = self.transitions(episodes)
        for transition in data:
            transition.info = _metrics(episodes)
        chance = stream("oat draws", self.seeds(self._rounds)[0])
        places = sorted(chance.sample(range(len(data)), count))
        return self.ipc_client.serialize_ipc([data[at] for at in places])  # type: ignore[attr-defined]

    def transitions(self, episodes: Sequence[gem.Episode]) -> list[TransitionData]:
        """Return the turns of episodes in order, with what each earns on its last token."""
        trajectories = [Trajectory.of(episode) for episode in episodes]
        is_return = self.args.turn_reward == "return"
        gamma = self.args.turn_gamma
        earnings: list[float] = []
        for trajectory in trajectories:
            earnings += trajectory.returns(gamma) if is_return else trajectory.rewards
        if self.args.rebn:
            earnings = rebn(earnings).tolist()
        samples = chain(*(trajectory.samples() for trajectory in trajectories))
        turns = chain(*(episode.turns for episode in episodes))
        return [
            TransitionData(
                prompt=self._prompt(sample),
                prompt_ids=list(sample.prompt_ids),
                response=turn.action,
                response_ids=list(sample.response_ids),
                response_logprobs=list(sample.logprobs or ()),
                rewards=[0.0] * (len(sample.response_ids) - 1) + [earns],
                loss_mask=self._counts(sample),
                info={},
            )
            for turn, sample, earns in zip(turns, samples, earnings, strict=True)
        ]


class EnvMultiTurnActorMixin(_Playing):
    """`class Actor(EnvMultiTurnActorMixin, PPOMultiTurnActor)`: that learner makes the returns."""

    def collect_experience(self) -> tuple[list[list[Transition]], dict[str, Any]]:
        """Play episodes, and return the turns of each with their own rewards, and metrics."""
        episodes = self.played(self.args.rollout_batch_size_per_device)
        return [list(self._episode(episode)) for episode in episodes], _metrics(episodes)

    def _episode(self, episode: gem.Episode) -> Iterator[Transition]:
        last = len(episode.turns) - 1
        samples = Trajectory.of(episode).samples()
        for number, (turn, sample) in enumerate(zip(episode.turns, samples, strict=True)):
            yield Transition(
                obs=observation_text(turn.observation),
                action=turn.action,
                rewards=sample.reward,
                done=number == last,
                prompt=self._prompt(sample),
                prompt_ids=list(sample.prompt_ids),
                response=turn.action,
                response_ids=list(sample.response_ids),
                response_logprobs=list(sample.logprobs or ()),
                response_is_truncated=sample.finish_reason == "length",
                action_is_formatted=True,
                loss_mask=self._counts(sample),
                info={},
            )


class EnvLearnerMixin:
    """`class Learner(EnvLearnerMixin, PPOLearner)`: prompts and groups are none of its business.

    `max_train` counts the placeholders, and so the transitions of one epoch.
    """

    def prepare_data(self, strategy: Any, tokenizer: Any) -> None:
        """Fill the place of the prompts: episodes bring their own."""
        size = strategy.args.rollout_batch_size_per_device
        self.prompts_dataset = [("", "", "")] * strategy.args.max_train
        self.prompts_dataloader = strategy.setup_dataloader(self.prompts_dataset, size)
        self.eval_prompts_dataset: list[Any] = []
        self.eval_prompts_dataloader: list[Any] = []

    def evaluate(self, dataloader: Any, steps: int) -> dict[str, Any]:
        """Evaluate nothing: there is no oracle to ask. `gem-env eval` evaluates a checkpoint."""
        return {}

    def compute_monte_carlo_advantages(self, rewards: Any, response_masks: Any) -> Any:
        """Return what each turn earns as its advantage: turns are no answers to one prompt."""
        return rewards.sum(-1)


def _sampled(completion: Any) -> Sampled:
    ids = list(completion.token_ids)
    positions = zip(completion.logprobs, ids, strict=True)
    logprobs = [candidates[id].logprob for candidates, id in positions]
    return Sampled(ids, logprobs, completion.finish_reason)


def _metrics(episodes: Sequence[gem.Episode]) -> dict[str, float]:
    """Return metrics: the same names for every batch, as Oat's collectors need them."""
    many = len(episodes)
    return {
        "actor/episode_return": sum(episode.total_reward for episode in episodes) / many,
        "actor/episode_turns": sum(len(episode.turns) for episode in episodes) / many,
        "actor/episode_success": sum(episode.success is True for episode in episodes) / many,
        "actor/episode_truncated": sum(episode.truncated for episode in episodes) / many,
        "actor/episode_error": sum(episode.is_error for episode in episodes) / many,
    }
