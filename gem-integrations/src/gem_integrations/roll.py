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
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import uuid4

import gem
from gem.content import ImagePart, Message, Observation, Part, TextPart
from gem.conversation import Conversation
from gem.errors import BadArguments, text_of
from gem.specs import WrapperRef
from gem.tokens import ChatCodec, Sampled
from gem.tokens.calling import JSON_IN_TAGS, Calling, how_to_call, in_tags
from gem_integrations.episodes import EnvOptions
from gem_integrations.faults import Faults, holds_images, try_to_reset
from gem_integrations.frameworks import require
from gem_integrations.images import ImageCodec, opened

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

LOST = "This episode could not begin."
"""What the model is shown of one, where ROLL's own managers insist on an answer."""


class RollEnv(gem.Env):
    """Speak as ROLL's managers expect: they know text, and an end by `terminated` alone.

    The outermost of the `wrappers`. `end_of_turn` are cut off the end of an action, because ROLL
    decodes special tokens too. `env_instruction` opens ROLL's first prompt; `StepEnvManager`
    insists on one, "" will do. `joins_suffix` puts the environment's `info["suffix"]`, which
    templates of ROLL show as `{suffix}`, below the observation, for managers that do not.

    `info["metrics"]` has the reward, its parts, whether the environment failed and, where it says
    so, whether the task was done. An environment that raises costs its episode: the step ends it,
    terminated and truncated; after a reset that raised, `is_lost` is True and the first step does.

    The first of a process with some environment resets it once, before ROLL does, so that ROLL
    gives each episode its seed. Raises UnplayableError where that cannot begin, or where many
    episodes in a row end by errors of one type (`gem_integrations.faults`), and BadArguments for an
    observation that is no text.

    Where the environment has tools, the first prompt says how to call them, for ROLL shows them to
    no chat template; calls are read as it says, and results come as text in tags.

    `takes_images` is for ROLL's `VLTrajEnvManager`. An observation with images is then the dict
    that it reads: "prompt" with blocks of text and images, "image" with the images of Pillow.
    Without it an environment that shows images is refused.
    """

    calling: Calling = JSON_IN_TAGS
    """How tools are called. `TokenEnvManager` puts that of its codec here."""
    tells_of_tools = True
    """Whether the first prompt says how. `TokenEnvManager`'s codec does it by itself."""
    newest: Message = Message("user", LOST)
    """What was shown last. `TokenEnvManager` makes tokens of its images."""

    def __init__(
        self,
        env: gem.Env,
        *,
        end_of_turn: tuple[str, ...] = ("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "</s>"),
        env_instruction: str | None = None,
        joins_suffix: bool = False,
        takes_images: bool = False,
    ) -> None:
        self.env = env
        self.is_lost = False
        self.tools = env.tools
        self._env_id = env.spec.id if env.spec else type(env.unwrapped).__name__
        self._faults = _faults_of(self._env_id, env, takes_images=takes_images)
        self._episode: int | None = None  # its number, None where none is counted
        self._seed: int | None = None
        self._ends = end_of_turn
        self._instruction = env_instruction
        self._joins_suffix = joins_suffix
        self._takes_images = takes_images
        self._answers = 0

    def reset(  # type: ignore[override]  # what `VLTrajEnvManager` reads is no observation of ours
        self, seed: int | None = None
    ) -> tuple[str | dict[str, Any], dict[str, Any]]:
        """Begin the episode that ROLL's seed fixes: the group's plus the episode's number."""
        opening = {} if self._instruction is None else {"env_instruction": self._instruction}
        self._count(None)  # the last one, where ROLL cut it by a limit of its own
        self._episode, self._seed = self._faults.begin(), seed
        try:
            observation, info = self.env.reset(seed=seed)
            pictures = self._pictures(observation)
        except Exception as error:  # noqa: BLE001 - it costs the episode and no other
            self._count(error)
            self.is_lost = True
            self.newest = Message("user", LOST)
            return LOST, opening
        self.is_lost = False
        self._answers = 0
        message, shown = self._shown(observation, info)
        if self.tools and self.tells_of_tools:
            message = _below(how_to_call(self.tools), message)
        self.newest = message
        return _as_roll_reads(message, pictures), opening | shown

    def step(self, action: str) -> gem.Step:
        """Take an action as ROLL decodes it. What ends an episode terminates it."""
        if self.is_lost:
            return self._failed()
        try:
            step = self.env.step(self._read(self._stripped(action)))
            pictures = self._pictures(step.observation)
        except Exception as error:  # noqa: BLE001 - it costs the episode and no other
            self._count(error)
            return self._failed()
        message, shown = self._shown(step.observation, step.info)
        metrics = {"raw_reward": step.reward, "env_failed": 0.0}
        modes = {"raw_reward": "sum", "env_failed": "last", "success": "last"}
        for name, part in step.info.get("reward_parts", {}).items():
            metrics[f"reward_{name}"], modes[f"reward_{name}"] = part, "sum"
        if "success" in step.info:
            metrics["success"] = float(step.info["success"])
        info = {**shown, "metrics": metrics, "metrics_agg_mode": modes}
        is_over = step.terminated or step.truncated
        if is_over:
            self._count(None)
        self.newest = message
        seen: Any = _as_roll_reads(message, pictures)
        return gem.Step(seen, float(step.reward), is_over, step.truncated, info)

    def _read(self, text: str) -> str:
        """Put the calls in an answer beside its text, where the environment has tools."""
        if not self.tools:
            return text
        calls = self.calling.calls(text, self.tools, self._answers)
        self._answers += 1
        return gem.Action(text, tool_calls=calls)

    def sample_action(self) -> str:
        """Return one that the environment draws."""
        return self.env.sample_action()

    def close(self) -> None:
        """Close the environment."""
        if self._episode is not None:
            self._faults.leave(self._episode)
        self.env.close()

    def _count(self, error: Exception | None) -> None:
        """Count how the episode ended, if one was begun. Raises where all of them end so."""
        if self._episode is None:
            return
        number, self._episode = self._episode, None
        shared = self._faults.end(
            number,
            env_id=self._env_id,
            start=self._seed,
            error=None if error is None else text_of(error),
        )
        if shared is not None:
            raise shared from error

    def _stripped(self, action: str) -> str:
        ends = [end for end in self._ends if action.endswith(end)]
        return action[: -len(ends[0])] if ends else action

    def _pictures(self, observation: Observation) -> list[Any]:
        """Return the images of an observation as Pillow opens them, in order."""
        if not self._takes_images:
            return []
        talk = Conversation()
        talk.observe(observation, {})
        return [
            opened(part)
            for message in talk.messages
            for part in _parts(message)
            if isinstance(part, ImagePart)
        ]

    def _shown(self, observation: Any, info: Mapping[str, Any]) -> tuple[Message, dict[str, Any]]:
        """Return an observation as one message, and what ROLL's templates read of its info."""
        suffix = info.get("suffix")
        talk = Conversation()
        talk.observe(observation, info if self._joins_suffix else {})
        results = [each for each in talk.messages if each.role == "tool"]
        are_texts = not holds_images(results)
        if results and are_texts and len(results) == len(talk.messages):  # one message a turn
            text, shown = self._results(results)
            return Message("user", text), shown
        has_parts = any(not isinstance(each.content, str) for each in talk.messages)
        if len(talk.messages) != 1 or (has_parts and not self._takes_images):
            raise BadArguments(
                f"{self.env!r} shows {type(observation).__name__}, and ROLL's managers take one "
                f"{'message of a user' if self._takes_images else 'text'} a turn. Choose another "
                "environment or wrapper.",
                subject="observation",
            )
        [message] = talk.messages
        return message, {} if suffix is None or self._joins_suffix else {"suffix": suffix}

    def _results(self, results: Sequence[Message]) -> tuple[str, dict[str, Any]]:
        """Return results of tools as text, in the role in which the chat template has them."""
        if self.calling.results == "user":
            return in_tags(results), {}
        return "\n".join(each.text for each in results), {"use_tool": True}

    def _failed(self) -> gem.Step:
        metrics = {"raw_reward": 0.0, "env_failed": 1.0}
        modes = {"raw_reward": "sum", "env_failed": "last", "success": "last"}
        return gem.Step("", 0.0, True, True, {"metrics": metrics, "metrics_agg_mode": modes})


def _parts(message: Message) -> tuple[Part, ...]:
    """Return a message's content as parts."""
    if isinstance(message.content, str):
        return (TextPart(message.content),)
    return message.content


def _below(text: str, message: Message) -> Message:
    """Put a text above what a message says."""
    if isinstance(message.content, str):
        return replace(message, content=f"{text}\n\n{message.content}")
    return replace(message, content=(TextPart(f"{text}\n\n"), *message.content))


def _as_roll_reads(message: Message, pictures: Sequence[Any]) -> str | dict[str, Any]:
    """Return a message as ROLL's managers read it: text, or a dict where it has images."""
    if isinstance(message.content, str):
        return message.content
    blocks = [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else {"type": "image"}
        for part in message.content
    ]
    return {"prompt": blocks, "image": list(pictures)} if pictures else {"prompt": blocks}


class _Tried(NamedTuple):
    """An environment that has begun in this process, and how its episodes end."""

    shows_images: bool
    faults: Faults


_TRIED: dict[str, _Tried] = {}
"""What all managers of an environment in this process share, by its spec."""
_TRYING = threading.Lock()
"""Held while an environment is tried: ROLL makes managers in many threads at once."""


def _faults_of(env_id: str, env: gem.Env, *, takes_images: bool) -> Faults:
    """Return what the managers of an environment share, once it has begun in this process."""
    key = env_id if env.spec is None else env.spec.model_dump_json()
    with _TRYING:
        if key not in _TRIED:
            _TRIED[key] = _Tried(holds_images(try_to_reset(env_id, env)), Faults())
        tried = _TRIED[key]
    if tried.shows_images and not takes_images:
        raise BadArguments(
            f"{env_id!r} was to be played through ROLL, and its observations hold images: "
            "TokenEnvManager takes them where the model has a processor of images, and "
            "VLTrajEnvManager where RollEnv is given takes_images=True. Choose one of these, or an "
            "environment of text.",
            subject="env_id",
        )
    return tried.faults


def register_all() -> list[str]:
    """Register every environment that is installed once more, as ROLL takes it, and return the ids.

    `game:Hangman-v0` becomes `roll:game.Hangman-v0`, whose last wrapper is a `RollEnv`. For code of
    ROLL's that takes an id and no `wrappers`; it has to run in each process that makes one.
    """
    wrapper = WrapperRef(id=f"{__name__}:RollEnv")
    return [
        gem.register(
            each.model_copy(
                update={
                    "id": "roll:" + each.id.replace(":", "."),
                    "wrappers": (*each.wrappers, wrapper),
                }
            )
        ).id
        for each in gem.list_envs()
        if not each.id.startswith("roll:")
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
        if self.env.tools:
            self.env.calling = self._codec.calling
            self.env.tells_of_tools = False
        self._positions = extra_data_provider
        self._mark = uuid4().hex  # no text can hold it
        self._tells_logprobs = True

    def format_messages(self, history: Any) -> Any:
        """Write ROLL's messages as the chat template does, after what was said."""
        *before, now = history.history
        images = [part for part in _parts(self.env.newest) if isinstance(part, ImagePart)]
        if images:  # ROLL's templates take text
            now["observation"] = "".join(map(self._marked, _parts(self.env.newest)))
        lm_input = super().format_messages(history)
        now["given"] = self._given(now["messages"], images)
        now["prompt_ids"] = self._added(before, now)
        seen = [id for each in before for id in each["prompt_ids"] + each["response_ids"]]
        ids = seen + now["prompt_ids"]
        lm_input.batch = _batch(ids)
        if pictures := self._pictures(history.history):
            asked = np.empty(1, dtype=object)
            asked[0] = self._asked(ids, pictures)
            lm_input.non_tensor_batch["multi_modal_data"] = asked
        return lm_input

    def _pictures(self, history: Sequence[Any]) -> list[Any]:
        """Return the images of a history's turns, in order."""
        if not isinstance(self._codec, ImageCodec):
            return []
        return self._codec.images([message for each in history for message in each["given"]])

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

    def _given(self, messages: Sequence[Any], images: Sequence[ImagePart]) -> list[Message]:
        """Return what ROLL's templates made of a turn, with its images at their places."""
        shown = sum(each["content"].count(self._mark) for each in messages)
        if shown != len(images):
            raise BadArguments(
                f"{len(images)} images of {self.env.env!r} were to be shown, and ROLL's "
                f"agent_template shows {shown}. Write {{observation}} into it once.",
                subject="agent_template",
            )
        given = []
        for each in messages:
            if each["role"] == "system" and not each["content"]:
                continue
            content: str | tuple[Part, ...] = each["content"]
            if images and self._mark in each["content"]:
                texts = each["content"].split(self._mark)
                pairs = zip(map(TextPart, texts), [*images, None], strict=True)
                content = tuple(
                    part for pair in pairs for part in pair if part and part != TextPart("")
                )
                each["content"] = "".join(texts)  # nobody else reads the mark
            given.append(Message(each["role"], content, call_id=_call_id(each["role"])))
        return given

    def _added(self, before: Sequence[Any], now: Any) -> list[int]:
        """Return the tokens that a turn's messages add."""
        talk = [message for each in before for message in self._messages(each)]
        new, tools = self._messages(now), self.env.tools
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
        said = Sampled(now["response_ids"], now.get("infer_logprobs"))
        kept = self._codec.cut(said)
        if kept is said:
            return decision
        if not kept.ids:  # as where the prompt leaves no room: the turn is no turn
            now.pop("infer_logprobs", None)
            del now["response_ids"]
            return DataProto(meta_info={"stop_reason": GenerateStopReason.MAX_LENGTH})
        now["response_ids"] = list(kept.ids)
        if kept.logprobs is not None:
            now["infer_logprobs"] = list(kept.logprobs)
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
        first |= {"response_ids": [min(self._codec.stop_ids)], "reward": 0.0}
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
        row = _batch([id for each in history for id in each["prompt_ids"] + each["response_ids"]])
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
