"""The episodes of one batch of TRL: which prompts share one, and what is asked together.

Does not import TRL, and knows nothing about how a model is sampled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gem
from gem.tokens import Sampled
from gem_integrations.episodes import EnvOptions
from gem_integrations.rows import Start

__all__ = ["Play", "Table", "joined"]

Sample = Callable[[Sequence[gem.Request]], Sequence[Sampled]]


@dataclass(eq=False)
class Play:
    """An episode to play, and its record. `taken` are the seats whose parts prompts have."""

    options: EnvOptions
    start: Start
    repeat: int
    taken: set[int]
    episode: gem.Episode | None = None


def joined(plays: list[Play], options: EnvOptions, start: Start, repeat: int, seat: int) -> Play:
    """Return the episode that a prompt has a part of: one of `plays` whose seat is free.

    Where there is none, a new one, which is added to them.
    """
    place = (start.seed, start.task, repeat)
    for chosen in plays:
        known = (chosen.start.seed, chosen.start.task, chosen.repeat)
        if known == place and chosen.options is options and seat not in chosen.taken:
            chosen.taken.add(seat)
            return chosen
    plays.append(Play(options, start, repeat, {seat}))
    return plays[-1]


class Table:
    """Where the episodes wait for one another: all that go on are one batch, in their order.

    `playing` is how many go on. In a round, several seats of an episode ask.
    """

    def __init__(self, sample: Sample, playing: int) -> None:
        self._sample = sample
        self._playing = playing
        self._asked: dict[tuple[int, int], tuple[gem.Request, asyncio.Future[Sampled]]] = {}

    async def ask(self, number: int, request: gem.Request) -> Sampled:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sampled] = loop.create_future()
        self._asked[number, request.seat] = request, answer
        # Later in this turn of the loop: the other seats of a round ask in it as well.
        loop.call_soon(self._answer_all)
        return await answer

    def leave(self) -> None:
        self._playing -= 1
        self._answer_all()

    def _answer_all(self) -> None:
        waiting = {number for number, _ in self._asked}
        if not 0 < len(waiting) == self._playing:
            return
        pairs = [self._asked.pop(place) for place in sorted(self._asked)]
        try:
            answers = self._sample([request for request, _ in pairs])
        except Exception as error:  # noqa: BLE001 - each of them raises it, and so it gets to TRL
            for _, answer in pairs:
                answer.set_exception(error)
        else:
            for (_, answer), sampled in zip(pairs, answers, strict=True):
                answer.set_result(sampled)
