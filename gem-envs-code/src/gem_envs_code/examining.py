"""Run assertions about a candidate that is in another jail.

The host carries each call from the test to the candidate, and what it returned back. Both are
texts here, and the host reads no value of either.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gem_envs_code.candidate import Candidate, Limits
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
    """A jail for the tests of one problem."""

    def __init__(self, session: Session, surroundings: Surroundings, limits: Limits) -> None:
        self._session = session
        self._limits = limits
        self._preparation = surroundings._asdict()
        self._is_first = True
        self._is_prepared = False
        self._num_before = 0

    @classmethod
    async def open(cls, surroundings: Surroundings, limits: Limits, options: Options) -> Examiner:
        """Open its jail. Raises SandboxError where there is none."""
        program = "\n".join(surroundings.texts)
        session = await open_jail(options, "examiner", memory_mb=limits.memory_mb, program=program)
        return cls(session, surroundings, limits)

    async def examine(self, test: Assertion, candidate: Candidate) -> Outcome:
        """Run a test, and what prepares it, unless that has run for an earlier one.

        Raises Uncrossed where its arguments cannot leave its jail.
        """
        from gem_tools.sandbox import SessionEnded

        try:
            if not self._is_prepared:
                await self._ask({"prepare": self._preparation})
                self._is_prepared = True
            return await self._examined(test, candidate)
        except SessionEnded as ended:  # by the size of what the candidate returned, say
            return Outcome(_LOST.get(ended.result.status, "error"), "the test itself was ended")

    async def _examined(self, test: Assertion, candidate: Candidate) -> Outcome:
        self._is_first = True
        for text in test.before[self._num_before :]:
            outcome = await self._run(text, candidate)
            if outcome.verdict != "passed":  # it runs again for the next test
                return outcome
            self._num_before += 1
        for text in (test.text, *test.after):
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
            if ending.verdict != "ended":
                return Outcome(ending.verdict, ending.why)
            answer = _answer(ending.output)
            if answer is None:
                return Outcome("error", "a call ended without returning a value")
            if "uncrossed" in answer:
                return Outcome("wrong", f"returned no plain value: {answer['uncrossed']}")
            reply = await self._ask(answer)
        if reply["verdict"] == "uncrossed":
            raise Uncrossed(reply["why"])
        return Outcome(reply["verdict"], reply.get("why", ""))

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
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
        await self._session.aclose()


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
