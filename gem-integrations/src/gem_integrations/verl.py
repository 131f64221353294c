"""verl: an agent loop that plays an environment, named by a YAML file."""

from __future__ import annotations

import json
import logging
import math
from typing import Any
from uuid import uuid4

import gem
from gem.tokens import ChatCodec, Sampled
from gem_integrations.episodes import EnvOptions, one_row, play
from gem_integrations.frameworks import require
from gem_integrations.images import ImageCodec
from gem_integrations.rows import start_of
from gem_integrations.seats import SharedEpisodes, seat_of

require("verl")

from omegaconf import OmegaConf
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput
from verl.utils.profiler import simple_timer

__all__ = ["EnvAgentLoop"]

_log = logging.getLogger(__name__)


class EnvAgentLoop(AgentLoopBase):  # type: ignore[misc]
    """Play an episode for each row of the data set: the one that its `seed` and `task` fix.

    Of several seats the model plays all of them, and a row is the part of its `seat`: rows of one
    start and different seats that a worker plays at the same time are of one episode.

    An entry of the file that `agent_loop_config_path` names states the options, those of
    `EnvOptions`; a row without a `seed` plays its `index`. What the row's prompt says is not
    used: the environment writes the prompt.

    The first loop of a process tries the environment. Raises BadArguments for other options and
    for a row that fixes no episode, the errors of `gem.make`, and UnplayableError where no episode
    can begin.
    """

    def __init__(
        self,
        trainer_config: Any,
        server_manager: Any,
        tokenizer: Any,
        processor: Any,
        dataset_cls: Any,
        data_config: Any,
        hf_model_type: str | None = None,
        *,
        name: str | None = None,
        tools: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(
            trainer_config,
            server_manager,
            tokenizer,
            processor,
            dataset_cls,
            data_config,
            hf_model_type=hf_model_type,
        )
        # verl passes them on as it makes tensors of the images, and so must whoever counts tokens.
        self.processor_options = dict(self.mm_processor_kwargs or {})
        merged = OmegaConf.merge({"template_options": self.apply_chat_template_kwargs}, options)
        stated = OmegaConf.to_container(merged, resolve=True)
        self._known = _known(stated, self.processor_options)
        self.options = self._known.options

    async def run(
        self, sampling_params: dict[str, Any], priority: int = 0, **row: Any
    ) -> AgentLoopOutput:
        """Return the episode as verl takes it: its reward is the sum, `turn_scores` are its parts.

        The images of its tokens are in `multi_modal_data`, where the model has a processor. verl
        makes of them what the model takes.

        No response is longer than `response_length`. A first prompt of more than `prompt_length`
        is not played, and costs its episode as a failing environment does: one token, masked.
        """
        # Here, since hydra wraps what a constructor raises.
        self._known.try_once(takes_images=self.processor is not None)
        start = start_of(row, otherwise="index")
        seat = seat_of(start.seat, self.options.seats, env_id=self.options.env_id)
        codec = self._known.codec(self)

        async def play_all() -> tuple[gem.Episode, list[_Engine]]:
            count = len(self.options.seats)
            engines = [
                _Engine(self, codec, sampling_params, int(priority), seat if count > 1 else None)
                for seat in range(count)
            ]
            episode = await play(
                self.options,
                lambda request: engines[request.seat](request),
                codec,
                seed=start.seed,
                task=start.task,
                max_response_tokens=self.rollout_config.response_length,
            )
            return episode, engines

        key = (start.seed, start.task, repr(sampling_params))
        whole, engines = await self._known.shared.play(key, seat, play_all)
        episode = whole.of_seat(seat)
        engine = engines[seat]
        played = one_row(episode, codec)
        return AgentLoopOutput(
            prompt_ids=played.prompt_ids[-self.rollout_config.prompt_length :],
            response_ids=played.response_ids,
            response_mask=played.response_mask,
            response_logprobs=played.response_logprobs if sampling_params["logprobs"] else None,
            reward_score=math.fsum(played.rewards),
            multi_modal_data={"images": [*played.images]} if played.images else None,
            num_turns=2 * len(played.rewards),
            metrics=engine.metrics,
            extra_fields={
                "turn_scores": played.rewards,
                "tool_rewards": [],
                "stop_reason": "prompt_length" if engine.is_too_long else episode.stop_reason,
                **engine.versions,
            },
        )


_KNOWN: dict[str, _Known] = {}
"""By what a file states: verl makes a loop for each sample, and those of one entry share this."""


class _Known:
    """The options of an agent loop, and whether their environment was tried in this process."""

    def __init__(self, options: EnvOptions) -> None:
        self.options = options
        self.shared: SharedEpisodes[tuple[gem.Episode, list[_Engine]]] = SharedEpisodes()
        self._is_tried = False
        self._codec: ChatCodec | None = None
        self._codec_is_of: tuple[Any, Any] = (None, None)

    def try_once(self, *, takes_images: bool) -> None:
        """Try the environment, unless it has begun before. Raises as `EnvOptions.try_out`."""
        if not self._is_tried:  # nothing else runs meanwhile: this does not wait for the loop
            self.options.try_out("verl", takes_images=takes_images, takes_seats=True)
            self._is_tried = True

    def codec(self, loop: EnvAgentLoop) -> ChatCodec:
        """Return the codec of a loop's model, the same one for all loops that share the model."""
        tokenizer, processor = self._codec_is_of
        is_known = tokenizer is loop.tokenizer and processor is loop.processor
        if self._codec is None or not is_known:
            self._codec = self._made(loop)
            self._codec_is_of = (loop.tokenizer, loop.processor)
        return self._codec

    def _made(self, loop: EnvAgentLoop) -> ChatCodec:
        if loop.processor is None:
            return self.options.codec(loop.tokenizer)
        return self.options.image_codec(loop.processor, processor_options=loop.processor_options)


def _known(stated: Any, processor_options: dict[str, Any]) -> _Known:
    key = json.dumps([stated, processor_options], sort_keys=True, default=repr)
    if key not in _KNOWN:
        _KNOWN[key] = _Known(EnvOptions.of(stated))
    return _KNOWN[key]


class _Engine:
    """verl's servers as `play` asks them for a seat, and what they tell beside the tokens.

    `seat` is None where there is one: each conversation has a name of its own for the servers.
    """

    def __init__(
        self,
        loop: EnvAgentLoop,
        codec: ChatCodec,
        sampling_params: dict[str, Any],
        priority: int,
        seat: int | None,
    ) -> None:
        config = loop.rollout_config
        self._codec = codec
        self._processor_options = loop.processor_options
        self._env_id = loop.options.env_id
        self._servers = loop.server_manager
        self._params = sampling_params
        self._priority = priority
        self._prompt_length = config.prompt_length
        self._request_id = f"det-{priority}" if config.full_determinism else uuid4().hex
        if seat is not None:
            self._request_id += f"-{seat}"
        self.is_too_long = False
        self.metrics: dict[str, float] = {}
        self.versions: dict[str, Any] = {"min_global_steps": None, "max_global_steps": None}

    async def __call__(self, request: gem.Request) -> Sampled:
        ids = list(request.prompt_ids or ())
        if request.turn == 0 and len(ids) > self._prompt_length:
            self.is_too_long = True
            _log.warning(
                "An episode of %s is not played: its prompt has %d tokens, and "
                "actor_rollout_ref.rollout.prompt_length is %d.",
                self._env_id,
                len(ids),
                self._prompt_length,
            )
            return Sampled([])
        with simple_timer("generate_sequences", self.metrics):
            output = await self._servers.generate(
                request_id=self._request_id,
                prompt_ids=ids,
                sampling_params={**self._params, "max_tokens": request.token_budget},
                priority=self._priority,
                **self._seen(request),
            )
        self._note(output.extra_fields)
        budget = request.token_budget  # not every server keeps to it
        return Sampled(output.token_ids[:budget], (output.log_probs or [])[:budget] or None)

    def _seen(self, request: gem.Request) -> dict[str, Any]:
        """Return what a server is given beside the tokens: the images that they stand for."""
        images = self._codec.images(request.messages) if isinstance(self._codec, ImageCodec) else []
        if not images:
            return {}
        return {"image_data": images, "mm_processor_kwargs": self._processor_options}

    def _note(self, weights: dict[str, Any]) -> None:
        """Keep which weights began the episode, and which ended it."""
        if self.versions["min_global_steps"] is None:
            self.versions["min_global_steps"] = weights.get("min_global_steps")
        self.versions["max_global_steps"] = weights.get("max_global_steps")
