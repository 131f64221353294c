"""One turn of an episode as a record: an action, and what the environment answered.

Knows nothing about the episode that the turn is of, or about how it was played.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gem.content import (
    Message,
    Observation,
    ToolCall,
    ToolResult,
    is_shallow,
    observation_from_json,
    observation_to_json,
)
from gem.conversation import Usage
from gem.env._step import Step
from gem.parsing import FAMILIES

__all__ = ["Turn", "answer_of", "plain_info", "seated_answer_of"]

_APART = ("suffix", "reward_parts", "tool_results")  # of an info: a turn has a field for each
_OF_SEATS = frozenset({"seat", "rewards", "ends", "observations", "successes"})
"""Of an info of several seats: the record has them in fields of the turn or of the episode."""
_ENDS = ("terminated", "truncated")
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
    thought before it acted: nothing that must reproduce. Of several seats, `seat` is who acted,
    `rewards` what each earned by it, and `ends` has those that are out by it, by their numbers as
    text.
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
    rewards: tuple[float, ...] | None = None
    ends: Mapping[str, str] = field(default_factory=dict)

    def answered(self, step: Step, *, seats: int = 1) -> Turn:
        """Return the turn with what the environment answered, its next observation left out.

        `seats` is how many the environment has. Raises TypeError or ValueError on what no record
        could hold.
        """
        usual: dict[str, Any] = {
            "terminated": False,
            "truncated": False,
            "reward_parts": {},
            "info": {},
            "tool_results": (),
            "ends": {},
        }
        # What `answer_of` leaves out must not stay as the turn had it before.
        answer = answer_of(step) if seats == 1 else seated_answer_of(step, seats)
        return replace(self, **(usual | answer))

    def message(self) -> Message:
        """Return the answer as a message of a chat: its calls, and the text beside them."""
        return Message("assistant", self._text_beside_calls(), self.tool_calls)

    def _text_beside_calls(self) -> str:
        # An answer that was played by tokens has its calls in its text too, in the format of its
        # model, and a chat template would write each of them a second time.
        if self.token_ids is None or not self.tool_calls:
            return self.action
        made = [(call.name, call.arguments) for call in self.tool_calls]
        by_names: str | None = None
        for make in FAMILIES.values():
            answer = make(()).parse(self.action)
            read = [(call.name, call.arguments) for call in answer.calls]
            if answer.errors or [name for name, _ in read] != [name for name, _ in made]:
                continue
            if read == made:
                return answer.text.strip()
            # A format that writes arguments without their types is read by the schemas of the
            # tools, which no record has: there the names have to do.
            by_names = answer.text.strip() if by_names is None else by_names
        return self.action if by_names is None else by_names

    def outcome(self) -> dict[str, Any]:
        """Return what must reproduce, as JSON data."""
        reproduced = {
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
        if self.rewards is not None:  # of one seat a record is as it was
            reproduced["rewards"] = list(self.rewards)
            reproduced["ends"] = dict(self.ends)
        return reproduced

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data; what was not recorded is left out."""
        usage = None
        if self.usage is not None:
            usage = [self.usage.prompt_tokens, self.usage.completion_tokens]
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
        # A record of an earlier version lacks fields, and one of a later has others: both are read.
        known = {name: plain[name] for name in _TURN_FIELDS if name in plain}
        known["observation"] = observation_from_json(plain["observation"])
        known["tool_calls"] = Message.from_json({**_EMPTY, **plain}).tool_calls
        known["tool_results"] = tuple(
            ToolResult(result["call_id"], result["content"], result["is_error"])
            for result in plain["tool_results"]
        )
        for name in ("token_ids", "logprobs", "mask", "rewards"):
            if plain.get(name) is not None:
                known[name] = tuple(plain[name])
        if plain.get("usage") is not None:
            known["usage"] = Usage(*plain["usage"])
        return cls(**known)


_TURN_FIELDS = tuple(turn_field.name for turn_field in fields(Turn))
_EMPTY = {"role": "assistant", "content": ""}  # around tool calls, to read them as a message's


def answer_of(step: Step) -> dict[str, Any]:
    """Return what a turn records of a step, by field; empty fields and False are left out.

    Raises TypeError or ValueError on what no record could hold.
    """
    # Unpacked, and most fields left out: this runs in every turn (benchmarks/overhead.py), and
    # most turns have nothing but a reward.
    _, reward, terminated, truncated, info = step
    answer: dict[str, Any] = {"reward": _finite(reward)}
    if terminated or truncated or info:
        if type(info) is not dict and not isinstance(info, Mapping):  # most are: tested first
            raise TypeError(f"step returned the info {info!r:.60}, and it must be a dict")
        parts = info.get("reward_parts", {})
        if not isinstance(parts, Mapping):
            raise TypeError(f"info['reward_parts'] is {parts!r:.60}, and it must be a dict")
        others = {
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "reward_parts": {str(name): _finite(part) for name, part in parts.items()},
            "info": plain_info(info),
            "tool_results": tuple(map(_checked_result, info.get("tool_results", ()))),
        }
        answer |= {name: value for name, value in others.items() if value}
    return answer


def seated_answer_of(step: Step, seats: int) -> dict[str, Any]:
    """Return what a turn records of a step of several seats, as `answer_of` does of one.

    Its rewards are always there.
    """
    rewards = tuple(map(_finite, step.rewards))
    if len(rewards) != seats:
        raise ValueError(f"step returned {len(rewards)} rewards, and there are {seats} seats")
    ends = {str(seat): end for seat, end in step.ends.items()}
    if not all(end in _ENDS for end in ends.values()):
        raise ValueError(f"step returned the ends {ends!r:.60}, which are of {_ENDS}")
    own_info = {name: value for name, value in step.info.items() if name not in _OF_SEATS}
    answer = answer_of(step._replace(info=own_info))
    answer["rewards"] = rewards
    if ends:
        answer["ends"] = ends
    return answer


def plain_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON data of `info`, without what a turn records apart.

    A value that JSON cannot hold, or only far too deep, becomes a note of its type.
    """
    return {str(name): _json_or_note(value) for name, value in info.items() if name not in _APART}


def _json_or_note(value: Any) -> Any:
    """Return a value as it comes back from JSON, or a note of its type."""
    if value is None or type(value) in (str, bool):
        return value
    if type(value) is int:
        return value if -_TOO_LONG < value < _TOO_LONG else _type_note(value)
    try:
        # There and back: what a record holds equals what is read from it, tuples as lists.
        plain = json.loads(json.dumps(value, allow_nan=False))
        if is_shallow(plain):
            return plain
    except (TypeError, ValueError, RecursionError):
        pass
    return _type_note(value)


def _type_note(value: Any) -> dict[str, str]:
    return {"$opaque": f"{type(value).__module__}.{type(value).__qualname__}"}


def _calls_to_json(calls: tuple[ToolCall, ...]) -> Any:
    return Message("assistant", "", calls).to_json().get("tool_calls", [])


def _result_to_json(result: ToolResult) -> dict[str, Any]:
    return {"call_id": result.call_id, "content": result.content, "is_error": result.is_error}


def _checked_result(result: Any) -> ToolResult:
    """Return a result of a tool. Raises TypeError on what no record could hold."""
    if isinstance(result, ToolResult):
        kinds = (type(result.call_id), type(result.content), type(result.is_error))
        if kinds == (str, str, bool):
            return result
    raise TypeError(f"tool_results holds {result!r:.60}, and must hold ToolResults of text")


def _finite(reward: Any) -> float:
    """Return a reward as a float. Raises TypeError or ValueError where it is no finite number."""
    try:
        is_finite = math.isfinite(reward)
    except TypeError:
        raise TypeError(
            f"step returned the reward {reward!r:.60}, and it must be a number"
        ) from None
    if is_finite:
        return float(reward)
    raise ValueError(f"step returned the reward {reward!r}, and it must be finite")
