"""`gem-env play`: play an environment yourself."""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem.cli.choosing import (
    chosen_id,
    is_missing_run,
    is_run,
    looks_like_a_call,
    missing_run,
    numbered,
)
from gem.cli.options import OWN, add_making, env_kwargs, find_modules_here, wrapper_list
from gem.cli.screen import Exchange, View, display
from gem.cli.text import counted, indented, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gem.content import Observation
    from gem.env import Env
    from gem.snapshot import Snapshot
    from gem.step import Step

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env play                                             choose from a menu
  gem-env play game:GuessTheNumber-v0-easy --seed 3
  gem-env play game:Wordle-v0-hard --policy solver         watch a policy
  gem-env play runs/games 12                               watch the 12th episode of a run
  gem-env play ./try.py:Parity                             an environment of your own

What you type is the action. Where the environment asks for a box or tags and you type none,
they are put around it, but not around a tool's call. Where it lists whole answers, a number
takes one. An answer that cannot be read is asked for again; with --strict it counts, as it does
for a model. Lines that begin with a colon are yours: see :help. On a terminal the board is
redrawn in place, in colours unless NO_COLOR is set; with TERM=dumb, in a file or a pipe, line
follows line.
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
:quit, :q     leave, as do Ctrl-C and Ctrl-D\
"""
_SHOWN = 60  # characters of an answer that is told to be wrong
_OVER = "It is over: :undo, :restart, :new or :quit"


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
    parser.add_argument("--policy", metavar="P", help="watch a policy play, as `eval` names it")
    add_making(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem.cli import watching
    from gem.errors import BadArguments, GemError, in_one_line
    from gem.making import make

    if options.id is None:
        options.id = chosen_id()
        if options.id is None:
            return 0
    find_modules_here()
    if is_run(options.id):
        _refuse_for_a_run(options)
        return watching.watch_recorded(Path(options.id), options.episode)
    if is_missing_run(options.id):
        raise missing_run(options.id)
    if options.episode is not None:
        raise BadArguments(
            f"Episode {options.episode} of {options.id!r} was asked for, and that is no run "
            "folder. Name a folder that gem-env eval wrote, or give --seed.",
            subject="EPISODE",
        )
    kwargs = env_kwargs(options.env_kwargs)
    layers = wrapper_list(options.wrappers)
    seed = _any_seed() if options.seed is None else options.seed
    if options.policy is not None:
        from gem.cli.live import watch_policy  # heavy, with what it imports: 0.2 s

        return watch_policy(
            options.policy, options.id, seed=seed, env_kwargs=kwargs, wrappers=layers
        )
    try:
        with make(options.id, wrappers=layers, **kwargs) as env:
            _Game(env, options.id, is_strict=options.strict).play(seed)
    except (GemError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - an environment may raise anything
        print(f"The environment raised {one_line(in_one_line(error))}")
        return 1
    return 0


def _refuse_for_a_run(options: argparse.Namespace) -> None:
    """Raise BadArguments where an option is for playing, and what is named is a recorded run."""
    from gem.errors import BadArguments

    of_playing = {"--policy": options.policy, "--seed": options.seed}
    for option, value in of_playing.items():
        if value is not None:
            raise BadArguments(
                f"{option} {value} was given with {options.id}, a run whose episodes are recorded "
                "as they are. Leave it out, or name an environment's id instead of the run.",
                subject=option,
            )


def _any_seed() -> int:
    return random.SystemRandom().randrange(10_000)


class _Game:
    """Episodes of one environment, with the states to go back to."""

    _view: View
    _seed: int
    _choices: list[str]  # the answers that the last message lists, by their numbers

    def __init__(self, env: Env, id: str, *, is_strict: bool) -> None:
        self._env = env
        self._id = id
        self._is_strict = is_strict
        self._display = display()
        self._is_interactive = sys.stdin.isatty()
        self._form = "%s"
        self._past: list[tuple[Snapshot, View, list[str]]] = []
        self._commands: Mapping[str, Callable[[str], None]] = {
            ":hint": self._hint,
            ":hint!": self._take_hint,
            ":undo": self._undo,
            ":restart": lambda _: self._start(self._seed),
            ":new": self._new,
            ":rules": lambda _: self._display.note(self._rules),
            ":log": lambda _: self._display.note(self._view.log()),
            ":send": self._take,
            ":lines": self._take_lines,
            ":help": lambda _: self._display.note(_HELP),
        }

    def play(self, seed: int) -> None:
        """Play as long as the player likes; where nobody types, to the end of the episode."""
        if self._is_interactive:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401 - line editing and history for input()
        try:
            self._start(seed)
            while not self._view.outcome or self._is_interactive:
                line = input(f"{_OVER}> " if self._view.outcome else "> ")
                if line.strip() in (":quit", ":q"):
                    break
                self._follow(line)
        except (EOFError, KeyboardInterrupt):
            print()
        if not self._view.outcome:
            print(f"Left after {_turns(self._env)}, total reward {self._view.total:g} so far.")

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._past.clear()
        observation, info = self._env.reset(seed=seed)
        self._form = _form(self._env, observation)
        heading = f"{self._id}. Seed {seed}. Type your action, or :help."
        self._rules, board = self._numbered(observation, info)
        turns = (Exchange("", self._rules),)
        self._view = View(
            heading,
            turns,
            board,
            max_turns=self._env.max_turns,
            highlights=self._env.unwrapped.highlights,
        )
        self._display.begin(self._view)

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
            self._display.show(self._view._replace(reward=None))

    def _answer(self, text: str) -> None:
        number = text.strip()
        if number.isdecimal() and 1 <= int(number[:9]) <= len(self._choices):
            action = self._choices[int(number) - 1]
        elif self._env.tools and looks_like_a_call(text):
            action = text
        else:
            action = _dressed(text, self._form)
        self._take(action, typed=text)

    def _take(self, action: str, typed: str | None = None) -> None:
        if self._view.outcome:
            self._display.note(_OVER)
            return
        self._remember()
        step = self._env.step(action)
        if self._past and not self._is_strict and step.info.get("action_error") == "format":
            self._ask_again(step, action if typed is None else typed)
            return
        message, board = self._numbered(step.observation, step.info)
        turn = Exchange(action if typed is None else typed, message)
        self._view = self._after(step, turn, board)
        self._display.show(self._view, "" if typed in {None, action} else f"  sent as {action}")

    def _ask_again(self, step: Step, typed: str) -> None:
        """Take a slip of the fingers back: it is the player's, and not the game's."""
        saved, self._view, self._choices = self._past.pop()
        self._env.restore(saved)
        wrong = one_line(typed)[:_SHOWN]
        lines = [f'"{wrong}" cannot be read here. It was not counted (--strict counts it).']
        # What the game says takes the answer for counted, and may say that the game is over.
        if said := _text(step.observation).strip():
            lines.append(f"A model would be told: {said}")
        elif self._form != "%s":
            lines.append(f"An answer looks like this: {self._form % '...'}")
        self._display.note("\n".join(lines))

    def _numbered(self, observation: Observation, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the message and the board, with numbers where one of them lists answers."""
        message, in_message = numbered(_text(observation))
        board, on_board = numbered(_board(info))
        self._choices = on_board or in_message
        return message, board

    def _after(self, step: Step, turn: Exchange, board: str) -> View:
        replaces = self._env.rewrites_history
        view = self._view.after(turn, board, step.reward, replaces=replaces)
        outcome = _outcome(self._env, step, view.total)
        return view._replace(max_turns=self._env.max_turns, outcome=outcome)

    def _take_lines(self, _: str) -> None:
        lines = iter(lambda: input(". "), ".")
        self._answer("\n".join(lines))

    def _remember(self) -> None:
        from gem.errors import SnapshotError

        try:
            self._past.append((self._env.snapshot(), self._view, self._choices))
        except SnapshotError:
            self._past.clear()  # :undo then says that there is nothing to go back to

    def _undo(self, _: str) -> None:
        if not self._past:
            self._display.note("There is nothing to take back.")
            return
        saved, view, self._choices = self._past.pop()
        self._env.restore(saved)
        self._view = view._replace(reward=None)
        self._display.show(self._view, "Taken back. This is where you were.")

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
        if self._view.outcome:
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
    return counted(env.turn, "turn")


def _outcome(env: Env, step: Step, total: float) -> str:
    """Return how the episode ended, nothing while it goes on."""
    from gem.episode import is_success

    if not (step.terminated or step.truncated):
        return ""
    won = is_success(step.info, total, env.spec)
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
