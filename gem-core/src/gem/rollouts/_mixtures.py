"""An environment over several: each episode is one of theirs, drawn by weight.

Knows nothing about runs: which episodes they have is planned in `gem.rollouts._planning`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from gem._python.seeding import stream
from gem.content import Observation
from gem.env._env import Env
from gem.env._lifecycle._phases import refuse_unless_idle
from gem.env._snapshot import Snapshot, decode, encode
from gem.env._step import Step
from gem.episode._episode import is_success
from gem.episode._seats import seats_succeeded
from gem.errors import BadArguments, SnapshotError, problems_of
from gem.registry._making import EnvLike, make, resolve
from gem.specs import EnvSpec

__all__ = ["Component", "Mixture", "checked_components", "drawn"]

Started = tuple[Observation, dict[str, Any]]


class Component(BaseModel):
    """One environment of a mixture, and how often it comes: in proportion to its weight.

    `env` is what `gem.make` takes: an id, a target, a class, a function that makes an instance, or
    a spec; a class or a function becomes its spec. `kwargs` and `wrappers` are what `gem.make`
    takes with it. `name` is what it is called by: the id unless it is given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    if TYPE_CHECKING:
        env: EnvLike  # what may be given, to a type checker
    else:
        env: str | EnvSpec | Annotated[Callable[..., Env], AfterValidator(resolve)]
    weight: float = Field(default=1.0, ge=0.0, allow_inf_nan=False)
    kwargs: dict[str, Any] = {}
    wrappers: list[str | dict[str, Any]] = []
    name: str = ""

    @property
    def title(self) -> str:
        """What it is called by."""
        return self.name or resolve(self.env).id

    def make(self) -> Env:
        """Build it. Raises what `gem.make` does."""
        return make(self.env, wrappers=self.wrappers, **self.kwargs)


def checked_components(
    listed: Sequence[Component | Mapping[str, Any]], *, subject: str
) -> tuple[Component, ...]:
    """Return the components that a list describes. Raises BadArguments on what is no mixture."""
    try:
        components = tuple(Component.model_validate(item) for item in listed)
    except ValidationError as error:
        problems = problems_of(error)
        raise BadArguments(
            f"{subject} was given what is no component ({'; '.join(problems)}). Give an "
            "environment as {'env': id, 'weight': number}, with 'kwargs' and 'wrappers' if needed.",
            subject=subject,
            problems=problems,
        ) from error
    titles = [component.title for component in components]
    weights = [component.weight for component in components]
    if len(set(titles)) < len(titles) or not 0 < sum(weights) < math.inf:
        raise BadArguments(
            f"{subject} was given the components {titles} with the weights {weights}. It needs "
            "one or more with a finite sum of weights above 0, and names that differ: give 'name' "
            "where one environment comes twice.",
            subject=subject,
        )
    return components


def drawn(components: Sequence[Component], *key: int | str) -> int:
    """Return the index of the component that the key chooses, by weight."""
    weights = [component.weight for component in components]
    return stream("mixture", *key).choices(range(len(weights)), weights)[0]


class Mixture(Env, both_forms=True):  # each calls the component's own form
    """Episodes of several environments, each as often as its weight says.

    The seed of an episode draws its component, and the component is reset with that same seed:
    its episode is the one that it would have alone. `info["component"]` has the component's
    `index` and `name`, and a mixture inside a mixture adds its own below. Turn limit, tools and
    prompt are the component's. Every component is made when the mixture is.

        gem.register("mine:Mix", "gem:Mixture", envs=[
            {"env": "game:GuessTheNumber-v0-hard", "weight": 2},
            {"env": "math:Arithmetic-v0", "kwargs": {"num_terms": 4}},
        ])

    Raises BadArguments where the list is no mixture, and what `gem.make` raises for a component.
    """

    shared: ClassVar[Sequence[str]] = ("components",)
    chosen: int | None = None
    """Index of the component that is played; None before the first reset."""

    _unsaved: ClassVar[frozenset[str]] = Env._unsaved | {"_made"}
    _made: dict[int, Env]

    def __init__(self, envs: list[Component]) -> None:
        self.components = checked_components(envs, subject="A mixture")
        self._made = {index: component.make() for index, component in enumerate(self.components)}
        self.total = 0.0
        envs_made = list(self._made.values())
        self.reward_range = (
            min(env.reward_range[0] for env in envs_made),
            max(env.reward_range[1] for env in envs_made),
        )
        limits = [env.max_turns for env in envs_made if env.max_turns is not None]
        self._longest = max(limits) if len(limits) == len(envs_made) else None
        self._all_single = all(env.single_turn for env in envs_made)
        self._sit_down(envs_made)

    def _sit_down(self, envs: Sequence[Env]) -> None:
        """Take the seats of the components. Raises BadArguments where they differ."""
        seats = {env.seats for env in envs}
        if len(seats) > 1:
            raise BadArguments(
                f"A mixture was given environments with the seats "
                f"{' and '.join(map(str, sorted(seats)))}. Give it some whose seats are equal.",
                subject="A mixture",
            )
        names = envs[0].seats
        if len(names) > 1:  # of one seat its snapshots are as they were
            self.seats = names
            self.zero_sum = all(env.zero_sum for env in envs)
            self.totals = [0.0] * len(names)

    if not TYPE_CHECKING:  # pragma: no branch - only a type checker passes by

        @property
        def max_turns(self) -> int | None:
            return self._longest if self.chosen is None else self.component.max_turns

        @property
        def single_turn(self) -> bool:
            return self._all_single if self.chosen is None else self.component.single_turn

        @property
        def tools(self) -> Sequence[Mapping[str, Any]]:
            return () if self.chosen is None else self.component.tools

        @property
        def rewrites_history(self) -> bool:
            return self.chosen is not None and self.component.rewrites_history

        @property
        def prompt_is_finished(self) -> bool:
            return self.chosen is not None and self.component.prompt_is_finished

        @property
        def seat(self) -> int:
            return 0 if self.chosen is None else self.component.seat

    @property
    def component(self) -> Env:
        """The environment that is played."""
        return self._component(self.chosen or 0)

    def _component(self, index: int) -> Env:
        if index not in self._made:  # after a fork only the one that is played is there
            self._made[index] = self.components[index].make()
        return self._made[index]

    def reset(self, seed: int | None = None) -> Started:
        """Draw a component and start an episode of it."""
        seed = self._choose(seed)
        return self._started(*self.component.reset(seed=seed))

    async def areset(self, seed: int | None = None) -> Started:
        seed = self._choose(seed)
        return self._started(*await self.component.areset(seed=seed))

    def step(self, action: str) -> Step:
        """Step the component."""
        return self._stepped(self.component.step(action))

    async def astep(self, action: str) -> Step:
        return self._stepped(await self.component.astep(action))

    def close(self) -> None:
        """Close every component."""
        with ExitStack() as stack:  # which calls every one, also where another raises
            for env in self._made.values():
                stack.callback(env.close)

    async def aclose(self) -> None:
        async with AsyncExitStack() as stack:
            for env in self._made.values():
                stack.push_async_callback(env.aclose)

    def sample_action(self) -> str:
        # The stream of this mixture, so that looking at an action costs the component none.
        self.component.unwrapped.sample_rng = self.sample_rng
        return self.component.sample_action()

    def solve(self) -> str | None:
        return self.component.solve()

    def hint(self, method: str, seat: int = 0) -> str | None:
        if len(self.seats) == 1:
            return super().hint(method, seat)
        self.component.unwrapped.sample_rng = self.sample_rng
        return self.component.hint(method, seat)

    def shown_to(self, seat: int) -> tuple[bool, bool, list[Mapping[str, Any]]]:
        if len(self.seats) == 1:
            return super().shown_to(seat)
        return self.component.shown_to(seat)

    def peek(self, seat: int) -> Observation:
        """Return what a seat of the component was told and not shown yet."""
        component: Any = self.component
        observation: Observation = component.peek(seat)
        return observation

    def is_out(self, seat: int) -> bool:
        """Say whether a seat of the component is out."""
        component: Any = self.component
        is_out: bool = component.is_out(seat)
        return is_out

    def _choose(self, seed: int | None) -> int:
        # Without a seed the episode is fixed by this instance's own stream, as any other's.
        seed = self.rng.getrandbits(63) if seed is None else seed
        self.chosen = drawn(self.components, seed)
        self.total = 0.0
        if len(self.seats) > 1:
            self.totals = [0.0] * len(self.seats)
        return seed

    def _started(self, observation: Observation, info: Mapping[str, Any]) -> Started:
        return observation, self._with_component(info)

    def _stepped(self, step: Step) -> Step:
        info = self._with_component(step.info)
        self.total += step.reward
        if len(self.seats) > 1:
            self.totals = [sum(pair) for pair in zip(self.totals, step.rewards, strict=True)]
        if (step.terminated or step.truncated) and "success" not in info:
            spec = self.component.spec
            assert spec is not None  # gem.make made it
            if len(self.seats) > 1:
                successes = seats_succeeded(info, self.totals, spec)
                info["successes"] = tuple(successes)
                info["success"] = all(successes)
            else:
                info["success"] = is_success(info, self.total, spec)
        return step._replace(info=info)

    def _with_component(self, info: Mapping[str, Any]) -> dict[str, Any]:
        chosen = self.chosen or 0
        component: dict[str, Any] = {"index": chosen, "name": self.components[chosen].title}
        if "component" in info:  # it is a mixture itself
            component["component"] = info["component"]
        return {**info, "component": component}

    @property
    def _saved_inside(self) -> Env | None:
        return None if self.chosen is None else self.component

    def _check_fits(self, snapshot: Snapshot) -> None:
        super()._check_fits(snapshot)
        if (snapshot.state.get("chosen") is None) != (snapshot.inner is None):
            raise SnapshotError(
                "This snapshot of a mixture does not hold the component that was played, or one "
                "that was not. Take it again with Mixture.snapshot()."
            )

    def fork(self) -> Mixture:
        """Return an independent twin in the same state."""
        refuse_unless_idle(self, "fork")
        twin = self._blank()
        # Only what is played has a state to copy; the others are made when they are drawn.
        twin._made = {} if self.chosen is None else {self.chosen: self.component.fork()}
        twin._load({name: decode(value) for name, value in encode(self._state()).items()})
        return twin

    def _can_load(self, name: str, value: Any) -> bool:
        if name == "chosen":
            return type(value) is int and 0 <= value < len(self.components)
        return super()._can_load(name, value)
