"""Arms: which trainings an experiment has, read from its file of settings.

Knows nothing about how a training is run.
"""

from __future__ import annotations

import hashlib
import json
import string
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.baselines.rates import best_rates
from benchmarks.baselines.records import Results

from gem_baselines.training import Experiment
from gem_baselines.training.advantages import ESTIMATORS
from gem_baselines.training.experiment import FREE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "EXPERIMENTS",
    "TUNING",
    "Arm",
    "arms_of",
    "is_tuned",
    "rates",
    "read",
    "task_settings",
    "tasks",
]

FOLDER = Path(__file__).parent
EXPERIMENTS = tuple(sorted(path.stem for path in (FOLDER / "experiments").glob("*.toml")))
"""The names of all experiments, in the order in which they are run."""
TUNING = "a_tuning"
"""The experiment by which learning rates are chosen."""
UNCHOSEN = 1e-3
BLIND = "(?!)"
"""A pattern that matches nothing: the policy is shown nothing of what the environment tells."""
LETTERS = {"@AZ": string.ascii_uppercase, "@az": string.ascii_lowercase}


class Arm(NamedTuple):
    """One training: of an experiment, a task, a way to learn and a seed."""

    experiment: str
    task: str
    name: str
    seed: int
    settings: Experiment
    also_on: Mapping[str, Mapping[str, Any]]
    """Other environments that the trained policy plays in the end, by their names."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from every other arm of its experiment."""
        return (self.task, self.name, self.seed)

    @property
    def digest(self) -> str:
        """A digest of all that decides its figures: where it changes, they are made again.

        What is as it always is stays out, so that a new setting makes no result stale.
        """
        settings = self.settings.model_dump(
            mode="json", exclude_defaults=True, exclude={*FREE} - {"updates"}
        )
        plain = {"settings": settings, "also_on": self.also_on}
        text = json.dumps(plain, sort_keys=True, default=dict)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def read(experiment: str) -> Mapping[str, Any]:
    """Return what the file of an experiment says."""
    path = FOLDER / "experiments" / f"{experiment}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def arms_of(experiment: str) -> list[Arm]:
    """Return the arms of an experiment: all of the first seed, then all of the second, and so on.

    So whatever a sitting leaves undone is the last seeds of all arms, and not the last arms. An arm
    whose estimator this checkout does not have is left out.
    """
    plain = read(experiment)
    first = plain.get("first_seed", 0)
    every = tasks()
    return [
        arm
        for number in range(plain["seeds"])
        for arm in _of_seed(experiment, plain, every, number, first + number)
    ]


def _of_seed(
    experiment: str,
    plain: Mapping[str, Any],
    every: Mapping[str, Any],
    number: int,
    seed: int,
) -> Iterator[Arm]:
    """Yield the arms of an experiment's seed, which is the `number`-th from 0."""
    chosen = rates() if "rates" in plain else {}
    also_on = {name: _environment(every[name]) for name in plain.get("also_on", ())}
    fewer = plain.get("fewer_seeds", {})  # of arms that take long, by task and arm
    for task in plain["tasks"]:
        for name, changes in plain["arms"].items():
            if number >= fewer.get(task, {}).get(name, plain["seeds"]):
                continue
            of_task = plain.get("by_task", {}).get(task, {})
            here = _merged(every[task], {"settings": of_task})
            settings = task_settings(here, plain["base"], changes)
            if settings["estimator"] not in ESTIMATORS:
                continue
            for full_name, variant in _variants(name, task, settings, plain, chosen):
                trained = Experiment.of({**variant, "seed": seed})
                yield Arm(experiment, task, full_name, seed, trained, also_on)


def _variants(
    name: str,
    task: str,
    settings: Mapping[str, Any],
    plain: Mapping[str, Any],
    chosen: Mapping[str, float],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield an arm as it is trained: at each rate of a grid, or seeing, and blind."""
    if "grid" in plain:
        for rate in plain["grid"]:
            yield f"{name}, {rate:g}", _at_rate(settings, rate)
        return
    if "rates" in plain:
        group = "one_turn" if task in plain.get("one_turn_rates", ()) else plain["rates"]
        # Before all are chosen the arms are there to be counted, and not to be trained.
        rate = chosen.get(group, UNCHOSEN)
        settings = _at_rate(settings, rate)
    yield name, settings
    if plain.get("blind", False):
        yield f"{name}, blind", _blinded(settings)


def is_tuned() -> bool:
    """Whether every training that decides a learning rate is done."""
    arms = arms_of(TUNING)
    return len(Results(TUNING).of(arms)) == len(arms)


def rates() -> Mapping[str, float]:
    """Return the learning rates that were chosen, by group of tasks."""
    return best_rates(Results(TUNING).of(arms_of(TUNING)), read(TUNING)["groups"])


def task_settings(
    task: Mapping[str, Any], base: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of a training: an arm's own go before a task's, and those before all's.

    `policy_kwargs` of the three are one; `learning` and `shape` among them too.
    """
    settings: dict[str, Any] = {"policy": task.get("policy", "transformer"), **_environment(task)}
    is_table = settings["policy"] == "tabular"
    # A table needs neither words nor sizes: it has a view and a rate of its own.
    kwargs = dict(task["table"]) if is_table else _policy_kwargs(task)
    for layer in (base, task.get("settings", {}), changes):
        rest = {key: value for key, value in layer.items() if key != "policy_kwargs"}
        settings |= rest
        if not is_table:
            kwargs = _merged(kwargs, layer.get("policy_kwargs", {}))
    return {**settings, "policy_kwargs": kwargs}


def _environment(task: Mapping[str, Any]) -> dict[str, Any]:
    return {name: task[name] for name in ("env", "env_kwargs", "wrappers") if name in task}


def _policy_kwargs(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes a transformer of a task's words and sizes."""
    kwargs: dict[str, Any] = {
        "opening": task.get("opening", "\\boxed{"),
        "closing": task.get("closing", "}"),
        "max_answer_tokens": task.get("max_answer_tokens", 1),
        "shape": {"width": 32, "layers": 2, "heads": 4, "max_length": task["max_length"]},
        "learning": {"constant": task["constant"]},
    }
    for name in ("instructions_end", "keep"):
        if name in task:
            kwargs[name] = task[name]
    vocabulary = _vocabulary(task, (kwargs["opening"], kwargs["closing"]))
    kwargs["tokenizer"] = {"kind": "words", "vocabulary": vocabulary}
    return kwargs


def _vocabulary(task: Mapping[str, Any], around: Sequence[str]) -> list[str]:
    texts: list[str] = []
    if "numbers" in task:
        first, last = task["numbers"]
        texts += map(str, range(first, last + 1))
    for word in task.get("words", "").split():
        texts += LETTERS.get(word, [word])
    texts += [phrase.strip() for phrase in task.get("phrases", "").split("|") if phrase.strip()]
    texts += [text.strip() for text in around if text.strip()]
    return list(dict.fromkeys(texts))


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return both, the second one's values where they have a name in common, at any depth."""
    merged = dict(first)
    for name, value in second.items():
        inner = merged.get(name)
        if isinstance(inner, Mapping) and isinstance(value, Mapping):
            merged[name] = _merged(inner, value)
        else:
            merged[name] = value
    return merged


def _at_rate(settings: Mapping[str, Any], rate: float) -> dict[str, Any]:
    """Return the settings with this learning rate, unless they have a policy without one."""
    if settings["policy"] != "transformer":
        return dict(settings)
    learning = {"learning": {"lr": rate}}
    return {**settings, "policy_kwargs": _merged(settings["policy_kwargs"], learning)}


def _blinded(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a policy that is shown none of the environment's words."""
    return {**settings, "policy_kwargs": {**settings["policy_kwargs"], "keep": BLIND}}


def tasks() -> Mapping[str, Any]:
    """Return every task by its name, as tasks.toml has it."""
    return tomllib.loads((FOLDER / "tasks.toml").read_text(encoding="utf-8"))
