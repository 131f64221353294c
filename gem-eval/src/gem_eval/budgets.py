"""Hold a run to what it may spend: requests, tokens and money, counted as answers come.

Knows nothing about servers or run folders.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from gem.conversation import PolicyAnswer, Reply, Request, Usage
from gem_eval.errors import BudgetError
from gem_eval.prices import how_to_price, model_of, price_of

if TYPE_CHECKING:
    from gem_eval.policies import NamedPolicy
    from gem_eval.settings import Settings

__all__ = ["Amount", "Metered", "Spending", "Waiting"]


class Amount(NamedTuple):
    """What was spent: answers of a policy, and their tokens where those are known."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @classmethod
    def of(cls, usages: Iterable[Usage | None]) -> Amount:
        """Sum answers up, each by its usage."""
        amount = cls()
        for usage in usages:
            known = usage or Usage()
            amount = amount.plus(cls(1, known.prompt_tokens, known.completion_tokens))
        return amount

    def plus(self, other: Amount) -> Amount:
        """Return both together."""
        return Amount(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def minus(self, other: Amount) -> Amount:
        """Return what is left without the other."""
        return self.plus(Amount(*(-count for count in other)))


class _Limit(NamedTuple):
    """What one option allows of one thing, and how much of it is used."""

    option: str
    most: float
    used: float
    unit: str

    @property
    def is_reached(self) -> bool:
        return self.used >= self.most


class Spending:
    """What the policies of a run have spent, beside what its settings allow.

    Once that is spent no request begins; those in flight end, since they are paid for. Requests
    that fail are none: nobody answers for them.

    `unlogged` is what was spent by policy on episodes that are not in the run's log, since they
    were in the middle when it stopped.
    """

    def __init__(self, settings: Settings, unlogged: Mapping[str, Amount]) -> None:
        self._settings = settings
        self._spent = dict(unlogged)
        self._logged: dict[str, Amount] = {}
        self._in_flight = 0
        self._ended: asyncio.Event | None = None  # for those who wait for what is in flight
        self._unknown = ""  # why nobody knows what is spent

    @property
    def is_limited(self) -> bool:
        """Whether there is anything to hold the run to."""
        return bool(self._limits())

    @property
    def spent(self) -> str:
        """Say which budget is spent; empty while none is."""
        for limit in self._limits():
            if limit.is_reached:
                most = _shown(limit.most)
                used = _shown(limit.used)
                return f"The budget of {most}{limit.unit} is spent ({limit.option}): {used} by now."
        return ""

    @property
    def larger(self) -> str:
        """Return the options of a command that may spend as much again; empty where none need."""
        reached = [limit for limit in self._limits() if limit.is_reached]
        return " ".join(f"{limit.option} {_shown(2 * limit.used)}" for limit in reached)

    def count(self, policy: str, amount: Amount) -> None:
        """Count answers of a policy."""
        self._spent[policy] = self._spent.get(policy, Amount()).plus(amount)

    def log(self, policy: str, amount: Amount) -> None:
        """Note that answers which were counted are in the log by now."""
        self._logged[policy] = self._logged.get(policy, Amount()).plus(amount)

    def unlogged(self) -> dict[str, Amount]:
        """Return what was spent by policy and is not in the log."""
        amounts = {
            policy: amount.minus(self._logged.get(policy, Amount()))
            for policy, amount in self._spent.items()
        }
        return {policy: amount for policy, amount in amounts.items() if any(amount)}

    def check(self, policy: str, usage: Usage | None) -> None:
        """Raise BudgetError where nobody can tell what an answer cost, and somebody must."""
        settings = self._settings
        limits = {"--max-total-tokens": settings.max_total_tokens, "--max-cost": settings.max_cost}
        held = [option for option, limit in limits.items() if limit is not None]
        if held and usage is None and model_of(policy) is not None:
            self._unknown = (
                f"The server of {policy!r} does not say how many tokens its answer has, and "
                f"{held[0]} cannot be held without. Start another run, with --max-requests."
            )
        if settings.max_cost is not None and usage is not None and self._is_unpriced(policy):
            self._unknown = (
                f"The answers of {policy!r} have tokens without a price, and --max-cost cannot be "
                f"held without. {how_to_price(policy)}"
            )
        if self._unknown:
            raise BudgetError(self._unknown)

    async def begin(self) -> None:
        """Return once another request may be sent; `end` must follow. Raises BudgetError.

        Where those in flight will spend the last of a budget, it depends on how they end.
        """
        if self._unknown:
            raise BudgetError(self._unknown)  # also to who asks again
        while not self._has_room():
            if not self._in_flight:
                raise BudgetError(self.spent)
            if self._ended is None:
                self._ended = asyncio.Event()
            await self._ended.wait()
        self._in_flight += 1

    def end(self) -> None:
        """End a request, however it went. What it cost was counted before."""
        self._in_flight -= 1
        # Mostly nothing changes for those who wait; there may be a thousand of them.
        if self._ended is not None and (not self._in_flight or self._has_room()):
            self._ended.set()
            self._ended = None

    def _has_room(self) -> bool:
        most = self._settings.max_requests
        has_requests = most is None or self._total().requests + self._in_flight < most
        return has_requests and not self.spent

    def _total(self) -> Amount:
        total = Amount()
        for amount in self._spent.values():
            total = total.plus(amount)
        return total

    def _limits(self) -> list[_Limit]:
        settings = self._settings
        limits = []
        total = self._total()
        if settings.max_requests is not None:
            limits.append(
                _Limit("--max-requests", settings.max_requests, total.requests, " requests")
            )
        if settings.max_total_tokens is not None:
            tokens = total.prompt_tokens + total.completion_tokens
            limits.append(
                _Limit("--max-total-tokens", settings.max_total_tokens, tokens, " tokens")
            )
        if settings.max_cost is not None:
            limits.append(_Limit("--max-cost", settings.max_cost, self._cost(), ""))
        return limits

    def _cost(self) -> float:
        prices = self._settings.prices
        costs = []
        for policy, amount in self._spent.items():
            price = price_of(policy, prices)
            if price is not None:
                costs.append(price.cost(amount.prompt_tokens, amount.completion_tokens))
        return sum(costs)

    def _is_unpriced(self, policy: str) -> bool:
        return price_of(policy, self._settings.prices) is None


def _shown(amount: float) -> str:
    return str(amount) if isinstance(amount, int) else f"{amount:.6g}"


class Waiting:
    """Who waits for room in a budget, of all episodes that some policies play together.

    `episodes` are to be played, `at_once` of them at most. The wait ends when all that are being
    played need another answer: whatever is paid for is scored and kept before that. Of a round
    several seats of an episode may wait, and then it may end before.
    """

    def __init__(self, *, episodes: int, at_once: int) -> None:
        self._left = episodes
        self._at_once = at_once
        self._stuck = 0
        self._all_are_stuck = asyncio.Event()

    def ended(self) -> None:
        """Note that an episode has ended, by anything but the budget."""
        self._left -= 1
        self._look()

    async def for_the_others(self) -> None:
        """Return when no episode goes on without another answer."""
        self._stuck += 1
        try:
            self._look()
            await self._all_are_stuck.wait()
        finally:
            self._stuck -= 1

    def _look(self) -> None:
        # Whoever ends makes room for one more, which is stuck as soon as it asks.
        if self._stuck >= min(self._at_once, self._left):
            self._all_are_stuck.set()


class Metered:
    """A policy whose answers a run pays for. Raises BudgetError once it may spend no more."""

    def __init__(self, policy: NamedPolicy, spending: Spending, waiting: Waiting) -> None:
        self.name = policy.name
        self.wants = policy.wants
        self.tokens = policy.tokens
        self._policy = policy
        self._spending = spending
        self._waiting = waiting

    @property
    def state(self) -> str:
        """What it waits for beside answers, in one line; empty where that is nothing."""
        return self._policy.state

    async def __call__(self, request: Request) -> PolicyAnswer:
        """Ask the policy, and count what it answers."""
        if request.turn < self._policy.recorded_turns:
            return await _answer(self._policy, request)  # it was paid for in another run
        spending = self._spending
        try:
            await spending.begin()
        except BudgetError:
            await self._waiting.for_the_others()
            raise
        try:
            answer = await _answer(self._policy, request)
            usage = answer.usage if isinstance(answer, Reply) else None
            spending.count(self.name, Amount.of([usage]))
        finally:
            spending.end()  # after it was counted: whether another may begin depends on that
        spending.check(self.name, usage)
        return answer


async def _answer(policy: NamedPolicy, request: Request) -> PolicyAnswer:
    answer = policy(request)
    return await answer if inspect.isawaitable(answer) else answer
