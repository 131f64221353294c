"""`gem-env play`: play an environment yourself."""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
from typing import TYPE_CHECKING, Any

from gem.cli.options import add_making, env_kwargs, wrapper_list
from gem.cli.screen import Scene, Turn, display
from gem.cli.text import indented, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gem.content import Observation
    from gem.env import Env
    from gem.snapshot import Snapshot
    from gem.step import Step

__all__ = ["add_command"]

_EPILOGUE = """\
example:
  gem-env play game:GuessTheNumber-v0-easy --seed 3

What you type is the action. Where the environment asks for a box or tags and you type none,
they are put around it. Lines that begin with a colon are yours: see :help. On a terminal the
board is redrawn in place; with TERM=dumb, in a file or a pipe, line follows line.
"""
_HELP = """\
:hint         what solve() would answer; :hint! answers it
:undo         take the last action back, as often as you like
:restart      the same episode from its start
:new [SEED]   another episode
:rules        the instructions again
:log          everything that was said so far
:send TEXT    answer with TEXT exactly as it is
:lines        answer with the lines that follow, as far as one that is a single dot
:help         this
:quit         leave, as do Ctrl-C and Ctrl-D\
"""
_OVER = "It is over: :undo, :restart, :new or :quit"


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
    from gem import registry
    from gem.errors import GemError, in_one_line

    kwargs, layers = env_kwargs(options.env_kwargs), wrapper_list(options.wrappers)
    try:
        with registry.make(options.id, wrappers=layers, **kwargs) as env:
            _Game(env, options.id).play(options.seed)
    except (GemError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - an environment may raise anything
        print(f"The environment raised {one_line(in_one_line(error))}")
        return 1
    return 0


def _any_seed() -> int:
    return random.SystemRandom().randrange(10_000)


class _Game:
    """Episodes of one environment, with the states to go back to."""

    _scene: Scene
    _seed: int

    def __init__(self, env: Env, id: str) -> None:
        self._env = env
        self._id = id
        self._display = display()
        self._is_interactive = sys.stdin.isatty()
        self._form = "%s"
        self._past: list[tuple[Snapshot, Scene]] = []
        self._commands: Mapping[str, Callable[[str], None]] = {
            ":hint": self._hint,
            ":hint!": self._take_hint,
            ":undo": self._undo,
            ":restart": lambda _: self._start(self._seed),
            ":new": self._new,
            ":rules": lambda _: self._display.note(self._rules),
            ":log": lambda _: self._display.note(self._scene.log()),
            ":send": self._take,
            ":lines": self._take_lines,
            ":help": lambda _: self._display.note(_HELP),
        }

    def play(self, seed: int | None) -> None:
        """Play as long as the player likes; where nobody types, to the end of the episode."""
        if self._is_interactive:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401 - line editing and history for input()
        try:
            self._start(_any_seed() if seed is None else seed)
            while not self._scene.outcome or self._is_interactive:
                line = input(f"{_OVER}> " if self._scene.outcome else "> ")
                if line.strip() == ":quit":
                    break
                self._follow(line)
        except (EOFError, KeyboardInterrupt):
            print()
        if not self._scene.outcome:
            print(f"Left after {_turns(self._env)}, total reward {self._scene.total:g} so far.")

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._past.clear()
        observation, info = self._env.reset(seed=seed)
        self._form = _form(self._env, observation)
        heading = f"{self._id}. Seed {seed}. Type your action, or :help."
        self._rules = _text(observation)
        turns = (Turn("", self._rules),)
        self._scene = Scene(heading, turns, _board(info), 0, self._env.max_turns)
        self._display.begin(self._scene)

    def _follow(self, line: str) -> None:
        name, _, rest = line.lstrip().partition(" ")
        command = self._commands.get(name.rstrip())
        if command is not None:
            command(rest)
        elif name.startswith(":"):
            self._display.note(f"There is no {one_line(line)}. These there are:\n{_HELP}")
        elif name:
            self._answer(line)
        else:
            self._display.show(self._scene._replace(reward=None))

    def _answer(self, text: str) -> None:
        action = _dressed(text, self._form)
        self._take(action, typed=text)

    def _take(self, action: str, typed: str | None = None) -> None:
        if self._scene.outcome:
            self._display.note(_OVER)
            return
        self._remember()
        step = self._env.step(action)
        turn = Turn(action if typed is None else typed, _text(step.observation))
        self._scene = self._after(step, turn)
        self._display.show(self._scene, "" if typed in {None, action} else f"  sent as {action}")

    def _after(self, step: Step, turn: Turn) -> Scene:
        before = self._scene
        total = before.total + step.reward
        return before._replace(
            turns=(turn,) if self._env.rewrites_history else (*before.turns, turn),
            board=_board(step.info),
            turn=self._env.turn,
            max_turns=self._env.max_turns,
            total=total,
            reward=step.reward,
            outcome=_outcome(self._env, step, total),
        )

    def _take_lines(self, _: str) -> None:
        lines = iter(lambda: input(". "), ".")
        self._answer("\n".join(lines))

    def _remember(self) -> None:
        from gem.errors import SnapshotError

        try:
            self._past.append((self._env.snapshot(), self._scene))
        except SnapshotError:
            self._past.clear()  # :undo then says that there is nothing to go back to

    def _undo(self, _: str) -> None:
        if not self._past:
            self._display.note("There is nothing to take back.")
            return
        saved, scene = self._past.pop()
        self._env.restore(saved)
        self._scene = scene._replace(reward=None)
        self._display.show(self._scene, "Taken back. This is where you were.")

    def _new(self, seed: str) -> None:
        if not seed.strip():
            self._start(_any_seed())
        elif seed.strip().lstrip("-").isdecimal():
            self._start(int(seed))
        else:
            self._display.note(f"{one_line(seed)} is no seed. Give an integer, or none.")

    def _hint(self, _: str) -> None:
        if (answer := self._solution()) is not None:
            self._display.note(indented(answer))

    def _take_hint(self, _: str) -> None:
        if (answer := self._solution()) is not None:
            self._take(answer)

    def _solution(self) -> str | None:
        """Return what `solve` answers, or say why there is nothing."""
        if self._scene.outcome:
            self._display.note(_OVER)
            return None
        answer = self._env.solve()
        if answer is None:
            self._display.note("No solution is known here.")
        return answer


def _text(observation: Observation) -> str:
    from gem.content import observation_text

    return observation_text(observation)


def _board(info: Mapping[str, Any]) -> str:
    return str(info.get("suffix") or "")


def _turns(env: Env) -> str:
    return f"{env.turn} turn{'s' * (env.turn != 1)}"


def _outcome(env: Env, step: Step, total: float) -> str:
    """Return how the episode ended, nothing while it goes on."""
    from gem.testing.playing import succeeded

    if not (step.terminated or step.truncated):
        return ""
    won = succeeded(env.spec, step.info, total)
    return f"{'Success' if won else 'No success'} after {_turns(env)}, total reward {total:g}."


def _dressed(line: str, form: str) -> str:
    mark = form.partition("%s")[0]
    return line if not mark or mark in line else form % line


def _form(env: Env, observation: Observation) -> str:
    """Return how answers are written here, `%s` for the answer; a sample knows best."""
    from gem.testing.formats import asked_formats

    try:
        return asked_formats(env.sample_action())[0]
    except NotImplementedError:
        return asked_formats(_text(observation))[0]
