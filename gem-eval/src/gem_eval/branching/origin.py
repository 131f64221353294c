"""Where the children of a run begin: the parent, the turn, and that both are there again.

Knows nothing about run folders.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

from gem import Message, Reply, Request, replay
from gem.cli import one_line
from gem.content import observation_text
from gem.conversation import Conversation
from gem.episode import Episode, Turn
from gem.errors import GemError, in_one_line
from gem.rollouts import PlannedEpisode, resolve
from gem.specs import EnvSpec, WrapperRef
from gem_eval.branching.record import Branch
from gem_eval.errors import BranchError, SettingsError
from gem_eval.policies import NamedPolicy
from gem_eval.settings import Settings

__all__ = ["Leading", "Origin"]

_SHOWN = 100  # characters of a value that differs
_BEFORE = 30  # of them, before the first that does


@dataclass(frozen=True, slots=True)
class Origin:
    """The parent of children, and what their run says of it."""

    parent: Episode
    record: Branch

    @property
    def spec(self) -> EnvSpec:
        """The environment as the parent had it. Raises UnknownEnv where it is not installed."""
        # The id of today finds the target; arguments and wrappers are those of the record.
        refs = tuple(WrapperRef.model_validate(ref) for ref in self.parent.wrappers)
        update = {"kwargs": dict(self.parent.env_kwargs), "wrappers": refs}
        return resolve(self.parent.env_id).model_copy(update=update)

    def plan(self, settings: Settings) -> list[PlannedEpisode]:
        """List the children. Raises SettingsError on what chooses other episodes than these.

        Each is a repeat of its own, none that of the parent, so that a policy samples anew.
        """
        if not isinstance(settings.episodes, int) or settings.repeats != 1:
            raise SettingsError(
                f"episodes={settings.episodes} and repeats={settings.repeats} were asked for, and "
                "a branch has a number of children, each once. Give a number of episodes alone.",
                option="episodes",
            )
        first = self.parent.repeat + 1
        return [
            PlannedEpisode(0, number, first + number, self.parent.seed, self.parent.task)
            for number in range(settings.episodes)
        ]

    def leading(self, policy: NamedPolicy) -> NamedPolicy:
        """Return a policy that takes the recorded turns, and then asks this one."""
        return Leading(policy, self.parent, self.record.turn)

    def check(self) -> None:
        """Take the turns before the branch again, and compare. Raises BranchError, GemError.

        Tools are called again, for so they are in the children: what a tool no longer answers as
        it did is a difference too.
        """
        try:
            difference = replay(_cut(self.parent, self.record.turn), live_tools=True).difference
        except GemError:
            raise
        except (Exception, SystemExit) as error:  # of an environment that is made
            raise BranchError(
                f"The environment {self.parent.env_id} of line {self.record.line} of "
                f"{self.record.run} cannot be made again: {in_one_line(error, at_most=300)}. See "
                "`gem-env show` for what it takes."
            ) from error
        if difference is not None:
            recorded, replayed = _apart(difference.recorded, difference.replayed)
            raise BranchError(
                f"Line {self.record.line} of {self.record.run} does not replay up to turn "
                f"{self.record.turn + 1}: in turn {difference.turn + 1}, {difference.field} was "
                f"{recorded} and is {replayed} now. See `gem-env replay`; a branch needs what the "
                "parent was played with."
            )


def _cut(parent: Episode, turn: int) -> Episode:
    """Return the beginning of an episode as an episode, which a replay compares to its end.

    Nobody has scored it. The end of a model's context is the one that is unsolved whatever was
    reached, so that there is nothing in the end that could differ.
    """
    turns = parent.turns[:turn]
    is_end = turn == len(parent.turns)
    seen = parent.final_observation if is_end else parent.turns[turn].observation
    return replace(
        parent,
        turns=turns,
        final_observation=seen,
        total_reward=math.fsum(each.reward for each in turns),
        terminated=False,
        truncated=True,
        stop_reason="model_length",
        error=None,
        success=False,
    )


def _apart(recorded: Any, replayed: Any) -> tuple[str, str]:
    """Return two values as text, from shortly before the first character in which they differ.

    >>> _apart("It is higher than that.", "It is lower.")
    ('"It is higher than that."', '"It is lower."')
    >>> _apart("no " * 20 + "yes", "no " * 20 + "maybe")[0]
    '...no no no no no no no no no no yes"'
    """
    first = json.dumps(recorded, ensure_ascii=False, default=repr)
    second = json.dumps(replayed, ensure_ascii=False, default=repr)
    shorter = min(len(first), len(second))
    both = enumerate(zip(first, second, strict=False))
    differs = next((place for place, (one, other) in both if one != other), shorter)
    start = max(0, differs - _BEFORE)
    return _part(first, start), _part(second, start)


def _part(text: str, start: int) -> str:
    end = start + _SHOWN
    before = "..." if start else ""
    after = "..." if end < len(text) else ""
    return f"{before}{one_line(text[start:end])}{after}"


class Leading(NamedPolicy):
    """Takes the turns of a parent up to one, and asks a policy from there on.

    Before each of them it compares what it is shown with what the parent's policy was, so that an
    episode that has left the parent's path ends as an error and is never counted as a child.
    """

    def __init__(self, policy: NamedPolicy, parent: Episode, turn: int) -> None:
        super().__init__(policy.name, policy.policy)
        self._turns = parent.turns[:turn]
        self.recorded_turns = len(self._turns)
        self._shown = _shown(parent, turn)

    def __call__(self, request: Request) -> Any:
        if request.turn < len(self._shown):
            self._compare(request)
        if request.turn >= len(self._turns):
            return super().__call__(request)
        turn = self._turns[request.turn]
        # The answer, and not what it cost, which was the parent's.
        message = Message("assistant", turn.action, turn.tool_calls)
        return Reply(message) if self.tokens is None else _with_tokens(message, turn)

    def _compare(self, request: Request) -> None:
        if request.prompt is not None:
            shown: Any = request.prompt
            recorded: Any = self._shown[request.turn].prompt
        else:
            # The new ones alone: those before were compared when they were new.
            known = self._shown[request.turn]
            shown = (len(request.messages), tuple(request.messages[-len(known.new) :]))
            recorded = (known.count, known.new)
        if shown != recorded:
            raise BranchError(
                f"The child is shown another observation in turn {request.turn + 1} than its "
                f"parent was: {_part(self._seen(request), 0)}"
            )

    def _seen(self, request: Request) -> str:
        """Return the first of the new messages that differs, or the last one."""
        if request.prompt is not None:
            return request.prompt
        known = self._shown[request.turn].new
        new = request.messages[-len(known) :]
        differing = (one for one, other in zip(new, known, strict=False) if one != other)
        return next(differing, request.messages[-1]).text


def _with_tokens(message: Message, turn: Turn) -> Reply:
    """Return a recorded answer for a policy that plays by token ids. BranchError without any."""
    if turn.token_ids is None or turn.mask is None:
        raise BranchError(
            "The policy plays by token ids, and the parent's answers are on record as text alone. "
            "Branch from an episode that such a policy played, or ask another policy."
        )
    is_generated = [bool(mask) for mask in turn.mask]
    logprobs = None if turn.logprobs is None else tuple(compress(turn.logprobs, is_generated))
    return Reply(message, tuple(compress(turn.token_ids, is_generated)), logprobs)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a policy was shown before a turn: how many messages, those new to it, or a prompt."""

    count: int
    new: tuple[Message, ...]
    prompt: str


def _shown(parent: Episode, turn: int) -> list[_Shown]:
    """Return what the parent's policy was shown in each turn up to one, that one included."""
    talk = Conversation(rewrites_history=parent.rewrites_history)
    shown = []
    known = 0  # messages that were shown, or said, before
    for recorded in parent.turns[: turn + 1]:
        talk.observe(recorded.observation, {"suffix": recorded.suffix})
        messages = talk.messages
        new = tuple(messages if parent.rewrites_history else messages[known:])
        shown.append(_Shown(len(messages), new, observation_text(recorded.observation)))
        talk.answer(Message("assistant", recorded.action, recorded.tool_calls))
        known = len(talk.messages)
    return shown
