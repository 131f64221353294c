"""Run assertions about a candidate that is in another jail.

The host carries each call from the test to the candidate, and what it returned back. Both are
texts here, and the host reads no value of either.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gem_envs_code.candidate import Candidate, Ending, Limits
from gem_envs_code.jails import Options, open_jail
from gem_envs_code.outcome import Outcome, Verdict
from gem_envs_code.suites import Assertion
from gem_envs_code.surroundings import Surroundings

if TYPE_CHECKING:
    from gem_tools.sandbox import Session

__all__ = ["Examiner", "Uncrossed"]

_MOST_REPLY = 1 << 24


class Uncrossed(Exception):
    """A test hands the candidate a value that is more than data."""


class Examiner:
    """A jail for the tests of one problem. It is opened for the first test, and after each loss."""

    def __init__(self, surroundings: Surroundings, limits: Limits, options: Options) -> None:
        self._surroundings = surroundings
        self._limits = limits
        self._options = options
        self._session: Session | None = None
        self._is_first = True
        self._num_before = 0

    async def examine(self, test: Assertion, candidate: Candidate) -> Outcome:
        """Run a test, and what prepares it, unless that has run for an earlier one.

        What prepares it runs again where it calls the candidate: each test has a process of its own
        there, in which that has not been called.

        Raises Uncrossed where its arguments cannot leave its jail, and SandboxError where there is
        no jail.
        """
        from gem_tools.sandbox import SessionEnded

        try:
            if self._session is None:
                await self._open()
            return await self._examined(test, candidate)
        except SessionEnded as ended:  # by the size of what the candidate returned, say
            await self._close()
            return Outcome(_LOST.get(ended.result.status, "error"), "the test itself was ended")

    async def _examined(self, test: Assertion, candidate: Candidate) -> Outcome:
        self._is_first = True
        outcome = await self._run_all(test.before[self._num_before :], candidate)
        if not self._is_first:
            # From the start: a text that calls may add to what one before it has made anew.
            self._num_before = 0
        elif outcome.verdict == "passed":
            self._num_before = len(test.before)
        if outcome.verdict != "passed":
            return outcome
        return await self._run_all([test.text, *test.after], candidate)

    async def _run_all(self, texts: Sequence[str], candidate: Candidate) -> Outcome:
        outcome = Outcome("passed")
        for text in texts:
            outcome = await self._run(text, candidate)
            if outcome.verdict != "passed":
                break
        return outcome

    async def _run(self, text: str, candidate: Candidate) -> Outcome:
        """Run one text of a test. The calls of all of them are of one process of the candidate."""
        reply = await self._ask({"test": text})
        while "call" in reply:
            ending = await candidate.ask(**reply["call"], is_first=self._is_first)
            self._is_first = False
            answer = _answer(ending.output) if ending.verdict == "ended" else None
            if answer is None or "uncrossed" in answer:
                # The test waits for an answer still, and would take the next test for it.
                await self._close()
                return _unanswered(ending, answer)
            reply = await self._ask(answer)
        if reply["verdict"] == "uncrossed":
            raise Uncrossed(reply["why"])
        return Outcome(reply["verdict"], reply.get("why", ""))

    async def _open(self) -> None:
        surroundings = self._surroundings
        self._session = await open_jail(
            self._options,
            "examiner",
            memory_mb=self._limits.memory_mb,
            program="\n".join(surroundings.texts),
        )
        self._num_before = 0  # what has prepared tests so far was in the jail before
        await self._ask({"prepare": surroundings._asdict()})

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._session is not None
        reply: dict[str, Any] = json.loads(
            await self._session.ask(
                json.dumps(message).encode("ascii"),
                timeout_s=self._limits.wall_s,
                max_reply_bytes=_MOST_REPLY,
            )
        )
        return reply

    async def __aenter__(self) -> Examiner:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        session = self._session
        self._session = None  # before the wait: a jail that is being closed is asked nothing more
        if session is not None:
            await session.aclose()


def _unanswered(ending: Ending, answer: dict[str, str] | None) -> Outcome:
    """Return what became of a test whose call had no answer that the test may see."""
    if ending.verdict != "ended":
        return Outcome(ending.verdict, ending.why)
    if answer is None:
        return Outcome("error", "a call ended without returning a value")
    return Outcome("wrong", f"returned no plain value: {answer['uncrossed']}")


def _answer(output: bytes) -> dict[str, str] | None:
    """Return what a candidate wrote, if it has one of the forms in which calls are answered."""
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or not all(isinstance(value, str) for value in answer.values()):
        return None
    return answer if answer.keys() in _FORMS else None


_LOST: dict[str, Verdict] = {"timeout": "timeout", "memory": "memory"}
_FORMS = ({"returned"}, {"raised", "why", "arguments"}, {"uncrossed"})
