"""Playing in the terminal: with standard input from a file, and in a real pseudo-terminal."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import gem
from gem.cli.colours import painted
from gem.cli.main import main
from gem.cli.screen import Scene, Screen, Turn, frame

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]
Play = Callable[..., str]
See = Callable[..., list[str]]
Open = Callable[..., "Terminal"]

ENVS = '''
import gem
from gem.testing.envs import Coin, Guess, Lamps

class Raises(Lamps):
    """Fails in its first step."""
    def step(self, action):
        raise RuntimeError("out of\\nwords")

class Unmade(Lamps):
    """Fails while it is made."""
    def __init__(self):
        raise RuntimeError("no\\nhands")

class Refuses(Lamps):
    """Misses its data in its first step."""
    def step(self, action):
        raise gem.errors.DataError("The table is gone.", source="table")

class NotPlain(Lamps):
    """Cannot be saved."""
    def reset(self, seed=None):
        self.stuck = object()
        return super().reset(seed)

class Hostile(Lamps):
    """Plays with the terminal."""
    def reset(self, seed=None):
        super().reset(seed)
        return "\\x1b[2J\\x07", {}

class Strict(Lamps):
    """Ends at an answer that is no number."""
    highlights = (("^Lit", "[0-9]", "green"),)
    def step(self, action):
        if not action.isdecimal():
            return gem.Step("Not a number.", -0.1, True, False, {"action_error": "format"})
        return super().step(action)

class Links(gem.Env):
    """Lists its answers, in the message or on the board."""
    def reset(self, seed=None):
        return "Go.\\n\\\\boxed{Iron}\\n\\\\boxed{Gold}", {}
    def step(self, action):
        board = "<answer>Up</answer>\\n<answer>Down</answer>"
        return gem.Step(f"You said {action}", 0.0, False, False, {"suffix": board})
    def sample_action(self):
        return "\\\\boxed{Iron}"

class Tooled(Guess):
    """Has a tool."""
    tools = ({"type": "function", "function": {"name": "add"}},)

class NoSample(Guess):
    """Has nothing to sample."""
    def sample_action(self):
        raise NotImplementedError
'''
NAMES = (
    "Raises",
    "Unmade",
    "Refuses",
    "NotPlain",
    "Hostile",
    "NoSample",
    "Strict",
    "Links",
    "Tooled",
)
OURS = ("Guess", "Lamps", "Coin")
TERMINAL = """
import fcntl, signal, sys, termios
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from gem.cli.main import main
sys.exit(main(["play", sys.argv[1], "--seed", "3"]))
"""
REDRAW = "\x1b[H\x1b[J"


@pytest.fixture
def site(install: Install) -> Path:
    envs = {f"play:{name}": f"gem.testing.envs:{name}" for name in OURS}
    envs |= {f"play:{name}": f"acme_play.envs:{name}" for name in NAMES}
    return install("acme-play", envs=envs, files={"envs.py": ENVS})


@pytest.fixture
def play(site: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return a function that plays a game with the lines given, and returns what it shows."""

    def run(name: str, *lines: str, status: int = 0, options: tuple[str, ...] = ()) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["play", f"play:{name}", "--seed", "3", *options]) == status
        return capsys.readouterr().out

    return run


def test_the_first_observation_and_the_seed_are_shown(play: Play) -> None:
    shown = play("Guess")

    assert "Seed 3." in shown
    assert "  Guess a number from 1 to 15." in shown


def test_a_game_is_played_to_its_end(play: Play) -> None:
    lines = ["\\boxed{8}", "\\boxed{4}", "\\boxed{2}", "\\boxed{1}", "\\boxed{3}"]

    shown = play("Guess", *lines, options=("--env-kwargs", '{"highest": 4, "max_turns": 9}'))

    assert "Success after" in shown
    assert "total reward 1." in shown


def test_a_game_that_is_lost_says_so(play: Play) -> None:
    assert "No success after 1 turn, total reward -0.1." in play("Guess", ":send nothing at all")


def test_what_is_typed_is_put_into_the_box_that_is_asked_for(play: Play) -> None:
    assert "sent as \\boxed{8}" in play("Guess", "8")


def test_a_box_that_is_typed_stays_as_it_is(play: Play) -> None:
    assert "sent as" not in play("Guess", "\\boxed{8}")


def test_the_box_is_read_from_the_text_where_there_is_no_sample(play: Play) -> None:
    assert "sent as \\boxed{8}" in play("NoSample", "8")


def test_plain_answers_stay_plain(play: Play) -> None:
    assert "Lit: [2]" in play("Lamps", "2")


def test_a_hint_is_what_solve_says(play: Play) -> None:
    assert "> " + "  \\boxed{8}" in play("Guess", ":hint")


def test_a_hint_where_nothing_is_known_says_so(play: Play) -> None:
    assert "No solution is known here." in play("Coin", ":hint")


def test_an_action_can_be_taken_back(play: Play) -> None:
    shown = play("Lamps", "1", "2", ":undo", ":undo", "3")

    before, _, after = shown.rpartition("Taken back. This is where you were.")
    assert "Taken back." in before
    assert "Four lamps" in after
    assert "Lit: [3]" in after
    assert "Left after 1 turn" in after


def test_there_may_be_nothing_to_take_back(play: Play) -> None:
    assert "There is nothing to take back." in play("Lamps", ":undo")


def test_what_cannot_be_saved_cannot_be_taken_back(play: Play) -> None:
    assert "There is nothing to take back." in play("NotPlain", "1", ":undo")


def test_a_hint_can_be_taken_at_once(play: Play) -> None:
    assert "It is higher." in play("Guess", ":hint!")


def test_a_hint_that_is_not_there_is_not_taken(play: Play) -> None:
    assert "Left after 0 turns" in play("Coin", ":hint!")


def test_the_same_episode_starts_again(play: Play) -> None:
    shown = play("Lamps", "1", ":restart")

    assert shown.count("Seed 3.") == 2
    assert "Left after 0 turns" in shown


def test_another_episode_starts(play: Play) -> None:
    assert "Seed 12." in play("Lamps", ":new 12")


def test_any_other_episode_starts(play: Play) -> None:
    assert play("Lamps", ":new").count("Seed ") == 2


def test_an_answer_that_cannot_be_read_is_asked_for_again(play: Play) -> None:
    shown = play("Strict", "one", "1")

    assert "Not a number.\nThat was not counted: try again" in shown
    assert "Lit: [1]" in shown


def test_a_strict_game_counts_an_answer_that_cannot_be_read(play: Play) -> None:
    assert "No success after 1 turn" in play("Strict", "one", options=("--strict",))


def test_a_number_takes_an_answer_that_is_listed(play: Play) -> None:
    shown = play("Links", "2", "1", "3", ":undo", "2")

    assert " 1  Iron\n   2  Gold" in shown
    assert "You said \\boxed{Gold}" in shown
    assert "You said <answer>Up</answer>" in shown
    assert "You said \\boxed{3}" in shown
    assert "You said <answer>Down</answer>" in shown


def test_a_call_of_a_tool_is_not_put_into_a_box(play: Play) -> None:
    assert "sent as" not in play("Tooled", '<tool_call>{"name": "add"}</tool_call>')
    assert "sent as \\boxed{8}" in play("Tooled", "8")
    assert "sent as" in play("Guess", "<8>")


def test_a_short_way_to_leave(play: Play) -> None:
    assert "Left after 1 turn" in play("Lamps", "1", ":q", "2")


class Keyboard(io.StringIO):
    """Standard input as a terminal's."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(site: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return a function that runs `play` with these arguments and lines from a keyboard."""
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: str, lines: str = "", status: int = 0) -> str:
        monkeypatch.setattr("sys.stdin", Keyboard(lines))
        assert main(["play", *arguments]) == status
        output = capsys.readouterr()
        return output.out + output.err

    return run


def test_without_an_id_there_is_a_menu(typed: Play) -> None:
    shown = typed(lines="play\nnonsense\n99\nplay:Lamps\n1\n:q\n")

    assert "What to play?" in shown
    assert "Give a number from 1 to" in shown
    assert "Left after 1 turn" in shown


def test_the_menu_takes_numbers_and_can_be_left(typed: Play) -> None:
    assert "What to play?" in typed(lines="1\n:q\n")
    assert "What to play?" in typed(lines=":q\n")
    assert "What to play?" in typed(lines="")  # the keyboard's end


def test_a_number_of_the_menu_may_have_zeros_before_it(typed: Play) -> None:
    assert "Give a number from 1 to" in typed(lines="0000000012345\n:q\n")


def test_without_an_id_and_a_terminal_an_id_is_asked_for(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())

    assert main(["play"]) == 2
    assert "was given no environment. Name one" in capsys.readouterr().err


@pytest.fixture
def run_folder(site: Path, tmp_path: Path) -> Path:
    """Return a run folder with three episodes: won, failed in its second step, replaced prompts."""

    async def record() -> None:
        sure = {"env": "play:Strict", "max_turns": 2}
        with gem.EpisodeLog(tmp_path / "episodes.jsonl") as log:
            for name, options in (
                ("plain", sure),
                ("raised", {"env": "play:Raises"}),
                ("rewritten", {**sure, "wrappers": ["concat"]}),
            ):
                async for episode in gem.rollout(lambda request: "1", **options):
                    log.append(replace(episode, policy=name))

    asyncio.run(record())
    return tmp_path


def test_the_episodes_of_a_run_are_listed(typed: Play, run_folder: Path) -> None:
    shown = typed(str(run_folder))

    assert "    1  play:Strict seed" in shown
    assert re.search(r"play:Raises seed \d+: 1 turn, ", shown)
    assert f"Watch one of these 3: gem-env play {run_folder} NUMBER" in shown


def test_a_recorded_episode_is_watched_turn_by_turn(typed: Play, run_folder: Path) -> None:
    shown = typed(str(run_folder), "1", lines="\n:b\n\n\n")

    assert "Four lamps" in shown
    assert shown.count("Lit: [1]") == 3  # the first turn twice
    assert "No success after 2 turns (max_turns), total reward" in shown


def test_watching_can_be_left(typed: Play, run_folder: Path) -> None:
    assert "Lit" not in typed(str(run_folder), "1", lines=":q\n")
    assert "Lit" not in typed(str(run_folder), "1", lines="")


def test_an_episode_that_an_error_ended_is_shown_up_to_there(
    play: Play, run_folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["play", str(run_folder / "episodes.jsonl"), "3"]) == 0
    assert "Ended by env_error: RuntimeError: out of" in capsys.readouterr().out
    assert main(["play", str(run_folder), "2"]) == 0
    assert "Lit: [1]" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["0", "4"])
def test_an_episode_that_a_run_does_not_have_is_refused(
    typed: Play, run_folder: Path, number: str
) -> None:
    assert "and it has 3, counted from 1" in typed(str(run_folder), number, status=2)


def test_an_episode_of_an_environment_is_refused(typed: Play) -> None:
    assert "and that is no run folder" in typed("play:Lamps", "3", status=2)


def test_an_episode_whose_environment_is_gone_is_watched_all_the_same(
    typed: Play, run_folder: Path
) -> None:
    path = run_folder / "episodes.jsonl"
    path.write_text(path.read_text().replace("play:Strict", "gone:Strict"))

    assert "Lit: [1]" in typed(str(run_folder), "1", lines="\n\n")


def test_a_policy_is_watched(typed: Play, install: Install) -> None:
    source = "def one():\n    return Policy()\nclass Policy:\n    closed = 0\n"
    source += "    def __call__(self, request):\n        return '1'\n"
    source += "    async def aclose(self):\n        Policy.closed += 1\n"
    plain = "\ndef two():\n    return lambda request: 'no number'\n"
    manifest = "from gem.specs import PluginManifest, PolicySpec\n"
    manifest += "plugin = PluginManifest(name='acme', policies=("
    manifest += "PolicySpec(id='one', target='acme_policy.one:one'),"
    manifest += "PolicySpec(id='two', target='acme_policy.one:two')))"
    install("acme-policy", manifest=manifest, files={"one.py": source + plain})

    shown = typed("play:Strict", "--policy", "one", "--seed", "3", lines="\n\n\n\n\n\n")
    assert "play:Strict seed 3" in shown
    assert "policy one\n" in shown
    assert "Lit: [1]" in shown
    assert sys.modules["acme_policy.one"].Policy.closed == 1
    assert "Not a number." in typed("play:Strict", "--policy", "two", lines="\n")
    raised = typed("play:Raises", "--policy", "one", status=1)
    assert "Ended by env_error" in raised


def test_a_policy_whose_server_is_away_is_told_at_once(typed: Play, install: Install) -> None:
    source = "from gem.errors import GemError\ndef away():\n    return Away()\nclass Away:\n"
    source += "    async def probe(self):\n        raise GemError('Nobody is there.')\n"
    source += "    async def __call__(self, request):\n        raise AssertionError\n"
    manifest = "from gem.specs import PluginManifest, PolicySpec\n"
    manifest += "plugin = PluginManifest(name='acme', policies=("
    manifest += "PolicySpec(id='away', target='acme_policy.away:away'),))"
    install("acme-policy", manifest=manifest, files={"away.py": source})

    shown = typed("play:Strict", "--policy", "away", status=2)
    assert shown == "gem-env: Nobody is there.\n"


def test_marks_are_coloured_unless_that_is_not_wanted(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene("Play", (Turn("", "Lit: [1]\nNot 1"),), highlights=(("^Lit", "[0-9]", "green"),))
    monkeypatch.delenv("NO_COLOR", raising=False)
    Screen().show(scene)
    assert "Lit: [\x1b[32m1\x1b[0m]\nNot 1" in capsys.readouterr().out

    monkeypatch.setenv("NO_COLOR", "1")
    Screen().show(scene)
    assert "Lit: [1]\nNot 1" in capsys.readouterr().out


def test_a_long_line_is_left_as_it_is() -> None:
    assert painted("1" * 1000, [("1", "1", "red")]) == "1" * 1000


def test_a_seed_is_a_number(play: Play) -> None:
    assert "twelve is no seed." in play("Lamps", ":new twelve")


def test_there_is_nothing_to_take_back_in_another_episode(play: Play) -> None:
    assert "There is nothing to take back." in play("Lamps", "1", ":new 4", ":undo")


def test_the_rules_can_be_read_again(play: Play) -> None:
    assert play("Guess", "8", ":rules").count("Guess a number from 1 to 15.") == 2


def test_everything_that_was_said_can_be_read_again(play: Play) -> None:
    _, _, log = play("Lamps", "2", "1", ":log").rpartition("Four lamps")

    assert log.index("> 2") < log.index("> 1")


def test_an_answer_may_have_several_lines(play: Play) -> None:
    assert "sent as \\boxed{one\ntwo}" in play("Guess", ":lines", "one", "two", ".")


def test_an_empty_line_is_no_answer(play: Play) -> None:
    assert "Left after 0 turns" in play("Guess", "", " ")


def test_an_empty_answer_can_be_sent(play: Play) -> None:
    assert "No success after 1 turn" in play("Guess", ":send ")


def test_help_lists_the_players_commands(play: Play) -> None:
    assert ":undo         take the last action back" in play("Lamps", ":help")


def test_an_unknown_command_is_not_an_action(play: Play) -> None:
    shown = play("Lamps", ":hnit")

    assert "There is no :hnit" in shown
    assert "Left after 0 turns" in shown


def test_quitting_leaves_politely(play: Play) -> None:
    assert "Left after 1 turn, total reward 0 so far." in play("Lamps", "1", ":quit")


def test_the_end_of_input_leaves_politely(play: Play) -> None:
    assert play("Lamps", "1").endswith("\nLeft after 1 turn, total reward 0 so far.\n")


def test_hostile_text_reaches_the_terminal_escaped(play: Play) -> None:
    shown = play("Hostile")

    assert "\\x1b[2J\\x07" in shown
    assert "\x1b" not in shown


def test_wrappers_are_put_around_it(play: Play) -> None:
    shown = play("Lamps", "1", "2", options=("--wrappers", "concat"))

    assert shown.count("Four lamps") == 3


def test_an_environment_that_raises_is_reported_in_one_line(play: Play) -> None:
    assert "The environment raised RuntimeError: out of words\n" in play("Raises", "1", status=1)


def test_an_environment_that_cannot_be_made_is_reported_in_one_line(play: Play) -> None:
    assert play("Unmade", status=1) == "The environment raised RuntimeError: no hands\n"


def test_an_error_of_ours_is_wrong_use(play: Play) -> None:
    play("Refuses", "1", status=2)


def test_without_a_seed_it_is_any_episode(
    site: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert main(["play", "play:Lamps"]) == 0
    assert "Seed " in capsys.readouterr().out


def test_an_unknown_id_is_wrong_use(site: Path, capsys: Output) -> None:
    assert main(["play", "play:Lamp"]) == 2
    assert "Did you mean 'play:Lamps'" in capsys.readouterr().err


class Tty(io.StringIO):
    """Text that says of itself that a person reads or types it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def seen(site: Path, monkeypatch: pytest.MonkeyPatch) -> See:
    """Return a function that plays on a terminal, and returns the screens that were drawn."""

    def run(name: str, *lines: str, options: tuple[str, ...] = ()) -> list[str]:
        output = Tty()
        monkeypatch.setattr("sys.stdin", Tty("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr("sys.stdout", output)
        monkeypatch.setenv("TERM", "xterm")
        assert main(["play", f"play:{name}", "--seed", "3", *options]) == 0
        return output.getvalue().split(REDRAW)

    return run


def test_a_screen_has_what_was_said_and_where_it_stands(seen: See) -> None:
    last = seen("Guess", "8")[-1].splitlines()

    assert last[:6] == [
        "play:Guess. Seed 3. Type your action, or :help.",
        "",
        "> 8",
        "It is higher.",
        "",
        "Guess again.",
    ]
    assert "Turn 1 of 4, total reward 0, last reward 0." in last


def test_the_instructions_make_room_for_the_game(seen: See) -> None:
    _, first, second = seen("Guess", "8")

    assert "Guess a number from 1 to 15." in first
    assert "Guess a number" not in second


def test_a_task_without_a_board_stays_on_the_screen(seen: See) -> None:
    assert "Four lamps" in seen("Lamps", "1", "2")[-1]


def test_an_empty_line_draws_the_screen_again(seen: See) -> None:
    _, first, again = seen("Guess", "")

    assert first.removesuffix("> ") in again


def test_a_note_stands_below_the_board(seen: See) -> None:
    last = seen("Guess", ":hint")[-1]

    assert last.index("Turn 0 of 4") < last.index("\\boxed{8}")


def test_on_a_terminal_one_episode_follows_another(seen: See) -> None:
    screens = seen("Guess", ":send nothing", ":hint", "8", ":new 4", ":quit")

    assert "No success after 1 turn" in screens[2]
    assert all("It is over: :undo, :restart, :new or :quit" in screen for screen in screens[2:5])
    assert "Seed 4." in screens[-1]


def test_what_ended_an_episode_can_be_taken_back(seen: See) -> None:
    assert "Turn 0 of 4" in seen("Guess", ":send nothing", ":undo")[-1]


def test_a_whole_prompt_is_not_shown_twice(seen: See) -> None:
    assert seen("Lamps", "1", "2", options=("--wrappers", "concat"))[-1].count("Four lamps") == 1


def test_hostile_text_reaches_the_screen_escaped(seen: See) -> None:
    last = seen("Hostile", "\x1b[31m")[-1]

    assert "\x1b" not in last
    assert "\\x1b[31m" in last


TURNS = (Turn("", "The rules."), *(Turn(str(n), f"You said {n}.") for n in range(1, 7)))


@pytest.mark.parametrize("rows", [7, 10, 13, 24, 40])
def test_as_many_turns_are_shown_as_fit(rows: int) -> None:
    lines = frame(Scene("Seed 1.", TURNS, "[ ]", 6), "", 80, rows)
    asked = len(lines) + 1

    assert {"> 6", "You said 6.", "[ ]"} <= set(lines)
    assert asked <= max(rows, 9)
    assert asked > min(rows, 18) - 2


def test_turns_that_are_left_out_are_counted() -> None:
    assert "(4 earlier: see :log)" in frame(Scene("Seed 1.", TURNS, "[ ]", 6), "", 80, 12)


def test_long_lines_are_broken_between_words() -> None:
    lines = frame(Scene("Seed 1.", (Turn("", "Say nothing, at length."),)), "", 15, 24)

    assert lines[2:4] == ["Say nothing, at", "length."]


def test_a_line_without_an_end_costs_no_time_and_is_kept() -> None:
    endless = "x" * 1_000_000

    assert endless in frame(Scene("Seed 1.", (Turn("", endless),)), "", 80, 24)


class Terminal:
    """A process at a pseudo-terminal of its own."""

    def __init__(self, site: Path, name: str, term: str) -> None:
        self._ours, theirs = pty.openpty()
        variables = {**os.environ, "PYTHONPATH": str(site), "TERM": term}
        self._process = subprocess.Popen(
            [sys.executable, "-c", TERMINAL, f"play:{name}"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={key: variables[key] for key in variables if key not in {"COLUMNS", "LINES"}},
            start_new_session=True,
        )
        os.close(theirs)
        self._stat = Path(f"/proc/{self._process.pid}/stat")
        self.shown = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def screen(self) -> str:
        return self.shown.rpartition(REDRAW)[2].replace("\r\n", "\n")

    def read_until(self, text: str) -> None:
        while text not in self.shown:
            self.shown += os.read(self._ours, 4096).decode()

    def type(self, keys: str) -> None:
        self.shown = ""
        os.write(self._ours, keys.encode())

    def wait_for_a_read(self) -> None:
        """Wait until the process sleeps: a signal between its prompt and its read would be lost."""
        while self._stat.read_text().rpartition(")")[2].split()[0] != "S":
            os.sched_yield()

    def left(self) -> int:
        """Read to the end and return the exit status."""
        with contextlib.suppress(OSError):  # Linux answers so once the other side is closed
            self.read_until("never shown")
        return self._process.wait()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)


@pytest.fixture
def terminal(site: Path) -> Iterator[Open]:
    """Return a function that plays at a pseudo-terminal."""
    with contextlib.ExitStack() as opened:

        def play_at(name: str = "Guess", term: str = "xterm") -> Terminal:
            found = Terminal(site, name, term)
            opened.callback(found.close)
            found.read_until("> ")
            return found

        yield play_at


def test_a_real_terminal_is_redrawn(terminal: Open) -> None:
    player = terminal()
    player.type("8\n")
    player.read_until("sent as")

    assert player.screen.startswith("play:Guess. Seed 3.")
    assert "Guess a number" not in player.screen
    assert "It is higher." in player.screen


def test_hints_lead_to_the_end_in_a_real_terminal(terminal: Open) -> None:
    player = terminal()
    player.type(":hint\n")
    player.read_until("\\boxed{8}")
    player.type(":hint!\n" * 3)
    player.read_until("It is over")
    player.type(":quit\n")

    assert player.left() == 0
    assert "Left after" not in player.shown


def test_turns_are_taken_back_in_a_real_terminal(terminal: Open) -> None:
    player = terminal()
    player.type("8\n4\n:undo\n:undo\n")
    player.read_until("Turn 0 of 4, total reward 0.\r\n\r\nTaken back.")

    assert "Guess a number from 1 to 15." in player.screen


def test_a_real_terminal_may_change_its_size(terminal: Open) -> None:
    player = terminal()
    player.resize(rows=12, columns=30)
    player.type("\n")
    player.read_until("Turn 0 of 4")

    assert "\nGuess a number from 1 to 15.\n" in player.screen


def test_a_dumb_terminal_scrolls(terminal: Open) -> None:
    player = terminal(term="dumb")
    player.type("8\n")
    player.read_until("It is higher.")
    player.type(":quit\n")

    assert player.left() == 0
    assert "\x1b[H" not in player.shown


def test_an_environment_that_raises_in_a_real_terminal(terminal: Open) -> None:
    player = terminal("Raises")
    player.type("1\n")

    assert player.left() == 1
    assert player.shown.endswith("The environment raised RuntimeError: out of words\r\n")


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_leaving_a_real_terminal_by(key: str, terminal: Open) -> None:
    player = terminal()
    player.wait_for_a_read()
    player.type(key)

    assert player.left() == 0
    assert "Left after 0 turns" in player.shown
    assert "Traceback" not in player.shown
