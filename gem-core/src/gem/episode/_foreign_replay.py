"""Take the actions of a foreign episode in an environment, and compare what the log says of them.

Knows nothing about how the environment was made, or about the format of the log.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gem.content import Action, ImagePart, Message, Observation, normalise_text
from gem.conversation import Conversation
from gem.env._env import Env
from gem.env._step import Step
from gem.episode._episode import ERRORS, is_success
from gem.episode._foreign import ForeignEpisode, ForeignTurn
from gem.errors import GemError, in_one_line

__all__ = ["ForeignDifference", "ForeignReport", "replay_foreign"]

_LIMITS = frozenset({"max_turns", "max_tokens", "model_length"})  # of the run: no step shows them
_MOST_NAMED = 3  # tools that a misfit names


class ForeignDifference(NamedTuple):
    """The first thing that did not reproduce, by the log's own number of the step.

    `step` is None for what was shown before the first action.
    """

    step: int | None
    field: str
    recorded: Any
    replayed: Any


@dataclass(frozen=True, slots=True)
class ForeignReport:
    """What came of the actions of a foreign episode.

    "played": the log says nothing that could be compared. "partial": what it says reproduced, but
    its actions end before the episode does. `success` is None where the episode has no end.
    `misfit` says why the actions are not for this environment, and is empty where they are.
    """

    state: Literal["same", "different", "partial", "played"]
    difference: ForeignDifference | None
    num_compared: int
    turns_taken: int
    turns_left: tuple[ForeignTurn, ...]
    num_unread: int
    is_over: bool
    total_reward: float
    success: bool | None
    misfit: str


@dataclass(slots=True)
class _Course:
    """What happened so far."""

    num_compared: int = 0
    difference: ForeignDifference | None = None
    rewards: list[float] = field(default_factory=list)
    num_taken: int = 0
    num_unread: int = 0
    is_over: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)

    def compare(self, step: int | None, name: str, recorded: Any, *replayed: Any) -> None:
        """Compare a value with what it may be now; one that is not on record is None."""
        if recorded is None:
            return
        self.num_compared += 1
        if recorded not in replayed:
            self.differ(step, name, recorded, replayed[0])

    def differ(self, step: int | None, name: str, recorded: Any, replayed: Any) -> None:
        """Keep a difference, if it is the first: what follows one is another episode."""
        if self.difference is None:
            self.difference = ForeignDifference(step, name, recorded, replayed)


def replay_foreign(
    episode: ForeignEpisode, env: Env, *, seed: int, task: int | None, live_tools: bool = False
) -> ForeignReport:
    """Reset the environment, take the actions in order up to its end, and compare.

    The actions go on after a difference: what they reach is told as well. Calls of tools get the
    answers that the log has, and are made again with `live_tools`. Raises GemError where the
    environment refuses the seed or the task; any other error in it is a difference.
    """
    course = _Course()
    step: int | None = None
    options = {} if task is None else {"task": task}
    try:
        observation, course.info = env.reset(seed=seed, **options)
        shown = _ways_to_show(observation, course.info)
        course.compare(None, "observation", episode.observation, *shown)
        for turn in episode.turns:
            step = turn.step
            _take(course, env, turn, live_tools=live_tools)
            if course.is_over:
                break
    except (Exception, SystemExit) as error:  # an environment may raise anything
        if isinstance(error, GemError) and step is None:
            raise  # a task that it does not have, say
        course.differ(step, "exception", None, in_one_line(error))
    success = _success(course, episode, env)
    if success is not None:
        course.compare(step, "success", episode.success, success)
        course.compare(step, "total_reward", episode.total_reward, math.fsum(course.rewards))
    return ForeignReport(
        state=_state(course, episode),
        difference=course.difference,
        num_compared=course.num_compared,
        turns_taken=course.num_taken,
        turns_left=episode.turns[course.num_taken :] if course.is_over else (),
        num_unread=course.num_unread,
        is_over=course.is_over,
        total_reward=math.fsum(course.rewards),
        success=success,
        misfit=_misfit(course, episode, env),
    )


def _take(course: _Course, env: Env, turn: ForeignTurn, *, live_tools: bool) -> None:
    action = turn.action
    if live_tools:
        action = Action(action, tool_calls=action.tool_calls)
    step: Step = env.step(action)
    course.num_taken += 1
    course.rewards.append(float(step.reward))
    course.info = step.info
    course.is_over = bool(step.terminated or step.truncated)
    course.num_unread += step.info.get("action_error") == "format"
    course.compare(turn.step, "reward", turn.reward, step.reward)
    course.compare(turn.step, "terminated", turn.terminated, bool(step.terminated))
    course.compare(turn.step, "truncated", turn.truncated, bool(step.truncated))
    shown = _ways_to_show(step.observation, step.info)
    course.compare(turn.step, "observation", turn.observation, *shown)


def _ways_to_show(observation: Observation, info: Mapping[str, Any]) -> list[str]:
    """Return the texts that a log may have of an observation, the whole one first.

    An agent may have a system prompt of its own, or be shown no more than the observation: ours
    and the suffix may be absent.
    """
    texts = []
    for suffix in (info.get("suffix"), None):
        talk = Conversation()
        talk.observe(observation, {"suffix": suffix})
        messages = list(talk.messages)
        texts.append(_text(messages))
        texts.append(_text([message for message in messages if message.role != "system"]))
    return texts


def _text(messages: list[Message]) -> str:
    """Return messages as text that a file can hold, images by a mark."""
    lines: list[str] = []
    for message in messages:
        parts = (message.content,) if isinstance(message.content, str) else message.content
        for part in parts:
            if isinstance(part, ImagePart):
                lines.append("[image]")
            else:
                lines.append(part if isinstance(part, str) else part.text)
    return normalise_text("\n".join(lines))


def _success(course: _Course, episode: ForeignEpisode, env: Env) -> bool | None:
    """Say whether the task was done; None where the episode has no end that says so."""
    if episode.stop_reason == "model_length" and not course.is_over:
        return False  # as an evaluation counts it, whatever was reached until then
    if not course.is_over and episode.stop_reason not in _LIMITS:
        return None
    return is_success(course.info, math.fsum(course.rewards), env.spec)


def _state(
    course: _Course, episode: ForeignEpisode
) -> Literal["same", "different", "partial", "played"]:
    if course.difference is not None:
        return "different"
    has_end = course.is_over or episode.stop_reason in _LIMITS
    if episode.stop_reason in ERRORS or not has_end:
        return "partial"
    return "same" if course.num_compared else "played"


def _misfit(course: _Course, episode: ForeignEpisode, env: Env) -> str:
    """Say why the actions are not for this environment; an empty text where they are."""
    called = {call.name for turn in episode.turns for call in turn.action.tool_calls}
    known = {tool["function"]["name"] for tool in env.tools}
    if called and not called & known:
        tools = f"has the tools {_few(known)}" if known else "has no tools"
        return f"its actions call {_few(called)}, and this environment {tools}"
    if course.num_taken and course.num_unread == course.num_taken:
        return "the environment could read none of its actions"
    return ""


def _few(names: set[str]) -> str:
    """Name a few, each cut: they may be anybody's."""
    shown = [f"{name!r:.40}" for name in sorted(names)[:_MOST_NAMED]]
    left = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")
