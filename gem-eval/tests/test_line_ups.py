"""Evaluations of several seats: who sits where, on record and in the log."""

from __future__ import annotations

import json
import re
import signal
import textwrap
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Request
from gem.errors import GemError
from gem_eval import Evaluation, RunFolderError, SettingsError

KUHN = "gem.testing.envs:Kuhn"
SIGNS = "gem.testing.envs:Signs"


class Saying:
    """Answers the same each time, under a name."""

    def __init__(self, name: str, text: str = "\\boxed{bet}") -> None:
        self.name = name
        self.text = text

    def __call__(self, request: Request) -> str:
        return self.text


@pytest.fixture
def play(run: Callable[..., Evaluation]) -> Callable[..., Evaluation]:
    """Return a function that evaluates Kuhn poker into a folder, named by its first argument."""

    def evaluate(folder: str = "run", **options: Any) -> Evaluation:
        return run(folder, **{"envs": KUHN, "episodes": 4, **options})

    return evaluate


def sitting(evaluation: Evaluation) -> list[tuple[str, int, tuple[str, ...]]]:
    """Return the line-up, seed and policies by seat of each episode."""
    return [
        (episode.policy, episode.seed, tuple(seat.policy for seat in episode.seats))
        for episode in evaluation.episodes()
    ]


def test_pinned_policies_sit_where_they_are_named(play: Callable[..., Evaluation]) -> None:
    found = play(policies={"second": "random", "first": Saying("bold")})

    assert {(name, seats) for name, _, seats in sitting(found)} == {
        ("second=random + first=bold", ("bold", "random"))
    }


def test_rotating_policies_sit_at_each_seat_equally_often(play: Callable[..., Evaluation]) -> None:
    found = play(policies=[("random", Saying("bold"))])

    assert Counter(seats for _, _, seats in sitting(found)) == {
        ("random", "bold"): 2,
        ("bold", "random"): 2,
    }


def test_every_rotation_plays_each_seed_with_everybody_at_each_seat(
    play: Callable[..., Evaluation],
) -> None:
    bold = Saying("bold")
    pairs = [("random", bold), ("random", "noop"), (bold, "noop")]

    found = play(policies=pairs, every_rotation=True, episodes=3, repeats=2)

    played = Counter(sitting(found))
    assert set(played.values()) == {2}  # repeats sit alike
    assert len(played) == 3 * 3 * 2
    by_seed: dict[tuple[str, int], set[tuple[str, ...]]] = {}
    for name, seed, seats in played:
        by_seed.setdefault((name, seed), set()).add(seats)
    assert len({seed for _, seed in by_seed}) == 3
    for (name, _), seats_of_seed in by_seed.items():
        pair = tuple(name.split(" + "))
        assert seats_of_seed == {pair, pair[::-1]}


def test_three_seats_rotate_in_turn(run: Callable[..., Evaluation]) -> None:
    found = run(
        envs="gem.testing.envs:LastOne",
        policies=[("random", "random", "noop")],
        episodes=1,
        every_rotation=True,
    )

    assert sorted(seats.index("noop") for _, _, seats in sitting(found)) == [0, 1, 2]
    assert {name for name, _, _ in sitting(found)} == {"random + random + noop"}


def test_a_stopped_run_of_line_ups_goes_on_as_it_would_have(
    play: Callable[..., Evaluation],
    tmp_path: Path,
    fingerprints: Callable[[Path], dict[Any, str]],
) -> None:
    options: dict[str, Any] = {"every_rotation": True, "episodes": 6, "concurrency": 2}
    whole = play("whole", policies=[("random", Saying("bold"))], **options)

    class Stopping(Saying):
        left = 5

        def __call__(self, request: Request) -> str:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return self.text

    with pytest.raises(KeyboardInterrupt):
        play("stopped", policies=[("random", Stopping("bold"))], **options)
    path = tmp_path / "stopped"
    begun = (path / "episodes.jsonl").read_bytes()
    with pytest.raises(SettingsError, match="'bold' of this run was a live"):
        gem_eval.resume(path)
    again = gem_eval.resume(path, policies=[("random", Saying("bold"))])

    assert 0 < len(begun.splitlines()) < 12
    assert (path / "episodes.jsonl").read_bytes().startswith(begun)
    assert fingerprints(path) == fingerprints(whole.path)
    assert sorted(sitting(again)) == sorted(sitting(whole))


def test_more_episodes_extend_a_run_and_another_line_up_is_another_run(
    play: Callable[..., Evaluation], fingerprints: Callable[[Path], dict[Any, str]]
) -> None:
    pair = [("random", "noop")]
    short = play("short", policies=pair, episodes=2, every_rotation=True)
    longer = play("longer", policies=pair, episodes=5, every_rotation=True)

    gem_eval.resume(short.path, episodes=5, policies=pair)

    assert fingerprints(short.path) == fingerprints(longer.path)
    with pytest.raises(RunFolderError, match="policies is"):
        gem_eval.resume(short.path, policies=[("noop", "random")])
    with pytest.raises(RunFolderError, match="every_rotation is True there and None here"):
        gem_eval.resume(short.path, every_rotation=False)


def test_a_log_in_which_others_sat_does_not_go_on(play: Callable[..., Evaluation]) -> None:
    path = play(policies=[("random", "noop")], episodes=2).path
    log = path / "episodes.jsonl"
    log.write_text(log.read_text().replace('"policy":"noop"', '"policy":"bold"'))

    with pytest.raises(RunFolderError, match=r"who sat there is .*'bold'.* by its run\.json"):
        gem_eval.resume(path)


@pytest.mark.parametrize(
    ("policies", "complaint"),
    [
        ({"first": "noop"}, "has nobody for the seat 'second', and the seats of .* first, second"),
        ({"first": "noop", "third": "noop"}, "seat 'third', and .* Give a policy for each"),
        ({"First": "noop", "second": "noop"}, "for the seat 'First', .* Did you mean 'first'?"),
        ([("noop", "noop", "random")], "has 3 policies, and the seats"),
        ([("noop", 7)], "7 in it is no policy"),
        ([()], "it has no policy"),
        ([("noop", Saying("noop"))], "Two policies are called 'noop'"),
        ([("noop", Saying("bold")), ("random", Saying("bold"))], "Two policies are called 'bold'"),
    ],
)
def test_a_line_up_that_does_not_fit_is_refused_before_a_folder_is_made(
    play: Callable[..., Evaluation], tmp_path: Path, policies: Any, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        play(policies=policies)

    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"envs": "tiny:Guess"}, "is of several seats, and tiny:Guess has one"),
        ({"envs": [KUHN, SIGNS]}, "Evaluate environments of different seats apart"),
        ({"until": "decided", "policies": [("noop", "random"), "noop"]}, "each seat of a line-up"),
        ({"every_rotation": True, "policies": ["noop"]}, "'noop' does not rotate"),
        ({"envs": "tiny:Picky", "env_kwargs": {"size": 0}}, "tiny:Picky cannot be made"),
    ],
)
def test_settings_that_do_not_fit_line_ups_are_refused(
    play: Callable[..., Evaluation], given: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(GemError, match=complaint):
        play(**{"policies": [("noop", "random")], **given})


def test_nobody_branches_from_an_episode_of_several_seats(play: Callable[..., Evaluation]) -> None:
    found = play(policies="random", episodes=1)

    with pytest.raises(gem_eval.BranchError, match=r"Line 1 of .* has 2 seats"):
        gem_eval.branch(found.path, 1, "random", turn=1)


def test_a_line_up_does_not_play_on_from_an_episode_of_one_seat(
    run: Callable[..., Evaluation],
) -> None:
    found = run(policies="random", episodes=1)

    with pytest.raises(SettingsError, match="is of several seats, and a branch plays on for one"):
        gem_eval.branch(found.path, 1, [("random", "noop")], turn=0)


def test_arguments_of_policies_go_by_their_names_in_line_ups_too(
    play: Callable[..., Evaluation],
) -> None:
    found = play(policies=[("parrot:\\boxed{bet}", "noop")], policy_kwargs={"parrot": {"times": 2}})

    actions = {turn.action for episode in found.episodes() for turn in episode.turns}
    assert actions == {"\\boxed{bet}" * 2, ""}


def test_a_budget_counts_what_each_policy_of_a_line_up_asks(
    play: Callable[..., Evaluation],
) -> None:
    with pytest.raises(gem_eval.RunStopped, match="budget of 5 requests is spent") as stopped:
        play(policies=[("random", Saying("bold"))], episodes=20, max_requests=5)

    folder = Path(stopped.value.path)
    again = gem_eval.resume(folder, max_requests=1000, policies=[("random", Saying("bold"))])
    assert again.summary.episodes == 20


def test_line_ups_come_back_from_their_record(play: Callable[..., Evaluation]) -> None:
    found = play(policies=[("noop", "random"), {"first": "noop", "second": "random"}, "noop"])

    record = json.loads((found.path / "run.json").read_text())["settings"]["policies"]
    assert [one["name"] for one in record] == [
        "noop + random",
        "first=noop + second=random",
        "noop",
    ]
    opened = gem_eval.resume(found.path).settings
    assert opened.policies == found.settings.policies
    assert len({name for name, _, _ in sitting(found)}) == 3


@pytest.mark.slow
def test_line_ups_play_the_same_in_processes(
    play: Callable[..., Evaluation], fingerprints: Callable[[Path], dict[Any, str]]
) -> None:
    options: dict[str, Any] = {"policies": [("random", "noop")], "every_rotation": True}
    here = play("here", **options)
    there = play("there", **options, backend="process", num_workers=1)

    assert fingerprints(here.path) == fingerprints(there.path)
    assert sorted(sitting(here)) == sorted(sitting(there))
    for before, after in pairwise(sorted(there.episodes(), key=lambda each: each.episode_index)):
        assert before.seats != after.seats


DYING = """
    import os
    import signal

    calls = 0


    def bold(request):
        global calls
        calls += 1
        if calls == 9 and "DIES" in os.environ:
            os.kill(os.getpid(), signal.SIGKILL)
        return "\\\\boxed{bet}"
"""


@pytest.mark.slow
def test_a_killed_run_of_line_ups_goes_on_to_the_same_episodes(
    gem_env: Callable[..., Any], tmp_path: Path, fingerprints: Callable[[Path], dict[Any, str]]
) -> None:
    (tmp_path / "dying.py").write_text(textwrap.dedent(DYING))
    evaluation = ["eval", KUHN, "--policy", "random", "--policy", "scripted:./dying.py:bold"]
    evaluation += ["--rotate", "--every-rotation", "--episodes", "8", "--concurrency", "2"]

    killed = gem_env(*evaluation, "--out", "killed", DIES="1")
    begun = len((tmp_path / "killed" / "episodes.jsonl").read_bytes().splitlines())
    again = gem_env("eval", "--resume", "killed", "--json")
    whole = gem_env(*evaluation, "--out", "whole", "--json")
    verified = gem_env("replay", "killed", "--verify")

    assert killed.returncode == -signal.SIGKILL
    assert 0 < begun < 16
    assert (again.returncode, again.stderr) == (0, "")
    assert fingerprints(tmp_path / "killed") == fingerprints(tmp_path / "whole")
    seats = [json.loads(each.stdout)["seats"] for each in (again, whole)]
    assert seats[0] == seats[1]
    assert "16 the same, 0 different" in verified.stdout


LINE = (
    '{"env_id":"gem.testing.envs:Guess","env_kwargs":{},"wrappers":[],"env_index":0,'
    '"episode_index":0,"repeat":0,"seed":6854344302627926022,"task":null,"policy":"solver",'
    '"turns":[{"seat":0,"observation":"Guess a number from 1 to 15. Answer with a number inside '
    '\\\\boxed{}.","suffix":"Guess.","action":"\\\\boxed{8}","tool_calls":[],"tool_results":[],'
    '"reward":1.0,"reward_parts":{},"terminated":true,"truncated":false,"info":{"success":true},'
    '"step_s":0,"policy_s":0}],"final_observation":"Found.","total_reward":1.0,"terminated":true,'
    '"truncated":false,"stop_reason":"terminated","error":null,"success":true,"versions":{},'
    '"duration_s":0,"format":1}\n'
)
"""What this evaluation wrote before there were line-ups, without times and versions."""


def test_a_run_of_one_seat_is_written_as_it_was_before_there_were_line_ups(
    run: Callable[..., Evaluation],
) -> None:
    found = run(envs="gem.testing.envs:Guess", policies="solver", episodes=1)

    line = re.sub(r'("\w+_s"):[\d.e-]+', r"\1:0", found.folder.episodes_path.read_text())
    assert re.sub(r'("versions"):{[^}]*}', r"\1:{}", line) == LINE
    record = json.loads((found.path / "run.json").read_text())
    assert " ".join(record["settings"]) == (
        "envs policies policy_kwargs episodes tasks seed_range repeats seed until tolerance "
        "wrappers env_kwargs max_turns step_timeout_s concurrency backend num_workers "
        "backend_options policy_timeout_s episode_timeout_s policy_retries retry_wait_s "
        "wait_for_server_s max_refusals cache track max_requests max_total_tokens max_cost prices"
    )
    assert record["settings"]["policies"] == [{"name": "solver", "live": None}]
    assert " ".join(json.loads(found.folder.summary_path.read_text())) == (
        "format run episodes errors retried planned results counters decisions"
    )
