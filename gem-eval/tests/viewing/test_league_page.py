"""The page of a league: the ranking, the warning, who beats whom, and the way to the games."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Request

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
from gem_eval.viewing.pages import run_page
from gem_eval.viewing.query import Query
from gem_eval.viewing.runs import Run, open_runs

SIGNS = "gem.testing.envs:Signs"
Show = Callable[..., Run]


class Choosing:
    """Chooses the same sign in every round."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, request: Request) -> str:
        return self.name


@pytest.fixture
def show(tmp_path: Path) -> Iterator[Show]:
    """Return a function that plays a league and opens it for a viewer."""
    opened: list[Run] = []

    def played(*policies: Any, **options: Any) -> Run:
        found = gem_eval.league(SIGNS, policies, out=tmp_path / "league", **options)
        [run] = open_runs([found.path], None)
        opened.append(run)
        run.refresh(60)
        return run

    yield played
    for run in opened:
        run.close()


def page(run: Run) -> str:
    return run_page(run, Query.read([]))


def test_the_page_of_a_league_begins_with_its_standings(show: Show) -> None:
    run = show(Choosing("rock"), Choosing("paper"), episodes=3)

    text = page(run)

    table = text.partition('aria-label="Table of standings"')[2].partition("</table>")[0]
    assert re.findall(r'<th scope="row" title="(\w+)">', table) == ["paper", "rock"]
    assert text.index("standings-title") < text.index("results-title")


def test_a_circle_is_a_warning_above_the_table(show: Show) -> None:
    run = show(*map(Choosing, ("rock", "paper", "scissors")), episodes=10)

    text = page(run)

    warning = text.partition('<div class="callout bad">')[2].partition("</div>")[0]
    assert "One number cannot rank these policies:" in warning
    assert "paper takes 100% from rock" in warning


def test_a_cell_leads_to_the_games_of_its_two(show: Show) -> None:
    run = show(*map(Choosing, ("rock", "paper", "scissors")), episodes=2)

    matrix = page(run).partition('aria-label="Table of who beats whom"')[2].partition("</table>")[0]

    [link] = set(re.findall(r'href="([^"]*rock\+%2B\+paper[^"]*)"', matrix))
    query = Query.read([("policy", "rock + paper")])
    assert link == f"{query.address()}#episodes"


def test_any_other_run_has_no_standings(tmp_path: Path) -> None:
    found = gem_eval.evaluate(SIGNS, "random", episodes=2, out=tmp_path / "run")
    [run] = open_runs([found.path], None)
    run.refresh(60)

    assert "standings-title" not in page(run)
    run.close()


def test_a_league_that_goes_on_shows_its_standings_so_far(show: Show) -> None:
    run = show(Choosing("rock"), Choosing("paper"), episodes=4)
    log = run.folder.episodes_path
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:3]))
    [again] = open_runs([run.folder.path], None)
    again.refresh(60)

    assert "3 games of" in page(again)
    again.close()
