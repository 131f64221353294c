"""Play episodes of an environment by what is typed. Knows nothing about the command line."""

from __future__ import annotations

import contextlib
import random
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.cli._choosing import looks_like_a_call, numbered
from gem.cli._screen import Exchange, View, display
from gem.cli._text import counted, indented, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gem.content import Observation
    from gem.env._env import Env
    from gem.env._snapshot import Snapshot
    from gem.env._step import Step

__all__ = ["TypedPlay", "any_seed"]

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


def any_seed() -> int:
    """Return a seed that nobody chose, short enough to be typed again."""
    # Not from `random`, whose state belongs to whoever uses this process.
    return random.SystemRandom().randrange(10_000)


class _Saved(NamedTuple):
    """Where the player was before an action: what `:undo` goes back to."""

    state: Snapshot
    view: View
    choices: list[str]


class TypedPlay:
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
        self._form = "%s"  # how answers are written here, `%s` for the answer
        self._past: list[_Saved] = []
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
            # On a terminal it goes on after the end, for :undo and :new.
            while not self._view.outcome or self._is_interactive:
                line = input(f"{_OVER}> " if self._view.outcome else "> ")
                if line.strip() in (":quit", ":q"):
                    break
                self._follow(line)
        except (EOFError, KeyboardInterrupt):
            print()  # the prompt's line has no end yet
        if not self._view.outcome:
            print(f"Left after {_turns(self._env)}, total reward {self._view.total:g} so far.")

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._past.clear()  # before the reset: what is saved is of the episode before
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
        choice = self._choice(text)
        if choice is not None:
            action = choice
        elif self._env.tools and looks_like_a_call(text):
            action = text
        else:
            action = _dressed(text, self._form)
        self._take(action, typed=text)

    def _choice(self, text: str) -> str | None:
        """Return the listed answer whose number was typed; None where that is no number of one."""
        number = text.strip()
        # Nine digits: int() takes long with thousands of them, and no list is that long.
        if number.isdecimal() and 1 <= int(number[:9]) <= len(self._choices):
            return self._choices[int(number) - 1]
        return None

    def _take(self, action: str, typed: str | None = None) -> None:
        """Step with an action; `typed` is what the player wrote, where that is not the same."""
        if self._view.outcome:
            self._display.note(_OVER)
            return
        if typed is None:
            typed = action
        self._remember()  # before the step, so that there is a state to take it back to
        step = self._env.step(action)
        cannot_be_read = step.info.get("action_error") == "format"
        if cannot_be_read and self._past and not self._is_strict:
            self._ask_again(step, typed)
            return
        message, board = self._numbered(step.observation, step.info)
        self._view = self._after(step, Exchange(typed, message), board)
        self._display.show(self._view, "" if typed == action else f"  sent as {action}")

    def _ask_again(self, step: Step, typed: str) -> None:
        """Take a slip of the fingers back: it is the player's, and not the game's."""
        saved = self._past.pop()
        self._view = saved.view
        self._choices = saved.choices
        self._env.restore(saved.state)
        wrong = one_line(typed)[:_SHOWN]
        lines = [f'"{wrong}" cannot be read here. It was not counted (--strict counts it).']
        # What the game says takes the answer for counted, and may say that the game is over.
        message = _text(step.observation).strip()
        if message:
            lines.append(f"A model would be told: {message}")
        elif self._form != "%s":
            lines.append(f"An answer looks like this: {self._form % '...'}")
        self._display.note("\n".join(lines))

    def _numbered(self, observation: Observation, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the message and the board, with numbers where one of them lists answers."""
        message, in_message = numbered(_text(observation))
        board, on_board = numbered(_board(info))
        # The board is the state of now; the message may tell of an earlier one.
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
            self._past.append(_Saved(self._env.snapshot(), self._view, self._choices))
        except SnapshotError:
            self._past.clear()  # :undo then says that there is nothing to go back to

    def _undo(self, _: str) -> None:
        if not self._past:
            self._display.note("There is nothing to take back.")
            return
        saved = self._past.pop()
        self._choices = saved.choices
        self._env.restore(saved.state)
        self._view = saved.view._replace(reward=None)
        self._display.show(self._view, "Taken back. This is where you were.")

    def _new(self, seed: str) -> None:
        if not seed.strip():
            self._start(any_seed())
        elif seed.strip().lstrip("-").isdecimal():
            self._start(int(seed))
        else:
            self._display.note(f"{one_line(seed)} is no seed. Give an integer, or none.")

    def _hint(self, _: str) -> None:
        answer = self._solution()
        if answer is not None:
            self._display.note(indented(answer))

    def _take_hint(self, _: str) -> None:
        answer = self._solution()
        if answer is not None:
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
    from gem.episode._episode import is_success

    if not (step.terminated or step.truncated):
        return ""
    won = is_success(step.info, total, env.spec)
    return f"{'Success' if won else 'No success'} after {_turns(env)}, total reward {total:g}."


def _dressed(line: str, form: str) -> str:
    """Return a line as answers are written here, where the player left that to us."""
    mark = form.partition("%s")[0]  # "\\boxed{", "<answer>", or nothing
    is_dressed = mark in line
    return line if is_dressed else form % line


def _form(env: Env, observation: Observation) -> str:
    """Return how answers are written here, `%s` for the answer; a sample knows best."""
    from gem.testing._formats import asked_formats

    try:
        return asked_formats(env.sample_action())[0]
    except NotImplementedError:
        return asked_formats(_text(observation))[0]
