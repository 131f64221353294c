"""Programs that stay and answer. Each claim holds for every sandbox of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gem_tools.sandbox import (
    ExecRequest,
    Sandbox,
    SandboxError,
    Session,
    SessionEnded,
    SessionTimeout,
)
from gem_tools.sandbox.bwrap import BwrapSandbox

from .processes import is_running, named, new_mark, processes

ANSWERING = "from gem_tools.sandbox.inside.channel import close, receive, send\n"
ECHO = f"""{ANSWERING}
while (message := receive()) is not None:
    send(message[::-1])
"""
OBEDIENT = f"""{ANSWERING}
import os, signal, sys, time
while (message := receive()) is not None:
    send(repr(eval(message)).encode())
"""


def use(sandbox: Sandbox, code: str, use: Callable[[Session], Awaitable[bytes]]) -> bytes:
    async def use_session() -> bytes:
        async with await sandbox.open(ExecRequest(code, memory_mb=128)) as session:
            return await use(session)

    return asyncio.run(use_session())


def ask(sandbox: Sandbox, code: str, message: bytes = b"", **limits: float) -> bytes:
    limits = {"timeout_s": 60, **limits}
    return use(sandbox, code, lambda session: session.ask(message, **limits))  # type: ignore[arg-type]


def ending(sandbox: Sandbox, code: str, message: bytes = b"", **limits: float) -> SessionEnded:
    with pytest.raises(SessionEnded) as caught:
        ask(sandbox, code, message, **limits)
    return caught.value


def test_a_session_answers(backend: Sandbox) -> None:
    assert ask(backend, ECHO, b"\0\xffabc") == b"cba\xff\0"


def test_messages_may_be_empty_and_long(backend: Sandbox) -> None:
    async def exchange(session: Session) -> bytes:
        long = bytes(range(256)) * 10_000
        assert await session.ask(long, timeout_s=60, max_reply_bytes=len(long)) == long[::-1]
        return await session.ask(b"", timeout_s=60)

    assert use(backend, ECHO, exchange) == b""


def test_variables_stay_from_question_to_question(backend: Sandbox) -> None:
    async def exchange(session: Session) -> bytes:
        await session.ask(b"globals().update(x=41)", timeout_s=60)
        return await session.ask(b"x + 1", timeout_s=60)

    assert use(backend, OBEDIENT, exchange) == b"42"


def test_questions_at_once_are_answered_each_in_turn(backend: Sandbox) -> None:
    async def exchange(session: Session) -> bytes:
        messages = [f"{number}".encode() for number in range(20)]
        answers = await asyncio.gather(
            *(session.ask(message, timeout_s=60) for message in messages)
        )
        return b" ".join(answers)

    assert use(backend, OBEDIENT, exchange) == b" ".join(b"%d" % number for number in range(20))


def test_a_deadline_ends_the_program(backend: Sandbox) -> None:
    error = ending(backend, OBEDIENT, b"exec('while True: pass')", timeout_s=0.3)

    assert isinstance(error, SessionTimeout)
    assert error.result.status == "timeout"


def test_a_program_that_ends_says_how(backend: Sandbox) -> None:
    error = ending(backend, OBEDIENT, b"sys.exit(print('bye', file=sys.stderr) or 7)")

    assert (error.result.status, error.result.exit_code) == ("error", 7)
    assert error.result.stderr == b"bye\n"
    assert "exit status 7" in str(error)


def test_a_session_that_is_over_says_so_again(backend: Sandbox) -> None:
    async def ask_again(session: Session) -> bytes:
        with pytest.raises(SessionEnded):
            await session.ask(b"sys.exit(7)", timeout_s=60)
        return await session.ask(b"1", timeout_s=60)

    with pytest.raises(SessionEnded, match="exit status 7"):
        use(backend, OBEDIENT, ask_again)


def test_a_program_that_hangs_up_is_ended_at_the_deadline(backend: Sandbox) -> None:
    error = ending(backend, f"{ANSWERING}close()\nwhile True: pass", timeout_s=0.3)

    assert isinstance(error, SessionTimeout)


def test_an_answer_that_is_too_long_ends_the_program(backend: Sandbox) -> None:
    error = ending(backend, OBEDIENT, b"'x' * 2000", max_reply_bytes=1000)

    assert error.result.status == "output_limit"


def test_an_answer_that_only_claims_to_be_long_does_too(backend: Sandbox) -> None:
    error = ending(backend, "import os; os.write(3, b'\\xff\\xff\\xff\\xff'); os.read(3, 99)")

    assert error.result.status == "output_limit"


def test_memory_in_total_is_limited(backend: Sandbox) -> None:
    grow = b"[os.fork() for _ in range(3)], globals().update(x=b'x' * (60 << 20)), time.sleep(60)"

    assert ending(backend, OBEDIENT, grow).result.status == "memory"


def test_a_cancelled_question_ends_the_program(backend: Sandbox) -> None:
    mark = new_mark()

    async def cancel(session: Session) -> bytes:
        question = f"{named(mark)}, time.sleep(60)".encode()
        asked = asyncio.ensure_future(session.ask(question, timeout_s=60))
        while not is_running(mark):
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        return await session.ask(b"1", timeout_s=60)

    with pytest.raises(SessionEnded):
        use(backend, OBEDIENT, cancel)


def test_a_fork_for_each_question_leaves_the_session_as_it_was(backend: Sandbox) -> None:
    forking = f"""{ANSWERING}
import os, signal
x = 0
while (message := receive()) is not None:
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        close()
        x += int(message)
        os.write(writing, str(x).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(process, 0)
    send(os.read(reading, 99))
    os.close(reading)
"""

    async def exchange(session: Session) -> bytes:
        return b" ".join([await session.ask(b"7", timeout_s=60) for _ in range(40)])

    assert use(backend, forking, exchange) == b" ".join([b"7"] * 40)


def test_programs_that_a_session_starts_do_not_hold_its_channel(backend: Sandbox) -> None:
    code = b"__import__('subprocess').run(['/bin/sh', '-c', 'echo x >&3'], close_fds=False)"

    assert b"returncode=2" in ask(backend, OBEDIENT, code)


@pytest.mark.usefixtures("sandbox")  # skips where there is none
def test_a_sandbox_may_have_many_sessions_and_says_when_there_are_too_many() -> None:
    async def open_three() -> None:
        sandbox = BwrapSandbox(max_sessions=2, standby=0, packages=())
        try:
            first, second = [await sandbox.open(ExecRequest(ECHO)) for _ in range(2)]
            with pytest.raises(SandboxError, match="2 are open, which is the most"):
                await sandbox.open(ExecRequest(ECHO))
            await first.aclose()
            third = await sandbox.open(ExecRequest(ECHO))
            assert await second.ask(b"ab", timeout_s=60) == b"ba"
            assert await third.ask(b"ab", timeout_s=60) == b"ba"
        finally:
            await sandbox.aclose()

    asyncio.run(open_three())


@pytest.mark.usefixtures("sandbox")  # skips where there is none
def test_an_idle_session_takes_no_place_of_a_call() -> None:
    async def run_beside() -> bytes:
        sandbox = BwrapSandbox(max_parallel=1, standby=0, packages=())
        try:
            async with await sandbox.open(ExecRequest(ECHO)):
                return (await sandbox.run(ExecRequest("print(1)"))).stdout
        finally:
            await sandbox.aclose()

    assert asyncio.run(run_beside()) == b"1\n"


@pytest.mark.usefixtures("sandbox")  # skips where there is none
def test_a_closed_sandbox_ends_its_sessions() -> None:
    async def close_and_ask() -> None:
        sandbox = BwrapSandbox(standby=0, packages=())
        session = await sandbox.open(ExecRequest(ECHO))
        await sandbox.aclose()
        await session.ask(b"", timeout_s=60)

    with pytest.raises(SessionEnded, match="killed"):
        asyncio.run(close_and_ask())


def test_a_program_that_nobody_asks_rests_and_answers_again(backend: Sandbox) -> None:
    mark = new_mark()
    spin = f"import os\nif os.fork() == 0:\n    {named(mark)}\n    while True: pass\n{ECHO}"

    async def exchange(session: Session) -> bytes:
        await session.ask(b"", timeout_s=60)
        while not is_stopped(mark):
            await asyncio.sleep(0.01)
        return await session.ask(b"ab", timeout_s=60)

    assert use(backend, spin, exchange) == b"ba"


def is_stopped(name: str) -> bool:
    """Say whether the process with this name was told to stop."""
    return any((process.name, process.state) == (name, "T") for process in processes())
