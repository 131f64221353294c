"""An episode as a sample of an inspect_ai log, in plain JSON data.

Knows nothing about the file that holds it. Times of day are not on record: in each sample the clock
begins where the run did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from gem.content import Message, observation_text
from gem.conversation import Conversation
from gem.episode import Episode, Turn
from gem_eval.summary import Outcome

__all__ = ["sample_of", "summary_of", "usage_of"]

_STOP_REASONS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls"}
_MOST_INPUT = 5000
_MOST_TEXT = 1000
"""Characters of a text in a summary: a viewer loads those of all samples at once."""


def sample_of(episode: Episode, sample_id: str, began: datetime) -> dict[str, Any]:
    """Return the whole sample. One that an error ended has the error, and no score."""
    transcript = _Transcript(episode, began)
    for turn in episode.turns:
        transcript.add(turn)
    if episode.is_error:
        transcript.fail(_error(episode))
    return {
        **_head(episode, sample_id, transcript.first_input),
        "messages": transcript.messages,
        "output": transcript.output,
        "metadata": _metadata(episode),
        "events": transcript.events,
        "events_data": {"messages": transcript.pool, "calls": []},
        "started_at": began.isoformat(),
        "completed_at": (began + timedelta(seconds=episode.duration_s)).isoformat(),
        "error": _error(episode) if episode.is_error else None,
    }


def summary_of(sample: Mapping[str, Any], episode: Episode) -> dict[str, Any]:
    """Return what a list of samples shows: the head of a sample, its texts cut."""
    shown = ("id", "epoch", "target", "scores", "model_usage", "total_time", "working_time")
    metadata = {
        name: value[:_MOST_TEXT] if isinstance(value, str) else value
        for name, value in sample["metadata"].items()
        if not isinstance(value, (dict, list))
    }
    return {
        **{name: sample[name] for name in (*shown, "turn_count", "started_at", "completed_at")},
        "input": _text_of(sample["input"])[:_MOST_INPUT],
        "metadata": metadata,
        "error": None if sample["error"] is None else sample["error"]["message"][:_MOST_TEXT],
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def usage_of(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    """Return tokens as a ModelUsage."""
    return {
        "input_tokens": prompt_tokens,
        "output_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def _head(episode: Episode, sample_id: str, first_input: list[dict[str, Any]]) -> dict[str, Any]:
    outcome = Outcome.of(episode)
    usage = outcome.usage
    tokens = None if usage is None else usage_of(usage.prompt_tokens, usage.completion_tokens)
    return {
        "id": sample_id,
        "epoch": episode.repeat + 1,
        "input": first_input,
        "target": "",
        "scores": None if episode.is_error else _scores(episode),
        "model_usage": {} if tokens is None else {episode.policy: tokens},
        "total_time": episode.duration_s,
        "working_time": outcome.policy_s + outcome.environment_s,
        "turn_count": outcome.turns,
    }


def _scores(episode: Episode) -> dict[str, Any]:
    return {
        "success": {"value": "C" if episode.success else "I", "explanation": episode.stop_reason},
        "return": {"value": episode.total_reward},
    }


def _error(episode: Episode) -> dict[str, str]:
    message = f"{episode.stop_reason}: {episode.error or 'nothing more is known'}"
    return {"message": message, "traceback": "", "traceback_ansi": ""}


def _metadata(episode: Episode) -> dict[str, Any]:
    final = episode.final_observation
    return {
        # As text: a browser rounds numbers beyond 2**53.
        "seed": str(episode.seed),
        "task": episode.task,
        **({"seat": episode.seats[0].name} if episode.seats else {}),
        "episode_index": episode.episode_index,
        "stop_reason": episode.stop_reason,
        "total_reward": episode.total_reward,
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "final_observation": None if final is None else observation_text(final),
        "fingerprint": episode.fingerprint(),
        "env_kwargs": dict(episode.env_kwargs),
        "wrappers": [dict(wrapper) for wrapper in episode.wrappers],
        "versions": dict(episode.versions),
    }


class _Transcript:
    """The messages and events of an episode, in order.

    The input of a call to a model is a range of `pool`, which has each message once: of a long
    episode the inputs themselves would be as long as its square.
    """

    def __init__(self, episode: Episode, began: datetime) -> None:
        self.pool: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.first_input: list[dict[str, Any]] = []
        self.output: dict[str, Any] = {"model": episode.policy, "choices": [], "completion": ""}
        self._episode = episode
        self._began = began
        self._elapsed_s = 0.0
        self._prompt_start = 0  # in the pool: it moves where prompts are written anew
        self._tool_names: dict[str, str] = {}

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation: the last prompt, and what was answered to it."""
        return self.pool[self._prompt_start :]

    def add(self, turn: Turn) -> None:
        """Add a turn: what was shown, the call of the model, its tools, and the reward."""
        if self._episode.rewrites_history:
            self._prompt_start = len(self.pool)
        observed = Conversation(rewrites_history=self._episode.rewrites_history)
        observed.observe(turn.observation, {"suffix": turn.suffix})
        errors = {result.call_id for result in turn.tool_results if result.is_error}
        for message in observed.messages:
            self.pool.append(self._message(message, "input"))
        if not self.events:
            self.first_input = list(self.messages)
        self._call_model(turn)
        self._call_tools(turn, errors)
        self._event(
            "info",
            source="gem",
            data={
                "reward": turn.reward,
                "reward_parts": dict(turn.reward_parts),
                "terminated": turn.terminated,
                "truncated": turn.truncated,
                "info": dict(turn.info),
            },
        )

    def fail(self, error: Mapping[str, str]) -> None:
        """Add the error that ended the episode."""
        self._event("error", error=error)

    def _call_model(self, turn: Turn) -> None:
        prompt = [self._prompt_start, len(self.pool)]
        answer = self._message(
            Message("assistant", turn.action, turn.tool_calls), "generate", turn.reasoning
        )
        self.pool.append({**answer, "model": self._episode.policy})
        stop_reason = _STOP_REASONS.get(turn.finish_reason or "", "unknown")
        self.output = {
            "model": self._episode.policy,
            "choices": [{"message": self.pool[-1], "stop_reason": stop_reason}],
            "completion": turn.action,
            "time": turn.policy_s,
        }
        if turn.usage is not None:
            usage = turn.usage
            self.output["usage"] = usage_of(usage.prompt_tokens, usage.completion_tokens)
        self._event(
            "model",
            turn.policy_s,
            model=self._episode.policy,
            input=[],
            input_refs=[prompt],
            tools=[],
            tool_choice="auto",
            config={},
            output=self.output,
        )

    def _call_tools(self, turn: Turn, errors: set[str]) -> None:
        arguments = {call.id: dict(call.arguments) for call in turn.tool_calls}
        for result in turn.tool_results:
            is_error = result.call_id in errors
            self._event(
                "tool",
                id=result.call_id,
                function=self._tool_names.get(result.call_id, "unknown"),
                arguments=arguments.get(result.call_id, {}),
                result=result.content,
                error={"type": "unknown", "message": result.content} if is_error else None,
            )
        self._elapsed_s += turn.step_s

    def _event(self, event: str, working_time: float | None = None, **more: Any) -> None:
        started = self._began + timedelta(seconds=self._elapsed_s)
        plain = {
            "uuid": f"{len(self.events) + 1}",
            "event": event,
            "timestamp": started.isoformat(),
            "working_start": self._elapsed_s,
            **more,
        }
        if working_time is not None:
            self._elapsed_s += working_time
            completed = self._began + timedelta(seconds=self._elapsed_s)
            plain |= {"working_time": working_time, "completed": completed.isoformat()}
        self.events.append(plain)

    def _message(
        self, message: Message, source: str, reasoning: str | None = None
    ) -> dict[str, Any]:
        self._tool_names |= {call.id: call.name for call in message.tool_calls}
        plain: dict[str, Any] = {
            "id": f"{len(self.pool) + 1}",
            "role": message.role,
            "content": _content(message, reasoning),
        }
        if message.role == "tool":
            called = self._tool_names.get(message.call_id or "")
            return {**plain, "tool_call_id": message.call_id, "function": called}
        plain["source"] = source
        if message.role == "assistant" and message.tool_calls:
            plain["tool_calls"] = [
                {
                    "id": call.id,
                    "function": call.name,
                    "arguments": dict(call.arguments),
                    "type": "function",
                }
                for call in message.tool_calls
            ]
        return plain


def _content(message: Message, reasoning: str | None) -> Any:
    content = message.to_chat()["content"]
    if reasoning is None:
        return content
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [{"type": "reasoning", "reasoning": reasoning}, *parts]


def _text_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of messages, without their images."""
    texts: list[str] = []
    for message in messages:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts += [part["text"] for part in parts if part["type"] == "text"]
    return "\n".join(texts)
