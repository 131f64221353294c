"""One episode as a record: for evaluation, viewing and training alike.

It is one line of JSON. Knows nothing about how episodes are run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any, Literal, get_args

from gem.content import (
    Message,
    Observation,
    ToolCall,
    ToolResult,
    is_shallow,
    observation_from_json,
    observation_to_json,
)
from gem.conversation import Conversation, Usage
from gem.errors import in_one_line
from gem.specs import EnvSpec
from gem.step import Step

__all__ = [
    "FORMAT",
    "Episode",
    "StopReason",
    "Turn",
    "answer_of",
    "is_success",
    "plain_info",
]

FORMAT = 1

StopReason = Literal[
    "terminated",
    "truncated",
    "max_turns",
    "max_tokens",
    "model_length",
    "env_error",
    "step_timeout",
    "worker_lost",
    "policy_error",
]
"""Why an episode ended: by its task, by its own limit, by a limit of the run, or by an error.

`max_tokens` is a limit of the run on tokens, `model_length` the end of the model's own context,
which its server tells; it counts as a failure to solve the task.
"""

_ERRORS = frozenset({"env_error", "step_timeout", "worker_lost", "policy_error"})
_APART = ("suffix", "reward_parts", "tool_results")
_ROUNDING = 1e-9
# Python writes no int of more than 4,300 digits unless it is told to, and an episode that holds one
# could not be logged: an int of 4,000 digits becomes a note of its type instead.
_TOO_LONG = 10**3999


@dataclass(frozen=True, slots=True)
class Turn:
    """One action and what it led to. `observation` is what the policy saw before it.

    Durations are in seconds: `step_s` of the environment, `policy_s` of the policy. Token ids,
    logprobs and mask, where present, have equal lengths: where there is a mask, they begin with
    what the policy was given for the first time (0 in it), and with all of it where
    `new_sequence` says that what it saw before was rewritten. `reasoning` is what the policy
    thought before it acted: nothing that must reproduce.
    """

    observation: Observation
    action: str
    reward: float
    terminated: bool
    truncated: bool
    suffix: str | None = None
    reward_parts: Mapping[str, float] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    seat: int = 0
    step_s: float = 0.0
    policy_s: float = 0.0
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    mask: tuple[int, ...] | None = None
    new_sequence: bool = False
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: str | None = None

    def answered(self, step: Step) -> Turn:
        """Return the turn with what the environment answered, its next observation left out.

        Raises TypeError or ValueError on what no record could hold.
        """
        usual: dict[str, Any] = {
            "terminated": False,
            "truncated": False,
            "reward_parts": {},
            "info": {},
            "tool_results": (),
        }
        return replace(self, **(usual | answer_of(step)))

    def outcome(self) -> dict[str, Any]:
        """Return what must reproduce, as JSON data."""
        return {
            "seat": self.seat,
            "observation": observation_to_json(self.observation),
            "suffix": self.suffix,
            "action": self.action,
            "tool_calls": _calls_to_json(self.tool_calls),
            "tool_results": [_result_to_json(result) for result in self.tool_results],
            "reward": self.reward,
            "reward_parts": dict(self.reward_parts),
            "terminated": self.terminated,
            "truncated": self.truncated,
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data; what was not recorded is left out."""
        usage = self.usage and [self.usage.prompt_tokens, self.usage.completion_tokens]
        optional = {
            "token_ids": self.token_ids,
            "logprobs": self.logprobs,
            "mask": self.mask,
            "new_sequence": self.new_sequence or None,
            "finish_reason": self.finish_reason,
            "usage": usage,
            "reasoning": self.reasoning,
        }
        plain = {**self.outcome(), "info": dict(self.info)}
        plain |= {"step_s": self.step_s, "policy_s": self.policy_s}
        plain |= {name: value for name, value in optional.items() if value is not None}
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Turn:
        """Rebuild a turn. Raises KeyError, TypeError or ValueError on data of another shape."""
        known = {name: plain[name] for name in _TURN_FIELDS if name in plain}
        known["observation"] = observation_from_json(plain["observation"])
        known["tool_calls"] = Message.from_json({**_EMPTY, **plain}).tool_calls
        known["tool_results"] = tuple(
            ToolResult(result["call_id"], result["content"], result["is_error"])
            for result in plain["tool_results"]
        )
        for name in ("token_ids", "logprobs", "mask"):
            if plain.get(name) is not None:
                known[name] = tuple(plain[name])
        if plain.get("usage") is not None:
            known["usage"] = Usage(*plain["usage"])
        return cls(**known)


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished episode: what was run, what happened, and how it ended.

    `env_index`, `episode_index` and `repeat` say which episode of its run it is. `success` is
    None where an error ended it: an error is never a wrong answer. With `rewrites_history` each
    observation was the whole prompt.
    """

    env_id: str
    env_kwargs: Mapping[str, Any]
    wrappers: tuple[Mapping[str, Any], ...]
    env_index: int
    episode_index: int
    repeat: int
    seed: int
    task: int | None
    policy: str
    turns: tuple[Turn, ...]
    final_observation: Observation | None
    total_reward: float
    terminated: bool
    truncated: bool
    stop_reason: StopReason
    error: str | None
    success: bool | None
    versions: Mapping[str, str]
    duration_s: float
    format: int = FORMAT
    rewrites_history: bool = False

    @property
    def is_error(self) -> bool:
        """Whether an error ended it, rather than its task or a limit of turns."""
        return self.stop_reason in _ERRORS

    @property
    def played_turns(self) -> tuple[Turn, ...]:
        """The turns that the environment answered: without the one, if any, that failed."""
        failed_in_step = self.is_error and self.stop_reason != "policy_error"
        return self.turns[:-1] if failed_in_step else self.turns

    def messages(self) -> list[dict[str, Any]]:
        """Return the conversation as chat messages, for a trainer on demonstrations.

        It is what the policy was shown and answered, one dict a message as `Message.to_chat` gives
        it, up to the last answer that the environment took. Where each prompt replaced the one
        before it, it is the last prompt and its answer.

            rows = [{"messages": episode.messages()} for episode in episodes if episode.success]
        """
        talk = Conversation(rewrites_history=self.rewrites_history)
        for turn in self.played_turns:
            talk.observe(turn.observation, {"suffix": turn.suffix})
            talk.answer(Message("assistant", turn.action, turn.tool_calls))
        return [message.to_chat() for message in talk.messages]

    def fingerprint(self) -> str:
        """Hash what must reproduce: the same on every backend, in any order, in any process.

        Timings, versions, the policy's name, the error's text and free `info` are left out.
        """
        reproduced = {
            "env_id": self.env_id,
            "env_kwargs": self.env_kwargs,
            "wrappers": self.wrappers,
            "seed": self.seed,
            "task": self.task,
            "turns": [turn.outcome() for turn in self.turns],
            "final_observation": _optional(self.final_observation),
            "terminated": self.terminated,
            "truncated": self.truncated,
            "stop_reason": self.stop_reason,
            "success": self.success,
        }
        return blake2b(_line(reproduced, sort_keys=True), digest_size=16).hexdigest()

    def to_json(self) -> str:
        """Return one line of ASCII JSON."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        plain["turns"] = [turn.to_json() for turn in self.turns]
        plain["final_observation"] = _optional(self.final_observation)
        if not self.rewrites_history:  # a record has it only where it holds
            del plain["rewrites_history"]
        return _line(plain).decode("ascii")

    @classmethod
    def from_json(cls, text: str | bytes) -> Episode:
        """Rebuild an episode. Raises ValueError on text that is not one."""
        try:
            return cls._from_plain(json.loads(text))
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"not an episode: {in_one_line(error)}") from error

    @classmethod
    def _from_plain(cls, plain: dict[str, Any]) -> Episode:
        if plain["format"] != FORMAT:
            raise ValueError(f"format {plain['format']!r}, and this version reads {FORMAT}")
        if plain["stop_reason"] not in get_args(StopReason):
            raise ValueError(f"unknown stop reason {plain['stop_reason']!r}")
        known = {each.name: plain[each.name] for each in fields(cls) if each.default is MISSING}
        known["rewrites_history"] = plain.get("rewrites_history", False)
        known["turns"] = tuple(map(Turn.from_json, plain["turns"]))
        known["wrappers"] = tuple(plain["wrappers"])
        final = plain["final_observation"]
        known["final_observation"] = None if final is None else observation_from_json(final)
        return cls(**known)


def answer_of(step: Step) -> dict[str, Any]:
    """Return what a turn records of a step, by field; empty fields and False are left out.

    Raises TypeError or ValueError on what no record could hold.
    """
    _, reward, terminated, truncated, info = step
    answer: dict[str, Any] = {"reward": _finite(reward)}
    if terminated or truncated or info:
        parts = info.get("reward_parts", {})
        others = {
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "reward_parts": {str(name): _finite(part) for name, part in parts.items()},
            "info": plain_info(info),
            "tool_results": tuple(map(_checked_result, info.get("tool_results", ()))),
        }
        answer |= {name: value for name, value in others.items() if value}
    return answer


def plain_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON data of `info`, without what a turn records apart.

    A value that JSON cannot hold, or only far too deep, becomes a note of its type.
    """
    return {str(name): _plain(value) for name, value in info.items() if name not in _APART}


def _plain(value: Any) -> Any:
    if value is None or type(value) in (str, bool):
        return value
    if type(value) is int:
        return value if -_TOO_LONG < value < _TOO_LONG else _type_note(value)
    try:
        plain = json.loads(json.dumps(value, allow_nan=False))
        if is_shallow(plain):
            return plain
    except (TypeError, ValueError, RecursionError):
        pass
    return _type_note(value)


def _type_note(value: Any) -> dict[str, str]:
    return {"$opaque": f"{type(value).__module__}.{type(value).__qualname__}"}


_TURN_FIELDS = tuple(each.name for each in fields(Turn))
_EMPTY = {"role": "assistant", "content": ""}


def _calls_to_json(calls: tuple[ToolCall, ...]) -> Any:
    return Message("assistant", "", calls).to_json().get("tool_calls", [])


def _result_to_json(result: ToolResult) -> dict[str, Any]:
    return {"call_id": result.call_id, "content": result.content, "is_error": result.is_error}


def _checked_result(result: Any) -> ToolResult:
    if isinstance(result, ToolResult):
        kinds = (type(result.call_id), type(result.content), type(result.is_error))
        if kinds == (str, str, bool):
            return result
    raise TypeError(f"tool_results holds {result!r:.60}, and must hold ToolResults of text")


def _finite(reward: Any) -> float:
    try:
        is_finite = math.isfinite(reward)
    except TypeError:
        raise TypeError(
            f"step returned the reward {reward!r:.60}, and it must be a number"
        ) from None
    if is_finite:
        return float(reward)
    raise ValueError(f"step returned the reward {reward!r}, and it must be finite")


def _optional(observation: Observation | None) -> Any:
    return None if observation is None else observation_to_json(observation)


def _line(plain: Mapping[str, Any], *, sort_keys: bool = False) -> bytes:
    text = json.dumps(plain, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def is_success(info: Mapping[str, Any], total: float, spec: EnvSpec | None) -> bool:
    """Say whether an episode succeeded: its last info knows, or else its return does.

    Without a spec a return of 1 is enough.
    """
    success_return = 1.0 if spec is None else spec.success_return
    return bool(info.get("success", total >= success_return - _ROUNDING))
