"""A simulated inference server with continuous batching."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections import deque

__all__ = ["SimulatedServer", "tokens_to_generate"]

DECODE_S = 0.010
DECODE_S_PER_REQUEST = 0.000_03
MEDIAN_TOKENS = 200
SIGMA = 0.8
MOST_TOKENS = 2048


def tokens_to_generate(rng: random.Random) -> int:
    """Draw the length of an answer."""
    return min(MOST_TOKENS, max(1, round(MEDIAN_TOKENS * rng.lognormvariate(0.0, SIGMA))))


class SimulatedServer:
    """Generates for up to `slots` requests at once, one token for each in every decoding step.

    A step takes 10 ms and 0.03 ms for each request in it. A request that comes waits for the
    next step, and for a slot, first come, first served. Reading the prompt takes no time.
    """

    def __init__(self, slots: int = 256) -> None:
        self.slots = slots
        self.tokens = 0
        self._steps = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._active: list[tuple[int, int, asyncio.Future[None]]] = []  # by the step it ends with
        self._arrivals = 0
        self._came = asyncio.Event()
        self._decoding = asyncio.ensure_future(self._decode())

    async def generate(self, tokens: int) -> None:
        """Come back when so many tokens are generated."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((tokens, done))
        self._came.set()
        await done

    def most_tokens(self, seconds: float) -> float:
        """Return how many tokens it can generate in that time, with every slot taken."""
        return seconds / self._step_s(self.slots) * self.slots

    @staticmethod
    def _step_s(batch: int) -> float:
        return DECODE_S + DECODE_S_PER_REQUEST * batch

    async def _decode(self) -> None:
        while True:
            while self._waiting and len(self._active) < self.slots:
                tokens, done = self._waiting.popleft()
                self._arrivals += 1
                heapq.heappush(self._active, (self._steps + tokens, self._arrivals, done))
            if not self._active:
                self._came.clear()
                await self._came.wait()
                continue
            await asyncio.sleep(self._step_s(len(self._active)))
            self._steps += 1
            self.tokens += len(self._active)
            while self._active and self._active[0][0] <= self._steps:
                _, _, done = heapq.heappop(self._active)
                if not done.done():
                    done.set_result(None)

    async def close(self) -> None:
        """End the decoding."""
        self._decoding.cancel()
        await asyncio.gather(self._decoding, return_exceptions=True)
