"""The environment itself: `reset`, `step`, and what an author finds on `self` between them.

Knows nothing about registries, wrappers' specs, vectors or rollouts. The rules of use (seeding,
phases, one call at a time) are in `gem.env._lifecycle`, applied to every subclass as it is
defined; what is saved of an instance is in `gem.env._state`.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from gem._python.seeding import stream
from gem.content import Observation
from gem.env._lifecycle._forms import author
from gem.env._lifecycle._installing import install
from gem.env._lifecycle._phases import NEW, refuse_unless_idle
from gem.env._lifecycle._seeds import LazyRandom, checked_seed, reseed
from gem.env._snapshot import Snapshot, encode
from gem.env._state import Saveable, method_names, slot_names
from gem.env._step import Step
from gem.errors import SnapshotError

if TYPE_CHECKING:
    from gem.env._reset_options import ResetForm
    from gem.specs import CheckHints

__all__ = ["Env"]

E = TypeVar("E", bound="Env")


class Env(Saveable):
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
    rewrites_history: bool = False
    """Whether an observation is the whole prompt, not only what is new."""
    prompt_is_finished: bool = False
    """Whether that prompt is already rendered by a chat template."""
    turn: int = 0
    """Turns taken in this episode."""
    seats: tuple[str, ...] = ("agent",)
    """The names of its seats, in order: fixed once the environment is made."""
    seat: int = 0
    """Whose turn it is."""
    zero_sum: bool = False
    """Whether the rewards of all seats have the sum 0 in every step."""
    highlights: ClassVar[Sequence[tuple[str, str, str]]] = ()
    """What `gem-env play` colours in the text: a pattern of a line, one of what to colour in it,
    and bold, red, green, yellow, blue, magenta, cyan or grey."""
    check_hints: ClassVar[CheckHints | None] = None
    """What `gem-env check` has to know, where a class has no spec that says it."""

    if TYPE_CHECKING:
        rng: random.Random
        """The only source of chance in reset and step. Seeded by `reset(seed=...)`."""
    else:
        rng = LazyRandom()

    _is_layer: ClassVar[bool] = False
    _is_seated: ClassVar[bool] = False  # a class of several seats gets guards that hear rounds
    _reset_form: ClassVar[ResetForm]
    _phase: int = NEW
    # What the next reset begins with if it is given no seed; it is on the base environment, where
    # `make` and a layer's reset put it, and that reset takes it away.
    _first_seed: int | None = None
    _episode_seed: int | None = None

    _writes_both: ClassVar[bool] = False

    def __init_subclass__(cls, *, both_forms: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if both_forms:
            # Before the guards, which read it; and in the class itself, so that what copies a
            # class body (dataclass with slots) copies the promise too.
            cls._writes_both = True
        cls._slots = slot_names(cls)
        install(cls)
        cls._methods = method_names(cls)  # after `install`, which adds the derived forms

    def reset(  # `*_` tells type checkers that a subclass may take other options
        self, seed: int | None = None, *_: Any, **options: Any
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode and return its first observation and info.

        With a seed (any int) the episode depends on the seed alone; without one it continues
        this instance's own stream. Options are given by name, `reset(seed=1, task=2)`, or as in
        Gymnasium, `reset(seed=1, options={"task": 2})`.
        """
        if author(self, "reset") is Env:  # else it was called by super()
            raise NotImplementedError(
                f"{type(self).__name__} was reset, and it defines neither reset nor areset. Write "
                "the first, or the second if it waits; it returns an observation and a dict."
            )
        reseed(self, seed)
        return "", {}

    def step(self, action: str) -> Step:
        """Take one action. Raises ResetNeeded before the first reset and after the end."""
        raise NotImplementedError(
            f"{type(self).__name__} was stepped, and it defines neither step nor astep. Write the "
            "first, or the second if it waits; it returns a Step."
        )

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
        raise NotImplementedError(
            f"{type(self).__name__} defines no sample_action, by which the policy 'random' plays. "
            "Write one that draws a valid action from self.sample_rng, or play another policy."
        )

    def sample_random_action(self) -> str:
        """`sample_action` under its older name."""
        return self.sample_action()

    def solve(self) -> str | None:
        """Return a good action for the current state (the gold answer, an optimal move).

        None where none is known. Draws nothing and changes nothing.
        """
        return None

    def hint(self, method: str, seat: int = 0) -> str | None:
        """Return what "sample_action" or "solve" says for a seat, whoever's turn it is."""
        answer: str | None = getattr(self, method)()
        return answer

    def shown_to(self, seat: int) -> tuple[bool, bool, list[Mapping[str, Any]]]:
        """Return how a seat is shown things: its `rewrites_history`, `prompt_is_finished`, tools.

        It is asked after each reset.
        """
        return self.rewrites_history, self.prompt_is_finished, list(self.tools)

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
        refuse_unless_idle(self, "snapshot")
        spec = self._plain_spec()
        state = encode(self._state())
        inside = self._saved_inside
        return Snapshot(spec, state, None if inside is None else inside.snapshot())

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of the same environment. On an error nothing changes."""
        refuse_unless_idle(self, "restore")
        state = self._fitting_state(snapshot)
        before = dict(self._state())
        # This environment first: it may refuse the snapshot, and then nothing inside has changed.
        # What is inside puts itself back where it refuses, and only this one is left to put back.
        self._load(state)
        try:
            # Of a mixture this may have to be made, which may fail as what is inside may.
            inside = self._saved_inside
            if inside is None:
                return
            if snapshot.inner is None:
                raise SnapshotError(
                    "This snapshot has fewer layers than this stack: nothing is inside its "
                    f"{type(self).__name__}. Restore it into the stack that it was taken of."
                )
            inside.restore(snapshot.inner)
        except BaseException:
            self._load(before)
            raise

    @property
    def _saved_inside(self) -> Env | None:
        """The environment inside this one, whose snapshot is a part of this one's."""
        return None

    def fork(self: E) -> E:
        """Return an independent twin in the same state; `shared` data is not copied."""
        refuse_unless_idle(self, "fork")
        twin = self._blank()
        twin.restore(self.snapshot())
        return twin

    def spawn(self: E, same_state: bool = True, *, seed: int | None = None) -> E:
        """`fork` under its older name; with `same_state=False` the twin starts unseeded.

        With `seed` the twin's next `reset()` equals `reset(seed=seed)`.
        """
        first_seed = checked_seed(seed, "spawn")
        twin = self.fork()
        base = twin.unwrapped
        if not same_state:
            base._phase = NEW
            base._first_seed = None
            base._episode_seed = None
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


# `__init_subclass__` runs for subclasses alone: what it does for them, for Env itself.
install(Env)
Env._methods = method_names(Env)
