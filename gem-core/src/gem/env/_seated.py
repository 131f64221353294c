"""An environment of several seats: who is told what, who is asked, what each earns.

What is told a seat between two of its turns is one observation. The rules of use, and the hearing
of rounds, are put around each class as it is defined (`gem.env._lifecycle._seating`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Union

from gem.content import Message, Observation
from gem.env._env import Env
from gem.env._joining import joined
from gem.env._lifecycle._phases import NEW, misuse
from gem.env._step import Step
from gem.errors import BadArguments, SnapshotError

__all__ = ["End", "Rewards", "SeatedEnv", "Successes"]

End = Literal["terminated", "truncated"]
"""How a seat is out: by its task, or by a limit."""
Rewards = Union[Mapping[int, float], Sequence[float], None]
"""What an action earned: by seat, 0 for those that are not named, or a number a seat."""
Successes = Union[bool, Sequence[bool], Mapping[int, bool], None]
"""Whether each seat did its task, or all of them; None where its total says it."""


class SeatedEnv(Env):
    """Subclass this for a game of several players: name its `seats`, write `reset` and `step`.

    `reset` ends with `begin`, and `step` with `ask` or `end`. Inside `step`, `self.seat` is who
    acted. A round, in which several seats answer the same moment, is `ask(a, b, ...)`: each action
    is still a step and a turn, and the last one calls `step_all` with all of them.

    >>> class Pennies(SeatedEnv):
    ...     seats = ("even", "odd")
    ...     zero_sum = True
    ...     def reset(self, seed=None):
    ...         self.tell_all("Show heads or tails.")
    ...         return self.begin(0, 1)
    ...     def step_all(self, actions):
    ...         reward = 1.0 if actions[0] == actions[1] else -1.0
    ...         self.tell_all(f"Even showed {actions[0]}, odd {actions[1]}.")
    ...         return self.end({0: reward, 1: -reward})
    >>> env = Pennies()
    >>> observation, info = env.reset(seed=1)
    >>> env.step("heads").observations, env.seat
    ({}, 1)
    >>> env.step("tails").rewards
    (-1.0, 1.0)
    """

    seats: tuple[str, ...] = ("first", "second")

    _is_seated: ClassVar[bool] = True
    # What each seat was told and not shown yet. It is empty before the first reset.
    _untold: list[list[str | Message]]
    _asked: tuple[int, ...] = ()
    _questions: dict[int, Observation]  # of the round that is heard: what each seat is to answer
    _heard: dict[int, str]  # of that round: the actions so far
    _ends: dict[int, str]  # the seats that are out
    _new_ends: dict[int, str]  # those of them that no step has told yet

    def step_all(self, actions: Mapping[int, str]) -> Step | Awaitable[Step]:
        """Take the actions of a round, by seat, after `ask(a, b, ...)`. It may be awaitable."""
        raise NotImplementedError(
            f"{type(self).__name__} asked several seats at once, and defines no step_all."
        )

    def secrets(self) -> Mapping[int, Sequence[str]]:
        """Return texts that only one seat may be shown before the end, by seat: for the checks."""
        return {}

    def tell(self, seat: int, *texts: str | Message) -> None:
        """Tell a seat what it sees when it is next asked, or at the end."""
        known = self._known(seat, "tell")
        for text in texts:
            if not isinstance(text, (str, Message)):
                raise self._wrong(
                    f"tell({seat}, {text!r:.60}) was called, and what is told is text or a "
                    "gem.Message."
                )
        self._untold[known] += texts

    def tell_all(self, *texts: str | Message, but: int | None = None) -> None:
        """Tell every seat, or all but one."""
        for seat in range(len(self.seats)):
            if seat != but:
                self.tell(seat, *texts)

    def peek(self, seat: int) -> Observation:
        """Return what a seat was told and not shown yet. Nothing is changed by it."""
        known = self._known(seat, "peek")
        return joined(self._untold[known])

    def is_out(self, seat: int) -> bool:
        """Say whether a seat was dropped, or the episode has ended."""
        return self._known(seat, "is_out") in self._ends

    def drop(self, seat: int, end: End = "terminated") -> None:
        """Let a seat be out from here on: it is asked no more, and may still earn.

        It is shown the rest at the end. Raises BadArguments where it is out already.
        """
        if self._known(seat, "drop") in self._ends:
            raise self._wrong(f"drop({seat}) was called, and that seat is out. Drop a seat once.")
        self._ends[seat] = end
        self._new_ends[seat] = end

    def begin(
        self, *seats: int, info: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Ask the first seat, or the seats of the first round: what `reset` returns."""
        asked_info = self._ask("begin", seats, info)
        return asked_info["observations"][seats[0]], asked_info

    def ask(
        self, *seats: int, rewards: Rewards = None, info: Mapping[str, Any] | None = None
    ) -> Step:
        """Go on: ask a seat, or several at once for a round. It is what `step` returns.

        Raises BadArguments for no seat, for one that is out or comes twice, and for one that was
        told nothing: its policy would answer an empty message.
        """
        earned = self._earned(rewards)
        actor = self.seat  # before it is the turn of another
        asked_info = self._ask("ask", seats, info)
        asked_info["rewards"] = earned
        return Step(asked_info["observations"][seats[0]], earned[actor], False, False, asked_info)

    def end(
        self,
        rewards: Rewards = None,
        *,
        success: Successes = None,
        truncated: bool = False,
        info: Mapping[str, Any] | None = None,
    ) -> Step:
        """End the episode for every seat, and show each what it was told. `step` returns it."""
        earned = self._earned(rewards)
        how: End = "truncated" if truncated else "terminated"
        for seat in range(len(self.seats)):
            if seat not in self._ends:
                self.drop(seat, how)
        self._asked = ()
        end_info = self._info(range(len(self.seats)), info, self.seat)
        end_info["rewards"] = earned
        if success is not None:
            successes = self._successes(success)
            end_info["successes"] = successes
            end_info["success"] = all(successes)
        observation = end_info["observations"][self.seat]
        return Step(observation, earned[self.seat], not truncated, truncated, end_info)

    def hint(self, method: str, seat: int = 0) -> str | None:
        acting = self.seat
        self.seat = self._known(seat, "hint")
        try:
            return super().hint(method, seat)
        finally:
            self.seat = acting

    def _lay_table(self) -> None:
        """Forget the episode before: nobody is told anything, and nobody is out."""
        seats = self.seats
        if not _are_names(seats):
            raise self._wrong(
                f"{type(self).__name__} has the seats {seats!r:.80}. Give two or more names that "
                "differ, in a tuple."
            )
        self.seat = 0
        self._untold = [[] for _ in seats]
        self._asked = ()
        self._questions = {}
        self._heard = {}
        self._ends = {}
        self._new_ends = {}

    def _hear(self, action: str) -> Step | None:
        """Keep an action of a round, and return the step that it is; None for the last action."""
        if len(self._asked) < 2:
            return None
        self._heard[self.seat] = action
        waiting = [seat for seat in self._asked if seat not in self._heard]
        if not waiting:
            return None
        self.seat = waiting[0]
        info = {
            "seat": self.seat,
            "rewards": (0.0,) * len(self.seats),
            "observations": {},
            # In the record this alone tells a round from turns that follow one another.
            "waiting_seats": tuple(waiting),
        }
        return Step(self._questions[self.seat], 0.0, False, False, info)

    def _take_round(self) -> dict[int, str]:
        """Forget the round that was heard, and return its actions; none where it was no round."""
        actions = {seat: self._heard[seat] for seat in self._asked if seat in self._heard}
        self._heard = {}
        self._questions = {}
        return actions

    def _ask(
        self, method: str, seats: Sequence[int], info: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Make it the turn of these seats, and return the info that says so."""
        call = f"{method}({', '.join(map(repr, seats))})"
        if not seats or len(set(seats)) < len(seats):
            raise self._wrong(f"{call} was called. Name one seat, or several that differ.")
        for seat in seats:
            if self._known(seat, method) in self._ends:
                raise self._wrong(f"{call} was called, and seat {seat} is out. Ask another.")
            is_told = self._untold[seat] or (info and info.get("suffix"))
            if not is_told:
                raise self._wrong(
                    f"{call} was called, and seat {seat} was told nothing since it was asked last. "
                    "Tell it what it is to answer."
                )
        if len(seats) > 1 and info and "suffix" in info:
            raise self._wrong(
                f"{call} was called with a suffix, which belongs to one seat. Tell each seat of a "
                "round what it is to see."
            )
        self._asked = tuple(seats)
        self.seat = seats[0]
        asked_info = self._info(seats, info, seats[0])
        # A copy: an `info` may be changed by whoever has it, and the round goes by this.
        self._questions = dict(asked_info["observations"]) if len(seats) > 1 else {}
        return asked_info

    def _info(
        self, shown: Sequence[int], info: Mapping[str, Any] | None, seat: int
    ) -> dict[str, Any]:
        """Return the info of a step that shows some seats what they were told."""
        observations = {}
        for each in shown:
            observations[each] = joined(self._untold[each])
            self._untold[each] = []
        full_info = {**(info or {}), "seat": seat, "observations": observations}
        if self._new_ends:
            full_info["ends"] = self._new_ends
            self._new_ends = {}
        return full_info

    def _earned(self, rewards: Rewards) -> tuple[float, ...]:
        count = len(self.seats)
        if rewards is None:
            return (0.0,) * count
        if isinstance(rewards, Mapping):
            for seat in rewards:
                self._known(seat, "rewards")
            return tuple(rewards.get(seat, 0.0) for seat in range(count))
        if len(rewards) != count:
            raise self._wrong(
                f"rewards={rewards!r:.60} was given, and there are {count} seats. Give a number "
                "for each, or a mapping from seats to numbers."
            )
        return tuple(rewards)

    def _successes(self, success: bool | Sequence[bool] | Mapping[int, bool]) -> tuple[bool, ...]:
        count = len(self.seats)
        if isinstance(success, Mapping):
            for seat in success:
                self._known(seat, "success")
            return tuple(bool(success.get(seat, False)) for seat in range(count))
        listed = success if isinstance(success, Sequence) else [success] * count
        if len(listed) != count:
            raise self._wrong(
                f"success={success!r:.60} was given, and there are {count} seats. Give a bool for "
                "each, or one for all."
            )
        return tuple(map(bool, listed))

    def _known(self, seat: int, method: str) -> int:
        """Return a seat that there is. Raises BadArguments, or ResetNeeded before a reset."""
        if not hasattr(self, "_untold"):
            raise misuse(NEW, method)
        if type(seat) is not int or not 0 <= seat < len(self.seats):
            raise self._wrong(
                f"{method} was given the seat {seat!r:.40}, and the seats are 0 to "
                f"{len(self.seats) - 1}. Give one of these numbers."
            )
        return seat

    def _wrong(self, text: str) -> BadArguments:
        return BadArguments(text, subject=type(self).__name__)

    def _can_load(self, name: str, value: Any) -> bool:
        if name == "seat":
            return type(value) is int
        return super()._can_load(name, value)

    def _load(self, state: Mapping[str, Any]) -> None:
        before = dict(self._state())
        super()._load(state)
        # Only now: the seats may be an instance's own, and a fork has its class's before this.
        is_at_a_seat = _are_names(self.seats) and 0 <= self.seat < len(self.seats)
        if not is_at_a_seat:
            seat = self.seat
            seats = self.seats
            self._set(before)
            raise SnapshotError(
                f"This snapshot has the turn of seat {seat}, and the seats {seats!r:.80}. Take it "
                "again with the versions installed here.",
                attribute="seat",
            )


def _are_names(seats: Any) -> bool:
    """Say whether these are two names or more that differ, in a tuple."""
    is_named = type(seats) is tuple and all(type(name) is str for name in seats)
    return is_named and len(seats) > 1 and len(set(seats)) == len(seats)
