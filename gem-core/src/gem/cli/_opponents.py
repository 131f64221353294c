"""The policies that `--policy` names: one for all seats, or one for each, and those who play on.

Knows nothing about screens.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Union

from gem._python.sync_async import is_awaitable, wait_for
from gem.conversation import Policy, PolicyAnswer, Request
from gem.errors import BadArguments, in_one_line
from gem.wrappers._seat_view import opponent_policy

__all__ = [
    "Opponent",
    "OpponentFailed",
    "OptionPolicy",
    "Policies",
    "listed",
    "opponents",
    "policies_from",
]

Policies = Union[str, Mapping[str, str]]
"""The name of the policy for all seats, or one for each, by the names of seats."""


class OpponentFailed(Exception):
    """A policy that plays against a person failed: it is its own fault, and no environment's."""


def policies_from(given: Sequence[str]) -> Policies:
    """Return what `--policy` gave, once or several times. Raises BadArguments.

    >>> policies_from(["random"])
    'random'
    >>> policies_from(["X=random", "O=openai:m@http://localhost/v1?x=1"])
    {'X': 'random', 'O': 'openai:m@http://localhost/v1?x=1'}
    """
    by_seat: dict[str, str] = {}
    for text in given:
        seat, sign, name = text.partition("=")
        # What has a colon before the first `=` is a policy with an argument, an address say.
        is_of_seat = bool(sign and seat and ":" not in seat)
        if not is_of_seat:
            if len(given) > 1:
                raise _wrong(
                    f"--policy {text} was given with others, and names no seat. Give each with its "
                    "seat, --policy SEAT=POLICY, or one policy for all."
                )
            return text
        if seat in by_seat or not name:
            raise _wrong(
                f"--policy {text} was given, and each seat takes one policy. Write --policy "
                "SEAT=POLICY once a seat."
            )
        by_seat[seat] = name
    return by_seat


def listed(policies: Policies) -> str:
    """Return who plays, in one line."""
    if isinstance(policies, str):
        return policies
    return ", ".join(f"{seat}={name}" for seat, name in policies.items())


class OptionPolicy:
    """A policy that `--policy` names. It may do without `probe` and `aclose`.

    Raises BadArguments where it is a person, who would use the screen as well.
    """

    def __init__(self, policy: Policy, own_name: str) -> None:
        if getattr(policy, "uses_screen", False):
            raise _wrong(
                f"--policy {own_name} was asked for, and that is a person at this terminal. Leave "
                "it out to play yourself."
            )
        self._policy = policy
        self.own_name = own_name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)  # what is looked for: `wants`, `tokens`, `state`

    async def probe(self) -> None:
        """Look whether it can answer, and raise what it finds."""
        probe = getattr(self._policy, "probe", None)
        if probe is not None:
            await probe()

    async def aclose(self) -> None:
        """Free what it holds."""
        close = getattr(self._policy, "aclose", None)
        if close is not None:
            await close()


def opponents(policies: Policies, others: Sequence[str]) -> dict[str, Opponent]:
    """Make who plays these seats. Raises BadArguments where that is not one policy for each.

    A policy for all of them is one, as in a rollout. One that asks a server looks whether that
    answers, and raises what it finds.
    """
    by_seat = dict.fromkeys(others, policies) if isinstance(policies, str) else policies
    if set(by_seat) != set(others):
        raise _wrong(
            f"--policy was given for {', '.join(by_seat)}, and the seats that you do not play are "
            f"{', '.join(others)}. Give a policy for each of these, or one without a seat for all."
        )
    made: dict[str, Opponent] = {}
    for name in dict.fromkeys(by_seat.values()):
        made[name] = Opponent(opponent_policy(name), name)
        wait_for(made[name].probe())
    return {seat: made[by_seat[seat]] for seat in others}


class Opponent(OptionPolicy):
    """A policy whose failure is told as its own."""

    def __call__(self, request: Request) -> PolicyAnswer | Awaitable[PolicyAnswer]:
        try:
            answer: Any = self._policy(request)
        except Exception as error:
            raise self._failure(error) from error
        return self._awaited(answer) if is_awaitable(answer) else answer

    async def _awaited(self, answer: Awaitable[PolicyAnswer]) -> PolicyAnswer:
        try:
            return await answer
        except Exception as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> OpponentFailed:
        return OpponentFailed(f"The policy {self.own_name} failed: {in_one_line(error)}")


def _wrong(text: str) -> BadArguments:
    return BadArguments(text, subject="--policy")
