"""The list of a run in a real browser, where answers are late or fail, or overtake one another.

Needs what test_browser.py needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gem_eval.run_folder import RunFolder
from gem_eval.settings import settings_from

from .browsing import expect, new_context, new_page, served, started
from .conftest import episode, write

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

pytestmark = pytest.mark.slow

CHANGES_OF_THE_LIST = re.compile(r"/runs/run(\?.*)?$")
TYPED_THEN_CLEARED = """
    const field = document.querySelector("#q");
    field.value = "typed";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    document.querySelector("#clear").click();
"""
CLEARED_THEN_SENT = """
    const field = document.querySelector("#q");
    document.querySelector("#clear").click();
    field.value = "sent";
    field.form.requestSubmit();
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Iterator[str]:
    """Give the address of a run of three episodes."""
    runs = tmp_path_factory.mktemp("runs")
    settings = settings_from({"envs": "tiny:Guess", "policies": ["solver"]})
    folder = RunFolder.create(runs / "run", settings, ["gem-env", "eval"], total=3)
    write(folder.episodes_path, *(episode(episode_index=number) for number in range(3)))
    with served(site, runs / "cache", str(folder.path)) as found:
        yield f"{found}/runs/run"


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
        yield found


def held_requests(page: Page) -> list[Route]:
    """Let each further request for the list wait in what is returned until the test goes on."""
    held: list[Route] = []

    # A function of its own: playwright writes attributes on it.
    def hold(route: Route) -> None:
        held.append(route)

    page.route(CHANGES_OF_THE_LIST, hold)
    return held


def wait_until(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait for what the browser reports to this process; fail after ten seconds."""
    for _ in range(1000):
        if is_so():
            return
        page.wait_for_timeout(10)
    pytest.fail("the browser did not report it within ten seconds")


def test_a_filter_that_was_cleared_at_once_does_not_come_back(address: str, page: Page) -> None:
    page.goto(f"{address}?outcome=succeeded")
    held = held_requests(page)

    page.evaluate(TYPED_THEN_CLEARED)
    # A search that is typed is sent after 200 ms: this timer is behind that one.
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    asked = [route.request.url for route in held]
    for route in held:
        route.continue_()

    expect(page.locator("#count")).to_have_text("3 episodes")
    expect(page.locator("#q")).to_have_value("")
    assert len(asked) == 1


def test_an_answer_that_is_dropped_changes_no_field(address: str, page: Page) -> None:
    page.goto(f"{address}?outcome=succeeded")
    held = held_requests(page)

    page.evaluate(CLEARED_THEN_SENT)
    wait_until(page, lambda: len(held) == 2)
    cleared, sent = held
    with page.expect_response(cleared.request.url):
        cleared.continue_()
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    value = page.locator("#q").input_value()
    sent.continue_()

    expect(page.locator("#rows")).to_contain_text("No episode matches.")
    assert value == "sent"
    expect(page.locator("#q")).to_have_value("sent")
