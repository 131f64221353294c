"""`gem-env play`: play an environment yourself."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem.cli._options import OWN, add_making, find_modules_here
from gem.cli._runs import is_missing_run, is_run, missing_run, refuse_with_run
from gem.cli._text import columns, one_line
from gem.errors import BadArguments, GemError

if TYPE_CHECKING:
    from gem.cli._opponents import Policies
    from gem.env._env import Env

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env play                                             choose from a menu
  gem-env play game:GuessTheNumber-v0-easy --seed 3
  gem-env play game:Wordle-v0-hard --policy solver         watch a policy
  gem-env play game:TicTacToe-v0                           play every seat yourself
  gem-env play game:KuhnPoker-v0 --seat first --policy random
  gem-env play game:TicTacToe-v0 --policy X=random --policy O=solver
  gem-env play runs/games 12                               watch the 12th episode of a run
  gem-env play ./try.py:Parity                             an environment of your own

What you type is the action. Where the environment asks for a box or tags and you type none,
they are put around it, but not around a tool's call. Where it lists whole answers, a number
takes one. An answer that cannot be read is asked for again; with --strict it counts, as it does
for a model. Lines that begin with a colon are yours: see :help. On a terminal the board is
redrawn in place, in colours unless NO_COLOR is set; with TERM=dumb, in a file or a pipe, line
follows line.
"""


def add_command(commands: Any) -> None:
    """Add `play` to the commands."""
    parser = commands.add_parser(
        "play",
        help="play an environment yourself",
        description="Play an environment in the terminal.",
        epilog=_EPILOGUE,
    )
    parser.add_argument(
        "id",
        metavar="ID|TARGET|RUN",
        nargs="?",
        help="an environment's id, as `gem-env list` shows it; one of your own, "
        f"{OWN}; or a run folder to watch",
    )
    parser.add_argument(
        "episode", metavar="EPISODE", nargs="?", type=int, help="of a run, counted from 1"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="which episode (default: any)")
    parser.add_argument(
        "--strict", action="store_true", help="count answers that cannot be read, as for a model"
    )
    parser.add_argument(
        "--policy",
        metavar="P",
        action="append",
        help="watch a policy play, as `eval` names it; with --seat, whom to play against; of "
        "several seats once for all of them, or once for each as SEAT=P",
    )
    parser.add_argument(
        "--seat",
        metavar="S",
        help="of several seats, the one to play: its name, its number from 0, or `rotate` for one "
        "that the seed decides",
    )
    add_making(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem._python.places import raised
    from gem.cli import _watching as watching
    from gem.cli._opponents import OpponentFailed, policies_from
    from gem.cli._typed_play import TypedPlay, any_seed

    if options.id is None:
        options.id = _chosen_id()
        if options.id is None:
            return 0
    find_modules_here()
    if is_run(options.id):
        refuse_with_run(
            options.id,
            options,
            ("policy", "env_kwargs", "wrappers", "seed", "seat"),
            "whose episodes are recorded as they are. Leave it out, or name an environment's id "
            "instead of the run.",
        )
        return watching.watch_recorded(Path(options.id), options.episode)
    if is_missing_run(options.id):
        raise missing_run(options.id)
    if options.episode is not None:
        raise BadArguments(
            f"Episode {options.episode} of {options.id!r} was asked for, and that is no run "
            "folder. Name a folder that gem-env eval wrote, or give --seed.",
            subject="EPISODE",
        )
    # All that is typed wrongly is refused before anything is made, which may take long.
    seed = any_seed() if options.seed is None else options.seed
    policies = policies_from(options.policy or [])
    if options.seat is not None and not policies:
        raise BadArguments(
            f"--seat {options.seat} was given without --policy, which plays the other seats. Name "
            "one, as `eval` does, or leave --seat out to play every seat yourself.",
            subject="--seat",
        )
    if policies and options.seat is None:
        from gem.cli._live import watch_policies  # heavy, with what it imports: 0.2 s

        try:
            return watch_policies(
                policies,
                options.id,
                seed=seed,
                env_kwargs=options.env_kwargs,
                wrappers=options.wrappers,
            )
        except BadArguments as error:
            if error.subject != "policy" or isinstance(policies, str):
                raise
            hint = "To play a seat yourself, add --seat and its name."
            raise BadArguments(f"{error} {hint}", subject="--policy") from error
    try:
        with _seated(options, policies) as (env, opponents):
            play = TypedPlay(env, options.id, is_strict=options.strict, opponents=opponents)
            play.play(seed)
    except (GemError, BrokenPipeError):
        raise  # `main` has a line for these
    except OpponentFailed as failure:
        print(one_line(str(failure)))
        return 1
    except Exception as error:  # noqa: BLE001 - an environment may raise anything
        print(f"The environment raised {one_line(raised(error))}")
        return 1
    return 0


def _chosen_id() -> str | None:
    """Let the player choose an environment that can be made here; None where one leaves.

    Raises BadArguments where nobody can be asked.
    """
    from gem.registry._availability import lacks
    from gem.registry._catalogue import list_envs

    if not sys.stdin.isatty():
        raise BadArguments(
            "gem-env play was given no environment. Name one; `gem-env list --available` shows "
            "them.",
            subject="ID",
        )
    specs = [spec for spec in list_envs() if not lacks(spec)]  # what can be played here and now
    counts = Counter(spec.namespace for spec in specs)
    print("What to play?")
    namespace = _chosen([(name, f"{counts[name]} to choose from") for name in sorted(counts)])
    if namespace is None:
        return None
    here = [(spec.id, spec.summary) for spec in specs if spec.namespace == namespace]
    return _chosen(here)


def _chosen(rows: Sequence[tuple[str, str]]) -> str | None:
    """Show rows with numbers, and return the name that is chosen by its number or in full."""
    numbered = [(str(number), *row) for number, row in enumerate(rows, 1)]
    print(columns(numbered, margin="  "))
    names = [name for name, _ in rows]
    while True:
        try:
            answer = input("Its number, or :q> ").strip()
        except EOFError:
            print()
            return None
        if answer in (":q", ":quit"):
            return None
        # No list has a billion rows, and int() refuses more than some thousand digits.
        number = int(answer) if answer.isdecimal() and len(answer) < 10 else 0
        if 1 <= number <= len(rows):
            return names[number - 1]
        if answer in names:
            return answer
        print(f"Give a number from 1 to {len(rows)}.")


@contextmanager
def _seated(options: argparse.Namespace, policies: Policies) -> Iterator[tuple[Env, str]]:
    """Make the environment, or its view of one seat, and say who plays the other seats."""
    from gem._python.sync_async import wait_for
    from gem.cli._opponents import listed, opponents
    from gem.registry._making import make
    from gem.wrappers._seat_view import SeatView

    with make(options.id, wrappers=options.wrappers, **options.env_kwargs) as env:
        if options.seat is None:
            yield env, ""
            return
        seat = _seat_of(env, options.seat, options.id)
        others = [name for place, name in enumerate(env.seats) if place != seat]
        by_name = opponents(policies, others)
        try:
            yield SeatView(env, seat, by_name), listed(policies)
        finally:
            for opponent in dict.fromkeys(by_name.values()):  # one may play several seats
                wait_for(opponent.aclose())


def _seat_of(env: Env, seat: str, env_id: str) -> int | str:
    """Return the seat that was asked for. Raises BadArguments where there is none of that name."""
    if len(env.seats) == 1:
        raise BadArguments(
            f"--seat {seat} was asked for, and {env_id} has one seat. Leave --seat out.",
            subject="--seat",
        )
    if seat in env.seats:
        return env.seats.index(seat)
    # A short number: int() refuses thousands of digits, and no game has so many seats.
    if seat.isdecimal() and len(seat) < 5 and int(seat) < len(env.seats):
        return int(seat)
    if seat == "rotate":
        return seat
    raise BadArguments(
        f"--seat {seat} was asked for, and the seats of {env_id} are {', '.join(env.seats)}. Give "
        f"one of these names, or a number from 0 to {len(env.seats) - 1}.",
        subject="--seat",
    )
