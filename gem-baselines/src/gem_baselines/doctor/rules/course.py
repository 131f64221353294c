"""How a training goes: entropy, steps, the length of answers, what is cut off, and errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gem_baselines.doctor.finding import Check, Finding
from gem_baselines.doctor.run import Played, Run, Sample, Series
from gem_baselines.doctor.statistics import ALARM, Change, change_of, ends_of, mean_of
from gem_baselines.learning_policy import Floats

__all__ = ["CHECKS"]

_COLLAPSED = 0.1
"""Of the entropy at first: below it a policy hardly tries anything new."""
_AT_ONCE = 3
"""Updates in which the entropy falls from above half of what it was to collapsed."""
_MOST_CLIPPED = 0.5
_MOST_KL = 0.5
_MOST_ERRORS = 0.05
_MUCH_GROWN = 3.0
_EARNS_MORE = 3.0
"""Standard errors by which a reward has risen."""


def entropy(run: Run) -> Iterator[Finding]:
    """Find a policy that became almost deterministic at once, or without earning more by it."""
    series = run.figure("entropy")
    if len(series.values) < 8:
        return
    at_first = mean_of(series.values[:3])
    low = series.values < _COLLAPSED * at_first
    # It stays down: one batch that ends early, or a rebound, is no collapse.
    begins = [at for at in range(len(low)) if low[at] and low[at:].mean() > 0.8]
    if at_first <= 0 or not begins:
        return
    at = begins[0]
    high = np.flatnonzero(series.values[:at] > 0.5 * at_first)
    last_high = int(high[-1]) if len(high) else 0
    reward = run.figure("reward")
    before, after = _around(reward, series.updates[last_high], series.updates[at])
    gain = mean_of(after) - mean_of(before)
    error = math.sqrt(_error(before) + _error(after))
    took = at - last_high
    is_sudden = took <= _AT_ONCE
    # In self-play both sides learn: of a zero-sum game the mean reward stays what it is.
    is_vain = len(after) > 2 and gain < 2 * error and not run.settings.get("self_play")
    if not is_sudden and not is_vain:
        return
    how = "in one update" if took == 1 else f"over {took} updates"
    yield Finding(
        "entropy",
        "suspect",
        f"The entropy collapses {how}: from {at_first:.3f} nats to "
        f"{mean_of(series.values[at:]):.3f} from update {int(series.updates[at])} on, and the "
        f"reward goes from {mean_of(before):.3f} to {mean_of(after):.3f}. The policy tries nothing "
        "new any more: smaller steps, or a weight of the entropy.",
        [int(update) for update in series.updates[at : at + 1]],
        {"first": at_first, "last": mean_of(series.values[at:]), "gain": gain},
    )


def _around(reward: Series, until: float, since: float) -> tuple[Floats, Floats]:
    before = reward.values[reward.updates <= until]
    return before, reward.values[reward.updates > since]


def _error(values: Floats) -> float:
    """Return the squared standard error of a mean."""
    return float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0


def steps(run: Run) -> Iterator[Finding]:
    """Find updates that go so far that most ratios are clipped, or leave the policy behind."""
    for name, most, what in (
        ("clip_share", _MOST_CLIPPED, "of what is learnt from is beyond the clip"),
        ("kl", _MOST_KL, "nats are between the policy before an update and after"),
    ):
        series = run.figure(name)
        # The first updates of a policy that knows nothing are large, and harmless.
        settled = series.values[len(series.values) // 4 :]
        odd = settled > most
        if len(settled) >= 4 and odd.mean() > 0.25:
            updates = series.updates[len(series.values) // 4 :][odd]
            yield Finding(
                "steps",
                "suspect",
                f"Steps are too large: {mean_of(settled):.3g} {what} on average, more than "
                f"{most:g} in {int(odd.sum())} of the last {len(settled)} updates. Lower the "
                "learning rate, or take fewer epochs.",
                [int(update) for update in updates],
                {"mean": mean_of(settled), "largest": float(settled.max())},
            )


def answers(run: Run) -> Iterator[Finding]:
    """Find answers that grow until limits cut them."""
    length = _change_of(run, "answer_tokens", _lengths)
    cut = _change_of(run, "cut_share", _is_cut)
    is_grown = length.z > ALARM and length.last > _MUCH_GROWN * length.first
    # Where most are cut off, how long they would be is no longer to be seen.
    is_cut = cut.z > ALARM and cut.last > max(0.5, cut.first + 0.25)
    if not is_cut and not is_grown:
        return
    yield Finding(
        "answers",
        "suspect",
        f"Answers grow: from {length.first:.1f} tokens to {length.last:.1f} on average "
        f"({length.z:+.0f} standard errors), and a limit cuts {cut.last:.0%} of them at last, "
        f"{cut.first:.0%} at first. Look whether the reward, or a mean over tokens, pays length.",
        [sample.update for sample in _last_samples(run)],
        {
            "first": length.first,
            "last": length.last,
            "cut_first": cut.first,
            "cut_last": cut.last,
            "z": length.z,
        },
    )


def _change_of(run: Run, name: str, by_turn: Callable[[Played], Floats | None]) -> Change:
    """Compare the first two samples with the last quarter, by turns; or a figure's two ends.

    Answers may reach their limit within a few updates: the first quarter would be too late. What a
    program counts as an answer may be an episode: samples come first.
    """
    if not run.samples:
        return change_of(run.figure(name))
    first = _joined(run.samples[:2], by_turn)
    last = _joined(_last_samples(run), by_turn)
    if len(run.samples) < 8 or min(len(first), len(last)) < 8:
        return Change(mean_of(first), mean_of(last), 0.0)
    error = math.sqrt(_error(first) + _error(last))
    apart = mean_of(last) - mean_of(first)
    return Change(mean_of(first), mean_of(last), apart / max(error, 1e-6))


def _joined(samples: Sequence[Sample], by_turn: Callable[[Played], Floats | None]) -> Floats:
    known = [by_turn(episode) for sample in samples for episode in sample.played]
    arrays = [own for own in known if own is not None]
    return np.concatenate(arrays) if arrays else np.zeros(0)


def _last_samples(run: Run) -> Sequence[Sample]:
    return run.samples[-max(2, len(run.samples) // 4) :] if run.samples else ()


def _lengths(episode: Played) -> Floats | None:
    return episode.answer_tokens


def _is_cut(episode: Played) -> Floats | None:
    """Return 1.0 for each answer of an episode that was cut off, in any order."""
    if episode.answer_tokens is None:
        return None
    return (np.arange(len(episode.rewards)) < episode.cut_answers).astype(np.float64)


def cut_off(run: Run) -> Iterator[Finding]:
    """Find episodes that are cut off by limits more and more, while nothing more is earned."""
    change = change_of(_by_sample(run, _share_cut_off))
    # A policy that learns to write readable answers plays longer at first, and earns more by it.
    earns_more = change_of(run.figure("reward")).z > _EARNS_MORE
    if change.z > ALARM and change.last - change.first > 0.25 and not earns_more:
        yield Finding(
            "cut_off",
            "suspect",
            f"Limits cut off more and more episodes: {change.first:.0%} at first, "
            f"{change.last:.0%} at last ({change.z:+.0f} standard errors), and the reward does not "
            "rise. Look at the limit of turns, at gamma, and at which way the policy is moved.",
            _last_updates(_by_sample(run, _share_cut_off)),
            {"first": change.first, "last": change.last, "z": change.z},
        )


def errors(run: Run) -> Iterator[Finding]:
    """Find a training that loses episodes to errors."""
    series = run.figure("errors")
    share = mean_of(series.values)
    last = mean_of(ends_of(series.values)[1])
    if max(share, last) <= _MOST_ERRORS:
        return
    change = change_of(series)
    grows = change.last > 2 * change.first and change.z > 3
    kinds: dict[str, int] = {}
    for sample in run.samples:
        for episode in sample.played:
            if episode.is_error:
                kinds[episode.stop_reason] = kinds.get(episode.stop_reason, 0) + 1
    most = f", most by {max(kinds, key=lambda kind: kinds[kind])}" if kinds else ""
    yield Finding(
        "errors",
        "suspect",
        f"Errors end {share:.1%} of the episodes{most}, {last:.1%} of the last ones"
        f"{', and they become more' if grows else ''}. They are left out of the updates: what is "
        "learnt from is a choice that nobody made.",
        [int(update) for update in series.updates[series.values > _MOST_ERRORS]],
        {"share": share, "last": last},
    )


def _by_sample(run: Run, figure: Callable[[list[Played]], float | None]) -> Series:
    pairs = [(sample.update, figure(list(sample.played))) for sample in run.samples]
    known = [(float(update), value) for update, value in pairs if value is not None]
    array = np.array(known, np.float64).reshape(-1, 2)
    return Series(array[:, 0], array[:, 1])


def _share_cut_off(episodes: list[Played]) -> float | None:
    return sum(each.is_cut for each in episodes) / len(episodes) if episodes else None


def _last_updates(series: Series) -> list[int]:
    return [int(update) for update in ends_of(series.updates)[1]]


def _lacks(name: str, words: str) -> Callable[[Run], str]:
    return lambda run: "" if len(run.figure(name).values) else words


def _lacks_lengths(run: Run) -> str:
    if not run.samples and len(run.figure("answer_tokens").values):
        return ""
    has_tokens = any(
        episode.answer_tokens is not None for sample in run.samples for episode in sample.played
    )
    return "" if has_tokens else "the length of answers in tokens"


def _lacks_samples(run: Run) -> str:
    return "" if run.samples else "samples of updates"


def _lacks_steps(run: Run) -> str:
    has_any = len(run.figure("clip_share").values) or len(run.figure("kl").values)
    return "" if has_any else "a figure of how far its updates go"


CHECKS = (
    Check("entropy", "the policy goes on trying", entropy, _lacks("entropy", "its entropy")),
    Check("steps", "updates go no further than they may", steps, _lacks_steps),
    Check("answers", "answers do not grow to their limit", answers, _lacks_lengths),
    Check("cut_off", "limits do not cut off more and more", cut_off, _lacks_samples),
    Check("errors", "few episodes end by errors", errors, _lacks("errors", "a count of errors")),
)
