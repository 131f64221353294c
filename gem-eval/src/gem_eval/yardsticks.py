"""Returns on a scale from random play to the best, by yardsticks in files.

A file is what `gem-env yardstick ID --json` prints. Knows nothing about how a yardstick is found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gem.errors import in_one_line, problems_of
from gem.specs import EnvSpec
from gem_eval.errors import SettingsError
from gem_eval.settings import Settings
from gem_eval.summary import Result

__all__ = ["Normalised", "Scaled", "Yardstick", "normalised", "read_yardstick"]

_HOW = "Write one with `gem-env yardstick ID --json > FILE`."
_Number = Annotated[float, Field(allow_inf_nan=False)]


class Figure(BaseModel):
    """What one way to play returns, from `low` to `high`; `high` is None where nothing bounds it.

    Where `is_exact` both are the value.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    low: _Number
    high: _Number | None
    is_exact: bool


class Yardstick(BaseModel):
    """The best and the random return of an environment with these arguments.

    Returns are sums of rewards without a discount, as those of an evaluation are. With a `seat`
    they are what that one of several earns against others that play at random.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    env_id: str
    env_kwargs: Mapping[str, Any]
    seat: str | None = None
    best: Figure
    random: Figure


class Scaled(NamedTuple):
    """A return where random play is 0 and the best play 1, and its 95% interval."""

    value: float
    ci95: tuple[float, float] | None


class Normalised(NamedTuple):
    """The scaled returns of results, None where there is none, and a sentence on each reason."""

    scaled: tuple[Scaled | None, ...]
    reasons: tuple[str, ...]


def read_yardstick(path: str) -> Yardstick:
    """Read a yardstick. Raises SettingsError where a file holds none."""
    try:
        plain = json.loads(Path(path).read_bytes())
        return Yardstick.model_validate(plain)
    except ValidationError as error:
        problem = problems_of(error)[0]
    except (OSError, ValueError, RecursionError) as error:
        problem = in_one_line(error)
    raise SettingsError(
        f"The yardstick {path} was to be read, and it is none: {problem}. {_HOW}",
        option="yardsticks",
    )


def normalised(
    settings: Settings,
    results: Sequence[Result],
    yardsticks: Sequence[Yardstick],
    *,
    is_branch: bool = False,
) -> Normalised:
    """Scale the mean returns of results by the yardsticks that fit them.

    `results` are those of a summary with these settings: of each environment in turn, a result for
    each policy. A yardstick fits where the id and all arguments of the environment are its own, the
    run puts no wrapper or limit of turns around it and plays whole episodes from all starts, and
    the best and the random return are exact and differ. That of a seat fits a run whose only
    wrapper is the view of this seat against random play.
    """
    scaled: list[Scaled | None] = []
    reasons: list[str] = []
    policies = len(settings.policies)
    for number, result in enumerate(results):
        spec = settings.envs[number // policies * settings.variants]
        found = _fitting(settings, spec, yardsticks, is_branch)
        if isinstance(found, str):
            scaled.append(None)
            reasons.append(f"{result.env_id} has no normalised return: {found}")
        else:
            scaled.append(_scaled(result, found))
    return Normalised(tuple(scaled), tuple(dict.fromkeys(reasons)))


def _fitting(
    settings: Settings, spec: EnvSpec, yardsticks: Sequence[Yardstick], is_branch: bool
) -> Yardstick | str:
    """Return the yardstick that fits an environment of a run, or why none does."""
    kwargs = {**spec.kwargs, **settings.env_kwargs}
    for_id = [yardstick for yardstick in yardsticks if yardstick.env_id == spec.id]
    if not for_id:
        return f"no yardstick is of it. {_HOW}"
    fitting = [yardstick for yardstick in for_id if dict(yardstick.env_kwargs) == kwargs]
    if not fitting:
        given = json.dumps(dict(for_id[-1].env_kwargs))
        return f"its yardstick is of the arguments {given}, and the run of {json.dumps(kwargs)}."
    if settings.varied is not None:
        return f"the run varies {settings.varied}, and a yardstick is of one value."
    if is_branch:
        return "a branch plays on from a turn, and a yardstick is of whole episodes."
    if settings.tasks is not None or settings.seed_range is not None:
        return "the run plays chosen episodes, and a yardstick is of all starts."
    seat = _viewed(settings)
    if settings.wrappers and seat is None:
        return "the run puts wrappers around it, and its yardstick is without."
    if settings.max_turns is not None:
        return "the run limits turns (--max-turns), and its yardstick does not."
    of_seat = [yardstick for yardstick in fitting if yardstick.seat == seat]
    if not of_seat:
        return f"its yardstick is of {_played_by(fitting[-1].seat)}, the run of {_played_by(seat)}."
    yardstick = of_seat[-1]
    for name, figure in (("best", yardstick.best), ("random", yardstick.random)):
        if not figure.is_exact:
            high = "any number" if figure.high is None else f"{figure.high:g}"
            return f"its {name} return is only known to lie from {figure.low:g} to {high}."
    if yardstick.best.low <= yardstick.random.low:
        return "its best play returns no more than random play."
    return yardstick


def _viewed(settings: Settings) -> str | None:
    """Return the seat that a run views, against random play and with no other wrapper."""
    if len(settings.wrappers) != 1:
        return None
    view = settings.wrappers[0]
    if view.id != "seat_view" or view.kwargs.get("opponents") != "random":
        return None
    seat = view.kwargs.get("seat")
    return seat if isinstance(seat, str) and seat != "rotate" else None


def _played_by(seat: str | None) -> str:
    return "all seats together" if seat is None else f"the seat {seat} against random play"


def _scaled(result: Result, yardstick: Yardstick) -> Scaled | None:
    if result.mean_return is None:
        return None
    zero = yardstick.random.low
    room = yardstick.best.low - zero

    def scale(value: float) -> float:
        return (value - zero) / room

    interval = result.mean_return_ci95
    ci95 = None if interval is None else (scale(interval[0]), scale(interval[1]))
    return Scaled(scale(result.mean_return), ci95)
