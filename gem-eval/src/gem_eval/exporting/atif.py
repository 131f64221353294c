"""ATIF 1.8 trajectories: a folder with a JSON file for each episode, and one for each image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from gem.content import ImagePart, Message, Observation, TextPart
from gem.conversation import Conversation
from gem.episode import Episode, Turn
from gem_eval.exporting.choosing import Source
from gem_eval.exporting.formats import Written
from gem_eval.exporting.json_text import json_text
from gem_eval.summary import Outcome

__all__ = ["write"]

_VERSION = "ATIF-v1.8"
_SOURCES = {"system": "system", "assistant": "agent"}  # all else is shown to the agent
_IMAGES = "images"
_SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
"""The media types that ATIF knows."""


def write(source: Source, draft: Path) -> Written:
    """Write a file for each chosen episode, in the order of the log, checked by the package atif.

    Of several seats each has a file: a trajectory is one agent's.
    An error that ended an episode is told in `extra`, as everything is for which ATIF has no field.
    """
    from atif import Trajectory

    num_files = 0
    for entry in source.entries():
        num_files += 1
        name = f"{num_files:06}"
        plain = _Builder(entry.episode, draft, name).trajectory()
        plain["trajectory_id"] = f"{source.folder.path.name}/{name}"
        text = json_text(plain)
        Trajectory.model_validate_json(text)
        (draft / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    return Written(source.num_episodes, num_files)


class _Builder:
    """Makes one trajectory. Its images are written as they are met."""

    def __init__(self, episode: Episode, folder: Path, name: str) -> None:
        self._episode = episode
        self._folder = folder
        self._name = name
        self._num_images = 0

    def trajectory(self) -> dict[str, Any]:
        """Return the trajectory as plain JSON data."""
        from gem_eval import __version__

        episode = self._episode
        steps = [{"step_id": number, **step} for number, step in enumerate(self._steps(), start=1)]
        usage = Outcome.of(episode).usage
        tokens: dict[str, Any] = {}
        if usage is not None:
            tokens["total_prompt_tokens"] = usage.prompt_tokens
            tokens["total_completion_tokens"] = usage.completion_tokens
        plain = {
            "schema_version": _VERSION,
            "agent": {"name": "gem-env", "version": __version__, "model_name": episode.policy},
            "steps": steps,
            "final_metrics": {"total_steps": len(steps), **tokens},
            "extra": _facts(episode),
        }
        if episode.rewrites_history:
            plain["notes"] = "Each observation is the whole prompt, and replaces those before it."
        return plain

    def _steps(self) -> Iterator[dict[str, Any]]:
        """Yield what was shown first, and then each answer with what it led to."""
        episode = self._episode
        turns = episode.turns
        if not turns:
            if episode.final_observation is not None:
                yield from self._shown(episode.final_observation, None)
            return
        yield from self._shown(turns[0].observation, turns[0].suffix)
        prompt_ids: tuple[int, ...] = ()
        for number, turn in enumerate(turns):
            given, answered = _token_parts(turn)
            prompt_ids = given if turn.new_sequence else prompt_ids + given
            yield {
                **self._answer(turn),
                **_metrics(turn, prompt_ids),
                "observation": {"results": self._results(number)},
            }
            prompt_ids += answered

    def _shown(self, observation: Observation, suffix: str | None) -> Iterator[dict[str, Any]]:
        for message in _messages(observation, suffix):
            step: dict[str, Any] = {
                "source": _SOURCES.get(message.role, "user"),
                "message": self._content(message),
            }
            if step["source"] == "agent":  # an answer that the prompt shows: nobody gave it here
                step["is_copied_context"] = True
            yield step

    def _answer(self, turn: Turn) -> dict[str, Any]:
        facts = {
            "reward": turn.reward,
            "reward_parts": dict(turn.reward_parts),
            "terminated": turn.terminated,
            "truncated": turn.truncated,
            "info": dict(turn.info),
            "tool_results": [
                {"call_id": result.call_id, "content": result.content, "is_error": result.is_error}
                for result in turn.tool_results
            ],
            "seat": turn.seat,
            "finish_reason": turn.finish_reason,
            "policy_s": turn.policy_s,
            "step_s": turn.step_s,
        }
        step: dict[str, Any] = {"source": "agent", "message": turn.action, "extra": facts}
        if turn.reasoning is not None:
            step["reasoning_content"] = turn.reasoning
        if turn.tool_calls:
            step["tool_calls"] = [
                {
                    "tool_call_id": call.id,
                    "function_name": call.name,
                    "arguments": dict(call.arguments),
                }
                for call in turn.tool_calls
            ]
        return step

    def _results(self, number: int) -> list[dict[str, Any]]:
        """Return what an answer led to: what was shown next, or at the end."""
        turns = self._episode.turns
        suffix = None
        observation = self._episode.final_observation
        if number + 1 < len(turns):
            observation = turns[number + 1].observation
            suffix = turns[number + 1].suffix
        if observation is None:
            return []
        called = {call.id for call in turns[number].tool_calls}
        results: list[dict[str, Any]] = []
        for message in _messages(observation, suffix):
            result: dict[str, Any] = {"content": self._content(message)}
            if message.call_id in called:
                result["source_call_id"] = message.call_id
            results.append(result)
        return results

    def _content(self, message: Message) -> str | list[dict[str, Any]]:
        content = message.content
        if isinstance(content, str):
            return content
        return [
            {"type": "text", "text": part.text} if isinstance(part, TextPart) else self._image(part)
            for part in content
        ]

    def _image(self, part: ImagePart) -> dict[str, Any]:
        """Write an image beside the trajectory. One of a type that ATIF lacks is named in text."""
        self._num_images += 1
        suffix = _SUFFIXES.get(part.media_type, "bin")
        path = f"{_IMAGES}/{self._name}-{self._num_images}.{suffix}"
        (self._folder / _IMAGES).mkdir(exist_ok=True)
        (self._folder / path).write_bytes(part.image)
        if suffix == "bin":
            return {"type": "text", "text": f"[an image of type {part.media_type}: {path}]"}
        return {"type": "image", "source": {"media_type": part.media_type, "path": path}}


def _messages(observation: Observation, suffix: str | None) -> list[Message]:
    """Return an observation as the policy was shown it."""
    talk = Conversation()
    talk.observe(observation, {"suffix": suffix})
    return list(talk.messages)


def _token_parts(turn: Turn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Part the token ids of a turn: what was new in the prompt, and the answer."""
    ids = turn.token_ids or ()
    num_given = 0 if turn.mask is None else len(list(takewhile(lambda bit: bit == 0, turn.mask)))
    return ids[:num_given], ids[num_given:]


def _metrics(turn: Turn, prompt_ids: Sequence[int]) -> dict[str, Any]:
    """Return the tokens of a turn, as far as they are on record."""
    metrics: dict[str, Any] = {}
    if turn.usage is not None:
        metrics["prompt_tokens"] = turn.usage.prompt_tokens
        metrics["completion_tokens"] = turn.usage.completion_tokens
    if turn.token_ids is not None:
        given, answered = _token_parts(turn)
        metrics["completion_token_ids"] = list(answered)
        if turn.mask is not None:
            metrics["prompt_token_ids"] = list(prompt_ids)
        if turn.logprobs is not None:
            metrics["logprobs"] = list(turn.logprobs[len(given) :])
    return {"metrics": metrics, "llm_call_count": 1} if metrics else {}


def _facts(episode: Episode) -> dict[str, Any]:
    """Return what says how to play the episode again, and how it ended."""
    return {
        "env_id": episode.env_id,
        "env_kwargs": dict(episode.env_kwargs),
        "wrappers": [dict(wrapper) for wrapper in episode.wrappers],
        "seed": episode.seed,
        "task": episode.task,
        "repeat": episode.repeat,
        "policy": episode.policy,
        **({"seat": episode.seats[0].name} if episode.seats else {}),
        "total_reward": episode.total_reward,
        "success": None if episode.is_error else episode.success,
        "stop_reason": episode.stop_reason,
        "error": episode.error,
        "fingerprint": episode.fingerprint(),
        "versions": dict(episode.versions),
    }
