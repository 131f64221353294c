"""A branch leads to its parent, a parent to its branches, and a turn to the command."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem_eval import Evaluation
from gem_eval.viewing.runs import Run, open_runs

from .conftest import Client, episode, failed, turn
from .reading import words

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

from gem_eval.viewing.branches import can_be_made_again

MakeRun = Callable[..., Run]
Evaluate = Callable[..., Evaluation]
LONG = {"highest": 1000, "max_turns": 9}  # a game that nobody wins by chance


@pytest.fixture
def family(run: Evaluate, tmp_path: Path) -> Iterator[list[Run]]:
    """Return a run, and one that branches from its second episode at turn 4."""
    run(policies="random", env_kwargs=LONG, episodes=3)
    gem_eval.branch(tmp_path / "run", 2, "solver", turn=3, repeats=10, out=tmp_path / "branch")
    runs = open_runs([str(tmp_path / "run"), str(tmp_path / "branch")], None)
    for each in runs:
        each.refresh(budget_s=60)
    yield runs
    for each in runs:
        each.close()


def shown(runs: list[Run], path: str) -> str:
    answer = Client(*runs).get(path)
    assert answer.status_code == 200
    return answer.text


def side(text: str, id: str) -> str:
    return text.partition(f'id="{id}"')[2].partition("</section>")[0]


def test_a_child_leads_to_the_turn_of_its_parent(family: list[Run]) -> None:
    parent = side(shown(family, "/runs/branch/episodes/5"), "parent")

    assert '<a class="inline" href="/runs/run/episodes/2?turn=4#t4">' in parent
    assert "Turn 4 of episode 2 of run , played by random." in words(parent)


def test_a_parent_that_is_not_shown_is_named_without_a_link(
    family: list[Run], tmp_path: Path
) -> None:
    parent = side(shown(family[1:], "/runs/branch/episodes/5"), "parent")

    assert "href" not in parent
    assert f"line 2 of {tmp_path / 'run'}, which is not shown here" in words(parent)


def test_a_parent_lists_its_children_and_no_other_episode_does(family: list[Run]) -> None:
    children = side(shown(family, "/runs/run/episodes/2"), "children")

    assert "From turn 4 : 10 episodes in branch" in words(children)
    assert children.count('<a href="/runs/branch/episodes/') == 8
    assert side(shown(family, "/runs/run/episodes/1"), "children") == ""
    assert side(shown(family[:1], "/runs/run/episodes/2"), "children") == ""


def test_a_turn_has_the_command_that_plays_on_from_it(family: list[Run], tmp_path: Path) -> None:
    text = shown(family, "/runs/run/episodes/2?turn=3")

    command = html.unescape(side(text, "branch").partition("<code>")[2].partition("</code>")[0])
    assert command == f"gem-env branch {tmp_path / 'run'} 2 --turn 3 --policy random"
    assert 'data-last="9"' in text


def test_a_shell_takes_the_command_as_it_is_meant(make_run: MakeRun) -> None:
    run = make_run(episode(), policies=["openai:a b;rm@http://127.0.0.1:1/v1"])

    text = shown([run], "/runs/run/episodes/1")

    assert "--policy &#39;openai:a b;rm@http://127.0.0.1:1/v1&#39;</code>" in text


def test_what_cannot_be_made_again_has_no_command(make_run: MakeRun) -> None:
    run = make_run(
        episode(env_kwargs={"words": {"$opaque": "acme.Words"}}),
        episode(env_id="nobody:Has-v0", episode_index=1),
        failed(episode_index=2),
    )

    assert 'id="branch"' not in shown([run], "/runs/run/episodes/1")
    assert 'id="branch"' not in shown([run], "/runs/run/episodes/2")
    assert 'data-last="1"' in shown([run], "/runs/run/episodes/3")


@pytest.mark.parametrize(
    ("stop", "limit", "last"),
    [("truncated", None, 3), ("max_turns", None, 4), ("max_turns", 3, 3), ("env_error", None, 3)],
)
def test_a_turn_that_nobody_can_play_is_not_offered(
    make_run: MakeRun, stop: str, limit: int | None, last: int
) -> None:
    ended: Any = {"turns": (turn(),) * 3, "stop_reason": stop, "success": None}
    run = make_run(episode(**ended), max_turns=limit)

    assert f'data-last="{last}"' in shown([run], "/runs/run/episodes/1")


def test_a_record_of_another_kind_is_not_made_again() -> None:
    assert not can_be_made_again({"env_id": 5})
    assert not can_be_made_again({})
