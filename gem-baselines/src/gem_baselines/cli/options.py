"""The options of `gem-env train`: argparse alone, so that setting `gem-env` up stays cheap."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_command"]

_DESCRIPTION = """\
Train a policy on an environment as an experiment says, and keep metrics, evaluations and
checkpoints in a training folder. Killing it loses nothing that --resume does not do again: the
metrics are then, bit for bit, those of a training that was not killed.
The exit status is 1 if the training could not go on, and 130 after Ctrl-C, which makes a
checkpoint first.
"""
_EPILOGUE = """\
an experiment is a TOML file of settings:
  env = "game:GuessTheNumber-v0"
  env_kwargs = {min_number = 1, max_number = 10, max_turns = 10}
  policy = "tabular"
  policy_kwargs = {view = "interval", learning_rate = 0.1}
  estimator = "rebn"
  gamma = 0.9
  updates = 100

examples:
  gem-env train examples/experiments/guess_the_number.toml --out runs/guess
  gem-env train --config experiment.toml --set estimator=grpo --set repeats=8 --seed 1
  gem-env train --config experiment.toml --policy hf:models/my-model
  gem-env train --resume runs/guess
  gem-env train --resume runs/guess --set updates=200
  gem-env eval game:GuessTheNumber-v0-easy --policy baseline:runs/guess
"""


def add_command(commands: Any) -> None:
    """Add `train` to the commands."""
    parser = commands.add_parser(
        "train",
        help="train a policy on an environment",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    add = parser.add_argument
    add("experiment", nargs="?", metavar="EXPERIMENT", help="a TOML file of settings")
    add("--config", metavar="FILE", help="the same as EXPERIMENT")
    add("--out", metavar="DIR", help="the training folder, new or empty. Default: runs/DATE-TIME")
    add(
        "--resume",
        metavar="DIR",
        help="go on with the training in this folder, from its last checkpoint",
    )
    add(
        "--set",
        action="append",
        default=[],
        dest="assignments",
        metavar="KEY=VALUE",
        help="a setting in place of the file's: gamma=0.5, or a part of one, "
        "policy_kwargs.view=last; may be given several times. With --resume: updates, "
        "checkpoint_every, sample_every, concurrency or step_timeout_s",
    )
    add(
        "--policy",
        metavar="KIND",
        help="train this one in place of the file's, and without its policy_kwargs: a kind, "
        "hf:PATH for a model of transformers, or MODULE:CLASS",
    )
    add(
        "--track",
        action="append",
        default=[],
        metavar="T",
        help="tell a tracker how the training goes while it goes on: mlflow, wandb or trackio "
        "(each an extra of gem-eval); may be given several times. A resumed training goes on with "
        "the same",
    )
    add("--seed", type=int, metavar="N", help="the same as --set seed=N")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_baselines.cli.train import run  # numpy, pydantic and everything else

    return run(options)
