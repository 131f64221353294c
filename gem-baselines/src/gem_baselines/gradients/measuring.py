"""How far the expected update of an estimator is from the exact gradient that it aims at.

Drawn batches are the same in every process: their seed alone decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines.gradients.batches import (
    Batches,
    drawn_batches,
    every_batch,
    number_of_batches,
)
from gem_baselines.gradients.crediting import Crediting, Estimate, terms_of
from gem_baselines.gradients.expectation import DrawnBatches, Expectation, enumerated
from gem_baselines.gradients.figures import (
    EXPLAINED,
    ROUNDING,
    Gradients,
    Measured,
    OfPolicy,
)
from gem_baselines.gradients.policy import SoftmaxPolicy, Target
from gem_baselines.gradients.trajectories import Trajectories, trajectories_of
from gem_baselines.learning_policy import Floats
from gem_baselines.training.advantages import (
    ESTIMATORS,
    Credit,
    Terms,
    estimator_named,
    estimator_of,
)

__all__ = ["BY_TURN", "TARGETS", "gradients", "target_of"]

TARGETS: Mapping[str, Target] = {
    "raw": "U",
    "constant": "U",
    "signed": "U",
    "rebn": "U",
    "rebn_leave_one_out": "U",
    "mt_rloo": "U",
    "ppo": "U",
    "rloo": "J1",
    "grpo": "J1",
    "dr_grpo": "J1",
    "mt_grpo": "J1",
}
"""What each estimator aims at. Those of sums of rewards aim at J where they are discounted."""
BY_TURN = tuple(
    name
    for name, estimator in ESTIMATORS.items()
    if estimator.per == "turn" and not estimator.depends_on_order
)
"""The estimators that can be measured: what is enumerated are turns in no order, no tokens."""

_MOST_GROUPS = 50_000  # to enumerate: the groups of 3 of guessing a number from 1 to 4 are 45,920
_MOST_BATCHES = 20_000  # to enumerate: each is a call of the estimator
_MOST_DRAWN = 6_000  # batches
_MOST_EPISODES = 64_000  # of all drawn batches
_MOST_CELLS = 800_000  # parameters, of all drawn batches
_LARGEST_BATCH = 512
_MOST_POLICIES = 100


def gradients(
    env_id: str,
    env_kwargs: Mapping[str, Any] | None = None,
    *,
    estimators: Sequence[str] = BY_TURN,
    estimator_kwargs: Mapping[str, Mapping[str, Any]] | None = None,
    gamma: float = 0.9,
    lam: float = 0.95,
    episodes: int = 8,
    repeats: int = 4,
    policies: int = 3,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Gradients:
    """Return the exact gradients of an environment, and how far each estimator is from its own.

    Policies are softmax over tables of logits, normal with mean 0 and variance 1, from the seeds
    `seed`, `seed + 1` and on. An estimator of your own is named as `gem-env train` takes it; it is
    given rewards, starts and ends, and no texts. Estimators that compare repeats get groups of
    `repeats` episodes of one start, others batches of `episodes`, at most 512 each, and a critic is
    exact. At most 50,000 groups or 20,000 batches are all enumerated; of more, up to 6,000 are
    drawn for each policy, from the same seed. `progress` is called with what is being done. The
    figures are the same in every process. Raises BadArguments where the environment is too large or
    there is no gradient.
    """
    _check("episodes", episodes, least=2, most=_LARGEST_BATCH)
    _check("repeats", repeats, least=2, most=_LARGEST_BATCH)
    _check("policies", policies, least=1, most=_MOST_POLICIES)
    if seed < 0:
        raise BadArguments(f"seed={seed} was asked for. Give 0 or more.", subject="seed")
    if not 0.0 <= gamma <= 1.0:
        raise BadArguments(
            f"gamma={gamma:g} was asked for. Give a discount from 0 to 1.", subject="gamma"
        )
    for name in estimators:
        _check_by_turn(name)
    options = estimator_kwargs or {}
    chosen = {name: _estimate_named(name, options.get(name, {})) for name in estimators}
    _check_options(options, estimators)
    progress(f"the trajectories of {env_id}")
    trajectories = trajectories_of(env_id, env_kwargs)
    players = tuple(SoftmaxPolicy.drawn(trajectories, gamma, seed + at) for at in range(policies))
    targets = {target_of(name, options.get(name, {})) for name in chosen}
    for policy in players:
        _check_gradient(policy, targets)
    measuring = _Measuring(trajectories, players, episodes, repeats, seed, lam)
    wanted = [measuring.wanted(name, estimate) for name, estimate in chosen.items()]
    by_policy: list[list[OfPolicy]] = []
    for number in range(policies):
        figures = []
        for each in wanted:
            progress(f"policy {number + 1} of {policies}: {each.name}")
            target = target_of(each.name, options.get(each.name, {}))
            figures.append(measuring.measure(each, number, target))
        by_policy.append(figures)
    measured = tuple(
        Measured(
            estimator=each.name,
            target=target_of(each.name, options.get(each.name, {})),
            episodes=each.size,
            are_groups=each.are_groups,
            batches=each.batches,
            is_exact=each.is_exact,
            by_policy=figures,
        )
        for each, figures in zip(wanted, zip(*by_policy, strict=True), strict=True)
    )
    return Gradients(trajectories, players, measured)


def _check_by_turn(name: str) -> None:
    estimator = estimator_of(name)
    if estimator.per != "turn" or estimator.depends_on_order:
        is_ordered = estimator.depends_on_order
        why = "The order of its episodes counts" if is_ordered else "It credits tokens"
        raise BadArguments(
            f"The gradient of the estimator {name!r} was asked for. {why}, and what is "
            f"enumerated are turns, in no order: take of {', '.join(BY_TURN)}.",
            subject="estimator",
        )


def _estimate_named(name: str, options: Mapping[str, Any]) -> Estimate:
    """Return an estimator with its options set; of one of somebody's own the numbers are counted.

    A number too few would give each later turn the advantage of another.
    """
    estimate = estimator_named(name, options)
    if name in ESTIMATORS:
        return estimate

    def counted(episodes: Sequence[Episode], terms: Terms) -> Credit:
        credit = estimate(episodes, terms)
        given = [len(own) for own in credit.advantages]
        turns = [len(episode.turns) for episode in episodes]
        if given != turns:
            raise BadArguments(
                f"The gradient of the estimator {name!r} was asked for, and it gave {sum(given)} "
                f"numbers, an array for each of {len(given)} episodes, where there are "
                f"{len(turns)} episodes of {sum(turns)} turns. Give an array for each episode, "
                "with an advantage for each of its turns.",
                subject="estimator",
            )
        return credit

    return counted


def target_of(estimator: str, options: Mapping[str, Any]) -> Target:
    """Return what an estimator aims at with these options; one that is not known, at U."""
    target = TARGETS.get(estimator, "U")
    return "J" if target == "J1" and options.get("discounted") else target


class _Wanted(NamedTuple):
    """An estimator, and the batches that it is to be measured in."""

    name: str
    estimate: Estimate
    size: int
    are_groups: bool
    batches: int
    is_exact: bool
    depends_on_policy: bool


class _Measuring:
    """Measures estimators in one environment. Batches and what is known of them are kept."""

    def __init__(
        self,
        trajectories: Trajectories,
        policies: Sequence[SoftmaxPolicy],
        episodes: int,
        repeats: int,
        seed: int,
        lam: float,
    ) -> None:
        self._trajectories = trajectories
        self._policies = policies
        self._episodes = episodes
        self._repeats = repeats
        self._seed = seed
        self._terms = [terms_of(policy, lam) for policy in policies]
        self._crediting = Crediting(trajectories)
        self._enumerated: dict[tuple[int, bool], Batches] = {}
        self._advantages: dict[str, Floats] = {}
        # Of one policy and one kind of batch at a time: they are large.
        self._drawn: dict[tuple[int, int, bool], DrawnBatches] = {}

    def wanted(self, name: str, estimate: Estimate) -> _Wanted:
        """Say in which batches an estimator is measured, and whether in all that there are."""
        are_groups = estimator_of(name).compares_repeats
        size = self._repeats if are_groups else self._episodes
        if not are_groups and not self._crediting.depends_on_others(estimate, self._terms[0]):
            size = 1
        number = number_of_batches(self._trajectories, size, are_groups=are_groups)
        is_exact = number <= (_MOST_GROUPS if are_groups else _MOST_BATCHES)
        if not is_exact:
            number = min(
                _MOST_DRAWN,
                _MOST_EPISODES // size,
                _MOST_CELLS // self._trajectories.parameters,
            )
        depends_on_policy = self._crediting.depends_on_terms(estimate, self._terms)
        return _Wanted(name, estimate, size, are_groups, number, is_exact, depends_on_policy)

    def measure(self, wanted: _Wanted, number: int, target: Target) -> OfPolicy:
        """Measure an estimator under one policy, given by its number."""
        policy = self._policies[number]
        terms = self._terms[number]
        if not wanted.is_exact:
            drawn = self._drawn_batches(wanted, number)
            advantages = self._crediting.advantages(wanted.estimate, drawn.batches, terms)
            return _of_policy(drawn.expectation(advantages), policy.targets[target])
        every = self._every_batch(wanted)
        known = None if wanted.depends_on_policy else self._advantages.get(wanted.name)
        if known is None:
            known = self._crediting.advantages(wanted.estimate, every, terms)
            self._advantages[wanted.name] = known
        return _of_policy(enumerated(policy, every, known), policy.targets[target])

    def _every_batch(self, wanted: _Wanted) -> Batches:
        key = (wanted.size, wanted.are_groups)
        if key not in self._enumerated:
            self._enumerated[key] = every_batch(
                self._trajectories, wanted.size, are_groups=wanted.are_groups
            )
        return self._enumerated[key]

    def _drawn_batches(self, wanted: _Wanted, number: int) -> DrawnBatches:
        key = (number, wanted.size, wanted.are_groups)
        if key not in self._drawn:
            self._drawn.clear()
            policy = self._policies[number]
            batches = drawn_batches(
                policy,
                wanted.size,
                number=wanted.batches,
                are_groups=wanted.are_groups,
                seed=self._seed,
            )
            self._drawn[key] = DrawnBatches(policy, batches)
        return self._drawn[key]


def _of_policy(found: Expectation, target: Floats) -> OfPolicy:
    length = float(np.linalg.norm(target))
    direction = target / length
    along = float(found.update @ direction)
    across = found.update - along * direction
    size = float(np.linalg.norm(found.update))
    scale = along / length
    variance = found.variance / along**2 if along > 0.0 else None
    if found.by_batch is None:
        error = float(np.linalg.norm(across)) / size if along > 0.0 else 1.0
        return OfPolicy(error, 0.0, scale, variance, None)
    by_batch = found.by_batch - np.outer(found.by_batch @ direction, direction)
    noise = float(by_batch.var(axis=0, ddof=1).sum()) / len(by_batch)
    # Noise makes the part across the target longer, and is taken out of its square.
    square = max(float(across @ across) - noise, 0.0)
    error = min(math.sqrt(square) / size, 1.0) if along > 0.0 else 1.0
    standard_error = math.sqrt(noise) / size
    z = _z(by_batch) if standard_error > EXPLAINED else None
    return OfPolicy(error, standard_error, scale, variance, z)


def _z(across: Floats) -> float:
    """Return how far updates of batches are off on average, in standard deviations.

    Half of the batches says in which direction to look, and the other half how far it is: so that
    one number is tested, and not the largest of many.
    """
    halves = (across[0::2], across[1::2])
    found = []
    for half, other in (halves, halves[::-1]):
        direction = half.mean(axis=0)
        along = other @ direction
        spread = float(along.std(ddof=1)) / math.sqrt(len(along))
        found.append(float(along.mean()) / spread if spread > 0.0 else 0.0)
    # Both have one sign, that of the product of the two means: they are no two observations.
    return sum(found) / len(found)


def _check(name: str, number: int, *, least: int, most: int) -> None:
    if not least <= number <= most:
        raise BadArguments(
            f"{name}={number} was asked for. Ask for {least} to {most}.", subject=name
        )


def _check_options(options: Mapping[str, Any], estimators: Sequence[str]) -> None:
    for name in options:
        if name not in estimators:
            raise BadArguments(
                f"Options of the estimator {name!r} were given, and it is not measured. Those "
                f"measured are {', '.join(estimators)}.",
                subject="estimator_kwargs",
            )


def _check_gradient(policy: SoftmaxPolicy, targets: Collection[Target]) -> None:
    for target in targets:
        if float(np.linalg.norm(policy.targets[target])) < ROUNDING:
            env_id = policy.trajectories.env_id
            raise BadArguments(
                f"The gradients of {env_id} were asked for, and they are 0: what is played there "
                "changes no return. Take an environment where it does.",
                subject=env_id,
            )
