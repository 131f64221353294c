"""Leagues that are played: line-ups, folders, forfeits, resume, the command and its errors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem import Request
from gem.cli._main import main
from gem.errors import GemError
from gem_eval import League, LeagueError, RunFolderError, RunStopped
from gem_eval.line_ups import policy_refs

BEATS = {"rock": "scissors", "paper": "rock", "scissors": "paper"}


class Duel(gem.SeatedEnv):
    """Rock, paper, scissors, one round, one seat after the other; the second is not told."""

    seats = ("left", "right")
    zero_sum = True
    reward_range = (-1.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.choices: list[str] = []
        self.tell_all("Choose.")
        return self.begin(0)

    def step(self, action: str) -> gem.Step:
        self.choices.append(action)
        if len(self.choices) == 1:
            return self.ask(1)
        first, second = self.choices
        earned = 0.0 if first == second else 1.0 if BEATS.get(first) == second else -1.0
        self.tell_all(f"{first} met {second}.")
        return self.end([earned, -earned])

    def sample_action(self) -> str:
        return self.sample_rng.choice(list(BEATS))


class Race(gem.SeatedEnv):
    """Three say a number, and earn it."""

    seats = ("x", "y", "z")

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.tell_all("A number.")
        return self.begin(0, 1, 2)

    def step_all(self, actions: Any) -> gem.Step:
        return self.end({seat: float(text) for seat, text in actions.items()})


class Saying:
    """Answers the same each time, under the name of its answer."""

    def __init__(self, text: str) -> None:
        self.name = text
        self.text = text

    def __call__(self, request: Request) -> str:
        return self.text

    def probabilities(self, request: Request) -> dict[str, float]:
        return {self.text: 1.0}


class Failing:
    """Answers rock, and fails in every game at the right seat whose seed is even."""

    name = "failing"

    def __call__(self, request: Request) -> str:
        if request.seat == 1 and request.seed % 2:
            raise RuntimeError("out of luck")
        return "rock"


Play = Callable[..., League]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Return a function that plays a league of duels into a folder of its own."""

    def played(*policies: Any, name: str = "league", **options: Any) -> League:
        usual: dict[str, Any] = {"episodes": 10, "out": tmp_path / name}
        return gem_eval.league(Duel, policies, **{**usual, **options})

    return played


def test_all_pairs_play_every_seed_in_both_rotations(play: Play) -> None:
    found = play("random", Saying("rock"), "noop", episodes=3)

    games = Counter(
        (episode.seed, tuple(seat.policy for seat in episode.seats))
        for episode in found.evaluation.episodes()
    )
    assert len({seed for seed, _ in games}) == 3
    assert len(games) == 3 * 3 * 2
    assert set(games.values()) == {1}


def test_rock_paper_scissors_is_flagged_and_named(play: Play) -> None:
    found = play(Saying("rock"), Saying("paper"), Saying("scissors")).standings

    assert found.is_cyclic
    assert "rock takes 100% from scissors" in found.warning
    assert [standing.rank for standing in found.standings] == [1, 1, 1]


def test_every_game_of_a_league_is_replayed(play: Play) -> None:
    found = play("random", Saying("rock"))

    assert all(gem.replay(episode).state == "same" for episode in found.evaluation.episodes())


def test_the_record_says_that_it_is_a_league_and_that_of_others_does_not(
    play: Play, tmp_path: Path
) -> None:
    league = play("random", "noop", forfeits="lose", episodes=1)
    other = gem_eval.evaluate(Duel, "noop", episodes=1, out=tmp_path / "other")

    record = json.loads((league.path / "run.json").read_text())["league"]
    assert record == {"policies": ["random", "noop"], "is_sample": False, "forfeits": "lose"}
    assert "league" not in json.loads((other.path / "run.json").read_text())
    with pytest.raises(LeagueError, match="is an evaluation and no league"):
        gem_eval.standings(other.path)


def test_what_a_folder_says_is_what_the_league_returned(play: Play) -> None:
    found = play("random", Saying("rock"), "noop")

    assert gem_eval.standings(found.path) == found.standings


def test_a_policy_that_fails_forfeits_and_is_not_beaten_by_it(play: Play) -> None:
    apart = play(Failing(), Saying("rock")).standings
    lost = play(Failing(), Saying("rock"), name="lost", forfeits="lose").standings

    failing = next(each for each in apart.standings if each.policy == "failing")
    assert failing.forfeits == apart.forfeits > 0
    assert failing.record.losses == 0
    assert lost.standings[1].policy == "failing"
    assert lost.standings[1].record.losses == lost.forfeits > 0


def test_a_league_goes_on_where_it_was_left(play: Play, tmp_path: Path) -> None:
    whole = play(Saying("rock"), Saying("paper"), "random", name="whole")
    part = play(Saying("rock"), Saying("paper"), "random", name="part", episodes=4)
    log = part.path / "episodes.jsonl"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-5]))

    resumed = gem_eval.resume_league(
        part.path, policies=[Saying("rock"), Saying("paper"), "random"], episodes=10
    )

    assert resumed.standings == whole.standings


def test_a_league_that_is_not_over_has_standings_so_far(play: Play) -> None:
    found = play("random", "noop", Saying("rock"))
    log = found.path / "episodes.jsonl"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:7]))

    assert gem_eval.standings(found.path).games == 7


def test_more_than_two_seats_play_all_line_ups(tmp_path: Path) -> None:
    pytest.importorskip("openskill", reason="gem-eval's extra `league` is not installed")

    numbers = [Saying(str(number)) for number in range(4)]

    found = gem_eval.league(Race, numbers, episodes=2, out=tmp_path / "race")

    assert [standing.policy for standing in found.standings.standings] == ["3", "2", "1", "0"]
    assert found.standings.games == 4 * 3 * 2
    assert found.evaluation.summary.planned == 24
    with pytest.raises(LeagueError, match=r"3 seats .* and 2 policies"):
        gem_eval.league(Race, numbers[:2])
    with pytest.raises(LeagueError, match="do not all have a seat"):
        gem_eval.league(Race, numbers, line_ups=1)


def test_a_sampled_league_goes_on_with_the_line_ups_that_it_began_with(tmp_path: Path) -> None:
    pytest.importorskip("openskill", reason="gem-eval's extra `league` is not installed")
    numbers = [Saying(str(number)) for number in range(6)]
    path = gem_eval.league(Race, numbers, line_ups=2, episodes=1, out=tmp_path / "race").path
    begun_with = ["0 + 1 + 2", "3 + 4 + 5"]  # as a version may have drawn that draws otherwise
    record = json.loads((path / "run.json").read_text())
    assert [ref["name"] for ref in record["settings"]["policies"]] != begun_with
    live = {member.name: member.live for member in policy_refs(numbers)}
    record["settings"]["policies"] = [
        {
            "name": name,
            "policies": [{"name": each, "live": live[each]} for each in name.split(" + ")],
        }
        for name in begun_with
    ]
    (path / "run.json").write_text(json.dumps(record))
    (path / "episodes.jsonl").unlink()

    resumed = gem_eval.resume_league(path, policies=numbers[::-1])

    assert {episode.policy for episode in resumed.evaluation.episodes()} == set(begun_with)


def test_a_league_does_not_go_on_with_other_policies(play: Play) -> None:
    path = play(Saying("rock"), Saying("paper"), episodes=1).path

    with pytest.raises(RunFolderError, match="it is of rock, paper, and rock, scissors were given"):
        gem_eval.resume_league(path, policies=[Saying("rock"), Saying("scissors")])


@pytest.mark.slow
def test_a_plot_of_a_league_has_its_policies_and_is_the_same_each_time(
    play: Play, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="gem-eval's extra `plot` is not installed")
    found = play(Saying("rock"), Saying("paper"), Saying("scissors"))

    first = gem_eval.plot(found.path, tmp_path / "first.svg").read_bytes()
    second = gem_eval.plot(found.path, tmp_path / "second.svg").read_bytes()

    assert first == second
    assert b"scissors" in first
    assert b"One number cannot rank" in first


def test_an_environment_may_compute_how_far_from_an_equilibrium_a_policy_is(
    tmp_path: Path,
) -> None:
    class Measured(Duel):
        def exploitability(self, policy: Any) -> float:
            chances: dict[str, float] = policy(Request())
            return 1.0 - min(chances.get(sign, 0.0) for sign in BEATS)

    found = gem_eval.league(
        Measured, [Saying("rock"), "random"], episodes=2, out=tmp_path / "league"
    ).standings

    by_policy = {each.policy: each for each in found.standings}
    assert by_policy["rock"].exploitability == 1.0
    assert by_policy["random"].exploitability is None
    assert "does not tell the chances" in by_policy["random"].no_exploitability


def test_an_environment_may_say_it_of_what_it_draws_and_of_its_solution(tmp_path: Path) -> None:
    class Hinting(Duel):
        def hint_exploitability(self, method: str) -> float:
            if method == "solve":
                raise ValueError("It has no solution.")
            return 0.25

    found = gem_eval.league(
        Hinting, ["random", "solver", Saying("rock")], episodes=2, out=tmp_path / "league"
    ).standings

    by_policy = {each.policy: each for each in found.standings}
    assert by_policy["random"].exploitability == 0.25
    assert by_policy["solver"].no_exploitability == "ValueError: It has no solution."
    assert by_policy["rock"].no_exploitability == "The environment computes none."


@pytest.mark.parametrize(
    ("policies", "options", "why"),
    [
        (["random"], {}, "needs two policies or more, and one policy was given"),
        ([], {}, "needs two policies or more, and none was given"),
        (["noop", "noop"], {}, "'noop' was given twice"),
        (["first=noop", "random"], {}, "'first=noop' names a seat, .* Give 'noop' alone"),
        (["noop", ("noop", "random")], {}, "makes the line-ups itself"),
        (["noop", "random"], {"forfeits": "win"}, "counted 'apart', or they 'lose'"),
        (["noop", "random"], {"until": "decided"}, "until was given"),
        (["noop", "random"], {"line_ups": 0}, "plays one at least"),
        (["noop", "nobody"], {}, "policy 'nobody'"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(
    play: Play, tmp_path: Path, policies: list[Any], options: dict[str, Any], why: str
) -> None:
    with pytest.raises(GemError, match=why) as refused:
        play(*policies, **options)

    assert "\n" not in str(refused.value)
    assert not (tmp_path / "league").exists()


def test_a_single_seat_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LeagueError, match="has one seat, and nobody to play against"):
        gem_eval.league("gem.testing.envs:Guess", ["noop", "random"], out=tmp_path / "league")


COMMAND = ["league", "gem.testing.envs:Kuhn", "--policy", "random", "--policy", "noop"]


def test_the_command_prints_a_ranking_the_matrix_and_what_is_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "league")

    assert main([*COMMAND, "--episodes", "5", "--out", out]) == 0

    printed = capsys.readouterr().out
    assert "rank  policy" in printed
    assert "Points of the row against the column" in printed
    assert f"Next: gem-env view {out}" in printed


def test_report_and_resume_show_the_same_standings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "league")
    main([*COMMAND, "--episodes", "5", "--out", out, "--json"])
    played = json.loads(capsys.readouterr().out)

    assert main(["league", "--resume", out, "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert main(["report", out, "--json"]) == 0
    [reported] = json.loads(capsys.readouterr().out)
    assert main(["report", out]) == 0
    table = capsys.readouterr().out

    assert played.pop("run") == resumed.pop("run") == out
    assert played == resumed == reported["league"]
    assert "Points of the row against the column" in table


def test_an_evaluation_is_not_resumed_as_a_league(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = gem_eval.evaluate(Duel, "noop", episodes=1, out=tmp_path / "run")

    assert main(["league", "--resume", str(run.path)]) == 2
    assert "is an evaluation and no league" in capsys.readouterr().err


def test_a_league_that_stopped_says_how_to_go_on_with_it(play: Play) -> None:
    with pytest.raises(RunStopped, match="gem-env league --resume"):
        play(Saying("rock"), Saying("paper"), max_requests=3)
