"""Two episodes side by side, what differs of them alone, and the next flip of a list."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
import pytest

from gem_eval.viewing.runs import Run

from .conftest import Client, episode, failed, turn
from .reading import page, words

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

MakeRun = Callable[..., Run]


def said(*actions: str) -> dict[str, object]:
    return {"turns": tuple(turn(action=action) for action in actions)}


def turns_shown(text: str) -> list[int]:
    return [int(number) for number in re.findall(r'<th scope="row">Turn (\d+)</th>', text)]


@pytest.fixture
def pair(make_run: MakeRun) -> Run:
    """Return a run of two episodes of one task, the same in two of their three turns."""
    return make_run(
        episode(**said("a", "b", "c")),
        episode(policy="random", success=False, **said("a", "x", "c", "d")),
    )


def get(run: Run, path: str) -> httpx.Response:
    return Client(run).get(path)


def test_two_episodes_stand_side_by_side(pair: Run) -> None:
    text = get(pair, "/side-by-side?a=run:1&b=run:2").text

    assert "The same through turn 1, apart from turn 2 on." in text
    assert turns_shown(text) == [1, 2, 3, 4]
    assert "solver, Guess no. 0" in text
    assert "the same task" in text


def test_only_what_differs_is_an_address(pair: Run) -> None:
    text = get(pair, "/side-by-side?a=run:1&b=run:2&only=differs").text

    assert turns_shown(text) == [2, 4]
    assert "2 turns are the same, and left out." in text
    assert 'id="only" href="/side-by-side?a=run%3A1&amp;b=run%3A2&amp;turn=1"' in text


def test_only_what_differs_of_a_flip(pair: Run) -> None:
    every = get(pair, "/compare").text
    only = get(pair, "/compare?only=differs").text

    assert turns_shown(every) == [1, 2, 3, 4]
    assert turns_shown(only) == [2, 4]
    assert "only=differs" in every.partition('id="only"')[2].partition(">")[0]
    assert "only=differs" not in only.partition('id="only"')[2].partition(">")[0]
    assert '<input type="hidden" name="only" value="differs">' in only


def test_episodes_of_two_runs_and_two_tasks(make_run: MakeRun) -> None:
    one = make_run(episode(), name="one")
    other = make_run(failed(seed=5), name="other")

    text = Client(one, other).get("/side-by-side?a=one:1&b=other:1").text

    assert "two different tasks" in text
    assert "Error" in words(text)


def test_the_turns_of_long_episodes_come_in_blocks(make_run: MakeRun) -> None:
    run = make_run(
        episode(**said(*map(str, range(120)))),
        episode(policy="random", **said(*map(str, range(60)))),
    )

    second = get(run, "/side-by-side?a=run:1&b=run:2&turn=51").text
    third = get(run, "/side-by-side?a=run:1&b=run:2&turn=101").text

    assert turns_shown(second) == list(range(51, 101))
    assert "The same through turn 60, apart from turn 61 on." in second
    assert turns_shown(third) == list(range(101, 121))
    assert 'id="earlier"' in third
    assert 'id="later"' not in third


def test_two_marked_rows_are_an_address_without_a_script(pair: Run) -> None:
    assert '<input type="checkbox" name="mark" value="run:2" form="marks"' in page(pair)

    answer = get(pair, "/side-by-side?mark=run:1&mark=run:2")
    alone = get(pair, "/side-by-side?mark=run:1")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/side-by-side?a=run%3A1&b=run%3A2"
    assert alone.status_code == 404
    assert "1 episode marked, and two stand side by side." in alone.text


@pytest.mark.parametrize(
    "pair_asked",
    ["", "a=run:1", "a=run:1&b=<b>", "a=run:1&b=run:x", "a=run:1&b=run:9", "a=no:1&b=run:1"],
)
def test_what_is_no_episode_is_told(pair: Run, pair_asked: str) -> None:
    answer = get(pair, f"/side-by-side?{pair_asked}")

    assert answer.status_code == 404
    assert "<b>" not in answer.text


@pytest.fixture
def flips(make_run: MakeRun) -> Run:
    """Return a run of three tasks: the second came out the same for both policies."""
    outcomes = {0: (True, False), 1: (True, True), 2: (False, True)}
    return make_run(
        *(
            episode(episode_index=number, policy=policy, success=success)
            for number, both in outcomes.items()
            for policy, success in zip(["solver", "random"], both, strict=True)
        ),
        failed(episode_index=3),
        episode(episode_index=3, policy="random"),
    )


@pytest.mark.parametrize(
    ("line", "query", "leads_to"),
    [
        (1, "", "/runs/run/episodes/2?"),
        (2, "", "/runs/run/episodes/5?"),
        (6, "", "/runs/run/episodes/1?"),
        (1, "?policy=solver", "/runs/run/episodes/5?policy=solver"),
        (3, "?sort=-number", "/runs/run/episodes/1?sort=-number"),
        (3, "?env=9", "/runs/run/episodes/3?env=9&flip=none"),
        (5, "?outcome=failed&env=9", "/runs/run/episodes/5?outcome=failed&env=9&flip=none"),
    ],
)
def test_the_next_flip_is_of_the_filtered_list(
    flips: Run, line: int, query: str, leads_to: str
) -> None:
    answer = get(flips, f"/runs/run/episodes/{line}/next-flip{query}")

    assert answer.status_code == 303
    assert answer.headers["location"] == leads_to


def test_an_episode_has_the_link_where_others_played_its_task(flips: Run) -> None:
    text = get(flips, "/runs/run/episodes/1?outcome=failed").text

    assert 'id="flip" href="/runs/run/episodes/1/next-flip?outcome=failed"' in text
    none = get(flips, "/runs/run/episodes/1?flip=none").text
    assert "No other episode of the list came out differently." in none


def test_an_episode_that_nobody_else_played_has_no_next_flip(make_run: MakeRun) -> None:
    assert 'id="flip"' not in get(make_run(episode()), "/runs/run/episodes/1").text
