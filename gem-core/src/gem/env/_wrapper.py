"""An environment that holds another one and changes what passes through.

Knows nothing about which wrappers exist: see `gem.wrappers` for those.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, Union

from gem._python.recorded_arguments import recorded
from gem._python.sync_async import is_awaitable, wait_for
from gem.content import Observation
from gem.env._env import Env
from gem.env._lifecycle._phases import refuse_unless_idle
from gem.env._snapshot import decode, encode
from gem.env._step import Step, as_step, described
from gem.errors import BadArguments
from gem.specs import EnvSpec, WrapperRef

__all__ = ["Wrapper"]

W = TypeVar("W", bound="Wrapper")
T = TypeVar("T")
Maybe = Union[T, Awaitable[T]]
Started = tuple[Observation, dict[str, Any]]


class _Forward:
    """Read an attribute from the wrapped environment; a value set on the wrapper hides it.

    For what `Env` defines itself: Python finds that on the class, and never asks `__getattr__`.
    """

    # It defines no `__set__`: an attribute of the instance then comes before it.

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
    all_seats: ClassVar[bool] = False
    """Whether it may be around an environment of several seats, and keeps apart what each sees."""

    _is_layer: ClassVar[bool] = True
    # Whether a call runs through this layer, and whether it was closed. The phase and the seed are
    # on the base environment alone: two layers could disagree about them.
    _calling: bool = False
    _closed: bool = False
    # What `make` knows of this layer: its id with its arguments, and whether its calls block.
    _ref: WrapperRef | None = None
    _blocks: bool = True
    _whole: EnvSpec | None = None  # set where one target makes this layer and all inside it
    # The spec inside, and the spec with this layer on top that was made of it.
    _stacked: tuple[EnvSpec, EnvSpec] | None = None
    # What the constructor was given, from which a spec is made where `make` was not asked.
    _arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})

    if not TYPE_CHECKING:  # pragma: no branch - only a type checker passes by
        rng = _Forward()
        episode_seed = _Forward()
        sample_rng = _Forward()
        turn = _Forward()
        seats = _Forward()
        seat = _Forward()
        zero_sum = _Forward()
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

    # Here, and not in `__init__`: a subclass need not call that of its parent.
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        env = args[0] if args else kwargs.get("env")
        if not cls.all_seats and isinstance(env, Env) and len(env.seats) > 1:
            raise BadArguments(
                f"{cls.__name__} was put around {env!r}, whose seats are {', '.join(env.seats)}. "
                "It would mix what they see: put it around one of them, by "
                '{"id": "seat", "seat": 0, "wrapper": ...}, or say `all_seats = True` in its '
                "class if it keeps them apart.",
                subject=cls.__name__,
            )
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
        step = self.env.step(inner) if isinstance(inner, str) else _answer_of(self, inner)
        changed: Any = self.on_step(action, step)
        return as_step(wait_for(changed) if is_awaitable(changed) else changed, self, "on_step")

    async def astep(self, action: str) -> Step:
        inner: Any = self.on_action(action)
        if is_awaitable(inner):
            inner = await inner
        step = await self.env.astep(inner) if isinstance(inner, str) else _answer_of(self, inner)
        changed: Any = self.on_step(action, step)
        return as_step(await changed if is_awaitable(changed) else changed, self, "on_step")

    def hint(self, method: str, seat: int = 0) -> str | None:
        if len(self.seats) > 1:
            return self.env.hint(method, seat)
        return super().hint(method, seat)

    def shown_to(self, seat: int) -> tuple[bool, bool, list[Mapping[str, Any]]]:
        if len(self.seats) > 1:
            return self.env.shown_to(seat)
        return super().shown_to(seat)

    def close(self) -> None:
        """Close the wrapped environment."""
        self.env.close()

    async def aclose(self) -> None:
        await self.env.aclose()

    def __getattr__(self, name: str) -> Any:
        # Before `env` is set there is nothing to ask: looking for it would never end. And what
        # Python asks of a class by name (`__deepcopy__`, ...) is of this layer or of none.
        if name == "env":
            raise AttributeError(
                f"{type(self).__name__} has no environment yet. Its __init__ has to begin with "
                "super().__init__(env)."
            )
        if name.startswith("__"):
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
        bound: dict[str, Any] = {}
        for name, value in signature.bind_partial(self, *args, **kwargs).arguments.items():
            is_rest = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            bound.update(value if is_rest else {name: value})
        return {
            name: value
            for name, value in bound.items()
            if value is not self and value is not self.env
        }

    @property
    def _saved_inside(self) -> Env:
        return self.env

    def _hold_inside(self, inside: Env) -> None:
        """Take what is inside this layer: the fork of what `_saved_inside` is of another."""
        self.env = inside

    def fork(self: W) -> W:
        """Return an independent twin of the whole stack."""
        refuse_unless_idle(self, "fork")
        twin = self._blank()
        twin._hold_inside(self._saved_inside.fork())
        # Encoded and decoded, for the two must not share a list that one of them changes.
        twin._load({name: decode(value) for name, value in encode(self._state()).items()})
        return twin

    _unsaved: ClassVar[frozenset[str]] = frozenset(
        {*Env._unsaved, "env", "_arguments", "_ref", "_blocks", "_whole", "_stacked"}
        | {"_calling", "_closed"}
    )


def _answer_of(wrapper: Wrapper, answer: Any) -> Step:
    """Return the Step that `on_action` answered with. Raises TypeError where it is none."""
    if isinstance(answer, tuple):
        return as_step(answer, wrapper, "on_action")
    raise TypeError(
        f"{type(wrapper).__name__}.on_action returned {described(answer)}. It must return the text "
        "of the action, or a Step."
    )
