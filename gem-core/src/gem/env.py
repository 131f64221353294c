"""The environment itself: `reset`, `step`, and the state between them.

Knows nothing about registries, wrappers' specs, vectors or rollouts. The rules of use (seeding,
phases, one call at a time) are in `gem.guards`, applied to every subclass as it is defined.

What an author needs besides is here too: chance that is keyed (`stream`, `key_seed`,
`episode_seed`), ways between synchronous and asynchronous code (`wait_for`, `on_background`,
`in_thread`, `end_soon`), and `process_tree`, which tells all processes of a run their root.
"""

from __future__ import annotations

import operator
import random
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from gem import guards, process_tree
from gem.bridge import end_soon, in_thread, on_background, wait_for
from gem.content import Observation
from gem.errors import SnapshotError, in_one_line
from gem.seeding import episode_seed, key_seed, stream
from gem.snapshot import Snapshot, decode, encode
from gem.step import Step

if TYPE_CHECKING:
    from gem.reset_options import ResetForm
    from gem.specs import EnvSpec

__all__ = [
    "Env",
    "Step",
    "end_soon",
    "episode_seed",
    "in_thread",
    "key_seed",
    "on_background",
    "process_tree",
    "stream",
    "wait_for",
]

E = TypeVar("E", bound="Env")


class _LazyRandom:
    """Make an attribute's generator on first read; the instance's own value then hides this."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, env: Env | None, owner: type) -> random.Random | _LazyRandom:
        if env is None:
            return self
        rng = random.Random()
        setattr(env, self._name, rng)
        return rng


class Env:
    """Subclass this and write `reset` and `step`, or `areset` and `astep` if it waits.

    `close` or `aclose` joins them where there is something to free. The other forms are
    derived. Take chance from `self.rng` alone, and the same seed gives the same episode. Inside
    `step`, `self.turn` is the number of turns already taken. There is no need to call
    `super().__init__()` or `super().reset()`.

    Where each form has to call a form of its own, `class Both(Env, both_forms=True)` writes both
    by hand and promises that they do the same. A subclass promises for itself.

    >>> class Coin(Env):
    ...     max_turns = 1
    ...     def reset(self, seed=None):
    ...         self.side = self.rng.choice(["heads", "tails"])
    ...         return "Heads or tails?", {}
    ...     def step(self, action):
    ...         won = action == self.side
    ...         return Step(self.side, float(won), True, False, {"success": won})
    >>> env = Coin()
    >>> observation, info = env.reset(seed=3)
    >>> env.step("heads").terminated
    True
    """

    spec: EnvSpec | None = None
    max_turns: int | None = None
    """Turns after which this environment truncates an episode; None for no limit."""
    reward_range: tuple[float, float] = (float("-inf"), float("inf"))
    """The smallest and the largest reward of one step, both included."""
    num_tasks: int | None = None
    """Size of the finite set that `reset(task=i)` picks from; None where there is none."""
    single_turn: bool = False
    """Whether every episode has exactly one turn."""
    tools: Sequence[Mapping[str, Any]] = ()
    """Schemas of the tools that a policy may call, in the OpenAI form."""
    shared: ClassVar[Sequence[str]] = ()
    """Attributes with read-only data: snapshots leave them out, forks share them."""
    rewrites_history: bool = False
    """Whether an observation is the whole prompt, not only what is new."""
    prompt_is_finished: bool = False
    """Whether that prompt is already rendered by a chat template."""
    turn: int = 0
    """Turns taken in this episode."""
    highlights: ClassVar[Sequence[tuple[str, str, str]]] = ()
    """What `gem-env play` colours in the text: a pattern of a line, one of what to colour in it,
    and bold, red, green, yellow, blue, magenta, cyan or grey."""

    if TYPE_CHECKING:
        rng: random.Random
        """The only source of chance in reset and step. Seeded by `reset(seed=...)`."""
    else:
        rng = _LazyRandom()

    _is_layer: ClassVar[bool] = False
    _reset_form: ClassVar[ResetForm]
    _phase: int = guards.NEW
    # What the next reset begins with if it is given no seed; it is on the base environment, where
    # `make` and a layer's reset put it, and that reset takes it away.
    _first_seed: int | None = None
    _episode_seed: int | None = None
    _sampler: random.Random | None = None

    _writes_both: ClassVar[bool] = False

    def __init_subclass__(cls, *, both_forms: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if both_forms:
            # Before the guards, which read it; and in the class itself, so that what copies a
            # class body (dataclass with slots) copies the promise too.
            cls._writes_both = True
        cls._slots = tuple(
            name
            for owner in cls.__mro__
            for name, member in vars(owner).items()
            if isinstance(member, types.MemberDescriptorType)
        )
        guards.install(cls)
        cls._methods = _method_names(cls)

    def reset(  # `*_` tells type checkers that a subclass may take other options
        self, seed: int | None = None, *_: Any, **options: Any
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode and return its first observation and info.

        With a seed (any int) the episode depends on the seed alone; without one it continues
        this instance's own stream. Options are given by name, `reset(seed=1, task=2)`, or as in
        Gymnasium, `reset(seed=1, options={"task": 2})`.
        """
        if guards.author(self, "reset") is Env:  # else it was called by super()
            raise NotImplementedError(
                f"{type(self).__name__} was reset, and it defines neither reset nor areset. Write "
                "the first, or the second if it waits; it returns an observation and a dict."
            )
        guards.reseed(self, seed)
        return "", {}

    def step(self, action: str) -> Step:
        """Take one action. Raises ResetNeeded before the first reset and after the end."""
        raise NotImplementedError(f"{type(self).__name__} defines neither step nor astep.")

    def close(self) -> None:
        """Free what the environment holds. A second call does nothing."""

    if TYPE_CHECKING:

        async def areset(
            self, seed: int | None = None, *_: Any, **options: Any
        ) -> tuple[Observation, dict[str, Any]]:
            """`reset`, awaited."""

        async def astep(self, action: str) -> Step:
            """`step`, awaited."""

        async def aclose(self) -> None:
            """`close`, awaited."""

    @property
    def unwrapped(self) -> Env:
        """The environment inside every wrapper."""
        return self

    @property
    def episode_seed(self) -> int | None:
        """The seed that this episode began with; None where `reset` was given none."""
        return self._episode_seed

    @property
    def sample_rng(self) -> random.Random:
        """Chance for `sample_action`: keyed by the seed, apart from the episode's own."""
        if self._sampler is None:
            seed = self._episode_seed
            self._sampler = random.Random() if seed is None else stream("sample", seed)
        return self._sampler

    @sample_rng.setter
    def sample_rng(self, rng: random.Random) -> None:
        self._sampler = rng

    def sample_action(self) -> str:
        """Return a valid action, drawn from `sample_rng`. The episode is not changed by it."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample_action.")

    def sample_random_action(self) -> str:
        """`sample_action` under its older name."""
        return self.sample_action()

    def solve(self) -> str | None:
        """Return a good action for the current state (the gold answer, an optimal move).

        None where none is known. Draws nothing and changes nothing.
        """
        return None

    def pick_task(self, task: int | None) -> int:
        """Return `task` if it is one of `num_tasks`, or let `rng` draw one where it is None.

        Raises ValueError on a number outside the set, TypeError where there is no set.
        """
        if self.num_tasks is None:
            raise TypeError(f"{type(self).__name__} has no finite set of tasks.")
        if task is None:
            return self.rng.randrange(self.num_tasks)
        if not 0 <= task < self.num_tasks:
            raise ValueError(
                f"Task {task} was asked for, and there are {self.num_tasks}, counted from 0."
            )
        return operator.index(task)

    def snapshot(self) -> Snapshot:
        """Save everything needed to continue, as plain data. Raises SnapshotError otherwise.

        The order in which a set iterates is not kept, nor is the place in `sample_rng`'s
        stream: it starts again from the episode's seed.
        """
        guards.refuse_unless_idle(self, "snapshot")
        return Snapshot(self._plain_spec(), encode(self._state()))

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of the same environment. On an error nothing changes."""
        guards.refuse_unless_idle(self, "restore")
        self._load(self._fitting_state(snapshot))

    def fork(self: E) -> E:
        """Return an independent twin in the same state; `shared` data is not copied."""
        guards.refuse_unless_idle(self, "fork")
        twin = self._blank()
        twin.restore(self.snapshot())
        return twin

    def spawn(self: E, same_state: bool = True, *, seed: int | None = None) -> E:
        """`fork` under its older name; with `same_state=False` the twin starts unseeded.

        With `seed` the twin's next `reset()` equals `reset(seed=seed)`.
        """
        first_seed = guards.checked_seed(seed, "spawn")
        twin = self.fork()
        base = twin.unwrapped
        if not same_state:
            base._phase = guards.NEW
            base._first_seed = base._episode_seed = None
            base.rng = random.Random()
        if first_seed is not None:
            base._first_seed = first_seed
        return twin

    def get_state(self) -> Snapshot:
        """`snapshot` under its older name."""
        return self.snapshot()

    def set_state(self, state: Snapshot) -> None:
        """`restore` under its older name."""
        self.restore(state)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec.id if self.spec else 'made by hand'}>"

    def __enter__(self: E) -> E:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    _unsaved: ClassVar[frozenset[str]] = frozenset({"spec", "_sampler", "_spec_json"})
    _slots: ClassVar[tuple[str, ...]] = ()
    _methods: ClassVar[frozenset[str]] = frozenset()

    def _state(self) -> Iterator[tuple[str, Any]]:
        # vars() makes the instance's dictionary real, which slows a step by a fifth on 3.11:
        # only snapshots come here.
        skipped = {*self._unsaved, *self.shared}
        yield from ((name, value) for name, value in vars(self).items() if name not in skipped)
        for name in self._slots:
            if name not in skipped and hasattr(self, name):
                yield name, getattr(self, name)

    def _load(self, state: Mapping[str, Any]) -> None:
        before = dict(self._state())
        try:
            self._set(state)
        except (AttributeError, TypeError, ValueError) as error:
            self._set(before)
            raise SnapshotError(
                f"This snapshot holds attributes that a {type(self).__name__} cannot take "
                f"({in_one_line(error)}). Take it again with the versions installed here."
            ) from error
        self._sampler = None

    def _set(self, state: Mapping[str, Any]) -> None:
        for name in [name for name, _ in self._state() if name not in state]:
            delattr(self, name)
        for name, value in state.items():
            setattr(self, name, value)

    def _blank(self: E) -> E:
        twin: E = object.__new__(type(self))
        for name in {*self._unsaved, *self.shared} & {*vars(self), *self._slots}:
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        return twin

    def _fitting_state(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the snapshot's attributes, none of which can break the rules of use."""
        self._check_fits(snapshot)
        state = {name: decode(value) for name, value in snapshot.state.items()}
        for name, value in state.items():
            if not self._can_load(name, value):
                raise SnapshotError(
                    f"This snapshot holds {name!r} as {type(value).__name__}, which a "
                    f"{type(self).__name__} cannot take. Take it again with the versions "
                    "installed here.",
                    attribute=name,
                )
        return state

    def _can_load(self, name: str, value: Any) -> bool:
        if name in _KINDS:
            return _KINDS[name](value)
        if name.startswith("__") or name in self._unsaved or name in self.shared:
            return False
        return name not in self._methods

    def _plain_spec(self) -> Mapping[str, Any] | None:
        if self.spec is None:
            return None
        cached: tuple[EnvSpec, Mapping[str, Any]] | None = vars(self).get("_spec_json")
        if cached is None or cached[0] is not self.spec:
            cached = (self.spec, self.spec.model_dump(mode="json"))
            self._spec_json = cached
        return cached[1]

    def _check_fits(self, snapshot: Snapshot) -> None:
        mine, theirs = self._plain_spec(), snapshot.spec
        if (mine is None) != (theirs is None):
            raise SnapshotError(
                f"This snapshot is of {_named(theirs)}, and this environment is {_named(mine)}. "
                "Restore it into an environment that was made in the same way."
            )
        if mine is None or theirs is None:
            return
        for field in ("id", "kwargs", "wrappers"):
            if mine.get(field) != theirs.get(field):
                raise SnapshotError(
                    f"This snapshot is of {_named(theirs)} with other {field} than this "
                    f"environment, {_named(mine)}. Make one with gem.make(snapshot.spec)."
                )


def _named(spec: Mapping[str, Any] | None) -> str:
    return "one made by hand" if spec is None else repr(spec.get("id"))


def _is_int_or_none(value: object) -> bool:
    return value is None or type(value) is int


def _method_names(cls: type) -> frozenset[str]:
    return frozenset(
        name
        for owner in cls.__mro__
        for name, member in vars(owner).items()
        if isinstance(member, _METHODS)
    )


_METHODS = (types.FunctionType, classmethod, staticmethod)
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "rng": lambda value: type(value) is random.Random,
    "turn": lambda value: type(value) is int,
    "_phase": lambda value: value in (guards.NEW, guards.RUNNING, guards.ENDED),
    "_first_seed": _is_int_or_none,
    "_episode_seed": _is_int_or_none,
}

guards.install(Env)
Env._methods = _method_names(Env)
