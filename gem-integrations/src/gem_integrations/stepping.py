"""Play an episode turned inside out, for a framework that runs the loop: it asks, then answers.

Knows nothing about any framework.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import gem
from gem.tokens import ChatCodec, Sampled
from gem_integrations.episodes import EnvOptions, play

__all__ = ["SteppedEpisode"]


class SteppedEpisode:
    """The episode that `play` with these arguments plays, one turn whenever the caller has it.

    `request` begins it; `episode` is its record once it has ended. One that is left before that
    is to be cancelled: it waits for an answer forever.
    """

    def __init__(self, options: EnvOptions, codec: ChatCodec, **play_options: Any) -> None:
        self.episode: gem.Episode | None = None
        self._rewards: list[float] = []
        layers = (*options.layers, partial(_Rewards, rewards=self._rewards))
        layered = options.model_copy(update={"wrappers": layers, "system_prompt": None})
        self._play = partial(play, layered, self._engine, codec, **play_options)
        self._playing: asyncio.Task[gem.Episode] | None = None
        self._requests: asyncio.Queue[gem.Request | None] = asyncio.Queue()
        self._answers: asyncio.Queue[Sampled] = asyncio.Queue()
        self._pending: gem.Request | None = None
        self._answered = 0

    async def request(self) -> gem.Request | None:
        """Return what the model is asked now, None where the episode has ended.

        Asked again before an answer, it is the same request. Raises UnplayableError where the
        template cannot show the conversation.
        """
        if self._playing is None:
            self._playing = asyncio.ensure_future(self._play())
            self._playing.add_done_callback(lambda _: self._requests.put_nowait(None))
        if self._pending is None and self.episode is None:
            self._pending = await self._requests.get()
            if self._pending is None:
                self._requests.put_nowait(None)  # for who asks again after an error
                self.episode = await self._playing
        return self._pending

    def answer(self, sampled: Sampled) -> None:
        """Let the episode go on with what the model said to the last request."""
        self._answered += 1
        self._pending = None
        self._answers.put_nowait(sampled)

    @property
    def reward(self) -> float:
        """The reward of the turn that was answered last; 0.0 where it did not come about."""
        rewards = self._rewards
        if self.episode is not None:
            rewards = [turn.reward for turn in self.episode.turns]
        return rewards[self._answered - 1] if 0 < self._answered <= len(rewards) else 0.0

    async def cancel(self) -> None:
        """Give the episode up, and wait until nothing of it runs."""
        if self._playing is not None and not self._playing.done():
            self._playing.cancel()
            await asyncio.wait([self._playing])

    async def _engine(self, request: gem.Request) -> Sampled:
        self._requests.put_nowait(request)
        return await self._answers.get()


class _Rewards(gem.Wrapper):
    """Keep the rewards as they come, since the record of them comes last. Not on record itself."""

    def __init__(self, env: gem.Env, rewards: list[float]) -> None:
        super().__init__(env)
        self._rewards = rewards
        self.spec = env.spec

    def on_step(self, action: str, step: gem.Step) -> gem.Step:
        self._rewards.append(float(step.reward))
        return step
