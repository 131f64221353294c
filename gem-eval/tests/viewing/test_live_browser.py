"""Pages in a real browser whose run or training was quiet, or had ended, and goes on.

Needs what test_browser.py needs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gem_eval.run_folder import RunFolder
from gem_eval.settings import settings_from

from . import training_folders
from .browsing import expect, new_context, new_page, served, started
from .conftest import episode, write

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

pytestmark = pytest.mark.slow

WAITS_ARE_SHORT = """
    const later = window.setTimeout;
    window.setTimeout = (act, wait) => later(act, wait / 50);
"""
FIGURES = 'data-part="figures">'


def made(folder: Path, total: int) -> Path:
    """Write a run of three episodes of so many."""
    settings = settings_from({"envs": "tiny:Guess", "policies": ["solver"]})
    RunFolder.create(folder, settings, ["gem-env", "eval"], total=total)
    write(folder / "episodes.jsonl", *(episode(episode_index=number) for number in range(3)))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a run that goes on, one that has ended, and a training that goes on."""
    folder = tmp_path_factory.mktemp("runs")
    made(folder / "slow", total=100)
    made(folder / "ended", total=3)
    training_folders.made(folder / "training", updates=100)
    return folder


@pytest.fixture(scope="module")
def address(runs: Path, site: Path) -> Iterator[str]:
    names = ("slow", "ended", "training")
    with served(site, runs / "cache", *(str(runs / name) for name in names)) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with new_context(browser) as found:
        yield found


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    with new_page(context) as found:
        found.add_init_script(WAITS_ARE_SHORT)
        yield found
        # Or an answer to a page that is closed would be an error.
        found.unroute_all(behavior="wait")


def test_a_run_that_was_quiet_is_followed_on(runs: Path, address: str, page: Page) -> None:
    log = runs / "slow" / "episodes.jsonl"
    os.utime(log, (0, 0))  # it seems to have stopped: its next episode takes long
    page.goto(f"{address}/runs/slow")
    expect(page.locator("#state")).to_contain_text("Not finished.")

    write(log, *(episode(episode_index=number) for number in (3, 4)))

    expect(page.locator("#live")).to_contain_text("5 of 100 episodes")
    expect(page.locator("#fresh")).to_contain_text("Show 2 new episodes")


def test_a_training_that_was_quiet_is_followed_on(runs: Path, address: str, page: Page) -> None:
    metrics = runs / "training" / "metrics.jsonl"
    os.utime(metrics, (0, 0))
    page.goto(f"{address}/trainings")
    expect(page.locator("#state")).to_contain_text("Not finished.")

    training_folders.append(metrics, training_folders.metrics(5))

    expect(page.locator("#live")).to_contain_text("5 of 100 updates")


def test_figures_that_come_after_the_end_are_shown(address: str, page: Page) -> None:
    known = page.request.get(f"{address}/runs/ended/live").json()
    before, mark, after = page.request.get(f"{address}/runs/ended").text().partition(FIGURES)
    page.goto(f"{address}/runs/ended")
    expect(page.locator("#state")).to_contain_text("Finished.")

    def answer(route: Route) -> None:
        if route.request.url.endswith("/live"):
            route.fulfill(json={**known, "state": "finished", "figures": known["figures"] + 1})
        else:
            body = f"{before}{mark}Those of all episodes.{after}"
            route.fulfill(content_type="text/html; charset=utf-8", body=body)

    page.route("**/runs/ended*", answer)
    page.route("**/runs/ended/live", answer)

    expect(page.locator("#figures")).to_contain_text("Those of all episodes.")
