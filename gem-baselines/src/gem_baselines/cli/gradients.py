"""`gem-env gradients`: exact policy gradients, and how far estimators are from them."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gem.cli import env_kwargs
from gem.errors import BadArguments

if TYPE_CHECKING:
    from gem_baselines.gradients.figures import Gradients, Measured

__all__ = ["add_command"]

_ZERO = 1e-12  # a product of lengths that is rounding
_NAMES = 19  # columns of the names of estimators

_DESCRIPTION = """\
Enumerate the trajectories of a small environment, and with them the exact policy gradients of
random softmax policies over what a player sees and does. Then measure how far the expected update
of each estimator points off the gradient that it aims at, how long it is, and how much it varies.
Where every batch can be enumerated this is exact; elsewhere batches are drawn, with the noise
taken out that is known, and a standard error says how much is left.
"""
_EPILOGUE = """\
targets, with S(t) the gradient of the log-probability of a turn's action, r(t) its reward and G(t)
its discounted return:
  J   the gradient of E[sum of gamma^t r(t)]
  U   E[sum of S(t) G(t)]: J without the discount of the state distribution
  J1  the gradient of E[sum of r(t)]

examples:
  gem-env gradients game:GuessTheNumber-v0 --env-kwargs '{"max_number": 4, "max_turns": 3}'
  gem-env gradients game:GuessTheNumber-v0 --env-kwargs '{"max_number": 3, "max_turns": 2}' \\
      --estimator rebn --estimator grpo --episodes 4 --json
  gem-env gradients game:GuessTheNumber-v0 --env-kwargs '{"max_number": 3, "max_turns": 2}' \\
      --estimator-kwargs '{"rebn_leave_one_out": {"std": false}}'
"""


def add_command(commands: Any) -> None:
    """Add `gradients` to the commands."""
    parser = commands.add_parser(
        "gradients",
        help="exact policy gradients, and the bias and variance of estimators",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    add = parser.add_argument
    add("env", metavar="ID", help="an environment, as `gem-env list` shows them, or FILE.py:CLASS")
    add("--env-kwargs", default="{}", metavar="JSON", help="arguments of the environment")
    add(
        "--estimator",
        action="append",
        dest="estimators",
        metavar="NAME",
        help="an estimator of `gem-env train`, or your own as MODULE:NAME; may be given several "
        "times (default: all of ours)",
    )
    add(
        "--estimator-kwargs",
        default="{}",
        metavar="JSON",
        help='options of estimators by their names, as {"mt_grpo": {"std": false}}',
    )
    add("--gamma", type=float, default=0.9, metavar="X", help="the discount (default 0.9)")
    add("--episodes", type=int, default=8, metavar="N", help="episodes of a batch (default 8)")
    add(
        "--repeats",
        type=int,
        default=4,
        metavar="M",
        help="episodes of a group, for estimators that compare repeats (default 4)",
    )
    add("--policies", type=int, default=3, metavar="K", help="random policies (default 3)")
    add("--seed", type=int, default=0, metavar="N", help="of the first policy (default 0)")
    add("--json", action="store_true", help="print JSON, with the gradients and each policy")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem.cli import find_modules_here
    from gem_baselines.gradients.measuring import BY_TURN, gradients  # heavy, with what it imports

    find_modules_here()
    found = gradients(
        options.env,
        env_kwargs(options.env_kwargs),
        estimators=options.estimators or BY_TURN,
        estimator_kwargs=_estimator_kwargs(options.estimator_kwargs),
        gamma=options.gamma,
        episodes=options.episodes,
        repeats=options.repeats,
        policies=options.policies,
        seed=options.seed,
        progress=_show_progress,
    )
    _show_progress("")
    if options.json:
        print(json.dumps(found.to_json(), indent=2, allow_nan=False))
    else:
        _print(found)
    return 0


def _estimator_kwargs(text: str) -> Mapping[str, Mapping[str, Any]]:
    """Read --estimator-kwargs. Raises BadArguments on anything but objects by name."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        values = None
        reason = str(error)
    else:
        reason = "it is not an object of objects"
    if isinstance(values, dict) and all(isinstance(each, dict) for each in values.values()):
        return values
    raise BadArguments(
        f"--estimator-kwargs {text!r:.80} is not a JSON object of objects ({reason}). Write it as "
        """'{"mt_grpo": {"std": false}}'.""",
        subject="--estimator-kwargs",
    )


def _show_progress(text: str) -> None:
    """Redraw the line that says what is being measured, where somebody looks."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _print(found: Gradients) -> None:
    trajectories = found.trajectories
    print(
        f"{trajectories.env_id}: {len(trajectories.all):,} trajectories, "
        f"{trajectories.parameters:,} parameters ({trajectories.shape[0]:,} histories, "
        f"{trajectories.shape[1]} actions)"
    )
    for number, policy in enumerate(found.policies):
        targets = policy.targets
        print(
            f"policy {number}: expected discounted return {policy.expected_return:.4f}; "
            f"|U| {_length(targets['U']):.4f}, cosine of U and J "
            f"{_cosine(targets['U'], targets['J'])}, of U and J1 "
            f"{_cosine(targets['U'], targets['J1'])}"
        )
    print()
    longest = max(len(measured.estimator) for measured in found.measured)
    width = max(longest + 1, _NAMES)
    print(
        f"{'estimator':<{width}}{'target':>6}{'batches':>18}{'direction error':>20}{'scale':>8}"
        f"{'variance':>10}  verdict"
    )
    for measured in found.measured:
        print(_row(measured, width))
    print(
        "\nDirection error of the worst policy: the sine of the angle to the target. Scale and "
        "variance of an\nepisode at scale 1, in units of the target's length and its square: "
        "medians over the policies."
    )


def _row(measured: Measured, width: int) -> str:
    worst = measured.worst
    error = f"{worst.direction_error:.4f}"
    if not measured.is_exact:
        error = f"{error} +- {worst.standard_error:.4f}"
    how = "all" if measured.is_exact else "drawn"
    batches = f"{measured.batches:,} of {measured.episodes}, {how}"
    variance = "-" if measured.variance is None else f"{measured.variance:.1f}"
    return (
        f"{measured.estimator:<{width}}{measured.target:>6}{batches:>18}{error:>20}"
        f"{measured.scale:>8.3f}{variance:>10}  {measured.verdict}"
    )


def _length(gradient: Any) -> float:
    return math.sqrt(float(gradient @ gradient))


def _cosine(first: Any, second: Any) -> str:
    """Return the cosine of the angle between two gradients; "-" where one is 0."""
    lengths = _length(first) * _length(second)
    return f"{float(first @ second) / lengths:.4f}" if lengths > _ZERO else "-"
