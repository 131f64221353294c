"""`seat`: a wrapper around one seat of several, which sees that seat as if there were no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gem.content import Observation
from gem.env._env import Env
from gem.env._lifecycle._forms import author
from gem.env._step import Step, as_step
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments
from gem.registry._making import WrapperLike, wrapped
from gem.specs import EnvSpec
from gem.wrappers._seats import (
    AsSeat,
    Course,
    driven,
    error_in_round,
    own_info,
    seat_number,
)
from gem.wrappers._time_limit import cut_off

__all__ = ["ForSeat"]


class _OneSeat(AsSeat):
    """What the wrapper of a seat holds. Never stepped."""

    _blocks = False


class ForSeat(Wrapper, both_forms=True):  # both forms of close end what the wrapper holds
    """Put `wrapper` around one seat: `{"id": "seat", "seat": 1, "wrapper": {"id": "tools", ...}}`.

    `seat` is a number or a name. The wrapper's `on_reset` gets the seat's first observation,
    `on_action` its action, and `on_step` its next observation with what it earned in between. A
    wrapper that ends the episode ends it for all. Raises BadArguments for a wrapper that writes a
    `reset` or a `step` of its own: that cannot be around one seat.
    """

    all_seats = True
    _unsaved = Wrapper._unsaved | {"_layer"}

    def __init__(self, env: Env, seat: int | str, wrapper: Any) -> None:
        super().__init__(env)
        self._number = seat_number(env, seat, subject="seat")
        like: WrapperLike = wrapper
        self._layer = wrapped(_OneSeat(env, self._number), like)
        for layer in self._layers():
            if author(layer, "reset") is not Wrapper or author(layer, "step") is not Wrapper:
                raise BadArguments(
                    f"seat was given {layer!r:.60} for one seat, and that writes a reset or a step "
                    "of its own. Give a wrapper that writes on_reset, on_action or on_step alone.",
                    subject="seat",
                )
        self._forget()

    def _forget(self) -> None:
        """Be as before the seat's first observation."""
        self._has_begun = False
        self._earned = 0.0  # since its last observation
        self._actions: list[str] = []  # what each layer was given, the outermost first
        self._own_info: dict[str, Any] = {}  # of its last action
        self._has_acted = False  # by the action that is being taken
        self._is_answered = False  # by the wrapper itself

    def _layers(self) -> list[Wrapper]:
        """Return the layers of the wrapper, the outermost first."""
        layers: list[Wrapper] = []
        layer: Any = self._layer
        while not isinstance(layer, _OneSeat):
            layers.append(layer)
            layer = layer.env
        return layers

    def shown_to(self, seat: int) -> tuple[bool, bool, list[Mapping[str, Any]]]:
        return self._layer.shown_to(0) if seat == self._number else self.env.shown_to(seat)

    def on_reset(self, observation: Observation, info: dict[str, Any]) -> Any:
        self._forget()
        return driven(self._started(observation, info))

    def _started(
        self, observation: Observation, info: dict[str, Any]
    ) -> Course[tuple[Observation, dict[str, Any]]]:
        step = yield from self._shown(Step(observation, info=info))
        return step.observation, step.info

    def on_action(self, action: str) -> Any:
        self._has_acted = self.env.seat == self._number
        return driven(self._taken(action)) if self._has_acted else action

    def _taken(self, action: str) -> Course[str | Step]:
        """Pass an action through the layers; one of them may answer it."""
        given: list[str] = []
        layers = self._layers()
        inner: Any = action
        for layer in layers:
            given.append(inner)
            inner = yield layer.on_action(inner)
            if isinstance(inner, tuple):
                break
        self._actions = given
        if not isinstance(inner, tuple):
            return inner  # type: ignore[no-any-return]
        self._is_answered = True
        answer = yield from self._through(
            as_step(inner, layers[len(given) - 1], "on_action"), layers[: len(given)]
        )
        return self._seated(answer)

    def _through(self, step: Step, layers: Sequence[Wrapper]) -> Course[Step]:
        """Pass what a seat is shown through layers, from the innermost to the outermost."""
        for layer, action in zip(reversed(layers), reversed(self._actions), strict=True):
            step = as_step((yield layer.on_step(action, step)), layer, "on_step")
        return step

    def _seated(self, answer: Step) -> Step:
        """Return the answer of a wrapper as a step of several seats: it asks its seat again."""
        rewards = [0.0] * len(self.env.seats)
        rewards[self._number] = answer.reward
        info = {
            **answer.info,
            "seat": self._number,
            "rewards": tuple(rewards),
            "observations": {self._number: answer.observation},
        }
        is_over = answer.terminated or answer.truncated
        seated = answer._replace(terminated=False, truncated=False, info=info)
        return cut_off(self.env, seated) if is_over else seated

    def on_step(self, action: str, step: Step) -> Any:
        if self._is_answered:
            self._is_answered = False
            return step
        return driven(self._shown(step))

    def _shown(self, step: Step) -> Course[Step]:
        """Let the layers change what the seat is shown by a step, if it is shown anything."""
        number = self._number
        if "rewards" in step.info:
            self._earned += step.rewards[number]
        if self._has_acted:
            self._own_info = own_info(step.info)
        # What is said of the seat's own action counts more: a wrapper may have said it.
        self._own_info = error_in_round(step.info, number) | self._own_info
        if number not in step.observations:
            return step
        is_own = step.seat == number
        info: dict[str, Any] = dict(self._own_info)
        if is_own and "suffix" in step.info:
            info["suffix"] = step.info["suffix"]
        seen = Step(step.observations[number], self._earned, step.terminated, step.truncated, info)
        changed = yield from self._changed(seen)
        self._earned = 0.0
        return self._with(step, seen, changed)

    def _changed(self, seen: Step) -> Course[Step]:
        layers = self._layers()
        if not self._has_begun:
            self._has_begun = True
            observation: Observation = seen.observation
            info = seen.info
            for layer in reversed(layers):
                observation, info = yield layer.on_reset(observation, info)
            return seen._replace(observation=observation, info=info)
        if not self._actions:  # it was asked before and has not answered: a limit ended a round
            return seen
        changed = yield from self._through(seen, layers)
        self._actions = []
        return changed

    def _with(self, step: Step, seen: Step, changed: Step) -> Step:
        """Return the step of all seats with what has changed for this one."""
        number = self._number
        info = dict(step.info)
        info["observations"] = {**step.observations, number: changed.observation}
        if "rewards" in info:
            rewards = list(step.rewards)
            rewards[number] += changed.reward - seen.reward
            info["rewards"] = tuple(rewards)
        if self._has_acted:  # else it is the info of another seat's action
            info.update(own_info(changed.info))
        observation = step.observation
        if step.seat == number:
            observation = changed.observation
            info.pop("suffix", None)
            if "suffix" in changed.info:
                info["suffix"] = changed.info["suffix"]
        reward = info["rewards"][number] if self._has_acted and "rewards" in info else step.reward
        step = step._replace(observation=observation, reward=reward, info=info)
        was_over = step.terminated or step.truncated
        is_over = changed.terminated or changed.truncated
        return cut_off(self.env, step) if is_over and not was_over else step

    def _stack(self, inner: EnvSpec) -> EnvSpec:
        stacked = super()._stack(inner)
        layer = self._layer.spec
        blocks = layer is not None and layer.blocking
        return stacked.model_copy(update={"blocking": stacked.blocking or blocks})

    @property
    def _saved_inside(self) -> Env:
        return self._layer  # which holds the environment, below all that is of the seat

    def _hold_inside(self, inside: Env) -> None:
        self._layer = inside
        innermost: Any = inside
        while not isinstance(innermost, _OneSeat):
            innermost = innermost.env
        self.env = innermost.env

    def close(self) -> None:
        self._layer.close()

    async def aclose(self) -> None:
        await self._layer.aclose()
