"""A curriculum: which environment each episode of a run is of, as a trainer steers it.

Knows nothing about how episodes are run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from gem._python.recorded_arguments import recorded
from gem.errors import BadArguments
from gem.registry._blueprint import overridden
from gem.registry._making import ref_of, resolve
from gem.registry._obsolete import current_kwargs
from gem.rollouts._mixtures import Component, checked_components, drawn
from gem.specs import EnvSpec

__all__ = ["Schedule"]


class Schedule(Sequence[EnvSpec]):
    """Weights and arguments of several environments, to be updated between batches.

    Give it to `gem.rollout` where environments are listed. Episode k of a run is then one of the
    component that the run's seed and k draw, by the weights as they are when `rollout` is called;
    its record is of that component, and replays without the schedule. A component's episode k
    has the seed that it has as the only one that is run in its place of the list: weights change
    which episodes there are, and never what is in one.

        schedule = gem.Schedule([
            {"env": "game:GuessTheNumber-v0-easy"},
            {"env": "math:Arithmetic-v0", "kwargs": {"num_terms": 2}, "name": "sums"},
        ])
        for batch in range(100):
            async for episode in gem.rollout(policy, schedule, episodes=64, seed=batch):
                ...
            schedule.update(weights={"sums": 3}, kwargs={"sums": {"num_terms": 4}})

    Raises BadArguments where the list is no mixture.
    """

    def __init__(self, envs: Sequence[Component | Mapping[str, Any]]) -> None:
        self._components = checked_components(envs, subject="A schedule")

    @property
    def components(self) -> tuple[Component, ...]:
        """What it mixes now: frozen pydantic data, from which another schedule can be made."""
        return self._components

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each component by name."""
        return {component.title: component.weight for component in self._components}

    def update(
        self,
        *,
        weights: Mapping[str, float] | None = None,
        kwargs: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Change weights, or single arguments of components, both by name; the rest stays.

        Runs that were begun go on as they were planned. Raises BadArguments on a name that there
        is not, or weights that are none; then nothing changes.
        """
        weights = weights or {}
        kwargs = kwargs or {}
        unknown = sorted({*weights, *kwargs} - {*self.weights})
        if unknown:
            raise BadArguments(
                f"A schedule was to update {', '.join(map(repr, unknown))}, and it has "
                f"{', '.join(map(repr, self.weights))}. Name these.",
                subject="schedule",
            )
        changed = [
            {
                **dict(component),
                "weight": weights.get(component.title, component.weight),
                "kwargs": {**component.kwargs, **kwargs.get(component.title, {})},
            }
            for component in self._components
        ]
        # In one assignment, once all of them are checked: on an error nothing has changed.
        self._components = checked_components(changed, subject="A schedule")

    def choose(self, seed: int, episode_index: int) -> int:
        """Return the position of the component that an episode of a run is of."""
        return drawn(self._components, "schedule", seed, episode_index)

    def mixture(self, env_id: str = "mix:Schedule") -> EnvSpec:
        """Return the spec of a `gem.Mixture` of the components as they are now.

        It is for what takes one environment, such as `gem.make_vec`.
        """
        envs = [
            {**dict(component), "env": resolve(component.env)} for component in self._components
        ]
        kwargs = recorded({"envs": envs})
        return EnvSpec(id=env_id, target="gem:Mixture", kwargs=kwargs)

    @overload
    def __getitem__(self, index: int) -> EnvSpec: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[EnvSpec]: ...

    def __getitem__(self, index: int | slice) -> EnvSpec | Sequence[EnvSpec]:
        """Return the spec of a component, its arguments and wrappers in it."""
        if isinstance(index, slice):
            return [_whole(component) for component in self._components[index]]
        return _whole(self._components[index])

    def __len__(self) -> int:
        return len(self._components)

    def __repr__(self) -> str:
        return f"<Schedule {self.weights}>"


def _whole(component: Component) -> EnvSpec:
    spec = resolve(component.env)
    layers = map(ref_of, component.wrappers)
    kwargs = current_kwargs(component.kwargs, spec.obsolete_kwargs, subject=spec.id)
    return spec.model_copy(
        update={
            "kwargs": recorded(overridden(spec.kwargs, kwargs)),
            "wrappers": (*spec.wrappers, *layers),
        }
    )
