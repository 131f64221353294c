"""`gem-env`: find the command, run it, and turn every known error into one line.

Exit status: 0 done, 1 the thing checked did not hold, 2 wrong use, 130 interrupted, 141 nobody
reads the output any more. Knows nothing about what the commands do; packs add theirs through
`gem.hooks`.
"""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from gem import __version__
from gem.cli import _check as check
from gem.cli import _list_envs as list_envs
from gem.cli import _play as play
from gem.cli import _plugins as plugins
from gem.cli import _replay as replay
from gem.cli import _show as show
from gem.cli._text import one_line
from gem.errors import GemError

__all__ = ["main"]

_BUILT_IN = (list_envs, show, plugins, play, replay, check)
"""The commands of core, in the order in which help lists them."""

_CLOSED_PIPE = 141
"""What a shell says of a program that the signal for a closed pipe ended."""

_EPILOGUE = """\
examples:
  gem-env list 'game:*'
  gem-env show game:GuessTheNumber-v0-easy
  gem-env check game:GuessTheNumber-v0-easy

Each command has a page of its own: gem-env COMMAND --help
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_what_is_closed()
    _write_any_text()
    try:
        return _run(arguments)
    except GemError as error:
        print(f"gem-env: {one_line(str(error))}", file=sys.stderr)
        return 2
    except SystemExit as error:  # argparse ends --help and wrong use so
        return _status(error.code)
    except KeyboardInterrupt:
        print("gem-env: interrupted. Run the same command to start again.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _let_go_of_stdout()
        return _CLOSED_PIPE
    except OSError as error:
        if not _is_stdout_full():
            raise
        _let_go_of_stdout()
        reason = one_line(str(error.strerror))
        print(
            f"gem-env: the output cannot be written ({reason}). Make room there, or send it "
            "elsewhere, and run the command again.",
            file=sys.stderr,
        )
        return 2


def _status(code: object) -> int:
    """Do with what was given to sys.exit as Python does, but 2 for a message."""
    if code is None or isinstance(code, int):
        return code or 0
    print(f"gem-env: {one_line(str(code))}", file=sys.stderr)
    return 2


def _run(arguments: list[str]) -> int:
    parser, commands = _parser()
    if not arguments or arguments[0] not in commands.choices:
        _add_commands_of_packs(commands)
    if not arguments:
        parser.error(f"a command is missing: one of {', '.join(commands.choices)}")
    if not arguments[0].startswith("-") and arguments[0] not in commands.choices:
        parser.error(_unknown_command(arguments[0], list(commands.choices)))
    options, unknown = parser.parse_known_args(arguments)
    if unknown:  # the command says so, whose own page has what it takes
        command = commands.choices.get(arguments[0], parser)
        command.error(f"unrecognized arguments: {' '.join(unknown)}")
    if not hasattr(options, "run"):  # a pack's
        commands.choices[arguments[0]].error(
            "its author has not said what it runs: `parser.set_defaults(run=FUNCTION)`"
        )
    status: int | None = options.run(options)
    try:
        sys.stdout.flush()  # a closed pipe is noticed here, where it can be handled
    except BrokenPipeError:  # `| head` had enough, and the command has a result all the same
        _let_go_of_stdout()
    return status or 0


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Text of one line is wrapped; text of several stays as it is, examples above all."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)


class _Parser(argparse.ArgumentParser):
    """What every command is, of core or of a pack. Wrong use is one line: what, why, what next."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Formatter, **options})

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {one_line(message)}. Run `{self.prog} --help`.\n")


Commands = Any  # argparse keeps the class of what add_subparsers returns private


def _parser() -> tuple[_Parser, Commands]:
    parser = _Parser(
        prog="gem-env",
        description="List, play, check and replay environments for language-model agents.",
        epilog=_EPILOGUE,
    )
    parser.add_argument("--version", action="version", version=f"gem-core {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _BUILT_IN:
        command.add_command(commands)
    return parser, commands


def _add_commands_of_packs(commands: Commands) -> None:
    from gem import hooks  # pluggy, and every installed plugin's hook module

    hooks.announce("gem_cli_commands", subparsers=commands)


def _unknown_command(name: str, known: list[str]) -> str:
    from gem.registry._installing import absent_providers

    for absent in absent_providers("commands", name):
        return (
            f"there is no command {name!r}: {absent.distribution} provides it and is not "
            f"installed: `{absent.command}`"
        )
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(known)}."
    return f"there is no command {name!r}; {hint} A pack may provide it: see `gem-env plugins`"


def _open_what_is_closed() -> None:
    """Put nothing in the place of a stream that the shell has closed: Python has None there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - to the very end
            setattr(sys, name, nothing)


def _write_any_text() -> None:
    """Escape what the terminal's encoding cannot show, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_stdout_full() -> bool:
    """Say whether nothing more can be printed."""
    try:
        print(flush=True)  # a write and no mere flush: a stream without a buffer has kept nothing
    except OSError:
        return True
    return False


def _let_go_of_stdout() -> None:
    """Point stdout elsewhere, so that Python's last flush does not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        pass  # it is not a file: nothing will be flushed to a pipe
    finally:
        os.close(nowhere)
