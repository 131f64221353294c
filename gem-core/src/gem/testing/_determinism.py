"""Lines on seeds, resets, chance and looks: an episode depends on seed and actions alone."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import takewhile
from typing import Any

from gem._python.global_chance import GlobalChance
from gem.env._env import Env
from gem.testing._playing import Play, first_difference, play, repeating, require_same
from gem.testing._report import NotApplicableError, NotHeldError
from gem.testing._subject import Subject, drive

__all__ = [
    "different_seeds_differ",
    "no_global_chance",
    "reset_leaves_no_residue",
    "same_seed_same_episode",
    "sampling_changes_nothing",
    "solving_changes_nothing",
]

_ODD_SEEDS = (-1, 2**70)  # any int is a seed: numpy, for one, takes neither of these


def same_seed_same_episode(subject: Subject) -> str:
    """Play each seed twice, on two instances, the second one seeded by `make`."""
    for seed in (*subject.seeds, *_ODD_SEEDS):
        first = subject.driven(seed)
        with subject.make() as env:
            second = play(env, drive, seed)
        _require_same_samples(first, second)
        require_same(f"seed {seed}", first.moments, second.moments)
        with subject.make(seed=seed) as env:
            # Without a seed of its own: the first reset() has the one that `make` was given.
            third = play(env, repeating(first.actions), None)
        require_same(f"make(seed={seed}) and a first reset()", first.moments, third.moments)
    return f"{len(subject.seeds) + len(_ODD_SEEDS)} seeds, each played 3 times"


def _require_same_samples(first: Play, second: Play) -> None:
    """Blame `sample_action()` where it is the first thing that differs."""
    # Up to the first moment that differs: an action after it was drawn in another state.
    turns = zip(first.moments, second.moments, first.actions, second.actions, strict=False)
    for _, _, drawn, drawn_again in takewhile(lambda turn: turn[0] == turn[1], turns):
        if drawn != drawn_again:
            raise NotHeldError(
                f"seed {first.seed}: sample_action() drew {drawn!r}, then {drawn_again!r}"
            )


def different_seeds_differ(subject: Subject) -> str:
    """Take the same actions under each seed and look for any difference."""
    if subject.hints.fixed_start and subject.is_view:
        raise NotApplicableError("it declares fixed_start=True, and opponents move before a view")
    if subject.hints.fixed_start:
        raise NotApplicableError(_as_declared(subject))
    scripts = [subject.driven(seed).actions for seed in subject.seeds[:3]]
    with subject.make() as env:
        for script in scripts:
            plays = [play(env, repeating(script), seed) for seed in subject.seeds]
            if any(first_difference(plays[0].moments, other.moments) for other in plays[1:]):
                return f"{len(subject.seeds)} seeds differ under the same actions"
    seeds = ", ".join(map(str, subject.seeds))
    raise NotHeldError(
        f"seeds {seeds} gave the same episode for the same actions; if that is meant, declare "
        "check_hints = gem.CheckHints(fixed_start=True) in the class, or check=... in its spec"
    )


def _as_declared(subject: Subject) -> str:
    """Return the reason for skipping. Raises NotHeldError where starts differ all the same."""
    with subject.make() as env:
        starts = [play(env, lambda env, sight: None, seed) for seed in subject.seeds]
    first, *others = starts
    for other in others:
        seeds = f"seeds {first.seed} and {other.seed} start differently"
        require_same(f"it declares fixed_start=True, and {seeds}", first.moments, other.moments)
    return "it declares fixed_start=True, and every seed starts alike"


def reset_leaves_no_residue(subject: Subject) -> str:
    """Play several seeds on one instance, some to the end and some not, and compare."""
    with subject.make() as env:
        # The same seeds a second time: the instance has then seen each of them.
        for seed in (*subject.seeds[:4], *subject.seeds[:4]):
            fresh = subject.driven(seed)
            again = play(env, repeating(fresh.actions), seed)
            require_same(f"seed {seed} on a used instance", fresh.moments, again.moments)
            play(env, drive, seed + 1, most_turns=1)  # left in the middle
    return "8 episodes on one instance equal those of new instances"


def no_global_chance(subject: Subject) -> str:
    """Disturb the global generators between calls, and see that no call touches them."""
    subject.driven(subject.seeds[0])  # first: what it imports is then imported
    chance = _Disturbance()
    try:
        for seed in subject.seeds[:4]:
            fresh = subject.driven(seed)
            chance.disturb()  # before it is made and reset, too
            with subject.make() as env:
                disturbed = play(env, repeating(fresh.actions), seed, before_each=chance.disturb)
            _require_untouched(subject, fresh)
            if first_difference(fresh.moments, disturbed.moments):
                _require_repeatable(subject, fresh)
            require_same(
                f"seed {seed}, the global random state changed", fresh.moments, disturbed.moments
            )
    finally:
        chance.put_back()  # who runs the check goes on with the chance that they had
    return f"{' and '.join(chance.names)} neither read nor written"


def _require_repeatable(subject: Subject, fresh: Play) -> None:
    """Raise NotApplicableError where a seed's episode differs without a disturbance, too."""
    plays = []
    for _ in range(2):  # both in the same global state, which is not that of `fresh` any more
        with subject.make() as env:
            plays.append(play(env, repeating(fresh.actions), fresh.seed))
    if first_difference(plays[0].moments, plays[1].moments):
        raise NotApplicableError(
            f"seed {fresh.seed} gives another episode each time, and changes no global state"
        )


def _require_untouched(subject: Subject, fresh: Play) -> None:
    before = GlobalChance.now()
    with subject.make() as env:
        play(env, drive, fresh.seed)
        env.solve()
    touched = before.changed_since()
    if touched:
        raise NotHeldError(
            f"seed {fresh.seed}: an episode changed the global state of {' and '.join(touched)}"
        )


def sampling_changes_nothing(subject: Subject) -> str:
    """Draw actions in plenty before each step, and compare with an episode without."""
    subject.require_samples()
    return _changes_nothing(subject, "sample_action()", _sample_in_plenty)


def _sample_in_plenty(env: Env) -> None:
    for _ in range(3):
        env.sample_action()


def solving_changes_nothing(subject: Subject) -> str:
    """Call solve() before each step, and compare with an episode without."""
    subject.solutions()
    return _changes_nothing(subject, "solve()", _solve_twice)


def _solve_twice(env: Env) -> None:
    # Twice in one state: a solve() that draws, or counts its calls, gives itself away.
    once = env.solve()
    twice = env.solve()
    if once != twice:
        raise NotHeldError(f"solve() said {once!r}, then {twice!r} in the same state")


def _changes_nothing(subject: Subject, name: str, look: Callable[[Env], None]) -> str:
    """Look before each step, by the method of that name, and compare with an episode without."""

    def watch(env: Env) -> None:
        before = env.rng.getstate()
        look(env)
        if env.rng.getstate() != before:
            raise NotHeldError(f"{name} drew from rng, which serves reset and step alone")

    for seed in subject.seeds[:4]:
        plain = subject.driven(seed)
        with subject.make() as env:
            watched = play(env, repeating(plain.actions), seed, before_each=watch)
        require_same(f"seed {seed}, {name} called before each step", plain.moments, watched.moments)
    return f"{len(subject.seeds[:4])} episodes unchanged by it"


class _Disturbance:
    """Draws from the process's global generators between calls, as another library might."""

    def __init__(self) -> None:
        self._first = GlobalChance.now()
        self._salt = 0

    @property
    def names(self) -> list[str]:
        return list(self._first.states)

    def disturb(self, env: Env | None = None) -> None:
        """Reseed and draw."""
        self._salt += 1
        random.seed(self._salt)
        random.random()
        if "numpy.random" in self.names:
            numpy_random: Any = sys.modules["numpy.random"]
            numpy_random.seed(self._salt)
            numpy_random.random()

    def put_back(self) -> None:
        self._first.put_back()
