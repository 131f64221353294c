"""Have this process connected to Ray: the user's, or one of its own for as long as it lives."""

from __future__ import annotations

import atexit
import functools
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gem.errors import BadArguments, GemError, in_one_line
from gem.hosting import available_cpus
from gem_integrations.ray.guard import COMMAND

__all__ = ["connect", "shutdown"]

_KNOCK_S = 5.0

_own: _OwnRay | None = None
_is_private = False  # Ray was imported here as `_environment` says, which it keeps to


@functools.cache
def _environment() -> dict[str, str]:
    """Return what makes a Ray private: it reads this when it is imported and when it starts.

    It talks over the loopback interface alone, which its word for it offers on Linux too, and to
    who holds the token alone, of which it would else write one into the home.
    """
    return {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }


def connect(address: str | None = None) -> None:
    """Connect to the Ray at an address; without one, stay with the one that is connected.

    Where none is, the one of the environment variable RAY_ADDRESS is taken, or one is started on
    this machine alone. It takes about 3 s, serves every vector and rollout of this process, and
    ends with it. (Where the program has imported Ray before, that one is `ray.init("local")`'s.)
    Raises BadArguments on an address where no Ray is, or not the connected one.
    """
    global _is_private
    wanted = address or os.environ.get("RAY_ADDRESS") or "local"
    if "://" in wanted:
        raise BadArguments(
            f"The backend 'ray' was asked for with address={wanted!r}, and it does not go through "
            "a Ray Client. Run this program on a node of the cluster, with address='auto'.",
            subject="address",
        )
    if wanted == "local" and (_is_private or "ray" not in sys.modules):
        _is_private = True
        with _variables(_environment()):
            import ray

            if not ray.is_initialized():
                _init(_own_ray().address)
    else:
        import ray

        if not ray.is_initialized():
            _init(wanted)
    if address not in (None, "auto", "local"):
        _check_same(address, ray.get_runtime_context().gcs_address)


def shutdown() -> None:
    """End the Ray that `connect` started, if it did. The next one starts another."""
    global _own
    own = _own
    _own = None
    if own is not None:
        own.close()


def _check_same(address: str | None, connected: str) -> None:
    if address != connected:
        raise BadArguments(
            f"The backend 'ray' was asked for with address={address!r}, and this process is "
            f"connected to the Ray at {connected}. Leave the address out, or call ray.shutdown() "
            "first.",
            subject="address",
        )


def _init(address: str) -> None:
    import ray

    with _own_signals():
        try:
            _knock(address)
            ray.init(address, log_to_driver=False, configure_logging=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise BadArguments(
                f"The backend 'ray' was asked for with address={address!r}, and no Ray answers "
                f"there ({in_one_line(error)}). Start one with `ray start --head`, or leave the "
                "address out.",
                subject="address",
            ) from error


def _knock(address: str) -> None:
    """Raise OSError where nobody listens: Ray would try for minutes before it says so."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_KNOCK_S).close()


def _own_ray() -> _OwnRay:
    global _own
    if _own is None or not _own.is_running:
        _own = _OwnRay()
    return _own


class _OwnRay:
    """A Ray of this process's own, and the guard that ends it."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._guard = subprocess.Popen(
            [sys.executable, "-c", COMMAND.format(sys.path), str(available_cpus())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_environment()},
            start_new_session=True,  # a terminal's Ctrl-C is not for it
        )
        atexit.register(self.close)
        self.address = self._read_address()

    @property
    def is_running(self) -> bool:
        """Whether it can be connected to from here."""
        return os.getpid() == self._owner and self._guard.poll() is None

    def _read_address(self) -> str:
        """Return the address that the guard writes."""
        assert self._guard.stdout is not None
        with self._guard.stdout as source:
            line = source.readline()
        answer: dict[str, str] = json.loads(line) if line else {"error": "it ended at once"}
        if "error" in answer:
            self.close()
            raise GemError(
                f"A Ray on this machine was asked for, and did not start: {answer['error']}"
            )
        return answer["address"]

    def close(self) -> None:
        """End it, and wait for that, about a second."""
        import ray

        atexit.unregister(self.close)
        if os.getpid() != self._owner:
            return
        if ray.is_initialized() and ray.get_runtime_context().gcs_address == self.address:
            ray.shutdown()
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait()


@contextmanager
def _variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Have environment variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the program's own answer to SIGTERM, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler: Any = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
