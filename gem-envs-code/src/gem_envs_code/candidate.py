"""The host's side of a candidate's jail: what is asked of the program, and how that ended.

Knows nothing about what was expected.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from gem_envs_code.inside import READY
from gem_envs_code.jails import Options, open_jail

if TYPE_CHECKING:
    from gem_tools.sandbox import ExecResult, Session

__all__ = ["Candidate", "Ending", "Limits"]

_MARGIN_S = 5.0  # after which a jail is stuck: its driver ends each test by itself
_MOST_HEAD = 1 << 15  # bytes of what is reported of a test beside its output
_MOST_WHY = 500


@dataclass(frozen=True, slots=True)
class Limits:
    """What each test may use: seconds of CPU time, memory of 2**20 bytes, bytes of output.

    A test also ends when twice its CPU time and a second more have gone by.
    """

    time_s: float = 4.0
    memory_mb: int = 512
    output_bytes: int = 4 << 20

    @property
    def wall_s(self) -> float:
        """Seconds of the clock after which a test ends."""
        return 2 * self.time_s + 1


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process of the candidate ended, what it wrote, and in a few words why it failed."""

    verdict: Literal["ended", "error", "timeout", "memory"]
    output: bytes = b""
    why: str = ""
    cpu_s: float = 0.0


class Candidate:
    """A program in a jail of its own, opened when it is first asked something.

    `given` are texts that run before it, in the same namespace; instances of their classes of the
    names `classes` may be arguments and values. Each question gets a new process, but for those
    that one test `ask`s. A program that brings its jail down gets a new one with the next question.
    """

    def __init__(
        self,
        program: str,
        limits: Limits,
        options: Options,
        *,
        given: Sequence[str] = (),
        classes: Sequence[str] = (),
    ) -> None:
        self._program = program
        self._given = list(given)
        self._classes = list(classes)
        self._limits = limits
        self._options = options
        self._session: Session | None = None

    async def __aenter__(self) -> Candidate:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close()

    async def run(self, inputs: Sequence[str]) -> list[Ending]:
        """Run the program on each input, up to the first on which it does not end well."""
        endings = await self._ask({"streams": list(inputs)}, len(inputs))
        if endings is None and len(inputs) > 1:  # its jail is gone: find out at which
            return await self._run_singly(inputs)
        return endings or [self._last]

    async def _run_singly(self, inputs: Sequence[str]) -> list[Ending]:
        endings: list[Ending] = []
        for text in inputs:
            endings += await self.run([text])
            if endings[-1].verdict != "ended":
                break
        return endings

    async def call(self, name: str, arguments: str) -> Ending:
        """Call a function with encoded arguments; the output is JSON that the candidate wrote."""
        return await self._one({"call": {"name": name, "arguments": arguments}})

    async def ask(
        self, name: str, instance: int | None, arguments: str, *, is_first: bool
    ) -> Ending:
        """Call a function, or a method of the instance of this number of the class `Solution`.

        All calls of a test are of one process, which its first call starts: its limits are for
        all of them, and the CPU time of an ending is what they took together.
        """
        question = {"name": name, "instance": instance, "arguments": arguments}
        return await self._one({"ask": {**question, "is_first": is_first}})

    async def exam(self, texts: Sequence[str], word: str, function: str) -> Ending:
        """Run a test in the candidate's own process; the output is the word where it passed."""
        return await self._one({"exam": {"texts": texts, "word": word, "function": function}})

    async def _one(self, order: dict[str, Any]) -> Ending:
        return (await self._ask(order, 1) or [self._last])[0]

    async def _ask(self, order: dict[str, Any], count: int) -> list[Ending] | None:
        """Return the endings, None where the jail ended instead: `_last` then says how."""
        from gem_tools.sandbox import SessionEnded

        try:
            if self._session is None:  # a new jail knows no program: its first order brings it
                order = {**order, "load": await self._open()}
            reports, contents = await self._exchange(order, count)
        except SessionEnded as ended:
            await self._close()
            self._last = _lost(ended.result)
            return None
        return _endings(reports, contents, self._limits)

    async def _open(self) -> dict[str, Any]:
        """Open a jail, and return what its driver is to load."""
        limits = self._limits
        texts = [*self._given, self._program]
        self._session = await open_jail(
            self._options, "driver", memory_mb=limits.memory_mb, program="\n".join(texts)
        )
        plain_limits = {
            "cpu_s": limits.time_s,
            "wall_s": limits.wall_s,
            "output_bytes": limits.output_bytes,
        }
        return {"texts": texts, "classes": self._classes, "limits": plain_limits}

    async def _exchange(
        self, order: dict[str, Any], count: int
    ) -> tuple[list[dict[str, Any]], bytes]:
        assert self._session is not None
        reply = await self._session.ask(
            json.dumps(order).encode("ascii"),
            timeout_s=self._limits.wall_s * count + _MARGIN_S,
            max_reply_bytes=(self._limits.output_bytes + _MOST_HEAD) * count,
        )
        head, _, contents = reply.partition(b"\n")
        return json.loads(head), contents

    async def _close(self) -> None:
        session = self._session
        self._session = None  # before the wait: a jail that is being closed is asked nothing more
        if session is not None:
            await session.aclose()


def _endings(reports: Sequence[dict[str, Any]], contents: bytes, limits: Limits) -> list[Ending]:
    endings = []
    start = 0
    for report in reports:
        end = start + report.get("size", 0)
        endings.append(_ending(report, contents[start:end], limits))
        start = end
    return endings


def _ending(report: dict[str, Any], output: bytes, limits: Limits) -> Ending:
    if "broken" in report:
        return Ending("error", why=report["broken"])
    cpu_s = report["cpu_s"]
    if report["is_late"]:
        return Ending("timeout", why=f"ran longer than {limits.time_s:g} s", cpu_s=cpu_s)
    if report["is_full"]:
        return Ending("error", why=f"wrote more than {limits.output_bytes} bytes", cpu_s=cpu_s)
    if report["code"] == 0:
        return Ending("ended", output, cpu_s=cpu_s)
    why = _words(report)
    if why.startswith("MemoryError"):
        return Ending("memory", why="took too much memory", cpu_s=cpu_s)
    return Ending("error", why=why, cpu_s=cpu_s)


def _words(report: dict[str, Any]) -> str:
    """Return the last line of a traceback, or how the process ended without one."""
    if report["code"] < 0:
        return f"killed by signal {-report['code']}"
    return report["said"] or f"exit status {report['code']}"


def _lost(result: ExecResult) -> Ending:
    """Return how a program ended that brought its whole jail down.

    Raises SandboxError where the jail ended before there was a program in it.
    """
    from gem_tools.sandbox import SandboxError

    if not result.stderr.startswith(READY):
        raise SandboxError(
            f"The program that runs candidates could not be started ({result.summary}): "
            f"{result.stderr[-_MOST_WHY:].decode(errors='replace')!r}."
        )
    if result.status == "memory":
        return Ending("memory", why="took too much memory")
    if result.status == "timeout":
        return Ending("timeout", why="stopped what was to end it")
    return Ending("error", why=f"ended its own jail ({result.summary})")
