"""The list of a run in a real browser, where answers are late or fail, or overtake one another.

Needs what test_browser.py needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gem_eval.variants import varied

from .browsing import expect, served
from .conftest import episode, write_run

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route

pytestmark = pytest.mark.slow

CHANGES_OF_THE_LIST = re.compile(r"/runs/run(\?.*)?$")
WAITS_ARE_SHORT = """
    const later = window.setTimeout;
    window.setTimeout = (act, wait) => later(act, wait / 50);
"""
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
    """Give the address of a run of three episodes, beside which one is varied."""
    runs = tmp_path_factory.mktemp("runs")
    episodes = [episode(episode_index=number) for number in range(3)]
    run = write_run(runs / "run", *episodes, total=3, policies=["solver"])
    options = varied(
        {"envs": ["tiny:Guess"], "vary": {"max_turns": [1_000_000_001, 1_000_000_002]}}
    )
    each = [episode(env_index=0), episode(env_index=1)]
    other = write_run(runs / "varied", *each, total=2, **{**options, "policies": ["solver"]})
    with served(site, runs / "cache", str(run.path), str(other.path)) as found:
        yield f"{found}/runs/run"


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


class Searching:
    """A list in a page whose answers, numbered, say that a search is not through.

    The next `failures` ones fail. The answers end with the `with` block.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.failures = 0
        self._page = page
        self._address = f"{address}?outcome=succeeded"
        self._number = 0
        answer = page.request.get(self._address)
        self._before, self._mark, self._after = answer.text().partition(
            'id="active" data-part="list">'
        )

    def __enter__(self) -> Searching:
        self._page.add_init_script(WAITS_ARE_SHORT)
        self._page.route(CHANGES_OF_THE_LIST, self._answer)
        self._page.goto(self._address)
        return self

    def __exit__(self, *_: object) -> None:
        # Or an answer to a page that is closed would be an error.
        self._page.unroute_all(behavior="wait")

    def _answer(self, route: Route) -> None:
        if self.failures:
            self.failures -= 1
            route.abort()
            return
        self._number += 1
        note = f'<span id="searching">answer {self._number}</span>'
        body = f"{self._before}{self._mark}{note}{self._after}"
        route.fulfill(content_type="text/html; charset=utf-8", body=body)


def number_of(page: Page) -> int:
    """The number of the answer that a page shows."""
    return int(page.locator("#searching").inner_text().removeprefix("answer "))


def test_a_search_that_goes_on_leaves_what_is_selected_and_focused(
    address: str, page: Page
) -> None:
    focused = "document.activeElement.closest('tr.row')?.rowIndex"
    selected = "document.querySelector('#list tr[aria-selected=true]')?.rowIndex"
    with Searching(page, address):
        for _ in range(2):
            page.keyboard.press("j")
        first = number_of(page)

        wait_until(page, lambda: number_of(page) >= first + 2)

        assert (page.evaluate(focused), page.evaluate(selected)) == (2, 2)
        page.keyboard.press("j")
        assert page.evaluate(focused) == 3


def test_a_search_goes_on_after_a_request_that_failed(
    address: str, context: BrowserContext
) -> None:
    page = context.new_page()  # whose console may complain of what fails
    with Searching(page, address) as answers:
        with page.expect_event("requestfailed"):
            answers.failures = 1
        first = number_of(page)

        wait_until(page, lambda: number_of(page) > first)


def test_a_search_that_no_request_of_which_is_answered_ends_and_says_so(
    address: str, context: BrowserContext
) -> None:
    page = context.new_page()
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    with Searching(page, address) as answers:
        answers.failures = 1000

        expect(page.locator("#searching")).to_contain_text("the viewer does not answer. Reload")
    assert len(failed) == 6


def test_a_filter_that_was_cleared_at_once_does_not_come_back(address: str, page: Page) -> None:
    page.goto(f"{address}?outcome=succeeded")
    held = held_requests(page)

    page.evaluate(TYPED_THEN_CLEARED)
    # A search that is typed is sent after 200 ms: this timer is behind that one.
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    wait_until(page, lambda: bool(held))  # the browser reports a request some time after it
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


def test_filters_say_which_value_of_a_varied_argument_they_leave(address: str, page: Page) -> None:
    page.goto(f"{address}/../varied")
    labels = page.get_by_role("group", name="Environment").locator("label span:not(.n)")

    expect(labels).to_have_text(["Guess, max_turns 1000000001", "Guess, max_turns 1000000002"])
    are_whole = labels.evaluate_all("""found => found.map(each => {
        const text = document.createRange();
        text.selectNodeContents(each);
        return text.getBoundingClientRect().right <= each.getBoundingClientRect().right + 1;
    })""")
    assert are_whole == [True, True]
