"""`gem-env train`: train a policy as an experiment says, or go on with a training.

Exit status: 0 done; 1 if the training could not go on; 2 wrong use; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from gem.cli import find_modules_here, one_line
from gem.errors import GemError
from gem_baselines.errors import ExperimentError, FolderError, TrainingStopped
from gem_baselines.policies import KINDS, kind_and_kwargs
from gem_baselines.training.experiment import Experiment, read_experiment, set_values
from gem_baselines.training.folder import settings_in
from gem_baselines.training.progress_line import ProgressLine
from gem_baselines.training.training import Training

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Train as the options say and return the exit status."""
    find_modules_here()
    training = _training(options)
    path = training.folder.path
    if training.folder.changed:
        print(f"gem-env train: {one_line(training.folder.changed)}", file=sys.stderr)
    done = training.progress.update
    updates = training.folder.experiment.updates
    try:
        with ProgressLine(updates=updates, done=done) as line:
            training.run(line.show)
    except (TrainingStopped, FolderError) as error:  # one that cannot be written stops as well
        print(f"gem-env train: {one_line(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt.__cause__, GemError):
            print(f"gem-env train: {one_line(str(interrupt.__cause__))}", file=sys.stderr)
        print(
            f"gem-env train: interrupted. {training.kept} of {updates} updates are kept "
            f"in {path}. Go on with: gem-env train --resume {shlex.quote(str(path))}",
            file=sys.stderr,
        )
        return 130
    finally:
        for problem in training.reporters.problems:
            print(f"gem-env train: {one_line(problem)}", file=sys.stderr)
    _show(training)
    return 0


def _training(options: argparse.Namespace) -> Training:
    """Return the training that the options ask for. Raises ExperimentError on wrong use."""
    assignments = list(options.assignments)
    if options.seed is not None:
        assignments.append(f"seed={options.seed}")
    paths = [path for path in (options.experiment, options.config) if path is not None]
    if options.resume is not None:
        extras = [*paths, *_given(out=options.out, policy=options.policy)]
        if extras:
            extra = extras[0]
            raise ExperimentError(
                f"--resume {options.resume} and {extra} were given. A training that goes on has "
                f"its experiment and its folder: leave {extra} away.",
                setting="resume",
            )
        # In all that is stored: a part of a setting that is set to what it is changes nothing.
        changes = set_values(settings_in(options.resume), assignments) if assignments else {}
        return Training.resumed(options.resume, changes, track=options.track)
    if len(paths) != 1:
        given = f"two were given: {paths[0]} and {paths[1]}" if paths else "none was given"
        raise ExperimentError(
            f"gem-env train needs one experiment, and {given}. Write `gem-env train FILE`, or "
            "--resume DIR to go on with a training.",
            setting="experiment",
        )
    plain = read_experiment(paths[0])
    if options.policy is not None:
        # Before what is set: the arguments of another policy may be.
        plain["policy"], plain["policy_kwargs"] = kind_and_kwargs(options.policy)
    experiment = Experiment.of(set_values(plain, assignments))
    command = ["gem-env", *sys.argv[1:]]
    return Training.begun(experiment, options.out, command=command, track=options.track)


def _given(**options: str | None) -> list[str]:
    return [f"--{name} {value}" for name, value in options.items() if value is not None]


def _show(training: Training) -> None:
    """Print where the training ended, and how to evaluate what it left."""
    folder = training.folder
    updates = folder.experiment.updates
    rows = []
    if folder.metrics:
        rows.append(("last update", folder.metrics[-1]))
    if folder.evaluations:
        last = folder.evaluations[-1]
        rows += [("drawn actions", last["sampled"]), ("greedy actions", last["greedy"])]
    print(f"{training.progress.update} of {updates} updates are in {folder.path}")
    for name, figures in rows:
        print(f"  {name:<15} {_figures(figures)}")
    if training.progress.best_update is not None:
        print(f"  best policy after update {training.progress.best_update}")
    print(f"Evaluate it with: {_evaluation(training)}")


def _evaluation(training: Training) -> str:
    """Return the command that evaluates the best policy on the environment that it knows.

    One that plays all seats against itself earns what the game pays in all, however it plays: after
    self-play it meets another one.
    """
    experiment = training.folder.experiment
    is_alone = experiment.self_play is None
    words = ["gem-env", "eval" if is_alone else "league", experiment.env]
    if experiment.env_kwargs:
        words += ["--env-kwargs", json.dumps(dict(experiment.env_kwargs))]
    if experiment.wrappers:
        words += ["--wrappers", json.dumps(list(experiment.wrappers))]
    if experiment.max_turns is not None:
        words += ["--max-turns", str(experiment.max_turns)]
    words += ["--policy", f"baseline:{training.folder.path}"]
    if not is_alone:
        words += ["--policy", "random"]
    if experiment.policy not in KINDS:
        words += ["--policy-kwargs", json.dumps({"trust_kind": True})]
    return shlex.join(words)


def _figures(figures: Mapping[str, Any]) -> str:
    text = (
        f"success {figures['success']:.3f}  turns {figures['turns']:.2f}  "
        f"reward {figures['reward']:.3f}  episodes {figures['episodes']}"
    )
    return f"{text}  errors {figures['errors']}" if figures["errors"] else text
