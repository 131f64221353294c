"""The command line as a whole: finding commands, exit statuses, one-line errors."""

from __future__ import annotations

import io
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gem.cli import _text as text
from gem.cli._main import main

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]

COMMANDS = ["list", "show", "plugins", "play", "replay", "check"]

HELLO = """
from gem.hooks import hookimpl

@hookimpl
def gem_cli_commands(subparsers):
    parser = subparsers.add_parser("hello", help="say hello")
    parser.add_argument("name")
    parser.set_defaults(run=say)

def say(options):
    print(f"Hello {options.name}")
    {end}
"""


def hello(install: Install, name: str, end: str = "return 0") -> None:
    module = f"{name.replace('-', '_')}.hooks"
    install(name, hooks=(module,), files={"hooks.py": HELLO.replace("{end}", end)})


def complaint(output: Output) -> str:
    """Return the one line of a wrong use."""
    captured = output.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    return line


def test_help_lists_every_command_and_an_example(capsys: Output) -> None:
    status = main(["--help"])

    shown = capsys.readouterr().out
    assert status == 0
    assert all(command in shown for command in COMMANDS)
    assert "gem-env list 'game:*'" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: Output) -> None:
    status = main([command, "--help"])

    shown = capsys.readouterr().out
    assert status == 0
    assert f"\n  gem-env {command}" in shown.partition("example")[2]


def test_the_version_is_that_of_core(capsys: Output) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "gem-core 0.1.0\n"


def test_no_command_is_wrong_use(capsys: Output) -> None:
    assert main([]) == 2
    assert "a command is missing" in complaint(capsys)


def test_an_unknown_command_is_answered_by_the_nearest(capsys: Output) -> None:
    assert main(["chek"]) == 2
    assert "did you mean 'check'?" in complaint(capsys)


def test_a_command_like_no_other_is_answered_by_all_of_them(capsys: Output) -> None:
    assert main(["zzzzzz"]) == 2
    shown = complaint(capsys)
    assert "the commands are list, show" in shown
    assert ". A pack may provide it" in shown


@pytest.mark.parametrize("arguments", [["list", "--nope"], ["show"], ["play", "x", "--seed", "y"]])
def test_wrong_options_are_one_line_that_says_where_to_read(
    arguments: list[str], capsys: Output
) -> None:
    assert main(arguments) == 2
    assert f"Run `gem-env {arguments[0]} --help`." in complaint(capsys).replace(
        "`gem-env --help`", f"`gem-env {arguments[0]} --help`"
    )


def test_a_pack_adds_a_command(install: Install, capsys: Output) -> None:
    hello(install, "acme-hello")

    status = main(["hello", "world"])

    assert (status, capsys.readouterr().out) == (0, "Hello world\n")


def test_a_packs_command_is_in_the_help(install: Install, capsys: Output) -> None:
    hello(install, "acme-hello")

    main(["--help"])

    assert "say hello" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("end", "status"),
    [("return 1", 1), ("return None", 0), ("raise SystemExit", 0), ("raise SystemExit(3)", 3)],
)
def test_a_commands_status_is_the_processs(install: Install, end: str, status: int) -> None:
    hello(install, "acme-hello", end)

    assert main(["hello", "world"]) == status


def test_a_message_given_to_sys_exit_is_shown(install: Install, capsys: Output) -> None:
    hello(install, "acme-hello", "raise SystemExit('not today')")

    assert main(["hello", "world"]) == 2
    assert capsys.readouterr().err == "gem-env: not today\n"


def test_an_interrupt_says_what_to_do(install: Install, capsys: Output) -> None:
    hello(install, "acme-hello", "raise KeyboardInterrupt")

    assert main(["hello", "world"]) == 130
    assert "Run the same command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        (["play", "game:Words-v0", "--loudly"], "gem-env play"),
        (["list", "--loudly", "game:*"], "gem-env list"),
        (["--loudly", "play"], "gem-env"),
    ],
)
def test_an_unknown_option_is_told_with_the_page_that_has_the_known_ones(
    arguments: list[str], program: str, capsys: Output
) -> None:
    assert main(arguments) == 2

    expected = f"{program}: unrecognized arguments: --loudly. Run `{program} --help`."
    assert complaint(capsys) == expected


def test_an_error_of_ours_is_one_line_whatever_is_in_it(install: Install, capsys: Output) -> None:
    error = "import gem; raise gem.GemError('first\\nsecond\\x1b[2J')"
    hello(install, "acme-hello", error)

    assert main(["hello", "world"]) == 2
    assert capsys.readouterr().err == "gem-env: first second\\x1b[2J\n"


def test_a_broken_hook_module_is_one_line_and_the_others_commands_work(
    install: Install, capsys: Output, caplog: pytest.LogCaptureFixture
) -> None:
    install("acme-a-bad", hooks=("acme_a_bad.hooks",), files={"hooks.py": "import nonsense_xyz"})
    hello(install, "acme-hello")

    status = main(["hello", "world"])

    [line] = [message for message in caplog.messages if "acme-a-bad" in message]
    assert (status, "nonsense_xyz" in line, "\n" in line) == (0, True, False)


def test_the_warning_about_a_broken_hook_module_reaches_the_terminal(install: Install) -> None:
    folder = install("acme-bad", hooks=("acme_bad.hooks",), files={"hooks.py": "import nonsense"})
    variables = {**os.environ, "PYTHONPATH": str(folder)}

    command = [sys.executable, "-m", "gem", "--help"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)

    assert len([line for line in done.stderr.splitlines() if "acme-bad" in line]) == 1


def test_a_built_in_command_does_not_import_hook_modules(install: Install) -> None:
    install("acme-bad", hooks=("acme_bad.hooks",), files={"hooks.py": ""})

    main(["list"])

    assert "acme_bad.hooks" not in sys.modules


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    command = f"{sys.executable} -m gem list --wrappers | true"

    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=True, cwd=tmp_path
    )

    assert done.stderr == ""


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_stream_that_is_closed_from_the_beginning_is_no_error(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sys, name, None)

    assert main(["list", "--wrappers"]) == 0

    getattr(sys, name).close()


def test_a_pipe_that_closes_under_a_command_ends_it_without_a_result(
    install: Install, capsys: Output
) -> None:
    hello(install, "acme-hello", "raise BrokenPipeError")

    assert main(["hello", "world"]) == 141
    assert capsys.readouterr().err == ""


def test_a_pipe_that_closes_after_a_command_leaves_its_result(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closed(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    hello(install, "acme-hello", "return 3")
    monkeypatch.setattr(sys, "stdout", Closed())

    assert main(["hello", "world"]) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", ["list --wrappers", "list --wrappers --json"])
def test_a_full_disk_behind_the_output_is_one_line(command: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m gem {command} > /dev/full"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr == (
        "gem-env: the output cannot be written (No space left on device). Make room there, or "
        "send it elsewhere, and run the command again.\n"
    )


def test_an_output_that_cannot_be_written_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())

    assert main(["list", "--wrappers"]) == 2
    assert "cannot be written (No space left on device)" in capsys.readouterr().err


def test_a_full_disk_behind_something_else_is_not_told_as_that(install: Install) -> None:
    hello(install, "acme-hello", "raise OSError(28, 'No space left')")

    with pytest.raises(OSError, match="No space left"):
        main(["hello", "world"])


def test_a_command_that_runs_nothing_is_its_authors_mistake(
    install: Install, capsys: Output
) -> None:
    hooks = HELLO.replace("    parser.set_defaults(run=say)\n", "").replace("{end}", "return 0")
    install("acme-hello", hooks=("acme_hello.hooks",), files={"hooks.py": hooks})

    assert main(["hello", "world"]) == 2
    assert "gem-env hello: its author has not said what it runs" in complaint(capsys)


def test_stdout_is_let_go_of_where_it_is_a_file(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hello(install, "acme-hello", "raise BrokenPipeError")
    with (tmp_path / "out").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)

        assert main(["hello", "world"]) == 141
        out.write("into the void")

    assert (tmp_path / "out").read_text() == ""


def test_what_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    variables = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code = "from gem.cli._main import main; main(['--version']); print('\\u221a')"

    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, check=True
    )

    assert done.stdout.endswith(b"\\u221a\n")


def test_python_m_gem_is_the_same(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr(sys, "argv", ["gem", "--version"])

    with pytest.raises(SystemExit) as left:
        runpy.run_module("gem", run_name="__main__")

    assert (left.value.code, capsys.readouterr().out) == (0, "gem-core 0.1.0\n")


def test_importing_its_main_module_runs_nothing() -> None:
    assert "main" in runpy.run_module("gem.__main__", run_name="imported")


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\rb"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("line\n\ttab é √", "line\n\ttab é √"),
    ],
)
def test_hostile_text_is_escaped_and_plain_text_is_not(hostile: str, shown: str) -> None:
    assert text.printable(hostile) == shown


def test_no_rows_are_no_lines() -> None:
    assert text.columns([]) == ""


def test_a_long_last_column_wraps_under_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    lines = text.columns([("id", "word " * 12)]).splitlines()

    assert len(lines) > 1
    assert all(line.startswith("    word") for line in lines[1:])


def test_it_writes_to_what_is_no_terminal_and_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)

    assert main(["list", "no:such"]) == 2
    assert "'no:such'" in written.getvalue()


ROWS = [("acme:" + "x" * 25, "Say it backwards, letter by letter."), ("acme:y", "Light the lamps.")]


@pytest.mark.parametrize("width", [12, 40, 60, 100])
def test_columns_fit_a_narrow_terminal_and_lose_nothing(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))

    shown = text.columns(ROWS, margin="  ")

    assert shown.split() == " ".join(cell for row in ROWS for cell in row).split()
    assert all(len(line) <= max(width, 32) for line in shown.splitlines())


def test_where_there_is_no_room_beside_the_others_the_last_column_goes_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    assert text.columns(ROWS[1:] + ROWS[:1], margin="  ") == (
        "  acme:y\n"
        "      Light the lamps.\n"
        f"  acme:{'x' * 25}\n"
        "      Say it backwards, letter by\n"
        "      letter."
    )


@pytest.mark.parametrize("command", ["show", "plugins", "replay", "check"])
def test_help_is_wrapped_at_the_width_of_the_terminal_and_examples_are_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    assert main([command, "--help"]) == 0

    text, _, examples = capsys.readouterr().out.partition("examples:\n")
    description = text.split("\n\n")[1]
    assert max(map(len, description.splitlines())) <= 60
    assert examples.startswith(f"  gem-env {command}")
