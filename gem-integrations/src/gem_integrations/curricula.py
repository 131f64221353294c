"""Which environment each episode of a training is of: always one, or as a schedule says now.

Knows nothing about any framework.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import gem
from gem.errors import BadArguments
from gem.rollouts import Component
from gem_integrations.episodes import EnvOptions

__all__ = ["Curriculum"]

Options = TypeVar("Options", bound=EnvOptions)


class Curriculum(Generic[Options]):
    """The options of each episode. `env` is an id, or a `gem.Schedule` that the trainer steers.

    `given` are the options beside the environment, of the class `kind`. With a schedule they hold
    for every component, `wrappers` around the component's own, and `env_kwargs` are the
    components'. A component counts its faults by itself.

    `takes_images` says that environments may show them, and `shows_images` that one did at once;
    what is set later holds for components that are tried again. `takes_seats` says that
    environments may have several seats.

    Tries every environment, and a component again whose arguments were changed, before its first
    episode. Raises BadArguments for options that do not fit, the errors of `gem.make`, and
    UnplayableError where no episode can begin.
    """

    def __init__(
        self,
        env: str | gem.Schedule,
        given: Mapping[str, Any],
        *,
        framework: str,
        kind: type[Options],
        takes_images: bool = False,
        takes_seats: bool = False,
    ) -> None:
        self.takes_images = takes_images
        self._takes_seats = takes_seats
        self.shows_images = False
        self._framework = framework
        self._kind = kind
        self._given = dict(given)
        self._tried: dict[str, Options] = {}
        self.schedule = env if isinstance(env, gem.Schedule) else None
        if self.schedule is None:
            self._only = self._kind.of({**self._given, "env_id": env})
            self._try_out(self._only)
            return
        if "env_kwargs" in self._given:
            raise BadArguments(
                "A schedule was given with env_kwargs, and each of its components has its own. "
                "Write them into the schedule, as 'kwargs'.",
                subject="env_kwargs",
            )
        tried = [self._options(component) for component in self.schedule.components]
        self._only = tried[0]

    @property
    def any_options(self) -> Options:
        """The options of some episode, for what does not depend on the environment."""
        return self._only

    def choose(self, seed: int, number: int) -> tuple[int, Options]:
        """Return the component that episode `number` of a run is of, and its options.

        By the weights as they are now; the same as `gem.rollout` chooses with that seed.
        """
        if self.schedule is None:
            return 0, self._only
        index = self.schedule.choose(seed, number)
        return index, self._options(self.schedule.components[index])

    def _options(self, component: Component) -> Options:
        """Return the options of a component, once an environment of it has begun."""
        # Without the weight, which a trainer changes: the environment is tried once all the same.
        key = component.model_dump_json(exclude={"weight"})
        if key in self._tried:
            return self._tried[key]
        if not isinstance(component.env, str):
            raise BadArguments(
                f"The schedule has {component.title!r} as a spec, and adapters take ids. Register "
                "the spec (gem.register), and write its id.",
                subject="schedule",
            )
        stated = {
            "env_id": component.env,
            "env_kwargs": component.kwargs,
            "wrappers": (*component.wrappers, *self._given.get("wrappers", ())),
        }
        options = self._kind.of({**self._given, **stated})
        self._try_out(options)
        self._tried[key] = options
        return options

    def _try_out(self, options: Options) -> None:
        shows = options.try_out(
            self._framework, takes_images=self.takes_images, takes_seats=self._takes_seats
        )
        self.shows_images = self.shows_images or shows
