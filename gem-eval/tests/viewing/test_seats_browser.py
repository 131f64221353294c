"""Episodes of several seats in a real browser: keys, deep links, the view of a seat, axe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gem.testing.envs import Signs

from .browsing import expect, served
from .conftest import write_run
from .test_seats import bold, careful, fails, played, rock

if TYPE_CHECKING:
    from playwright.sync_api import Page

axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Iterator[str]:
    runs = tmp_path_factory.mktemp("runs")
    episodes = [*played([careful, bold]), *played(rock, Signs, 3)[2:]]
    episodes += played([careful, fails], episodes=4)[3:]
    run = write_run(runs / "seats", *episodes, total=4, policies=["solver"])
    with served(site, runs / "cache", str(run.path)) as found:
        yield found


def test_keys_lead_through_the_seats_and_the_turns_of_each(address: str, page: Page) -> None:
    page.goto(f"{address}/runs/seats/episodes/1")
    page.keyboard.press("j")
    expect(page.locator(".turn[aria-current]")).to_have_id("t2")

    page.keyboard.press("s")
    expect(page.locator(".switch [aria-current]")).to_have_text("first")
    expect(page.locator("#t2")).to_have_count(0)
    page.keyboard.press("s")
    expect(page.locator(".switch [aria-current]")).to_have_text("second")
    expect(page.locator(".turn[aria-current]")).to_have_id("t2")
    page.keyboard.press("s")
    expect(page.locator(".switch [aria-current]")).to_have_text("All seats")


def test_turns_of_one_seat_follow_one_another_by_keys(address: str, page: Page) -> None:
    page.goto(f"{address}/runs/seats/episodes/3?seat=left")
    numbers = [
        int(each[1:])
        for each in page.locator(".turn[data-turn]").evaluate_all(
            "found => found.map(each => each.id)"
        )
    ]
    assert numbers == [1, 3, 5]

    page.keyboard.press("j")
    expect(page.locator(".turn[aria-current]")).to_have_id("t3")
    page.keyboard.press("k")
    expect(page.locator(".turn[aria-current]")).to_have_id("t1")


def test_answers_of_a_round_are_beside_each_other(address: str, page: Page) -> None:
    page.goto(f"{address}/runs/seats/episodes/3")

    boxes = [page.locator(f"#t{number} .says.policy").bounding_box() for number in (1, 2)]

    [left, right] = [box for box in boxes if box is not None]
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] < right["x"]


def test_who_sits_where_is_there_to_the_last_letter(address: str, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{address}/runs/seats")

    are_whole = page.locator("#list .at-seats .nowrap").evaluate_all(
        "found => found.map(each => each.scrollWidth <= each.clientWidth)"
    )

    assert are_whole
    assert all(are_whole)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(address: str, page: Page, theme: str) -> None:
    axe = axe_module.Axe()
    for path in (
        "/runs/seats?",
        "/runs/seats/episodes/1?",
        "/runs/seats/episodes/1?seat=second&",
        "/runs/seats/episodes/3?",
        "/runs/seats/episodes/4?",
        "/runs/seats/episodes/1/tokens?seat=second&",
        "/side-by-side?a=seats:1&b=seats:2&",
    ):
        page.goto(f"{address}{path}theme={theme}")
        found = axe.run(page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, f"{path}: {found.generate_report()}"


@pytest.mark.parametrize("width", [1200, 390])
def test_no_page_scrolls_sideways(address: str, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("", "/episodes/1", "/episodes/3", "/episodes/1?seat=second"):
        page.goto(f"{address}/runs/seats{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_what_a_model_said_does_nothing(address: str, page: Page) -> None:
    page.goto(f"{address}/runs/seats/episodes/1")

    assert page.evaluate("window.hacked") is None
    expect(page.locator("#t1")).to_contain_text("<script>")
