"""Figures by seat: in the summary, the report, comparisons, findings, previews and trackers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Message, Reply, Request
from gem.conversation import Usage
from gem_eval import CompareError, Evaluation
from gem_eval.budgets import Amount
from gem_eval.reading import read_summary
from gem_eval.seat_results import SeatResult
from gem_eval.tracking.figures import figures_of

KUHN = "gem.testing.envs:Kuhn"
SIGNS = "gem.testing.envs:Signs"
LOOPING = "rock again, for rock is strong and rock is what I say"


class Counted:
    """Answers the same with a usage, and fails where it may answer no more."""

    asks_model = True

    def __init__(self, name: str, text: str, *, answers: int = 10**9) -> None:
        self.name = name
        self.text = text
        self.left = answers

    def __call__(self, request: Request) -> Reply:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("out of words")
        return Reply(Message("assistant", self.text), usage=Usage(10, 2))


@pytest.fixture
def play(run: Callable[..., Evaluation]) -> Callable[..., Evaluation]:
    """Return a function that evaluates rock, paper, scissors into a folder."""

    def evaluate(folder: str = "run", **options: Any) -> Evaluation:
        return run(folder, **{"envs": SIGNS, "episodes": 4, **options})

    return evaluate


def figures(found: Evaluation) -> dict[tuple[str | None, str], SeatResult]:
    return {(result.seat, result.policy): result for result in found.summary.seats}


ROCK = Counted("rocky", "rock")
PAPER = Counted("papery", "paper")


def test_each_seat_has_the_figures_of_who_sat_there(play: Callable[..., Evaluation]) -> None:
    found = play(
        policies={"right": ROCK, "left": PAPER},
        prices={"rocky": {"prompt": 1e6, "completion": 1e6}},
    )

    by_seat = figures(found)
    assert list(by_seat) == [("left", "papery"), ("right", "rocky")]
    assert [result.success_rate for result in by_seat.values()] == [1.0, 0.0]
    assert [result.mean_return for result in by_seat.values()] == [3.0, -3.0]
    rocky = by_seat["right", "rocky"]
    assert rocky.tokens is not None
    assert (rocky.episodes, rocky.tokens.prompt, rocky.mean_turns) == (4, 4 * 3 * 10, 3.0)
    assert (rocky.cost, by_seat["left", "papery"].cost) == (4 * 3 * 12.0, None)
    [result] = found.summary.results
    assert (result.success_rate, result.mean_return, result.cost) == (0.0, 0.0, rocky.cost)


def test_a_policy_that_rotates_has_the_figures_of_all_its_seats_too(
    play: Callable[..., Evaluation],
) -> None:
    found = play(policies=[("random", PAPER)], every_rotation=True)

    papery = {
        seat: result for (seat, policy), result in figures(found).items() if policy != "random"
    }
    assert {seat: result.episodes for seat, result in papery.items()} == {
        None: 8,
        "left": 4,
        "right": 4,
    }
    together = papery[None].mean_return
    apart = [papery[seat].mean_return for seat in ("left", "right")]
    assert together == pytest.approx(sum(filter(None, apart)) / 2)


def test_rotations_of_a_seed_are_alike_to_an_interval(play: Callable[..., Evaluation]) -> None:
    once = play("once", policies={"left": PAPER, "right": ROCK}, episodes=4)
    twice = play("twice", policies=[(PAPER, ROCK)], episodes=4, every_rotation=True)

    alone = figures(once)["left", "papery"]
    both = figures(twice)[None, "papery"]
    assert (alone.episodes, both.episodes) == (4, 8)
    assert alone.success_rate_ci95 == both.success_rate_ci95


def test_a_forfeit_counts_for_the_seat_whose_policy_failed(play: Callable[..., Evaluation]) -> None:
    failing = Counted("failing", "rock", answers=7)

    found = play(policies={"left": failing, "right": "random"}, concurrency=1)

    by_seat = figures(found)
    left = by_seat["left", "failing"]
    right = by_seat["right", "random"]
    assert (left.episodes, left.errors, left.forfeits) == (4, 2, 2)
    assert (right.episodes, right.errors, right.forfeits) == (4, 2, 0)
    assert left.mean_turns == 3.0  # of those that no error ended


def test_a_table_has_a_row_for_each_seat_of_an_episode(play: Callable[..., Evaluation]) -> None:
    pytest.importorskip("pandas", reason="gem-eval's extra `pandas` is not installed")
    failing = Counted("failing", "rock", answers=7)

    found = play(policies={"left": failing, "right": "random"}, concurrency=1)

    assert len(found.summary.seats_to_pandas()) == 2
    frame = found.to_pandas()
    assert list(frame["is_forfeit"]) == [False] * 4 + [True, False] * 2
    assert set(frame["line_up"]) == {"left=failing + right=random"}
    assert list(frame["policy"]) == ["failing", "random"] * 4


def test_self_play_says_of_each_seat_what_all_of_them_hide(play: Callable[..., Evaluation]) -> None:
    found = play(policies=PAPER)

    assert found.summary.results[0].policy == "papery"
    assert [(result.seat, result.line_up) for result in found.summary.seats] == [
        ("left", "papery"),
        ("right", "papery"),
    ]


@pytest.mark.slow
def test_a_report_has_a_row_for_each_line_up_and_seat(
    play: Callable[..., Evaluation], gem_env: Callable[..., Any]
) -> None:
    found = play(policies=[("random", "noop"), {"left": "noop", "right": "random"}])

    shown = gem_env("report", str(found.path), COLUMNS="200").stdout
    as_json = json.loads(gem_env("report", str(found.path), "--json").stdout)

    rows = [line.split()[:6] for line in shown.splitlines() if " left " in f"{line} "]
    assert ["random", "+", "noop", "left", "random", "2"] in rows
    assert ["left=noop", "+", "right=random", "left", "noop", "4"] in rows
    assert "A forfeit is an episode that the seat's own policy ended" in shown
    summary = read_summary(found.folder)
    assert as_json[0]["seats"] == [result.model_dump(mode="json") for result in summary.seats]
    assert summary.seats == found.summary.seats


def test_policies_compare_at_the_same_seats_of_the_same_seeds(
    play: Callable[..., Evaluation],
) -> None:
    options: dict[str, Any] = {"every_rotation": True, "episodes": 12}
    found = play(policies=[("random", PAPER)], **options)

    compared = gem_eval.compare(found.path, metric="return")
    left = gem_eval.compare(found.path, metric="return", seat="left")

    assert [side.name for side in compared.sides] == ["random", "papery"]
    assert compared.differences[0].over_all.tasks == 24
    assert left.differences[0].over_all.tasks == 12
    assert {flip.seat for flip in left.differences[0].flips} <= {"left"}


def test_who_sat_elsewhere_is_left_out_of_a_comparison(play: Callable[..., Evaluation]) -> None:
    rock = play("rock", policies={"left": ROCK, "right": "random"}, episodes=10).path
    paper = play("paper", policies={"left": PAPER, "right": "random"}, episodes=10).path

    compared = gem_eval.compare([rock, paper])

    assert len(compared.sides) == 2
    assert len(compared.elsewhere) == 2
    at_right = gem_eval.compare([rock, paper], seat="right")
    assert [side.policy for side in at_right.sides] == ["random", "random"]
    assert at_right.elsewhere == ()
    assert at_right.differences[0].caveats == (
        f"{rock} played with rocky, and {paper} with papery",
    )
    assert compared.differences[0].caveats == ()
    with pytest.raises(CompareError, match="Nobody sat at 'middle'"):
        gem_eval.compare([rock, paper], seat="middle")
    with pytest.raises(CompareError, match="and no other policy of these runs did"):
        gem_eval.compare(rock)


def test_a_policy_that_stays_at_two_seats_is_compared_at_each(
    play: Callable[..., Evaluation],
) -> None:
    itself = play("itself", policies={"left": "random", "right": "random"}, episodes=10).path
    paper = play("paper", policies={"left": PAPER, "right": "random"}, episodes=10).path

    compared = gem_eval.compare([itself, paper], metric="return")

    # At the left random meets paper, and at the right nobody is compared with it.
    [difference] = compared.differences
    assert difference.over_all.tasks == 10
    assert difference.unpaired == ()
    assert len(compared.elsewhere) == 2
    with pytest.raises(CompareError, match="and no other policy of these runs did"):
        gem_eval.compare(itself)


def test_findings_are_of_the_seat_that_was_odd(play: Callable[..., Evaluation]) -> None:
    silent = Counted("silent", "")
    found = play(policies={"left": "random", "right": silent})

    report = gem_eval.find(found.path, finders=["hollow_answer"])

    shares = {share.policy: (share.found, share.episodes) for share in report.shares}
    assert shares == {"random": (0, 4), "silent": (4, 4)}
    assert (report.episodes, report.with_findings) == (4, 4)
    episode = next(iter(found.episodes()))
    for finding in gem_eval.findings(episode, finders=["hollow_answer"]):
        assert finding.turn is not None
        assert episode.turns[finding.turn].seat == 1
        assert finding.evidence.startswith("at the seat right, by its own turns: ")
    assert gem_eval.find(found.path, policies=["random"]).episodes == 4


@pytest.mark.slow
def test_a_dry_run_shows_what_each_seat_is_asked(gem_env: Callable[..., Any]) -> None:
    address = "http://127.0.0.1:9/v1"
    done = gem_env(
        *("eval", KUHN, "--policy", "first=random", "--policy", f"second=openai:m@{address}"),
        *("--max-turns", "4", "--episodes", "5", "--dry-run", "--json"),
    )

    preview = json.loads(done.stdout)
    prompts = preview["environments"][0]["prompts"]
    assert list(prompts) == ["first", "second"]
    for seat, prompt in prompts.items():
        assert f"You are {seat}." in prompt["messages"][0]["content"]
    asked = {each["policy"].partition(":")[0]: each["requests"] for each in preview["forecasts"]}
    assert asked == {"random": None, "openai": 5 * 4 // 2}
    assert {each["line_up"] for each in preview["forecasts"]} == {
        f"first=random + second=openai:m@{address}"
    }


def test_a_tracker_is_told_the_figures_of_each_seat(play: Callable[..., Evaluation]) -> None:
    found = play(policies={"left": PAPER, "right": ROCK})

    told = figures_of(found.summary, Amount())

    names = [name for name, value in told.items() if "left/papery" in name and value == 1.0]
    assert "gem.testing.envs_Signs/left_papery_right_rocky/left/papery/success_rate" in names


def test_a_policy_hears_how_its_own_seat_ended(play: Callable[..., Evaluation]) -> None:
    class Hearing(Counted):
        heard: list[float]

        def end(self, episode: Any) -> None:
            self.heard.append(episode.total_reward)

    hearing = Hearing("hearing", "paper")
    hearing.heard = []

    play(policies={"left": hearing, "right": ROCK})

    assert hearing.heard == [3.0] * 4


def test_tokens_of_an_opponent_are_not_counted_as_a_policys_own(
    play: Callable[..., Evaluation],
) -> None:
    found = play(policies=[("random", PAPER)], episodes=2, max_total_tokens=10**6)

    tokens = figures(found)[None, "papery"].tokens
    assert tokens is not None
    assert tokens.prompt == 2 * 3 * 10
    assert figures(found)[None, "random"].tokens is None


def test_what_was_spent_by_each_is_counted_when_a_run_goes_on(
    play: Callable[..., Evaluation], tmp_path: Path
) -> None:
    with pytest.raises(gem_eval.RunStopped, match="budget of 9 requests is spent"):
        play(policies=[("random", PAPER)], episodes=6, max_requests=9, concurrency=1)

    folder = tmp_path / "run"
    with pytest.raises(gem_eval.RunStopped, match=r"budget of 12 requests is spent.*: 12 by now"):
        gem_eval.resume(folder, max_requests=12, policies=[("random", PAPER)])
    done = gem_eval.resume(folder, max_requests=100, policies=[("random", PAPER)])
    assert done.summary.episodes == 6
