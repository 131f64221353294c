"""The wrapper that speaks as ROLL's managers expect.

Does not import ROLL; `gem_integrations.roll` has it under the name that configurations know.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import gem
from gem.content import Message, Observation, TextPart, normalise_text
from gem.conversation import Conversation
from gem.errors import BadArguments, text_of
from gem.tokens import JSON_IN_TAGS, Calling, how_to_call, in_tags
from gem_integrations.faults import Faults, holds_images, try_to_reset
from gem_integrations.images import image_parts, opened, parts_of
from gem_integrations.seats import refused_seats

__all__ = ["RollEnv"]

LOST = "This episode could not begin."
"""What the model is shown of one, where ROLL's own managers insist on an answer."""


class RollEnv(gem.Env):
    """Speak as ROLL's managers expect: they know text, and an end by `terminated` alone.

    The outermost of the `wrappers`. `end_of_turn` are cut off the end of an action, because ROLL
    decodes special tokens too; `TokenEnvManager` adds those of its model. `env_instruction` opens
    ROLL's first prompt; `StepEnvManager` insists on one, "" will do. `joins_suffix` puts the
    environment's `info["suffix"]`, which templates of ROLL show as `{suffix}`, below the
    observation, for managers that do not.

    `info["metrics"]` has the reward, its parts, whether the environment failed and, where it says
    so, whether the task was done. An environment that raises costs its episode: the step ends it,
    terminated and truncated; after a reset that raised, `is_lost` is True and the first step does.

    The first of a process with some environment resets it once, before ROLL does, so that ROLL
    gives each episode its seed. Raises UnplayableError where that cannot begin, or where many
    episodes in a row end by errors of one type (`gem_integrations.faults`), and BadArguments for an
    observation that is no text, and for an environment of several seats.

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
        self.end_of_turn = end_of_turn
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
        self._episode = self._faults.begin()
        self._seed = seed
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
        message, template_info = self._as_message(observation, info)
        if self.tools and self.tells_of_tools:
            message = _below(how_to_call(self.tools), message)
        self.newest = message
        return _as_roll_reads(message, pictures), opening | template_info

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
        message, template_info = self._as_message(step.observation, step.info)
        metrics = {"raw_reward": step.reward, "env_failed": 0.0}
        modes = {"raw_reward": "sum", "env_failed": "last", "success": "last"}
        for name, part in step.info.get("reward_parts", {}).items():
            metrics[f"reward_{name}"] = part
            modes[f"reward_{name}"] = "sum"
        if "success" in step.info:
            metrics["success"] = float(step.info["success"])
        info = {**template_info, "metrics": metrics, "metrics_agg_mode": modes}
        is_over = step.terminated or step.truncated
        if is_over:
            self._count(None)
        self.newest = message
        observation: Any = _as_roll_reads(message, pictures)
        return gem.Step(observation, float(step.reward), is_over, step.truncated, info)

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
        number = self._episode
        self._episode = None
        shared = self._faults.end(
            number,
            env_id=self._env_id,
            start=self._seed,
            error=None if error is None else text_of(error),
        )
        if shared is not None:
            raise shared from error

    def _stripped(self, action: str) -> str:
        # Until there is none: Cohere's later models close a turn by two tokens.
        while ends := [end for end in self.end_of_turn if end and action.endswith(end)]:
            action = action.removesuffix(ends[0])
        return action

    def _pictures(self, observation: Observation) -> list[Any]:
        """Return the images of an observation as Pillow opens them, in order."""
        if not self._takes_images:
            return []
        talk = Conversation()
        talk.observe(observation, {})
        return [opened(part) for part in image_parts(talk.messages)]

    def _as_message(
        self, observation: Any, info: Mapping[str, Any]
    ) -> tuple[Message, dict[str, Any]]:
        """Return an observation as one message, and what ROLL's templates read of its info."""
        suffix = info.get("suffix")
        talk = Conversation()
        talk.observe(observation, info if self._joins_suffix else {})
        results = [message for message in talk.messages if message.role == "tool"]
        are_texts = not holds_images(results)
        if results and are_texts and len(results) == len(talk.messages):  # one message a turn
            text, template_info = self._results(results)
            return Message("user", text), template_info
        has_parts = any(not isinstance(message.content, str) for message in talk.messages)
        if len(talk.messages) != 1 or (has_parts and not self._takes_images):
            raise BadArguments(
                f"{self.env!r} shows {type(observation).__name__}, and ROLL's managers take one "
                f"{'message of a user' if self._takes_images else 'text'} a turn. Choose another "
                "environment or wrapper.",
                subject="observation",
            )
        [message] = talk.messages
        if has_parts:
            message = replace(message, content=parts_of(message))
        return message, {} if suffix is None or self._joins_suffix else {"suffix": suffix}

    def _results(self, results: Sequence[Message]) -> tuple[str, dict[str, Any]]:
        """Return results of tools as text, in the role in which the chat template has them."""
        if self.calling.results == "user":
            return in_tags(results), {}
        return "\n".join(message.text for message in results), {"use_tool": True}

    def _failed(self) -> gem.Step:
        metrics = {"raw_reward": 0.0, "env_failed": 1.0}
        modes = {"raw_reward": "sum", "env_failed": "last", "success": "last"}
        return gem.Step("", 0.0, True, True, {"metrics": metrics, "metrics_agg_mode": modes})


def _below(text: str, message: Message) -> Message:
    """Put a text above what a message says."""
    if isinstance(message.content, str):
        return replace(message, content=f"{text}\n\n{message.content}")
    return replace(message, content=(TextPart(f"{text}\n\n"), *message.content))


def _as_roll_reads(message: Message, pictures: Sequence[Any]) -> str | dict[str, Any]:
    """Return a message as ROLL's managers read it: text, or a dict where it has images.

    Without lone surrogates: ROLL tokenises the text, and no tokenizer takes one.
    """
    if isinstance(message.content, str):
        return normalise_text(message.content)
    blocks = [
        {"type": "text", "text": normalise_text(part.text)}
        if isinstance(part, TextPart)
        else {"type": "image"}
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
    if len(env.seats) > 1:
        raise refused_seats(env_id, env.seats, "ROLL")
    key = env_id if env.spec is None else env.spec.model_dump_json()
    with _TRYING:
        if key not in _TRIED:
            begun = try_to_reset(env_id, env)
            _TRIED[key] = _Tried(holds_images(begun.observation), Faults())
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
