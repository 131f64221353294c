"""An experiment: everything that decides what a training does, as frozen data.

Two trainings of one experiment have the same metrics, bit for bit, on one machine, where the policy
plays alike whatever it is asked together: of ours all do, a language model with `sample_at_once` 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails

from gem import make
from gem.errors import BadArguments
from gem.rollouts import RolloutOptions, count_tasks, resolve
from gem_baselines.errors import ExperimentError, did_you_mean, rule_of, validator_words
from gem_baselines.learning_policy import LearningPolicy
from gem_baselines.policies import beginner
from gem_baselines.self_play.settings import SelfPlaySettings
from gem_baselines.training.advantages import estimator_named, estimator_of
from gem_baselines.training.files import unlike_json

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["FREE", "Experiment", "read_experiment", "set_values"]

FREE = frozenset({"updates", "checkpoint_every", "sample_every", "concurrency", "step_timeout_s"})
"""Settings that a training which is resumed may change: they change no episode and no update.

`step_timeout_s` changes those alone in which a step is late: a training that hangs in one goes on.
"""

_Count = Annotated[int, Field(ge=1)]
_CountOrNone = Annotated[int, Field(ge=0)]
_Timeout = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Experiment(BaseModel):
    """What is trained, on what, how and for how long.

    - `env`, `env_kwargs`, `wrappers`, `max_turns`, `backend`: as `gem.rollout` takes them.
    - `policy`, `policy_kwargs`: a kind of `gem_baselines.policies`, and its arguments.
    - `estimator`, `estimator_kwargs`: one of `gem_baselines.training.advantages`, or your own by
      `module:name`; its options.
    - `gamma`, `lam`: discounts of rewards, and of a critic's errors (ppo).
    - `updates`: how many there are; `episodes` are played for each, in groups of `repeats` that
      start alike.
    - `seed`: fixes the seeds of every update and evaluation, and how the policy begins.
    - `eval_every`: updates between two evaluations, 0 for none; each plays `eval_episodes` drawn
      ones and as many greedy ones, always from the same seeds, which no update plays.
    - `checkpoint_every`: updates between two checkpoints; an evaluation makes one too.
    - `sample_every`: updates between two that leave a sample, 0 for none; None for about twenty
      in the whole training, the first and the last among them. It changes no figure.
    - `concurrency`: episodes in flight. It changes no figure.
    - `step_timeout_s`: a reset or a step that takes longer ends its episode, as an error; None for
      no limit. With the backend "inline" it ends those alone that wait, as `gem.rollout` says.
    - `self_play`: settings of `gem_baselines.self_play`, for an environment of several seats, which
      the policy then plays itself. None for an environment of one seat.

    All of it is JSON: what is read again to go on is just what was given. Raises ExperimentError on
    what cannot be one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    env: str
    env_kwargs: Mapping[str, Any] = {}
    wrappers: Sequence[str | Mapping[str, Any]] = ()
    max_turns: _Count | None = None
    backend: str = "inline"
    policy: str = "tabular"
    policy_kwargs: Mapping[str, Any] = {}
    estimator: str = "rebn"
    estimator_kwargs: Mapping[str, Any] = {}
    gamma: _Share = 0.9
    lam: _Share = 0.95
    updates: _CountOrNone = 100
    episodes: _Count = 64
    repeats: _Count = 1
    seed: int = 0
    eval_every: _CountOrNone = 25
    eval_episodes: _Count = 100
    checkpoint_every: _Count = 25
    sample_every: _CountOrNone | None = None
    concurrency: _Count = 64
    step_timeout_s: _Timeout | None = None
    self_play: SelfPlaySettings | None = None

    def __init__(self, **settings: Any) -> None:
        _refuse_unknown(settings, Experiment)
        if isinstance(table := settings.get("self_play"), Mapping):
            _refuse_unknown(table, SelfPlaySettings, table="self_play")
        try:
            super().__init__(**settings)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            setting = ".".join(map(str, first["loc"]))
            raise ExperimentError(_complaint(first, setting), setting=setting) from error

    @field_validator("env_kwargs", "wrappers", "policy_kwargs", "estimator_kwargs")
    @classmethod
    def _check_json(cls, value: Any, info: ValidationInfo) -> Any:
        plain = dict(value) if isinstance(value, Mapping) else value
        problem = unlike_json(plain, str(info.field_name))
        if problem:
            raise ValueError(
                f"The experiment sets a value that cannot be: {problem}, which JSON cannot hold. "
                "Change that setting."
            )
        return value

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Experiment:
        """Make an experiment from data. Raises ExperimentError on what cannot be one."""
        return cls(**plain)

    def fixed(self) -> dict[str, Any]:
        """Return as JSON data the settings that stay as they are when a training goes on."""
        return self.model_dump(mode="json", exclude=set(FREE))

    def options(self, *, episodes: int, seed: int, repeats: int = 1) -> RolloutOptions:
        """Return the options of a rollout of this experiment, of `episodes` starts."""
        return RolloutOptions(
            episodes=episodes,
            repeats=repeats,
            seed=seed,
            concurrency=self.concurrency,
            step_timeout_s=self.step_timeout_s,
            backend=self.backend,
            wrappers=list(self.wrappers),
            env_kwargs=self.env_kwargs,
            max_turns=self.max_turns,
        )

    def beginner(self) -> LearningPolicy:
        """Return the policy before its first update, once all settings are known to fit.

        Raises what is wrong with them: ExperimentError, or an error of core.
        """
        estimator_named(self.estimator, self.estimator_kwargs)
        self._check_seats()
        if self.episodes % self.repeats:
            raise ExperimentError(
                f"The experiment plays episodes={self.episodes} for an update in groups of "
                f"repeats={self.repeats}, and that leaves a part of a group. Set episodes to a "
                "multiple of repeats.",
                setting="episodes",
            )
        estimator = estimator_of(self.estimator)
        if estimator.compares_repeats and self.repeats == 1:
            raise ExperimentError(
                f"The estimator {self.estimator!r} compares episodes of one start, and repeats=1 "
                "gives it one of each: nothing would be learnt. Set repeats to 2 or more.",
                setting="repeats",
            )
        # In self-play one game is an episode for each seat.
        is_alone = self.episodes == 1 and self.self_play is None
        if estimator.compares_episodes and is_alone:
            raise ExperimentError(
                f"The estimator {self.estimator!r} compares the episodes of an update, and "
                "episodes=1 gives it one alone: nothing would be learnt. Set episodes to 2 or "
                "more.",
                setting="episodes",
            )
        # An environment is made, and asked: its arguments are wrong here, and not in a folder.
        count_tasks(self.env, self.options(episodes=1, seed=self.seed))
        env_kwargs = {**resolve(self.env).kwargs, **self.env_kwargs}
        policy = beginner(self.policy, self.policy_kwargs, env_kwargs=env_kwargs, seed=self.seed)
        # Also for the sake of --resume: an evaluation leaves it drawing, and a checkpoint does not
        # say so.
        if getattr(policy, "is_greedy", False):
            raise ExperimentError(
                f"The experiment makes the policy {self.policy!r} take its most probable action "
                "(is_greedy), and an update learns from drawn ones. Leave is_greedy out: an "
                "evaluation plays both ways.",
                setting="policy_kwargs",
            )
        if estimator.needs_critic:
            try:
                policy.values([], per=estimator.per)  # raises where there is no critic, or no token
            except BadArguments as error:
                raise ExperimentError(
                    f"The estimator {self.estimator!r} asks the policy for values. {error}",
                    setting="policy_kwargs",
                ) from error
        return policy

    def num_seats(self) -> int:
        """Return how many seats the environment has: it is made, and asked."""
        with make(self.env, wrappers=list(self.wrappers), **self.env_kwargs) as env:
            return len(env.seats)

    def _check_seats(self) -> None:
        """Raise ExperimentError where self-play and the environment's seats do not fit."""
        count = self.num_seats()
        if count > 1 and self.self_play is None:
            raise ExperimentError(
                f"{self.env} has {count} seats, and the experiment does not say who plays them. "
                "Add a table [self_play] for the policy at all of them, or train one seat against "
                "fixed opponents by the wrapper seat_view.",
                setting="self_play",
            )
        if count == 1 and self.self_play is not None:
            raise ExperimentError(
                f"The experiment asks for self_play, and {self.env} has one seat. Leave self_play "
                "out.",
                setting="self_play",
            )
        if self.self_play is not None and self.repeats > 1:
            raise ExperimentError(
                f"The experiment asks for self_play with repeats={self.repeats}, and games of one "
                "start go against different opponents. Set repeats to 1, and an estimator that "
                "compares no repeats, seat_average say.",
                setting="repeats",
            )


def _refuse_unknown(
    settings: Mapping[str, Any], kind: type[BaseModel], table: str | None = None
) -> None:
    """Raise ExperimentError for a name that is no setting of this kind."""
    known = list(kind.model_fields)
    for name in settings:
        if name not in known:
            where = ", and has" if table is None else f" in {table}, which has"
            raise ExperimentError(
                f"The experiment sets {name!r}{where} no such setting. "
                f"{did_you_mean(name, known)}It has {', '.join(known)}.",
                setting=name if table is None else f"{table}.{name}",
            )


def _complaint(problem: ErrorDetails, setting: str) -> str:
    """Return what pydantic found wrong with a setting, as what was set and what is true of it."""
    if own := validator_words(problem):
        return own
    kind = problem["type"]
    if kind == "missing":
        return f"The experiment does not set {setting!r}, which has no default. Add it."
    rule = rule_of(problem)
    if kind in ("model_type", "dict_type", "mapping_type"):
        rule = "has to be a table"
    elif kind in ("is_instance_of", "list_type", "sequence_str"):  # of `wrappers` alone
        rule = "has to be a list"
    return f"The experiment sets {setting} to {problem['input']!r:.60}, and it {rule}. Change it."


def read_experiment(path: str) -> dict[str, Any]:
    """Return the settings in a TOML file. Raises ExperimentError where it cannot be read."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        cause: Exception = error
    except ValueError as error:  # not TOML, or not UTF-8
        problem = f"it is not TOML ({error})"
        cause = error
    except RecursionError as error:
        problem = "it has too many values inside one another"
        cause = error
    raise ExperimentError(
        f"The file {path} was given as an experiment, and {problem}. Give a TOML file of "
        "settings, as docs/training.md shows one.",
        setting="config",
    ) from cause


def set_values(plain: Mapping[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """Return settings with `KEY=VALUE` of the command line in place of their own.

    A value is read as JSON, and is a text where it is none; a dot in the key names a part of a
    setting. Raises ExperimentError on what is no assignment.

    >>> set_values({"seed": 1}, ["seed=2", "policy_kwargs.view=last"])
    {'seed': 2, 'policy_kwargs': {'view': 'last'}}
    """
    values = dict(plain)
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not all(key.split(".")):
            raise ExperimentError(
                f"--set {assignment!r} was given, and is no assignment. Write a setting and its "
                "value: --set gamma=0.5, or --set policy_kwargs.learning_rate=0.1.",
                setting="set",
            )
        values = _with_value(values, key.split("."), _value(text), assignment)
    return values


def _with_value(
    plain: Mapping[str, Any], names: Sequence[str], value: Any, assignment: str
) -> dict[str, Any]:
    """Return a copy with the value under these names, one inside the other."""
    first = names[0]
    if len(names) == 1:
        return {**plain, first: value}
    inner = plain.get(first, {})
    if not isinstance(inner, Mapping):
        raise ExperimentError(
            f"--set {assignment!r} was given, and {first!r} is {inner!r:.60}, which has no parts. "
            f"Set {first!r} as a whole.",
            setting=first,
        )
    return {**plain, first: _with_value(inner, names[1:], value, assignment)}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
