"""Playing and watching games of several seats."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import gem
from gem.cli._main import main
from gem.testing.envs import Kuhn

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]
Play = Callable[..., str]

KUHN = "gem.testing.envs:Kuhn"
SIGNS = "gem.testing.envs:Signs"
MANIFEST = """
from gem.specs import PluginManifest, PolicySpec
NAMES = ("bold", "meek", "late", "fails", "person", "away")
plugin = PluginManifest(
    name="acme",
    policies=tuple(PolicySpec(id=name, target=f"acme_seats.those:{name}") for name in NAMES),
)
"""
POLICIES = """
import asyncio
from gem.errors import GemError

class bold:
    closed = 0
    answer = "bet"
    def __call__(self, request):
        return "\\\\boxed{%s}" % self.answer
    async def aclose(self):
        type(self).closed += 1

class meek(bold):
    answer = "pass"

class late(bold):
    async def __call__(self, request):
        await asyncio.sleep(0)
        if request.turn:
            raise RuntimeError("too late")
        return "rock"

class fails(bold):
    def __call__(self, request):
        raise RuntimeError("no words")

class person(bold):
    uses_screen = True

class away(bold):
    async def probe(self):
        raise GemError("Nobody is there.")
"""


@pytest.fixture
def play_seats(install: Install, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return a function that runs `play` with these arguments and lines, by seed 1."""
    install("acme-seats", manifest=MANIFEST, files={"those.py": POLICIES})

    def run(*arguments: str, typed: Sequence[str] = (), status: int = 0) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        assert main(["play", *arguments, "--seed", "1"]) == status
        output = capsys.readouterr()
        return output.out + output.err

    return run


# one plays every seat


def test_one_player_of_every_seat_is_told_whose_turn_it_is(play_seats: Play) -> None:
    shown = play_seats(KUHN, typed=["pass", "bet", "pass"])

    assert f"{KUHN}. You play every seat: first, second. Seed 1." in shown
    assert "  [first] Kuhn poker" in shown
    assert "  [second] Kuhn poker" in shown
    assert "  rewards first -1, second 1\n" in shown
    assert shown.endswith(
        "Over after 3 turns of all seats. first: no success, total reward -1; second: success, "
        "total reward 1.\n"
    )


def test_what_all_are_shown_at_the_end_is_shown_once(play_seats: Play) -> None:
    assert "  [left, right] Left showed rock, right rock.\n" in play_seats(
        SIGNS, typed=["rock"] * 6
    )


def test_who_leaves_a_game_of_several_is_told_what_each_has(play_seats: Play) -> None:
    shown = play_seats(SIGNS, typed=["rock", "paper"])

    assert shown.endswith(
        "Left after 2 turns of all seats, total rewards left -1, right 1 so far.\n"
    )


def test_an_action_of_any_seat_can_be_taken_back(play_seats: Play) -> None:
    shown = play_seats(SIGNS, typed=["rock", "paper", ":undo", ":undo", "paper", "rock"])

    assert "total rewards left 1, right -1 so far" in shown


def test_the_log_of_a_game_says_whose_each_action_was(play_seats: Play) -> None:
    assert "> [left] rock\n" in play_seats(SIGNS, typed=["rock", ":log"])


# one plays a seat against policies


def test_a_seat_is_played_against_a_policy(play_seats: Play) -> None:
    shown = play_seats(KUHN, "--seat", "0", "--policy", "bold", typed=["bet"])

    assert f"{KUHN}. You are first, against bold. Seed 1." in shown
    assert "You are first. Your card is J" in shown
    assert "No success after 2 turns of all seats, total reward -2." in shown


def test_a_policy_of_a_module_may_be_the_opponent(play_seats: Play) -> None:
    opponent = "gem.testing._subject:sampled"

    assert "total reward" in play_seats(
        KUHN, "--seat", "first", "--policy", opponent, typed=["bet", "bet"]
    )


@pytest.mark.parametrize("seat", [0, 1])
def test_no_secret_of_another_seat_is_shown_to_who_plays_one(play_seats: Play, seat: int) -> None:
    options = ("--seat", str(seat), "--policy", "bold")
    shown = play_seats(
        KUHN, *options, typed=["pass", ":rules", ":log", ":undo", ":restart", ":hint", ":help"]
    )

    game = Kuhn()
    game.reset(seed=1)
    (own,) = game.secrets()[seat]
    (other,) = game.secrets()[1 - seat]
    assert own in shown
    assert other not in shown
    assert f"You are {game.seats[1 - seat]}." not in shown


def test_a_seat_that_the_seed_decides_is_named(play_seats: Play) -> None:
    shown = play_seats(
        KUHN,
        "--seat",
        "rotate",
        "--policy",
        "bold",
        typed=[":new 2", ":new 3", ":new 4", ":new 5", ":new 6"],
    )

    assert {"You are first, against bold.", "You are second, against bold."} <= {
        f"{part.partition('.')[0]}." for part in shown.split(f"{KUHN}. ")
    }


def test_each_other_seat_may_have_its_own_opponent(play_seats: Play) -> None:
    shown = play_seats(
        "gem.testing.envs:LastOne",
        *("--seat", "green", "--policy", "red=meek", "--policy", "blue=bold"),
        typed=["2"],
    )

    assert "You are green, against red=meek, blue=bold." in shown
    assert "Red named 1" in shown  # which stands for what is no number


@pytest.mark.parametrize(
    ("env", "policy", "typed", "complaint"),
    [
        (KUHN, "fails", ["bet"], "The policy fails failed: RuntimeError: no words\n"),
        (SIGNS, "late", ["rock", "rock"], "The policy late failed: RuntimeError: too late\n"),
    ],
)
def test_an_opponent_that_fails_is_to_blame(
    play_seats: Play, env: str, policy: str, typed: list[str], complaint: str
) -> None:
    assert play_seats(env, "--seat", "0", "--policy", policy, typed=typed, status=1).endswith(
        complaint
    )


def test_opponents_are_closed_when_their_player_leaves(play_seats: Play) -> None:
    play_seats(KUHN, "--seat", "0", "--policy", "second=bold", typed=[])

    from acme_seats import those  # type: ignore[import-not-found]

    assert those.bold.closed == 1


# policies play every seat


def test_one_policy_is_watched_at_every_seat(play_seats: Play) -> None:
    shown = play_seats(KUHN, "--policy", "bold")

    assert f"{KUHN} seed 1, policy bold\n" in shown
    assert "\n[first] \\boxed{bet}\n  [second] Kuhn poker" in shown
    assert (
        "  rewards first -2, second 2\nOver after 2 turns (terminated). first: no success" in shown
    )


def test_a_policy_for_each_seat_is_watched(play_seats: Play) -> None:
    shown = play_seats(KUHN, "--policy", "second=bold", "--policy", "first=meek")

    assert "policy second=bold, first=meek\n" in shown
    assert "[first] \\boxed{pass}" in shown
    assert "[second] \\boxed{bet}" in shown


def test_the_rounds_of_policies_are_watched_action_by_action(
    play_seats: Play, placed: Callable[[str, str], str]
) -> None:
    shown = play_seats(SIGNS, "--policy", "left=late", "--policy", "right=bold", status=1)

    assert "[left] rock\n  [right] Three rounds." in shown
    assert shown.splitlines()[-1] == placed(
        "Ended by policy_error of left: RuntimeError: too late", "__call__"
    )


# what is recorded


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """Return a run folder with a hand that was played to its end, and two that failed."""
    folder = tmp_path / "run"
    folder.mkdir()

    class Breaks(Kuhn):
        def step(self, action: str) -> gem.Step:
            return super().step(action) if self.turn == 0 else 1 / 0  # type: ignore[return-value]

    def breaks(request: gem.Request) -> str:
        if request.seat == 1:
            raise RuntimeError("no words")
        return "\\boxed{pass}"

    def bets(request: gem.Request) -> str:
        return "\\boxed{bet}"

    async def record() -> None:
        with gem.EpisodeLog(folder / "episodes.jsonl") as log:
            for policy, env in ((bets, KUHN), (breaks, KUHN), (bets, Breaks)):
                async for episode in gem.rollout(policy, env, seed=1):
                    log.append(episode)

    asyncio.run(record())
    return folder


def test_a_recorded_game_of_several_is_watched_by_seat(run_folder: Path, capsys: Output) -> None:
    assert main(["play", str(run_folder), "1"]) == 0
    shown = capsys.readouterr().out

    assert ", first=bets, second=bets\n" in shown
    assert "\n[first] \\boxed{bet}\n  [second] Kuhn poker" in shown
    assert "\n  [first] The other player answered bet.\n" in shown
    assert "Over after 2 turns (terminated). first: " in shown


def test_a_recorded_game_that_failed_names_the_seat(
    run_folder: Path, capsys: Output, placed: Callable[[str, str], str]
) -> None:
    assert main(["play", str(run_folder), "2"]) == 0
    shown = capsys.readouterr().out

    assert "\n[first] \\boxed{pass}\n" in shown
    assert shown.splitlines()[-1] == placed(
        "Ended by policy_error of second: RuntimeError: no words", "breaks"
    )


def test_a_recorded_game_is_watched_up_to_the_action_that_failed(
    run_folder: Path, capsys: Output, placed: Callable[[str, str], str]
) -> None:
    assert main(["play", str(run_folder), "3"]) == 0
    shown = capsys.readouterr().out

    assert "\n[first] \\boxed{bet}\n  [second] Kuhn poker" in shown
    assert "[second] \\boxed{bet}" not in shown
    assert shown.splitlines()[-1] == placed(
        "Ended by env_error: ZeroDivisionError: division by zero", "step"
    )


def test_the_list_of_a_run_has_who_sat_where_and_what_each_has(
    run_folder: Path, capsys: Output
) -> None:
    assert main(["play", str(run_folder)]) == 0
    whole, failed, _, _ = capsys.readouterr().out.splitlines()

    assert ": 2 turns, returns first=" in whole
    assert failed.endswith("returns first=breaks 0, second=breaks 0, error")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--seat", "third", "--policy", "bold"], "the seats of gem.testing.envs:Kuhn are first"),
        (["--seat", "2", "--policy", "bold"], "or a number from 0 to 1"),
        (["--seat", "first"], "--seat first was given without --policy"),
        (["--seat", "0", "--policy", "first=bold"], "the seats that you do not play are second"),
        (["--seat", "0", "--policy", "person"], "that is a person at this terminal"),
        (["--seat", "0", "--policy", "away"], "Nobody is there."),
        (["--policy", "first=person", "--policy", "second=bold"], "a person at this terminal"),
        (["--policy", "bold", "--policy", "meek"], "--policy bold was given with others"),
        (["--policy", "first=bold", "--policy", "first=meek"], "each seat takes one policy"),
        (["--policy", "first="], "each seat takes one policy"),
        (["--policy", "first=bold"], "each. To play a seat yourself, add --seat and its name."),
    ],
)
def test_seats_and_policies_that_do_not_fit_are_wrong_use(
    play_seats: Play, arguments: list[str], complaint: str
) -> None:
    assert complaint in play_seats(KUHN, *arguments, status=2)


def test_a_seat_of_what_has_one_is_wrong_use(play_seats: Play) -> None:
    options = ("--seat", "0", "--policy", "bold")

    assert "Guess has one seat. Leave --seat out." in play_seats(
        "gem.testing.envs:Guess", *options, status=2
    )
