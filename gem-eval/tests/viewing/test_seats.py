"""Episodes of several seats: who sits where, rounds, what one seat saw, figures by seat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import gem
from gem.content import observation_text
from gem.testing.envs import Kuhn, Signs
from gem_eval.viewing import rows
from gem_eval.viewing.batches import read_batch

pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
from gem_eval.viewing.export import export
from gem_eval.viewing.rendering import fixed
from gem_eval.viewing.runs import Run

from .conftest import Client
from .reading import words

MakeRun = Callable[..., Run]
HOSTILE = "<script>window.hacked = 1</script> \\boxed{pass}"


def careful(request: gem.Request) -> str:
    return HOSTILE


def bold(request: gem.Request) -> str:
    return rf"Seat {request.seat} bets. \boxed{{bet}}"


def rock(request: gem.Request) -> str:
    return rf"\boxed{{rock}} of seat {request.seat}"


def fails(request: gem.Request) -> str:
    raise ConnectionError("the server of bold is gone")


def played(policies: Any, env: Any = Kuhn, episodes: int = 2, **changes: Any) -> list[gem.Episode]:
    """Play, and give the episodes to a policy of the run, as an evaluation does to a line-up."""
    found = gem.run(policies, env, episodes=episodes, seed=4)
    by_number = sorted(found, key=lambda episode: episode.episode_index)
    return [replace(episode, policy="solver", **changes) for episode in by_number]


def asked(run: Run, path: str = "") -> str:
    """Return the text of the page of a run's first episode, or of a path below the run."""
    answer = Client(run).get(f"/runs/{run.name}{path or '/episodes/1'}")
    assert answer.status_code == 200
    return answer.text


def test_a_page_says_who_sits_where_and_how_it_went_for_each(make_run: MakeRun) -> None:
    [first, _] = played([careful, bold])
    run = make_run(first)
    totals = [fixed(outcome.total_reward, 3) for outcome in first.seats]

    text = words(asked(run))

    assert f"first careful {totals[0]}" in text
    assert f"second bold {totals[1]}" in text
    assert f"first careful {totals[0]} terminated" in text  # in the table of seats
    assert "Turn 1 , first" in text
    assert "Turn 2 , second" in text


def test_the_view_of_a_seat_has_nothing_that_it_was_not_shown(make_run: MakeRun) -> None:
    [episode, _] = played([careful, bold])
    run = make_run(episode)
    second = episode.of_seat(1)
    hidden = [
        line
        for line in observation_text(episode.turns[0].observation).split("\n")
        if "card" in line
    ]

    text = asked(run, "/episodes/1?seat=second")

    assert hidden
    assert all(line not in words(text) for line in hidden)
    assert "Turn 1 , first" not in words(text)
    assert all(_first_line(turn.observation) in words(text) for turn in second.turns)
    assert "Seat 1 bets." in text
    assert second.final_observation is not None
    assert _first_line(second.final_observation) in words(text)


def _first_line(observation: gem.Observation) -> str:
    return observation_text(observation).split("\n")[0]


def test_the_view_of_a_seat_stays_on_the_way_to_the_next_episode(make_run: MakeRun) -> None:
    text = asked(make_run(*played([careful, bold])), "/episodes/1?seat=second")

    assert 'href="/runs/run/episodes/2?seat=second"' in text
    assert 'href="/runs/run/episodes/1?seat=first&amp;turn=1#t1"' in text


@pytest.mark.parametrize("word", ["nobody", "7", "-1", "<b>"])
def test_a_seat_that_there_is_not_is_no_filter(make_run: MakeRun, word: str) -> None:
    text = words(asked(make_run(*played([careful, bold])), f"/episodes/1?seat={word}"))

    assert "Turn 1 , first" in text
    assert "Turn 2 , second" in text


def test_answers_of_a_round_stand_side_by_side_and_the_others_do_not(make_run: MakeRun) -> None:
    together = asked(make_run(*played(rock, Signs)))
    in_turn = asked(make_run(*played([careful, bold]), name="in-turn"), "/episodes/1")

    assert together.count('<section class="round"') == 3
    assert "waiting_seats" not in together
    assert '<section class="round"' not in in_turn


def test_what_a_model_said_is_text(make_run: MakeRun) -> None:
    text = asked(make_run(*played([careful, bold])))

    assert "<script>window" not in text
    assert "&lt;script&gt;window" in text


def test_another_seats_view_does_not_say_why_a_policy_failed(make_run: MakeRun) -> None:
    run = make_run(*played([careful, fails], episodes=1))

    assert "the server of bold is gone" in asked(run)
    other = words(asked(run, "/episodes/1?seat=first"))
    assert "the server of bold is gone" not in other
    assert "a failure of the policy of second" in other


def test_a_list_and_the_figures_have_each_seat(make_run: MakeRun) -> None:
    episodes = played([careful, bold], episodes=4)
    run = make_run(*episodes)
    run.overview(is_fresh=True)

    text = words(asked(run, "?"))

    for episode in episodes:
        names = " ".join(f"{outcome.name} {outcome.policy}" for outcome in episode.seats)
        assert names in text
    assert "By seat" in text
    with run.index.reading() as db:
        row = rows.row_at(db, 2)
    assert row is not None
    assert [seat.policy for seat in row.seats] == ["bold", "careful"]
    assert [seat.total_return for seat in row.seats] == [
        outcome.total_reward for outcome in episodes[1].seats
    ]


def test_an_exported_run_has_the_seats_too(make_run: MakeRun, tmp_path: Any) -> None:
    path = tmp_path / "run.html"

    export(make_run(*played([careful, bold])), path, most_bytes=10_000_000)

    text = words(path.read_text(encoding="utf-8"))
    assert "Turn 2 , second" in text
    assert "first careful" in text


def test_credit_is_of_the_parts_at_which_the_same_policy_sat(make_run: MakeRun) -> None:
    episodes = played([careful, bold], episodes=4)
    run = make_run(*episodes)
    with run.index.reading() as db:
        row = rows.row_at(db, 1)
    assert row is not None

    batch = read_batch(run.folder.episodes_path, run.index, row, of_task=False, seat=row.seats[1])

    assert batch is not None
    parts = [episode.of_seat(1) for episode in episodes if episode.seats[1].policy == "bold"]
    assert [list(each.rewards) for each in batch.episodes] == [
        [turn.reward for turn in part.turns] for part in parts
    ]
    assert [each.succeeded for each in batch.episodes] == [part.success for part in parts]
    own = [number for number, turn in enumerate(episodes[0].turns, start=1) if turn.seat == 1]
    assert list(batch.numbers) == own


def test_the_page_of_tokens_asks_for_a_seat_before_it_shows_credit(make_run: MakeRun) -> None:
    run = make_run(*played([careful, bold]))

    assert "Each seat is trained for itself" in asked(run, "/episodes/1/tokens?by=adv")
    text = words(asked(run, "/episodes/1/tokens?by=adv&seat=second"))
    assert "Each seat is trained for itself" not in text
    assert "Turn 1 first" not in text
    assert "Turn 2 second" in text


def test_a_long_episode_has_returns_by_seat_on_each_of_its_pages(make_run: MakeRun) -> None:
    [episode, _] = played([careful, bold])
    turns = tuple(
        replace(episode.turns[0], seat=number % 2, rewards=(1.0, -0.5)) for number in range(120)
    )
    run = make_run(replace(episode, turns=turns))

    whole = words(asked(run, "/episodes/1?turn=60"))
    own = words(asked(run, "/episodes/1?turn=60&seat=second"))

    assert "51 first" in whole
    assert "+1 51.00" in whole  # the return of the first seat after turn 51
    assert "Turn 52 , second" in own
    assert "Turn 51 , first" not in own
