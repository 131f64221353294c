"""Say whether one policy is better than another, from the tasks that both have played."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from gem_eval.comparing import paired
from gem_eval.comparing.contenders import Contender, Play, Slot, Task, read_contenders
from gem_eval.comparing.paired import Pair
from gem_eval.comparing.results import (
    Comparison,
    Difference,
    Estimated,
    Flip,
    Metric,
    Side,
    Unmatched,
    Unpaired,
)
from gem_eval.errors import CompareError
from gem_eval.summary import Verdict
from gem_eval.wording import counted

__all__ = ["Comparison", "Difference", "Flip", "Metric", "Side", "compare"]

_LEVEL = 0.05
_EXAMPLES = 3


def compare(
    runs: str | Path | Sequence[str | Path],
    *,
    policies: Sequence[str] | None = None,
    baseline: str | None = None,
    metric: Metric = "success",
    tolerance: float | None = None,
    seat: str | None = None,
) -> Comparison:
    """Compare policies of one run folder or of several, each with one of them, the `baseline`.

    That is the first that shares a task with another, unless one is named. Who shares none with it
    that both have played to its end is left out, and named with the reason.

    Episodes pair by what they played: environment, arguments, seed and task, and the children of
    branches by their number too, whose seed their policies sample by. `policies` chooses some by
    name. A difference within `tolerance` (in the metric's own unit, 0.02 is two points of success)
    counts as none. Of several seats the policies of each line-up are compared, at the same seat of
    the same seeds, or at one `seat` alone; who sat nowhere where the baseline did is left out. The
    result is the same whenever it is asked for. Raises RunFolderError, LogError, and
    CompareError where nothing pairs.
    """
    several = [runs] if isinstance(runs, (str, Path)) else runs
    field = _field(read_contenders(several, policies, seat), baseline)
    first = field.baseline
    matches = field.matches
    contenders = [first, *(match.second for match in matches)]
    estimates = [_estimated(match.groups(_FIGURES[metric]), metric) for match in matches]
    corrected = paired.holm([estimated.p_value for estimated in estimates])
    differences = tuple(
        _difference(match, metric, estimated, p_holm, tolerance)
        for match, estimated, p_holm in zip(matches, estimates, corrected, strict=True)
    )
    return Comparison(
        metric=metric,
        tolerance=tolerance,
        sides=tuple(Side(name=one.name, policy=one.policy, run=one.run) for one in contenders),
        baseline=first.name,
        differences=differences,
        groups=_groups(contenders, metric) if len(contenders) > 2 else (),
        seat=seat,
        elsewhere=tuple(one.name for one in field.elsewhere),
        unmatched=tuple(map(_unmatched, field.unmatched)),
        pairs_of="child" if first.has_children else "task",
    )


class _Field(NamedTuple):
    """Who is compared with a baseline: those that a task pairs with it, and the others."""

    baseline: Contender
    matches: list[_Match]
    unmatched: list[_Match]
    elsewhere: list[Contender]


def _field(everybody: Sequence[Contender], baseline: str | None) -> _Field:
    """Return the field of a named baseline, or else of the first that has a pair with anybody.

    One policy that has nothing but errors, or has not begun, keeps nobody else from a comparison.
    Raises CompareError where nothing pairs.
    """
    baselines = everybody if baseline is None else [_named(everybody, baseline)]
    refused = []
    for one in baselines:
        field = _beside(one, everybody)
        if field.matches:
            return field
        refused.append(field)
    raise _nothing_pairs(refused[0])


def _beside(baseline: Contender, everybody: Sequence[Contender]) -> _Field:
    others = [one for one in everybody if one is not baseline]
    met = [_Match(baseline, one) for one in others if not _never_meets(baseline, one)]
    return _Field(
        baseline,
        matches=[match for match in met if match.tasks],
        unmatched=[match for match in met if not match.tasks],
        elsewhere=[one for one in others if _never_meets(baseline, one)],
    )


def _nothing_pairs(field: _Field) -> CompareError:
    name = field.baseline.name
    if not field.unmatched:
        return CompareError(
            f"{name} sat at {' and '.join(sorted(field.baseline.seats))}, and no other "
            "policy of these runs did. Name another baseline, or a run in which one did."
        )
    match, *more = field.unmatched
    nobody_else = f" Neither has any other policy with {name}." if more else ""
    return CompareError(
        f"{match.second.name} and {name} have no task in common that both have played to its end: "
        f"{match.why_apart()}.{nobody_else} Evaluate them with the same --seed and --episodes, "
        "play what is missing or ended by an error with `gem-env eval --resume RUN`, or name "
        "another baseline."
    )


def _unmatched(match: _Match) -> Unmatched:
    return Unmatched(name=match.second.name, why=match.why_apart(), unpaired=match.unpaired())


def _never_meets(first: Contender, other: Contender) -> bool:
    """Say whether two had other seats in all that they played, of an environment of several."""
    return bool(first.seats and other.seats) and not first.seats & other.seats


Figure = Callable[[Play], float]
_FIGURES: Mapping[Metric, Figure] = {
    "success": lambda play: float(play.success and not play.is_error),
    "return": lambda play: play.total_return,
}


class _Match:
    """What two contenders have played both, and what only one of them has.

    `tasks` has those that each has played to an end at least once. Of a task with several repeats
    those that an error ended are left out.
    """

    def __init__(self, first: Contender, second: Contender) -> None:
        self.first = first
        self.second = second
        self.shared = [task for task in first.plays if task in second.plays]
        self.tasks = [
            task
            for task in self.shared
            if _finished(first.plays[task]) and _finished(second.plays[task])
        ]

    def why_apart(self) -> str:
        """Say, in half a sentence, why there is no task that both have played to an end."""
        sides = (self.second, self.first)
        for side in sides:
            if not side.plays:
                return f"{side.name} has played nothing yet"
        if not self.shared:
            return "an environment, its arguments, its seed or its task differs"
        tried = counted(len(self.shared), "child" if self.first.has_children else "task")
        for side in sides:
            if not any(_finished(side.plays[task]) for task in self.shared):
                return f"{side.name} has nothing but errors on what both have tried ({tried})"
        return f"an error ended one side of all that both have tried ({tried})"

    @property
    def has_errors(self) -> bool:
        """Whether an error ended an episode of a task that both have tried."""
        return any(
            play.is_error
            for side in (self.first, self.second)
            for task in self.shared
            for play in side.plays[task].values()
        )

    def groups(
        self, figure: Figure, env: tuple[str, str] | None = None, *, with_errors: bool = False
    ) -> list[list[Pair]]:
        """Return a pair for each task, in groups of those that are alike.

        An argument that was varied puts one task in several ways: like its repeats they count once,
        as their mean.
        """
        sides = (self.first, self.second)
        varied = {side.varied for side in sides if side.varied is not None}
        by_task: dict[Task, list[Pair]] = defaultdict(list)
        for task in self.shared if with_errors else self.tasks:
            if env in (None, _env(task)):
                plays = [side.plays[task] for side in sides]
                tried = [each.values() if with_errors else _finished(each) for each in plays]
                pair = Pair(*(_mean(map(figure, each)) for each in tried))
                by_task[task.without(varied)].append(pair)
        groups: dict[tuple[Any, ...], list[Pair]] = defaultdict(list)
        for task, pairs in by_task.items():
            means = (_mean(figures) for figures in zip(*pairs, strict=True))
            groups[task.group].append(Pair(*means))
        return list(groups.values())

    def flips(self) -> tuple[Flip, ...]:
        """Return regressions, and then what became better, each the newest of the second first."""
        flips = []
        for task in self.tasks:
            for slot, before in self.first.plays[task].items():
                after = self.second.plays[task].get(slot)
                if after is None or before.is_error or after.is_error:
                    continue
                if before.success != after.success:
                    flips.append(_flip(task, before, after))
        return tuple(sorted(flips, key=lambda flip: (not flip.is_regression, -flip.candidate_line)))

    def unpaired(self) -> tuple[Unpaired, ...]:
        """Count what does not pair, by environment."""
        paired_tasks = set(self.tasks)
        left: dict[tuple[str, str], list[Task]] = defaultdict(list)
        for task in {**self.first.plays, **self.second.plays}:
            if task not in paired_tasks:
                left[_env(task)].append(task)
        return tuple(
            Unpaired(
                env_id=env_id,
                env_kwargs=env_kwargs,
                only_baseline=sum(task not in self.second.plays for task in tasks),
                only_candidate=sum(task not in self.first.plays for task in tasks),
                ended_by_error=len({*tasks} & {*self.shared}),
                examples=tuple(task.where for task in tasks[:_EXAMPLES]),
            )
            for (env_id, env_kwargs), tasks in sorted(left.items())
        )


def _difference(
    match: _Match, metric: Metric, over_all: Estimated, p_holm: float, tolerance: float | None
) -> Difference:
    with_errors = None
    if metric == "success" and match.has_errors:
        with_errors = _estimated(match.groups(_FIGURES[metric], with_errors=True), metric)
    return Difference(
        candidate=match.second.name,
        verdict=_verdict(over_all, p_holm, tolerance),
        p_holm=p_holm,
        over_all=over_all,
        with_errors=with_errors,
        by_env=_by_env(match, metric, over_all),
        flips=match.flips(),
        unpaired=match.unpaired(),
        caveats=_caveats(match.first, match.second),
    )


def _by_env(match: _Match, metric: Metric, over_all: Estimated) -> dict[str, Estimated]:
    """Estimate by environment; its arguments are in the name where they alone tell two apart."""
    envs = list(dict.fromkeys(map(_env, match.tasks)))
    if len(envs) == 1:
        return {envs[0][0]: over_all}
    has_twins = len({env_id for env_id, _ in envs}) < len(envs)
    return {
        f"{env_id} {env_kwargs}" if has_twins else env_id: _estimated(
            match.groups(_FIGURES[metric], (env_id, env_kwargs)), metric
        )
        for env_id, env_kwargs in envs
    }


def _caveats(first: Contender, second: Contender) -> tuple[str, ...]:
    """Say, one line each, what may part the two beside the policies themselves."""
    lines = [
        f"{name} is {first.settings.get(name)} for {first.name} and "
        f"{second.settings.get(name)} for {second.name}"
        for name in dict.fromkeys([*first.settings, *second.settings])
        if first.settings.get(name) != second.settings.get(name)
    ]
    is_one_game = (first.run, first.line_up) == (second.run, second.line_up)
    if first.others != second.others and not is_one_game:
        with_whom = [", ".join(side.others) or "themselves" for side in (first, second)]
        lines.append(
            f"{first.name} played with {with_whom[0]}, and {second.name} with {with_whom[1]}"
        )
    stopped = dict.fromkeys(side.run for side in (first, second) if side.stops_when_decided)
    lines += [
        f"{run} stopped as soon as it was decided, so that this test of it is too sure: "
        "its own decision is what holds"
        for run in stopped
    ]
    return tuple(lines)


def _verdict(estimated: Estimated, p_holm: float, tolerance: float | None) -> Verdict:
    """Choose the word. What is proven to be within the tolerance is SAME, also if it is not 0."""
    if tolerance is not None and estimated.ci95 is not None:
        low, high = estimated.ci95
        if -tolerance <= low and high <= tolerance:
            return "SAME"
    if p_holm > _LEVEL or not estimated.difference:
        return "UNDECIDED"
    return "BETTER" if estimated.difference > 0 else "WORSE"


def _estimated(groups: list[list[Pair]], metric: Metric) -> Estimated:
    of_metric = {"success": paired.difference_of_rates, "return": paired.difference_of_means}
    estimate = of_metric[metric](groups)
    pairs = [pair for group in groups for pair in group]
    shared = paired.shared_variance(groups)
    chance = paired.chance_of_signs(groups)
    detectable = paired.detectable_difference(groups)
    if metric == "success" and detectable is not None and detectable > 1.0:
        detectable = None  # no two rates are so far apart
    return Estimated(
        tasks=len(pairs),
        baseline_mean=_mean(pair.first for pair in pairs),
        candidate_mean=_mean(pair.second for pair in pairs),
        difference=estimate.value,
        ci95=estimate.ci95,
        wins=sum(pair.difference > 0 for pair in pairs),
        losses=sum(pair.difference < 0 for pair in pairs),
        p_value=chance.value,
        test="sampled" if chance.is_sampled else "exact",
        p_is_bound=chance.is_bound,
        detectable=detectable,
        correlation=None if shared is None else shared.correlation,
        saved=None if shared is None else shared.saved,
    )


def _groups(contenders: Sequence[Contender], metric: Metric) -> tuple[tuple[str, ...], ...]:
    """Group those that cannot be told apart, best first, by all pairs of them."""
    both = list(combinations(contenders, 2))
    figure = _FIGURES[metric]
    chances = [paired.chance_of_signs(_Match(*two).groups(figure)).value for two in both]
    corrected = paired.holm(chances)
    names = [(one.name, other.name) for one, other in both]
    groups = paired.alike(dict(zip(names, corrected, strict=True)), _LEVEL)
    return tuple(map(tuple, groups))


def _named(contenders: Sequence[Contender], baseline: str) -> Contender:
    for contender in contenders:
        if baseline in (contender.name, contender.policy, contender.run):
            return contender
    names = ", ".join(contender.name for contender in contenders)
    raise CompareError(f"The baseline {baseline!r} is none of those that are compared: {names}.")


def _finished(plays: Mapping[Slot, Play]) -> list[Play]:
    return [play for play in plays.values() if not play.is_error]


def _env(task: Task) -> tuple[str, str]:
    return (task.env_id, task.env_kwargs)


def _flip(task: Task, before: Play, after: Play) -> Flip:
    return Flip(
        **task._asdict(),
        repeat=before.repeat,
        is_regression=before.success,
        baseline_line=before.line,
        candidate_line=after.line,
    )


def _mean(figures: Iterable[float]) -> float:
    listed = list(figures)
    return sum(listed) / len(listed)
