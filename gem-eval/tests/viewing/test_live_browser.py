"""Pages in a real browser whose run or training goes on, some after they were quiet or had ended.

Needs what test_browser.py needs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import training_folders
from .browsing import expect, rows, served
from .conftest import episode, failed, write, write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.slow

WAITS_ARE_SHORT = """
    const later = window.setTimeout;
    window.setTimeout = (act, wait) => later(act, wait / 50);
"""
FIGURES = 'data-part="figures">'


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write runs that go on, one that has ended, and trainings that go on."""
    folder = tmp_path_factory.mktemp("runs")
    episodes = [episode(episode_index=number) for number in range(3)]
    for name, total in (("slow", 100), ("steady", 100), ("ended", 3), ("replaced", 3)):
        write_run(folder / name, *episodes, total=total)
    for name in ("training", "curves"):
        training_folders.made(folder / name, updates=100)
    return folder


@pytest.fixture(scope="module")
def address(runs: Path, site: Path) -> Iterator[str]:
    names = ("slow", "steady", "ended", "replaced", "training", "curves")
    with served(site, runs / "cache", *(str(runs / name) for name in names)) as found:
        yield found


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    """Give a page that waits a fiftieth of what it would before it asks again."""
    page.add_init_script(WAITS_ARE_SHORT)
    yield page
    # Or an answer to a page that is closed would be an error.
    page.unroute_all(behavior="wait")


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
    page.goto(f"{address}/trainings?of=training")
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


def test_the_page_of_a_run_that_was_replaced_is_loaded_again(
    runs: Path, address: str, page: Page, tmp_path: Path
) -> None:
    page.goto(f"{address}/runs/replaced")
    expect(page.locator("#list").get_by_role("img", name="succeeded")).to_have_count(3)

    again = [failed(episode_index=number) for number in range(3)]
    other = write_run(tmp_path / "other", *again, total=3)
    shutil.rmtree(runs / "replaced")
    other.path.rename(runs / "replaced")

    expect(page.locator("#errors")).to_contain_text("server answered 503")
    expect(page.locator("#list").get_by_role("img", name="error")).to_have_count(3)


def test_a_run_that_goes_on_shows_new_episodes_when_asked(
    runs: Path, address: str, page: Page
) -> None:
    log = runs / "steady" / "episodes.jsonl"
    os.utime(log)  # a log that was written a minute ago is of a run that has stopped
    page.goto(f"{address}/runs/steady")
    expect(page.locator("#live")).to_be_visible()
    before = rows(page)

    write(log, *(failed(episode_index=number) for number in (3, 4)))

    expect(page.locator("#fresh")).to_contain_text("Show 2 new episodes")
    expect(page.locator("#errors")).to_contain_text("server answered 503")
    expect(page.locator("#live")).to_contain_text("5 of 100 episodes")
    assert rows(page) == before
    page.get_by_role("group", name="Outcome").get_by_role("checkbox", name="error").check()
    expect(page.locator("#rows")).to_contain_text("No episode matches.")
    page.keyboard.press("r")
    expect(page.locator("#list tbody tr")).to_have_count(2)
    expect(page.locator("#fresh-line")).to_be_hidden()


def test_a_training_that_goes_on_redraws_its_curves_and_keeps_the_cursor(
    runs: Path, address: str, page: Page
) -> None:
    metrics = runs / "curves" / "metrics.jsonl"
    os.utime(metrics)
    page.goto(f"{address}/trainings?of=curves&figure=turns&figure=reward")
    turns = page.locator(".curve .read").first
    expect(turns).to_have_text("3.000")
    page.keyboard.press("h")
    expect(page.locator("#now")).to_have_text("4")

    training_folders.append(metrics, training_folders.metrics(5, turns=9.0))

    expect(page.locator("#live")).to_contain_text("5 of 100 updates")
    expect(page.locator("#now")).to_have_text("5")
    expect(turns).to_have_text("9.000")
    expect(page.locator(".cursor[visibility=visible]")).to_have_count(2)
