"""`gem-env yardstick`: how far the return of an environment can go."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from gem.cli import env_kwargs, one_line

if TYPE_CHECKING:
    from gem_baselines.exact.yardstick import Figure, Yardstick

__all__ = ["add_command"]

_DESCRIPTION = """\
Find what the best, the random and the worst play of an environment return: exactly, with how
probable each number of turns is, where its starts, its chance and all that a player may come to
know can be enumerated; elsewhere an interval, with how it was found. The best play is over first
among those that return as much. What is enumerated or played is the environment itself, by its
sample_action and its solve. Of several seats, --seat says whose play it is; the others draw their
actions by sample_action.
"""
_EPILOGUE = """\
examples:
  gem-env yardstick game:GuessTheNumber-v0-easy
  gem-env yardstick game:GuessTheNumber-v0 --env-kwargs '{"max_number": 12, "max_turns": 4}'
  gem-env yardstick game:TowerofHanoi-v0-hard --turns
  gem-env yardstick game:TicTacToe-v0 --seat X
"""


def add_command(commands: Any) -> None:
    """Add `yardstick` to the commands."""
    parser = commands.add_parser(
        "yardstick",
        help="the best, the random and the worst return of an environment",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    add = parser.add_argument
    add("env", metavar="ID", help="an environment, as `gem-env list` shows them, or FILE.py:CLASS")
    add("--env-kwargs", default="{}", metavar="JSON", help="arguments of the environment")
    add("--seat", metavar="NAME", help="of several seats: this one, against random play")
    add("--turns", action="store_true", help="show how probable each number of turns is")
    add(
        "--episodes",
        type=int,
        default=1_000,
        metavar="N",
        help="episodes to play for a figure that cannot be enumerated (default 1000)",
    )
    add("--seed", type=int, default=0, metavar="N", help="what those are drawn from (default 0)")
    add("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_baselines.exact.yardstick import yardstick  # heavy, with what it imports

    kwargs = env_kwargs(options.env_kwargs)
    found = yardstick(
        options.env, kwargs, seat=options.seat, episodes=options.episodes, seed=options.seed
    )
    if found.seats > 1 and found.seat is None:
        print(
            f"gem-env yardstick: {found.env_id} has {found.seats} seats. A return is the sum over "
            "them here, which says nothing of who plays well: --seat NAME is of one seat against "
            "random play, and `gem-env league` ranks policies.",
            file=sys.stderr,
        )
    if options.json:
        plays = {name: figure and figure.to_json() for name, figure in _plays(found).items()}
        whole = {
            "env_id": found.env_id,
            "env_kwargs": dict(found.env_kwargs),
            "seat": found.seat,
            **plays,
        }
        print(json.dumps(whole, indent=2, allow_nan=False))
    else:
        _print(found, with_turns=options.turns)
    return 0


def _plays(found: Yardstick) -> dict[str, Figure | None]:
    return {"best": found.best, "random": found.random, "worst": found.worst}


def _print(found: Yardstick, *, with_turns: bool) -> None:
    print(f"{'play':7}{'return':>20}{'turns':>8}  how")
    for name, figure in _plays(found).items():
        if figure is None:
            print(f"{name:7}{'unknown':>20}{'':8}  too much to enumerate")
            continue
        turns = "" if figure.mean_turns is None else f"{figure.mean_turns:.2f}"
        print(f"{name:7}{_shown_return(figure):>20}{turns:>8}  {one_line(figure.how)}")
        if with_turns and figure.turns is not None:
            for number, share in figure.turns.items():
                # What can be is not shown as what cannot.
                shown = f"{share:.4f}" if share >= 0.0001 else "< 0.0001"
                print(f"{number:>35}  {shown}")


def _shown_return(figure: Figure) -> str:
    if figure.is_exact:
        return f"{figure.low:.4f}"
    return f"[{figure.low:.4f}, {figure.high:.4f}]"
