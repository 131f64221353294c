"""The environment under check: made afresh for each use, its common plays kept.

Knows nothing about the lines of a check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

from gem.conversation import Request
from gem.env._env import Env
from gem.errors import DataError, GemError, MissingRequirement
from gem.registry._availability import lacks
from gem.registry._catalogue import executor_spec
from gem.registry._making import EnvLike, WrapperLike, make, resolve
from gem.specs import CheckHints, EnvSpec
from gem.testing._playing import Play, Player, Sight, play
from gem.testing._report import NotApplicableError, NotHeldError

__all__ = ["Subject", "boxed", "drive", "is_for_want", "sampled", "say_nothing", "solve"]


class Subject:
    """One environment under check. Raises what `gem.make` raises where it cannot be made.

    What its class declares must be of its kind: raises NotHeldError.

    `backends` are those to compare it on; None: every one that is installed. `has_samples` says
    whether its author wrote a `sample_action`, and `is_view` whether it is one seat of several.
    """

    def __init__(
        self,
        env: EnvLike,
        *,
        seeds: Sequence[int] = range(10),
        wrappers: Iterable[WrapperLike] = (),
        kwargs: Mapping[str, Any] | None = None,
        backends: Iterable[str] | None = None,
    ) -> None:
        self.backends: set[str] | None = None
        if backends is not None:
            # By their specs: a backend that is not installed is refused here, with what to do.
            self.backends = {executor_spec(backend).id for backend in backends}
        self.env = env
        self.wrappers = tuple(wrappers)
        self.kwargs = dict(kwargs or {})
        self.seeds = tuple(seeds)
        # Plays are kept: most lines compare with the same ones, and an episode may take seconds.
        self._plays: dict[tuple[Player, int], Play] = {}
        with self.make() as made:
            assert made.spec is not None
            self.spec: EnvSpec = made.spec
            # One class may stand in several specs: what a spec says of it goes first.
            declared = made.unwrapped.check_hints or CheckHints()
            self.hints = declared if self.spec.check == CheckHints() else self.spec.check
            self.seats = made.seats
            self.is_view = len(made.seats) < len(made.unwrapped.seats)
            # Asked of the class: what `Env` itself has only raises NotImplementedError.
            self.has_samples = type(made.unwrapped).sample_action is not Env.sample_action
            _require_declarations(made)
            _require_data(made, self.seeds[0])

    def view(self, seat: int | str) -> Subject:
        """Return the view of a seat, the others being played by sampled actions."""
        # By its name: another process makes it again.
        opponent = f"{__name__}:{'sampled' if self.has_samples else 'boxed'}"
        layer = {"id": "seat_view", "seat": seat, "opponents": opponent}
        return Subject(
            self.env,
            seeds=self.seeds,
            wrappers=(*self.wrappers, layer),
            kwargs=self.kwargs,
            backends=self.backends,
        )

    def make(self, seed: int | None = None) -> Env:
        """Make a new instance."""
        return make(self.env, seed=seed, wrappers=self.wrappers, **self.kwargs)

    def require_samples(self) -> None:
        """Raise NotApplicableError where there is no `sample_action` to look at."""
        if not self.has_samples:
            raise NotApplicableError("no sample_action() is known")

    def driven(self, seed: int) -> Play:
        """Return the episode that sampled actions make of a seed, on a new instance."""
        return self._play(drive, seed)

    def _play(self, player: Player, seed: int) -> Play:
        if (player, seed) not in self._plays:
            with self.make() as env:
                self._plays[player, seed] = play(env, player, seed)
        return self._plays[player, seed]

    def solutions(self) -> list[Play]:
        """Return the episode that `solve()` makes of each seed, on new instances.

        Raises NotApplicableError where there is no `solve` to look at.
        """
        if len(self.seats) > 1:
            raise NotApplicableError("solve() is looked at in the view of each seat")
        plays = [self._play(solve, seed) for seed in self.seeds]
        if not any(episode.actions for episode in plays):
            raise NotApplicableError("no solve() is known")
        return plays

    def played(self) -> list[Play]:
        """Return every common play: sampled, solved, and one that answers nothing."""
        players = (drive, solve, say_nothing)
        return [self._play(player, seed) for player in players for seed in self.seeds]


def is_for_want(error: GemError, env: EnvLike, kwargs: Mapping[str, Any]) -> bool:
    """Say whether an environment was not made for want of what its spec says that it needs.

    A line on it is then skipped. Data that an environment brings along, and cannot read, is a
    fault of its own.
    """
    if not isinstance(error, DataError):
        return isinstance(error, MissingRequirement)
    spec = resolve(env)
    return bool(lacks(spec.model_copy(update={"kwargs": {**spec.kwargs, **kwargs}})))


def _require_declarations(env: Env) -> None:
    """Raise NotHeldError on a declaration of another kind: every line would fail by it."""
    limit: Any = env.max_turns
    is_count = isinstance(limit, Integral) and not isinstance(limit, bool)
    if limit is not None and not (is_count and limit >= 1):
        raise NotHeldError(f"max_turns is {limit!r:.60}, and it must be an int from 1, or None")
    hints: Any = env.unwrapped.check_hints
    if not isinstance(hints, CheckHints | None):
        raise NotHeldError(f"check_hints is {hints!r:.60}, and it must be a gem.CheckHints")
    declared: Any = env.reward_range
    try:
        lowest, highest = declared
        is_range = lowest <= highest
    except (TypeError, ValueError):
        is_range = False
    if not is_range:
        raise NotHeldError(
            f"reward_range is {declared!r:.60}, and it must be two numbers, the lower one first"
        )


def _require_data(env: Env, seed: int) -> None:
    """Reset once, and raise only for what is not installed: the lines will tell the rest."""
    try:
        env.reset(seed=seed)
    except (DataError, MissingRequirement):
        raise
    except (Exception, SystemExit):  # noqa: BLE001 - an environment may raise anything
        return


def drive(env: Env, sight: Sight) -> str:
    """Draw an action; where the environment has none to draw, answer the turn in a box."""
    try:
        return env.sample_action()
    except NotImplementedError:
        return f"\\boxed{{{sight.turn}}}"


def solve(env: Env, sight: Sight) -> str | None:
    """Answer as the environment itself would, and give up where that is not known."""
    return env.solve()


def say_nothing(env: Env, sight: Sight) -> str:
    """Answer with an empty text."""
    return ""


class _Sampled:
    """As `drive`, for a policy: take the action that the environment drew."""

    name = "sampled"
    wants = ("sample",)

    def __call__(self, request: Request) -> str:
        return request.sample or ""


sampled = _Sampled()


def boxed(request: Request) -> str:
    """As `drive`, for a policy where there are no actions to draw: answer the turn in a box."""
    return f"\\boxed{{{request.turn}}}"
