"""Do sampler and learner compute the same, and does an update move the policy where it should?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gem_baselines.doctor.finding import Check, Finding, Place
from gem_baselines.doctor.rules.tokens import rows_played
from gem_baselines.doctor.run import Run, Sample, Shown, ShownRow
from gem_baselines.doctor.statistics import ALARM, mean_of
from gem_baselines.learning_policy import Floats

__all__ = ["CHECKS"]

_TOLERANCE = {"float32": 1e-3, "bf16": 0.05}
"""How far the logprobs of a token may be apart on average: a hundred times what rounding does."""
_SEVERAL_PROGRAMS = 0.1
"""The same where the sampler is another program, with kernels and a precision of its own."""
_LEAST_SAMPLES = 5
_LEAST_MOVE = 1e-9


class _Gap(NamedTuple):
    """The tokens of one sample: logprobs of both, and how deep in its episode each stands."""

    sample: Sample
    sampler: Floats
    learner: Floats
    turns: Floats
    worst: Place

    @property
    def mean(self) -> float:
        """How far the two are apart, in nats."""
        return mean_of(np.abs(self.learner - self.sampler))


def logprobs(run: Run) -> Iterator[Finding]:
    """Find sampler and learner computing different logprobs of the same tokens.

    It looks at the tokens of samples, and where these are well or absent at the run's own figure.
    """
    found = list(_by_token(run))
    yield from found or _by_figure(run)


def _by_token(run: Run) -> Iterator[Finding]:
    tolerance = _tolerance(run)
    gaps = [gap for gap in map(_gap, run.samples) if gap is not None]
    odd = [gap for gap in gaps if not gap.mean <= tolerance]
    # One sample may be odd by a batch of rare tokens; what is wrong is wrong again.
    if not odd or (len(odd) == 1 and len(gaps) > 1):
        return
    worst = max(odd, key=lambda gap: gap.mean)
    shallow = worst.turns <= np.median(worst.turns)
    apart = np.abs(worst.learner - worst.sampler)
    figures = {
        "mean_distance": worst.mean,
        "tolerance": tolerance,
        "first_half_of_turns": mean_of(apart[shallow]),
        "second_half_of_turns": mean_of(apart[~shallow]),
        "first_sample": gaps[0].mean,
        "slope": _slope(worst),
    }
    yield Finding(
        "logprobs",
        "wrong",
        f"The learner's logprobs of the sampler's own tokens are {worst.mean:.3g} nats off on "
        f"average, where {tolerance:g} is rounding, in {len(odd)} of {len(gaps)} samples: "
        f"{_likely(gaps, odd, worst)}.",
        [gap.sample.update for gap in odd],
        figures,
        worst.worst,
    )


def _likely(gaps: list[_Gap], odd: list[_Gap], worst: _Gap) -> str:
    """Say what is likely behind a gap."""
    apart = np.abs(worst.learner - worst.sampler)
    together = _correlation(worst.sampler, worst.learner)
    if gaps[0] not in odd and len(odd) > len(gaps) // 2:
        return (
            "they agree at first and part once the weights have moved, as where the sampler has "
            "stale weights or a stale cache"
        )
    if together > 0.98:
        return (
            "they are a stretched copy of one another, as at another temperature (slope "
            f"{_slope(worst):.2f})"
        )
    deep = worst.turns > np.median(worst.turns)
    if deep.any() and mean_of(apart[deep]) > 4 * mean_of(apart[~deep]):
        return "they part with depth, as where a cache or a position is wrong, or precision is low"
    return (
        "they hardly go together, as where the learner reads the distribution of another token"
        if together < 0.5
        else "they differ from the first update on"
    )


def _by_figure(run: Run) -> Iterator[Finding]:
    series = run.figure("logprob_gap")
    tolerance = _SEVERAL_PROGRAMS if run.kind == "trl" else _tolerance(run)
    odd = series.updates[series.values > tolerance]
    if len(odd) * 2 > len(series.updates):
        yield Finding(
            "logprobs",
            "wrong",
            f"By its own figures sampler and learner are {mean_of(series.values):.3g} nats apart "
            f"in a token on average, above {tolerance:g} in {len(odd)} of {len(series.updates)} "
            "updates: other weights, another temperature, or another precision.",
            [int(update) for update in odd],
            {"mean": mean_of(series.values), "largest": float(series.values.max())},
        )


def sampling(run: Run) -> Iterator[Finding]:
    """Find tokens that were not drawn from the distribution whose logprobs are recorded.

    Of a token that is drawn the expected surprise is the entropy. The differences of the two are
    a martingale, so that their sum is compared with the root of the sum of their squares.
    """
    differences: list[float] = []
    surprises: list[float] = []
    for sample in run.samples:
        for _, row in _rows(sample):
            known = row.learner if row.sampler is None else row.sampler
            if row.entropies is None or len(row.entropies) != len(known):
                continue
            # The entropies are the learner's: where it computes otherwise they are of other tokens.
            if mean_of(np.abs(row.learner - known)) <= _tolerance(run):
                differences += (-known - row.entropies).tolist()
                surprises += (-known).tolist()
    if len(differences) < 200:
        return
    array = np.array(differences)
    spread = math.sqrt(float((array**2).sum()))
    z = float(array.sum()) / max(spread, 1e-3)
    if abs(z) <= ALARM or abs(float(array.mean())) < 0.01:
        return
    how = "too seldom" if z < 0 else "too often"
    why = (
        "it draws greedily, at a lower temperature, or cuts off the tail (top-k, top-p), and "
        "records logprobs of another distribution"
        if z < 0
        else "it draws at a higher temperature than the logprobs that it records"
    )
    yield Finding(
        "sampling",
        "wrong",
        f"Improbable tokens are drawn {how}: the surprise of {len(array):,} tokens is "
        f"{mean_of(np.array(surprises)):.3f} nats on average, and the distributions that they are "
        f"said to be from have {mean_of(np.array(surprises)) - float(array.mean()):.3f} "
        f"({z:+.0f} standard errors): {why}.",
        [sample.update for sample in run.samples],
        {"z": z, "tokens": float(len(array)), "difference": float(array.mean())},
    )


def direction(run: Run) -> Iterator[Finding]:
    """Find updates that move the policy nowhere, or against the advantages."""
    moves: list[tuple[Sample, float]] = []
    still: list[int] = []
    for sample in run.samples:
        rows = [row for _, row in _rows(sample) if len(row.advantages) == len(row.learner)]
        if not rows:
            continue
        credit = np.concatenate([row.advantages for row in rows])
        moved = np.concatenate([row.learner_after - row.learner for row in rows])
        if not np.abs(credit).max(initial=0.0) > _LEAST_MOVE:
            continue  # nothing to learn: the policy may stay where it is
        if np.abs(moved).max(initial=0.0) < _LEAST_MOVE:
            still.append(sample.update)
        else:
            moves.append((sample, _correlation_at_zero(credit, moved)))
    if still and len(still) >= max(2, len(moves)):
        yield Finding(
            "direction",
            "wrong",
            f"{len(still)} of {len(still) + len(moves)} updates change no probability of the "
            "tokens that they learn from, though advantages are not 0: no step is taken, or on "
            "weights that the policy does not play with.",
            still,
            {"updates": float(len(still))},
        )
    if len(moves) < _LEAST_SAMPLES:
        return
    gains = np.array([gain for _, gain in moves])
    error = float(gains.std(ddof=1)) / math.sqrt(len(gains))
    z = float(gains.mean()) / max(error, 1e-3)
    if z < -4.0:
        yield Finding(
            "direction",
            "wrong",
            "Updates make what has a positive advantage less probable: the correlation of "
            f"advantages and changes of logprobs is {gains.mean():+.2f} over {len(moves)} samples "
            f"({z:+.0f} standard errors). The loss has the wrong sign, or learns other tokens.",
            [sample.update for sample, gain in moves if gain < 0],
            {"z": z, "correlation": float(gains.mean())},
        )


def _gap(sample: Sample) -> _Gap | None:
    """Return the tokens of a sample whose logprobs of both sides are known."""
    sampler: list[Floats] = []
    learner: list[Floats] = []
    turns: list[Floats] = []
    worst = Place(sample.update)
    furthest = -1.0
    for shown, row in _rows(sample):
        if row.sampler is None or len(row.sampler) != len(row.learner) or not len(row.learner):
            continue
        sampler.append(row.sampler)
        learner.append(row.learner)
        of_place = {
            place: turn
            for played in rows_played(shown.episode)
            for place, turn in zip(played.places, played.turns, strict=True)
        }
        turns.append(np.array([of_place.get(place, 0) for place in row.places], np.float64))
        apart = np.abs(row.learner - row.sampler)
        at = int(apart.argmax())
        if apart[at] > furthest:
            furthest = float(apart[at])
            worst = Place(
                sample.update,
                shown.number,
                shown.episode.seed,
                int(turns[-1][at]),
                row.places[at],
                f"sampler {row.sampler[at]:.4f}, learner {row.learner[at]:.4f}",
            )
    if not sampler:
        return None
    return _Gap(
        sample, np.concatenate(sampler), np.concatenate(learner), np.concatenate(turns), worst
    )


def _rows(sample: Sample) -> Iterator[tuple[Shown, ShownRow]]:
    for shown in sample.shown:
        for row in shown.rows or ():
            yield shown, row


def _slope(gap: _Gap) -> float:
    """Return the slope of the learner's logprobs over the sampler's."""
    centred = gap.sampler - gap.sampler.mean()
    square = float(centred @ centred)
    return float(centred @ gap.learner) / square if square > 0 else 0.0


def _correlation(one: Floats, other: Floats) -> float:
    return _correlation_at_zero(one - one.mean(), other - other.mean())


def _correlation_at_zero(one: Floats, other: Floats) -> float:
    """Return the cosine of the two, 0 where one has no length."""
    length = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / length if length > 0 else 0.0


def _tolerance(run: Run) -> float:
    kwargs = run.settings.get("policy_kwargs")
    learning = kwargs.get("learning") if isinstance(kwargs, Mapping) else None
    # A policy of somebody's own may call anything its learning, and have other precisions.
    precision = learning.get("precision") if isinstance(learning, Mapping) else None
    return _TOLERANCE.get(str(precision), _TOLERANCE["float32"])


def _lacks_rows(run: Run) -> str:
    return "" if run.has_rows else "the rows that its learner was given"


def _lacks_both(run: Run) -> str:
    if len(run.figure("logprob_gap").values):
        return ""
    for sample in run.samples:
        if any(row.sampler is not None for _, row in _rows(sample)):
            return ""
    return "logprobs of the sampler and of the learner"


def _lacks_entropies(run: Run) -> str:
    for sample in run.samples:
        if any(row.entropies is not None for _, row in _rows(sample)):
            return ""
    return "the entropies of its distributions"


CHECKS = (
    Check("logprobs", "sampler and learner compute the same logprobs", logprobs, _lacks_both),
    Check("sampling", "tokens are drawn as their logprobs say", sampling, _lacks_entropies),
    Check("direction", "updates move towards the advantages", direction, _lacks_rows),
)
