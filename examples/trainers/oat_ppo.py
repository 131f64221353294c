"""Train a model by Oat's PPO on an environment; `oat_ppo.sh` has launch commands.

Which environment is an argument, and so are its wrappers (tools) and everything of Oat's. Needs
GPUs: vllm samples and deepspeed trains.
"""

from __future__ import annotations

from dataclasses import dataclass

import launchpad
from oat.algorithms.ppo import PPOActor, PPOArgs, PPOLearner
from oat.algorithms.ppo_multiturn import PPOMultiTurnActor, PPOMultiTurnLearner
from oat.args import default_args_validation, get_default_args
from oat.interface import get_program

from gem_integrations.oat import EnvActorMixin, EnvArgs, EnvLearnerMixin, EnvMultiTurnActorMixin


@dataclass
class Args(EnvArgs, PPOArgs):  # type: ignore[misc]
    """Ours and Oat's. `multi_turn` takes the learner whose critic values whole turns."""

    multi_turn: bool = False


class Actor(EnvActorMixin, PPOActor):  # type: ignore[misc]
    """Every turn is a sample, with its return."""


class Learner(EnvLearnerMixin, PPOLearner):  # type: ignore[misc]
    """Takes a turn's return as its advantage, unless `--critic-type ppo`."""


class MultiTurnActor(EnvMultiTurnActorMixin, PPOMultiTurnActor):  # type: ignore[misc]
    """Every turn is a sample, with its reward."""


class MultiTurnLearner(EnvLearnerMixin, PPOMultiTurnLearner):  # type: ignore[misc]
    """Makes returns of rewards, and advantages turn by turn."""


def main() -> None:
    """Train."""
    args = get_default_args(Args)
    args.algo = "PPO"
    args.oracle = ""
    args.online_evaluation = False
    args = default_args_validation(args)
    classes = (MultiTurnLearner, MultiTurnActor) if args.multi_turn else (Learner, Actor)
    program, resources = get_program(args, *classes)
    launchpad.launch(
        program,
        launch_type=args.launch_type,
        local_resources=resources,
        terminal="current_terminal",
    )


if __name__ == "__main__":
    main()
