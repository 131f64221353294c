"""`gem-env play`: play an environment yourself."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gem.cli.options import add_making, env_kwargs, wrapper_list
from gem.cli.text import indented, one_line, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gem.content import Observation
    from gem.env import Env
    from gem.snapshot import Snapshot
    from gem.step import Step

__all__ = ["add_command"]

_EPILOGUE = """\
example:
  gem-env play game:GuessTheNumber-v0-easy --seed 3

What you type is the action. Where the environment asks for a box or tags and you type none,
they are put around it. Lines that begin with a colon are yours: see :help.
"""
_HELP = """\
:hint         what solve() would answer
:undo         take the last action back
:send TEXT    answer with TEXT exactly as it is
:help         this
:quit         leave\
"""


def add_command(commands: Any) -> None:
    """Add `play` to the commands."""
    parser = commands.add_parser(
        "play",
        help="play an environment yourself",
        description="Play an environment in the terminal.",
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("id", metavar="ID", help="an environment's id, as `gem-env list` shows it")
    parser.add_argument("--seed", type=int, metavar="N", help="which episode (default: any)")
    add_making(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    import random

    from gem import registry
    from gem.errors import GemError

    kwargs, layers = env_kwargs(options.env_kwargs), wrapper_list(options.wrappers)
    seed = random.SystemRandom().randrange(10_000) if options.seed is None else options.seed
    try:
        with registry.make(options.id, wrappers=layers, **kwargs) as env:
            _Game(env).play(seed)
    except (GemError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - an environment may raise anything
        print(f"The environment raised {one_line(f'{type(error).__name__}: {error}')}")
        return 1
    return 0


class _Game:
    """One episode in the terminal, with the states to go back to."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._total = 0.0
        self._is_over = False
        self._won = False
        self._info: Mapping[str, Any] = {}
        self._shown = ""
        self._form = "%s"
        self._past: list[tuple[Snapshot, float, str]] = []

    def play(self, seed: int) -> None:
        """Play to the end of the episode, or of the player's patience."""
        try:
            self._start(seed)
            self._read_lines()
        except (EOFError, KeyboardInterrupt):
            print()
        self._say_goodbye()

    def _start(self, seed: int) -> None:
        print(f"Seed {seed}. Type your action, or :help.\n")
        observation, info = self._env.reset(seed=seed)
        self._form = _form(self._env, observation)
        self._show(observation, info)

    def _read_lines(self) -> None:
        commands = {":hint": self._hint, ":undo": self._undo, ":help": self._help}
        while not self._is_over:
            line = input("> ")
            if line.strip() == ":quit":
                break
            command = commands.get(line.strip())
            if command is not None:
                command()
            elif line.startswith(":") and not line.startswith(":send "):
                print(f"There is no {one_line(line)}. These there are:\n{_HELP}")
            elif line.startswith(":"):
                self._take(line.removeprefix(":send "))
            else:
                self._take(self._dressed(line))

    def _say_goodbye(self) -> None:
        turns = f"{self._env.turn} turn{'s' * (self._env.turn != 1)}"
        if self._is_over:
            outcome = "Success" if self._won else "No success"
            print(f"{outcome} after {turns}, total reward {self._total:g}.")
        else:
            print(f"Left after {turns}, total reward {self._total:g} so far.")

    def _dressed(self, line: str) -> str:
        mark = self._form.partition("%s")[0]
        if not mark or mark in line:
            return line
        action = self._form % line
        print(f"  sent as {printable(action)}")
        return action

    def _take(self, action: str) -> None:
        self._remember()
        step = self._env.step(action)
        self._total += step.reward
        self._show(step.observation, step.info)
        print(f"  reward {step.reward:g}")
        self._end(step)

    def _end(self, step: Step) -> None:
        from gem.testing.playing import succeeded

        self._is_over = bool(step.terminated or step.truncated)
        self._won = succeeded(self._env.spec, step.info, self._total)

    def _remember(self) -> None:
        from gem.errors import SnapshotError

        try:
            self._past.append((self._env.snapshot(), self._total, self._shown))
        except SnapshotError:
            self._past.clear()  # :undo then says that there is nothing to go back to

    def _undo(self) -> None:
        if not self._past:
            print("There is nothing to take back.")
            return
        saved, self._total, self._shown = self._past.pop()
        self._env.restore(saved)
        print(f"Taken back. You were here:\n{self._shown}")

    def _hint(self) -> None:
        answer = self._env.solve()
        print("No solution is known here." if answer is None else indented(answer))

    def _help(self) -> None:
        print(_HELP)

    def _show(self, observation: Observation, info: Mapping[str, Any]) -> None:
        from gem.testing.playing import shown_text

        self._shown = indented(shown_text(observation, info))
        print(self._shown)


def _form(env: Env, observation: Observation) -> str:
    """Return how answers are written here, `%s` for the answer; a sample knows best."""
    from gem.content import observation_text
    from gem.testing.formats import asked_formats

    try:
        return asked_formats(env.sample_action())[0]
    except NotImplementedError:
        return asked_formats(observation_text(observation))[0]
