"""One episode as a record: for evaluation, viewing and training alike.

It is one line of JSON. Knows nothing about how episodes are run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from hashlib import blake2b
from typing import Any, Literal, get_args

from gem.content import Observation, observation_from_json, observation_to_json
from gem.conversation import Conversation
from gem.episode._parts import part_of
from gem.episode._seats import ROUNDING, SeatOutcome
from gem.episode._turn import Turn
from gem.errors import BadArguments, in_one_line
from gem.specs import EnvSpec

__all__ = ["ERRORS", "FORMAT", "SEATED_FORMAT", "Episode", "StopReason", "is_success"]

FORMAT = 1
SEATED_FORMAT = 2  # of several seats: a reader that knows of one alone refuses the record

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

ERRORS = frozenset({"env_error", "step_timeout", "worker_lost", "policy_error"})
"""The stop reasons of episodes that an error ended."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished episode: what was run, what happened, and how it ended.

    `env_index`, `episode_index` and `repeat` say which episode of its run it is. `success` is
    None where an error ended it: an error is never a wrong answer. With `rewrites_history` each
    observation was the whole prompt.

    Of several seats `seats` has how it went for each; `total_reward` is the sum, `success` that of
    all, `policy` the names joined. `stopped_by` is the seat whose policy failed or had no room for
    an answer. What scores or trains takes `parts()`, whose `seats` has the one outcome.
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
    seats: tuple[SeatOutcome, ...] = ()
    stopped_by: int | None = None

    @property
    def is_error(self) -> bool:
        """Whether an error ended it, rather than its task or a limit of turns."""
        return self.stop_reason in ERRORS

    @property
    def played_turns(self) -> tuple[Turn, ...]:
        """The turns that the environment answered: without the one, if any, that failed."""
        # A policy's error comes before the action: the last turn on record was then answered.
        failed_in_step = self.is_error and self.stop_reason != "policy_error"
        if self._is_part:  # it has none that failed
            return self.turns
        return self.turns[:-1] if failed_in_step else self.turns

    @property
    def _is_part(self) -> bool:
        return len(self.seats) == 1

    def of_seat(self, seat: int) -> Episode:
        """Return one seat's part, as an episode of one seat. Raises BadArguments on no such seat.

        It has no other seat's turn, info or text. The reward of a turn is what its seat earned
        from then to its next turn; what came before its first counts there. A part is not written
        to a log and not replayed.
        """
        if not 0 <= seat < max(1, len(self.seats)):
            raise BadArguments(
                f"The part of seat {seat} was asked for, and the seats of this episode are 0 to "
                f"{max(1, len(self.seats)) - 1}. Give one of these numbers.",
                subject="seat",
            )
        return self if len(self.seats) < 2 else part_of(self, seat)

    def parts(self) -> tuple[Episode, ...]:
        """Return the part of each seat; of one seat the episode itself."""
        return tuple(self.of_seat(seat) for seat in range(max(1, len(self.seats))))

    def messages(self) -> list[dict[str, Any]]:
        """Return the conversation as chat messages, for a trainer on demonstrations.

        It is what the policy was shown and answered, one dict a message as `Message.to_chat` gives
        it, up to the last answer that the environment took. Where each prompt replaced the one
        before it, it is the last prompt and its answer.

            rows = [{"messages": episode.messages()} for episode in episodes if episode.success]

        Raises BadArguments for several seats, each of which has a conversation of its own.
        """
        if len(self.seats) > 1:
            raise BadArguments(
                f"The conversation of an episode of {len(self.seats)} seats was asked for, and "
                "each seat has its own. Take it of each of `parts()`.",
                subject="messages",
            )
        talk = Conversation(rewrites_history=self.rewrites_history)
        for turn in self.played_turns:
            talk.observe(turn.observation, {"suffix": turn.suffix})
            talk.answer(turn.message())
        return [message.to_chat() for message in talk.messages]

    def fingerprint(self) -> str:
        """Hash what must reproduce: the same on every backend, in any order, in any process.

        Timings, versions, the policy's name, the error's text and free `info` are left out.
        """
        # Fingerprints are stored and compared across versions: nothing is added or left out here.
        reproduced = {
            "env_id": self.env_id,
            "env_kwargs": self.env_kwargs,
            "wrappers": self.wrappers,
            "seed": self.seed,
            "task": self.task,
            "turns": [turn.outcome() for turn in self.turns],
            "final_observation": _observation_or_none(self.final_observation),
            "terminated": self.terminated,
            "truncated": self.truncated,
            "stop_reason": self.stop_reason,
            "success": self.success,
        }
        if len(self.seats) > 1:
            reproduced["seats"] = [outcome.reproduced() for outcome in self.seats]
        return blake2b(_json_line(reproduced, sort_keys=True), digest_size=16).hexdigest()

    def to_json(self) -> str:
        """Return one line of ASCII JSON. Raises BadArguments for a part: it is no whole record."""
        if self._is_part:
            raise BadArguments(
                f"The part of the seat {self.seats[0].name!r} was to be written, and a record has "
                "all seats. Write the episode that the part was taken of.",
                subject="episode",
            )
        # In the order of the fields, env_id first: a log knows its lines by how they begin.
        plain = {own_field.name: getattr(self, own_field.name) for own_field in fields(self)}
        plain["turns"] = [turn.to_json() for turn in self.turns]
        plain["final_observation"] = _observation_or_none(self.final_observation)
        if not self.rewrites_history:  # a record has it only where it holds
            del plain["rewrites_history"]
        if self.seats:
            plain["seats"] = [outcome.to_json() for outcome in self.seats]
        else:
            del plain["seats"]
            del plain["stopped_by"]
        return _json_line(plain).decode("ascii")

    @classmethod
    def from_json(cls, text: str | bytes) -> Episode:
        """Rebuild an episode. Raises ValueError on text that is not one."""
        try:
            return cls._from_plain(json.loads(text))
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"not an episode: {in_one_line(error)}") from error

    @classmethod
    def _from_plain(cls, plain: dict[str, Any]) -> Episode:
        if plain["format"] not in (FORMAT, SEATED_FORMAT):
            raise ValueError(
                f"format {plain['format']!r}, and this version reads {FORMAT} and {SEATED_FORMAT}"
            )
        if plain["stop_reason"] not in get_args(StopReason):
            raise ValueError(f"unknown stop reason {plain['stop_reason']!r}")
        # Fields with a default came later: a record of an earlier version lacks them.
        required = [own_field.name for own_field in fields(cls) if own_field.default is MISSING]
        known = {name: plain[name] for name in required}
        if plain["format"] == SEATED_FORMAT:
            known["format"] = SEATED_FORMAT
            known["seats"] = tuple(map(SeatOutcome.from_json, plain["seats"]))
            known["stopped_by"] = plain["stopped_by"]
        known["rewrites_history"] = plain.get("rewrites_history", False)
        known["turns"] = tuple(map(Turn.from_json, plain["turns"]))
        known["wrappers"] = tuple(plain["wrappers"])
        final = plain["final_observation"]
        known["final_observation"] = None if final is None else observation_from_json(final)
        return cls(**known)


def _observation_or_none(observation: Observation | None) -> Any:
    return None if observation is None else observation_to_json(observation)


def _json_line(plain: Mapping[str, Any], *, sort_keys: bool = False) -> bytes:
    text = json.dumps(plain, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def is_success(info: Mapping[str, Any], total: float, spec: EnvSpec | None) -> bool:
    """Say whether an episode succeeded: its last info knows, or else its return does.

    Without a spec a return of 1 is enough. Raises TypeError where the info has a text or a list,
    which would be true whatever it says.
    """
    if "success" not in info:
        success_return = 1.0 if spec is None else spec.success_return
        return total >= success_return - ROUNDING
    success = info["success"]
    if not hasattr(success, "__bool__"):  # numpy's have it, and texts and lists have not
        raise TypeError(f"info['success'] is {success!r:.60}, and it must be true or false")
    return bool(success)
