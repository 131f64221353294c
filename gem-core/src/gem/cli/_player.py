"""A person at this terminal: shown views, and asked for answers and commands by the line.

Knows nothing about environments, or about what an answer is for.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gem.cli._screen import View, display
from gem.cli._text import one_line
from gem.testing._formats import asked_formats

__all__ = ["Player", "PlayerLeft", "TypedAnswer", "answer_form"]

_HELP = """\
:rules        the instructions again
:log          everything that was said so far
:send TEXT    answer with TEXT exactly as it is
:lines        answer with the lines that follow, as far as one that is a single dot
:help         this
:quit, :q     leave, as do Ctrl-C and Ctrl-D\
"""

_WHOLE = re.compile(r"\\boxed\{([^{}\n]{1,200})\}|<answer>([^<>\n]{1,200})</answer>")
_CALL_STARTS = ("<", "```", "{", "[")


class PlayerLeft(Exception):
    """The player does not go on: `:quit`, Ctrl-C, or the end of what is typed."""


class TypedAnswer(NamedTuple):
    """What is sent to the environment, and what the player wrote for it."""

    action: str
    text: str


class Player:
    """Asks a person at standard input, and shows views on standard output.

    What is typed becomes an answer as the environment writes them: `form` has `%s` for what is
    typed, and `choices` are the answers that a number stands for. Calls of tools are sent as they
    are if the environment `has_tools`. `commands` are more than those that every player has, by
    their names with the colon, and `commands_help` has a line for each of them; a command is given
    what follows its name.
    """

    view: View
    rules: str

    def __init__(
        self,
        *,
        commands: Mapping[str, Callable[[str], None]] | None = None,
        commands_help: str = "",
    ) -> None:
        self.screen = display()
        self.is_interactive = sys.stdin.isatty()
        self.form = "%s"
        self.choices: list[str] = []
        self.has_tools = False
        self._help = f"{commands_help}{_HELP}"
        own: dict[str, Callable[[str], None]] = {
            ":rules": lambda _: self.screen.note(self.rules),
            ":log": lambda _: self.screen.note(self.view.log()),
            ":help": lambda _: self.screen.note(self._help),
        }
        self._commands = {**own, **(commands or {})}
        if self.is_interactive:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401 - line editing and history for input()

    def begin(self, view: View) -> None:
        """Show the first view of an episode. Its first turn has the rules."""
        self.view = view
        self.rules = view.turns[0].message
        self.screen.begin(view)

    def show(self, view: View, note: str = "") -> None:
        """Show the view that followed."""
        self.view = view
        self.screen.show(view, note)

    def numbered(self, message: str, board: str = "") -> tuple[str, str]:
        """Return both with numbers where one of them lists answers, which are the choices then."""
        message, in_message = _numbered(message)
        board, on_board = _numbered(board)
        # The board is the state of now; the message may tell of an earlier one.
        self.choices = on_board or in_message
        return message, board

    def read(self, prompt: str = "> ") -> TypedAnswer | None:
        """Read a line and return the answer in it, or None if it was a command. Raises PlayerLeft.

        The command has been followed then.
        """
        try:
            line = input(prompt)
            if line.strip() not in (":quit", ":q"):
                return self._follow(line)
        except (EOFError, KeyboardInterrupt):
            print()  # the prompt's line has no end yet
        raise PlayerLeft

    def _follow(self, line: str) -> TypedAnswer | None:
        name, _, rest = line.lstrip().partition(" ")
        name = name.rstrip()
        if name == ":send":
            return TypedAnswer(rest, rest)
        if name == ":lines":
            lines = iter(lambda: input(". "), ".")
            return self._answer("\n".join(lines))
        if name and not name.startswith(":"):
            return self._answer(line)
        if name in self._commands:
            self._commands[name](rest)
        elif name:
            self.screen.note(f"There is no {one_line(line)}. These there are:\n{self._help}")
        else:
            self.show(self.view._replace(reward=None))
        return None

    def _answer(self, text: str) -> TypedAnswer:
        choice = self._choice(text)
        if choice is not None:
            return TypedAnswer(choice, text)
        if self.has_tools and _looks_like_a_call(text):
            return TypedAnswer(text, text)
        return TypedAnswer(_dressed(text, self.form), text)

    def _choice(self, text: str) -> str | None:
        """Return the listed answer whose number was typed; None where that is no number of one."""
        number = text.strip()
        # Nine digits: int() takes long with thousands of them, and no list is that long.
        if number.isdecimal() and 1 <= int(number[:9]) <= len(self.choices):
            return self.choices[int(number) - 1]
        return None


def answer_form(*texts: str) -> str:
    """Return how answers are written, with `%s` for the answer, as these texts show it."""
    return asked_formats(*texts)[0]


def _dressed(line: str, form: str) -> str:
    """Return a line as answers are written here, where the player left that to us."""
    mark = form.partition("%s")[0]  # "\\boxed{", "<answer>", or nothing
    is_dressed = mark in line
    return line if is_dressed else form % line


def _numbered(text: str) -> tuple[str, list[str]]:
    r"""Put numbers to the lines that are whole answers, where there are two or more.

    >>> shown, choices = _numbered("Links:\n\\boxed{Iron}\n\\boxed{Gold}")
    >>> shown, choices[1]
    ('Links:\n 1  Iron\n 2  Gold', '\\boxed{Gold}')
    """
    lines = text.split("\n")
    places = [place for place, line in enumerate(lines) if _WHOLE.fullmatch(line.strip())]
    if len(places) < 2:
        return text, []
    choices = []
    for number, place in enumerate(places, 1):
        answer = lines[place].strip()
        choices.append(answer)
        lines[place] = f"{number:2}  {_WHOLE.sub(_inside, answer)}"
    return "\n".join(lines), choices


def _inside(match: re.Match[str]) -> str:
    return match[1] or match[2]  # in a box, or in tags


def _looks_like_a_call(text: str) -> bool:
    """Say whether an action begins as the formats of tools' calls do: it is sent as it is."""
    return text.lstrip().startswith(_CALL_STARTS)
