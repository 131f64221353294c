"""Play the same tasks in several variants of one argument, and say how much a score depends on it.

An argument such as the wording of a request changes how a task is put, and not what it is. Each
environment of such a run stands there once for each value, next to each other; the episodes of one
number are of one task. Knows nothing about how they are played.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from gem_eval import intervals
from gem_eval.errors import SettingsError
from gem_eval.settings import env_specs

if TYPE_CHECKING:
    from gem_eval.settings import Settings
    from gem_eval.summary import Outcome

__all__ = ["Sensitivity", "Variant", "sensitivities", "varied"]

Interval = tuple[float, float] | None
_MOST_VALUES = 1_000


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Variant(_Frozen):
    """The mean return with one value of the argument, over the tasks of all values."""

    value: Any
    mean_return: float
    mean_return_ci95: Interval


class Sensitivity(_Frozen):
    """How much the returns of one policy on one environment depend on an argument.

    It is over the `tasks` that were played with every value and no error ended. `sensitivity` is
    the mean over tasks of the standard deviation over values: 0 where no task depends on it, 0.5
    where every task is won with half of them. Its interval is a bootstrap over tasks. `worst` and
    `best` are the values with the lowest and the highest mean.
    """

    env_id: str
    policy: str
    argument: str
    tasks: int
    left_out: int
    mean_return: float
    sensitivity: float
    sensitivity_ci95: Interval
    worst: Variant
    best: Variant
    variants: tuple[Variant, ...]


def varied(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of an evaluation in which each environment stands once for each value.

    `vary` maps the name of one argument to its values. Raises SettingsError.
    """
    values = dict(given)
    vary = values.pop("vary", None)
    if vary is None:
        return values
    if not isinstance(vary, Mapping) or len(vary) != 1:
        raise _misfit(f"vary={vary!r:.60} was given, and must name one argument with its values")
    [(name, listed)] = vary.items()
    several = list(listed) if isinstance(listed, Iterable) and not isinstance(listed, str) else []
    if not 2 <= len(several) <= _MOST_VALUES or len({repr(each) for each in several}) < len(
        several
    ):
        raise _misfit(
            f"{name!r:.60} was to be varied over {listed!r:.60}, and that takes from 2 to "
            f"{_MOST_VALUES:,} values, each once"
        )
    if name in (values.get("env_kwargs") or {}):
        raise _misfit(f"{name!r:.60} is varied, and env_kwargs gives it a value of its own")
    values["envs"] = [
        spec.model_copy(update={"kwargs": {**spec.kwargs, str(name): value}})
        for spec in env_specs(values.get("envs", ()))
        for value in several
    ]
    values["varied"] = str(name)
    values["variants"] = len(several)
    return values


def _misfit(what: str) -> SettingsError:
    return SettingsError(
        f'{what}. Write --vary wording=0:20, or --vary \'wording=["a", "b"]\'.', option="vary"
    )


def sensitivities(settings: Settings, outcomes: Iterable[Outcome]) -> tuple[Sensitivity, ...]:
    """Return the figures of each environment and policy; none where no argument was varied."""
    if settings.varied is None:
        return ()
    # By environment and policy: of each task the returns by variant, None by an error.
    played: dict[tuple[int, str], dict[int, dict[int, list[float | None]]]] = {}
    for outcome in outcomes:
        env, variant = divmod(outcome.env_index, settings.variants)
        tasks = played.setdefault((env, outcome.policy), defaultdict(lambda: defaultdict(list)))
        earned = None if outcome.error is not None else outcome.total_return
        tasks[outcome.group][variant].append(earned)
    found = []
    for env, spec in enumerate(settings.envs[:: settings.variants]):
        own = settings.envs[env * settings.variants :][: settings.variants]
        values = [each.kwargs[settings.varied] for each in own]
        for ref in settings.policies:
            tasks = played.get((env, ref.name), {})
            rows = [_row(task, settings) for _, task in sorted(tasks.items())]
            whole = [row for row in rows if row is not None]
            if whole:
                found.append(
                    _sensitivity(spec.id, ref.name, settings.varied, values, whole, len(rows))
                )
    return tuple(found)


def _row(task: Mapping[int, Sequence[float | None]], settings: Settings) -> list[float] | None:
    """Return a task's mean return by variant; None where one is missing or ended by an error."""
    means = []
    for variant in range(settings.variants):
        earned = [each for each in task.get(variant, ()) if each is not None]
        if not earned or len(earned) < len(task[variant]):
            return None
        means.append(statistics.fmean(earned))
    return means if all(map(math.isfinite, means)) else None


def _sensitivity(
    env_id: str,
    policy: str,
    argument: str,
    values: Sequence[Any],
    rows: Sequence[Sequence[float]],
    tasks: int,
) -> Sensitivity:
    variants = []
    for value, column in zip(values, zip(*rows, strict=True), strict=True):
        estimate = intervals.mean([[each] for each in column])
        variants.append(
            Variant(value=value, mean_return=estimate.value or 0.0, mean_return_ci95=estimate.ci95)
        )
    spread = intervals.mean([[statistics.pstdev(row)] for row in rows])
    return Sensitivity(
        env_id=env_id,
        policy=policy,
        argument=argument,
        tasks=len(rows),
        left_out=tasks - len(rows),
        mean_return=statistics.fmean(variant.mean_return for variant in variants),
        sensitivity=spread.value or 0.0,
        sensitivity_ci95=spread.ci95,
        worst=min(variants, key=lambda variant: variant.mean_return),
        best=max(variants, key=lambda variant: variant.mean_return),
        variants=tuple(variants),
    )
