"""An environment that holds another one and changes what passes through.

Knows nothing about which wrappers exist: see `gem.wrappers` for those.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, Union

from gem import guards
from gem.arguments import recorded
from gem.bridge import is_awaitable, wait_for
from gem.content import Observation
from gem.env import Env
from gem.errors import SnapshotError
from gem.snapshot import Snapshot, decode, encode
from gem.specs import EnvSpec, WrapperRef
from gem.step import Step, as_step

__all__ = ["Wrapper"]

W = TypeVar("W", bound="Wrapper")
T = TypeVar("T")
Maybe = Union[T, Awaitable[T]]
Started = tuple[Observation, dict[str, Any]]


class _Forward:
    """Read an attribute from the wrapped environment; a value set on the wrapper hides it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, wrapper: Wrapper | None, owner: type) -> Any:
        if wrapper is None:
            return getattr(Env, self._name)
        return getattr(wrapper.env, self._name)


class Wrapper(Env, both_forms=True):  # both call the same hooks
    """State a change once; both forms, synchronous and asynchronous, follow from it.

    Override any of `on_reset`, `on_action` and `on_step`; each may return an awaitable, and
    only then is it waited for. Reading an attribute that the wrapper lacks reads the wrapped
    environment's; writing one stays on the wrapper.

    >>> class Shout(Wrapper):
    ...     def on_step(self, action, step):
    ...         return step._replace(observation=step.observation.upper())
    """

    env: Env

    _is_layer: ClassVar[bool] = True
    _calling: bool = False
    _closed: bool = False
    _ref: WrapperRef | None = None
    _blocks: bool = True
    _whole: EnvSpec | None = None  # set where one target makes this layer and all inside it
    _stacked: tuple[EnvSpec, EnvSpec] | None = None
    _arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})

    if not TYPE_CHECKING:  # pragma: no branch - only a type checker passes by
        rng = _Forward()
        episode_seed = _Forward()
        sample_rng = _Forward()
        turn = _Forward()
        max_turns = _Forward()
        reward_range = _Forward()
        num_tasks = _Forward()
        single_turn = _Forward()
        tools = _Forward()
        rewrites_history = _Forward()
        prompt_is_finished = _Forward()
        sample_action = _Forward()
        solve = _Forward()
        pick_task = _Forward()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        wrapper = super().__new__(cls)
        wrapper._arguments = (args, kwargs)
        return wrapper

    def __init__(self, env: Env) -> None:
        self.env = env

    def on_reset(self, observation: Observation, info: dict[str, Any]) -> Maybe[Started]:
        """Change what `reset` returns."""
        return observation, info

    def on_action(self, action: str) -> Maybe[str | Step]:
        """Change the action, or answer with a Step: the wrapped one is then not stepped."""
        return action

    def on_step(self, action: str, step: Step) -> Maybe[Step]:
        """Change what `step` returns. `action` is the one that was given to this wrapper."""
        return step

    def reset(self, seed: int | None = None, *_: Any, **options: Any) -> Started:
        """Reset the wrapped environment and let `on_reset` change the result."""
        changed: Any = self.on_reset(*self.env.reset(seed=seed, **options))
        started: Started = wait_for(changed) if is_awaitable(changed) else changed
        return started

    async def areset(self, seed: int | None = None, *_: Any, **options: Any) -> Started:
        changed: Any = self.on_reset(*await self.env.areset(seed=seed, **options))
        started: Started = await changed if is_awaitable(changed) else changed
        return started

    def step(self, action: str) -> Step:
        """Let `on_action` change the action, step, and let `on_step` change the result."""
        inner: Any = self.on_action(action)
        if is_awaitable(inner):
            inner = wait_for(inner)
        step = as_step(inner) if isinstance(inner, tuple) else self.env.step(inner)
        changed: Any = self.on_step(action, step)
        return as_step(wait_for(changed) if is_awaitable(changed) else changed)

    async def astep(self, action: str) -> Step:
        inner: Any = self.on_action(action)
        if is_awaitable(inner):
            inner = await inner
        step = as_step(inner) if isinstance(inner, tuple) else await self.env.astep(inner)
        changed: Any = self.on_step(action, step)
        return as_step(await changed if is_awaitable(changed) else changed)

    def close(self) -> None:
        """Close the wrapped environment."""
        self.env.close()

    async def aclose(self) -> None:
        await self.env.aclose()

    def __getattr__(self, name: str) -> Any:
        if name == "env" or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.env!r}>"

    @property
    def unwrapped(self) -> Env:
        """The environment inside every wrapper."""
        return self.env.unwrapped

    @property
    def spec(self) -> EnvSpec | None:
        """The wrapped environment's spec with this layer on top, as data that rebuilds both."""
        if self._whole is not None:
            return self._whole
        inner = self.env.spec
        if inner is None:
            return None
        if self._stacked is None or self._stacked[0] is not inner:
            self._stacked = (inner, self._stack(inner))
        return self._stacked[1]

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._whole = spec

    def _stack(self, inner: EnvSpec) -> EnvSpec:
        ref = self._ref or WrapperRef(
            id=f"{type(self).__module__}:{type(self).__qualname__}",
            kwargs=recorded(self._bound_arguments()),
        )
        layers = (*inner.wrappers, ref)
        return inner.model_copy(
            update={"wrappers": layers, "blocking": inner.blocking or self._blocks}
        )

    def _bound_arguments(self) -> dict[str, Any]:
        """Return what the constructor was given, by name, the wrapped environment left out."""
        args, kwargs = self._arguments
        signature = inspect.signature(type(self).__init__)
        given: dict[str, Any] = {}
        for name, value in signature.bind_partial(self, *args, **kwargs).arguments.items():
            is_rest = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            given.update(value if is_rest else {name: value})
        return {
            name: value
            for name, value in given.items()
            if value is not self and value is not self.env
        }

    def snapshot(self) -> Snapshot:
        """Save this layer's state and, inside it, the wrapped environment's."""
        guards.refuse_unless_idle(self, "snapshot")
        spec = self._plain_spec()
        return Snapshot(spec, encode(self._state()), self.env.snapshot())

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of the same stack. On an error nothing changes."""
        guards.refuse_unless_idle(self, "restore")
        if snapshot.inner is None:
            raise SnapshotError(
                "This snapshot has fewer layers than this stack: nothing is inside its "
                f"{type(self).__name__}. Restore it into the stack that it was taken of."
            )
        before, state = dict(self._state()), self._fitting_state(snapshot)
        self._load(state)
        try:
            self.env.restore(snapshot.inner)
        except BaseException:
            self._load(before)
            raise

    def fork(self: W) -> W:
        """Return an independent twin of the whole stack."""
        guards.refuse_unless_idle(self, "fork")
        twin = self._blank()
        twin.env = self.env.fork()
        twin._load({name: decode(value) for name, value in encode(self._state()).items()})
        return twin

    _unsaved: ClassVar[frozenset[str]] = frozenset(
        {*Env._unsaved, "env", "_arguments", "_ref", "_blocks", "_whole", "_stacked"}
        | {"_calling", "_closed"}
    )
