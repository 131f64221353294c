"""The guards around `close`: the first call counts, on each layer, and is allowed at any time.

That is how another thread frees an environment that hangs. The close of a wrapper goes on to what
it wraps.
"""

from __future__ import annotations

from gem.env._lifecycle._forms import Raw
from gem.env._lifecycle._phases import CLOSED, AnyEnv

__all__ = ["guarded_aclose", "guarded_close"]


def guarded_close(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `close` of a class."""

    def close(self: AnyEnv) -> None:
        if _is_super_call(self, cls):
            raw(self)
        elif _closes_now(self):
            try:
                raw(self)
            finally:
                if self._is_layer:
                    self.env.close()

    return close


def guarded_aclose(cls: type, raw: Raw) -> Raw:
    """Return the guard around the `aclose` of a class."""

    async def aclose(self: AnyEnv) -> None:
        if _is_super_call(self, cls):
            await raw(self)
        elif _closes_now(self):
            try:
                await raw(self)
            finally:
                if self._is_layer:
                    await self.env.aclose()

    return aclose


def _is_super_call(env: AnyEnv, cls: type) -> bool:
    return type(env) is not cls


def _closes_now(env: AnyEnv) -> bool:
    """Mark a layer as closed, and say whether this call did so: a second call does nothing."""
    # Before the author's own close runs: one that raises, or hangs, is not run a second time.
    if env._is_layer:
        was_closed: bool = env._closed
        env._closed = True
    else:
        was_closed = env._phase == CLOSED
        env._phase = CLOSED
    return not was_closed
