"""Environments for ROLL: a wrapper that speaks as its managers expect, and a manager by tokens.

    custom_envs:
      Guess:
        env_type: game:GuessTheNumber-v0-hard
        env_manager_cls: gem_integrations.roll.TokenEnvManager
        agent_template: "{observation}"

ROLL asks a package named `gem` for `env_type`, and here that is ours: nothing is registered.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import gem
from gem.content import ImagePart, Message, Part, TextPart
from gem.errors import BadArguments
from gem.specs import WrapperRef
from gem.tokens import ChatCodec, Sampled
from gem_integrations.episodes import EnvOptions, filler_of
from gem_integrations.faults import holds_images
from gem_integrations.frameworks import require
from gem_integrations.images import ImageCodec, parts_of
from gem_integrations.roll_env import RollEnv

require("roll")

import numpy as np
import torch
from omegaconf import OmegaConf
from roll.distributed.scheduler.protocol import DataProto
from roll.pipeline.agentic.env_manager.traj_env_manager import TrajEnvManager
from roll.utils.constants import GenerateStopReason
from roll.utils.functionals import pad_to_length
from tensordict import TensorDict

__all__ = ["RollEnv", "TokenEnvManager", "register_all"]


def register_all() -> list[str]:
    """Register every environment that is installed once more, as ROLL takes it, and return the ids.

    `game:Hangman-v0` becomes `roll:game.Hangman-v0`, whose last wrapper is a `RollEnv`. For code of
    ROLL's that takes an id and no `wrappers`; it has to run in each process that makes one.
    """
    wrapper = WrapperRef(id=f"{__name__}:RollEnv")
    return [
        gem.register(
            spec.model_copy(
                update={
                    "id": "roll:" + spec.id.replace(":", "."),
                    "wrappers": (*spec.wrappers, wrapper),
                }
            )
        ).id
        for spec in gem.list_envs()
        if not spec.id.startswith("roll:")
    ]


class TokenEnvManager(TrajEnvManager):  # type: ignore[misc]
    """ROLL's manager of trajectories, with prompts that are what the chat template writes.

    ROLL's own closes each turn of the model once more and writes nothing else between it and the
    next. Here the messages are ROLL's, and their tokens those of `gem.tokens.ChatCodec`, as in
    every other adapter if `agent_template` is "{observation}". An environment that is no `RollEnv`
    is made one, with `joins_suffix`. `on_rewrite`, `template_options` and `tool_format`, within
    `codec` of the environment's entry, are those of `EnvOptions`.

    Where ROLL made a processor of images for the model, environments may show them. A row then has
    ROLL's `multi_modal_inputs`: what the processor makes of the images that it has tokens for.

    An episode without an answer, because it could not begin or its prompt fills
    `sequence_length`, is one token that nobody said, with ROLL's `drop_flag`.
    """

    env: Any

    def __init__(
        self, *args: Any, processor: Any = None, extra_data_provider: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        sees = hasattr(processor, "image_processor")
        if not isinstance(self.env, RollEnv):
            self.env = RollEnv(self.env, joins_suffix=True, takes_images=sees)
        if self.env.env.rewrites_history:
            raise BadArguments(
                f"{self.env.env!r} shows the whole history each turn, and TokenEnvManager keeps it "
                "itself. Leave the wrapper out, or choose ROLL's StepEnvManager.",
                subject="wrappers",
            )
        stated: Any = OmegaConf.to_container(OmegaConf.create(dict(self.env_config)))
        options = EnvOptions.of({"env_id": stated["env_type"], **stated.get("codec", {})})
        self._codec: ChatCodec = (
            options.image_codec(processor) if sees else options.codec(self.tokenizer)
        )
        # ROLL decodes an answer with the token that ended it.
        own_ends = [self._codec.decode([id]) for id in sorted(self._codec.stop_ids)]
        self.env.end_of_turn = (*self.env.end_of_turn, *own_ends)
        if self.env.tools:
            self.env.calling = self._codec.calling
            self.env.tells_of_tools = False
        self._positions = extra_data_provider
        self._mark = uuid4().hex  # no text can hold it
        self._tells_logprobs = True

    def format_messages(self, history: Any) -> Any:
        """Write ROLL's messages as the chat template does, after what was said."""
        *before, now = history.history
        images = [part for part in parts_of(self.env.newest) if isinstance(part, ImagePart)]
        if images:  # ROLL's templates take text
            now["observation"] = "".join(map(self._marked, parts_of(self.env.newest)))
        lm_input = super().format_messages(history)
        now["given"] = self._given_messages(now["messages"], images)
        now["prompt_ids"] = self._added(before, now)
        earlier_ids = [id for turn in before for id in turn["prompt_ids"] + turn["response_ids"]]
        ids = earlier_ids + now["prompt_ids"]
        lm_input.batch = _batch(ids)
        if pictures := self._pictures(history.history):
            engine_input = np.empty(1, dtype=object)
            engine_input[0] = self._asked(ids, pictures)
            lm_input.non_tensor_batch["multi_modal_data"] = engine_input
        return lm_input

    def _pictures(self, history: Sequence[Any]) -> list[Any]:
        """Return the images of a history's turns, in order."""
        if not isinstance(self._codec, ImageCodec):
            return []
        return self._codec.images([message for turn in history for message in turn["given"]])

    def _asked(self, ids: Sequence[int], pictures: Sequence[Any]) -> dict[str, Any]:
        """Return a prompt as ROLL's engines take it: a token for each image, and the images."""
        assert isinstance(self._codec, ImageCodec)
        spans = self._codec.spans(ids, len(pictures))
        inner = {at for start, stop in spans for at in range(start + 1, stop)}
        return {
            "prompt_token_ids": [id for at, id in enumerate(ids) if at not in inner],
            "multi_modal_data": {"image": list(pictures)},
        }

    def _marked(self, part: Part) -> str:
        return part.text if isinstance(part, TextPart) else self._mark

    def _given_messages(
        self, messages: Sequence[Any], images: Sequence[ImagePart]
    ) -> list[Message]:
        """Return what ROLL's templates made of a turn, with its images at their places."""
        marks = sum(message["content"].count(self._mark) for message in messages)
        if marks != len(images):
            raise BadArguments(
                f"{len(images)} images of {self.env.env!r} were to be shown, and ROLL's "
                f"agent_template shows {marks}. Write {{observation}} into it once.",
                subject="agent_template",
            )
        given = []
        for chat_message in messages:
            if chat_message["role"] == "system" and not chat_message["content"]:
                continue
            content: str | tuple[Part, ...] = chat_message["content"]
            if images and self._mark in chat_message["content"]:
                texts = chat_message["content"].split(self._mark)
                pairs = zip(map(TextPart, texts), [*images, None], strict=True)
                content = tuple(
                    part for pair in pairs for part in pair if part and part != TextPart("")
                )
                chat_message["content"] = "".join(texts)  # nobody else reads the mark
            given.append(
                Message(chat_message["role"], content, call_id=_call_id(chat_message["role"]))
            )
        return given

    def _added(self, before: Sequence[Any], now: Any) -> list[int]:
        """Return the tokens that a turn's messages add."""
        talk = [message for turn in before for message in self._messages(turn)]
        new = self._messages(now)
        tools = self.env.tools
        if not before:
            return self._codec.opening(new, tools)
        users = [at for at, message in enumerate(talk) if message.role == "user"]
        added = self._codec.following(
            [*talk, *new], users[-1] + 1, len(talk) - 1, before[-1]["response_ids"], tools
        )
        assert added is not None  # of a codec that does not split
        return added

    def _messages(self, entry: Any) -> list[Message]:
        """Return a turn of ROLL's history; what the model said is read from its tokens."""
        given: list[Message] = entry["given"]
        if "response_ids" not in entry:
            return given
        return [*given, Message("assistant", self._codec.text(entry["response_ids"]))]

    def make_decision(self, rollout_cache: Any) -> Any:
        """Ask the model, unless the environment could not begin."""
        if self.env.is_lost:
            return DataProto(meta_info={"stop_reason": GenerateStopReason.MAX_LENGTH})
        decision = super().make_decision(rollout_cache)
        now = rollout_cache.history[-1]
        if not isinstance(self._codec, ImageCodec) or "response_ids" not in now:
            return decision
        answer = Sampled(now["response_ids"], now.get("infer_logprobs"))
        cut_answer = self._codec.cut(answer)
        if cut_answer is answer:
            return decision
        if not cut_answer.ids:  # as where the prompt leaves no room: the turn is no turn
            now.pop("infer_logprobs", None)
            del now["response_ids"]
            return DataProto(meta_info={"stop_reason": GenerateStopReason.MAX_LENGTH})
        now["response_ids"] = list(cut_answer.ids)
        if cut_answer.logprobs is not None:
            now["infer_logprobs"] = list(cut_answer.logprobs)
        decision.batch["responses"] = torch.tensor([now["response_ids"]])
        return decision

    def formulate_rollouts(self, rollout_cache: Any) -> Any:
        """Make ROLL's row of an episode, one of a token that nobody said where there is none."""
        [first, *_] = rollout_cache.history
        if "response_ids" in first:
            rollout = super().formulate_rollouts(rollout_cache)
            self._tells_logprobs = "infer_logprobs" in rollout.batch.keys()  # noqa: SIM118 - of tensors
            return self._with_images(rollout, rollout_cache)
        prompt = first.get("prompt_ids")
        if not prompt or holds_images(first["given"]):  # no image is cut
            prompt = self._codec.opening([Message("user", "")])
            first["given"] = []
        first["prompt_ids"] = prompt[: self.pipeline_config.sequence_length - 1]
        first |= {"response_ids": [filler_of(self._codec)], "reward": 0.0}
        if self._tells_logprobs:  # rows of one batch have the same columns
            first["infer_logprobs"] = [0.0]
        rollout_cache.history.append({"observation": None})  # ROLL drops the last, unanswered one
        rollout = super().formulate_rollouts(rollout_cache)
        rollout.batch["response_mask"].zero_()
        rollout.meta_info["drop_flag"] = True
        return self._with_images(rollout, rollout_cache)

    def _with_images(self, rollout: Any, rollout_cache: Any) -> Any:
        """Put what the model takes for the images of a row beside it, and ROLL's positions."""
        if not isinstance(self._codec, ImageCodec):
            return rollout
        history = rollout_cache.history  # without the turn that was not answered
        inputs = np.empty(1, dtype=object)
        inputs[0] = self._codec.inputs(self._pictures(history), return_tensors="pt")
        rollout.non_tensor_batch["multi_modal_inputs"] = inputs
        if self._positions is None:
            return rollout
        row = _batch([id for turn in history for id in turn["prompt_ids"] + turn["response_ids"]])
        known = {"input_ids": row["input_ids"], "attention_mask": row["attention_mask"]}
        known |= inputs[0]
        names = inspect.signature(self._positions).parameters
        positions = self._positions(**{name: known[name] for name in names if name in known})
        rollout.batch["position_ids"] = pad_to_length(
            positions["position_ids"], length=self.pipeline_config.sequence_length, pad_value=0
        )
        return rollout


def _batch(ids: Sequence[int]) -> TensorDict:
    """Return a sequence as ROLL's batches have it."""
    tokens = torch.tensor([ids])
    here = torch.ones_like(tokens)
    tensors = {"input_ids": tokens, "attention_mask": here, "position_ids": here.cumsum(-1) - 1}
    return TensorDict(tensors, batch_size=1)


def _call_id(role: str) -> str | None:
    """Return which call a message answers: one of nine letters, which ROLL does not keep."""
    return "c00000000" if role == "tool" else None
