"""The viewer in a real browser: filters, deep links, keys, hostile text, themes, axe.

Needs playwright's package and a Chromium of the system, and is skipped without them. It takes the
pictures of docs/viewing.md where GEM_VIEWER_PICTURES names their folder, and GEM_VIEWER_ADDRESS a
viewer that shows the run of that page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gem_eval import evaluate, league

from . import training_folders
from .browsing import expect, rows, served
from .conftest import episode, failed, turn, write_run
from .hostile_runs import HOSTILE, write_hostile_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.slow

TOO_WIDE = """
    document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll("body *")]
        .filter(element => element.getBoundingClientRect().right > innerWidth + 1)
        .map(element => element.cloneNode(false).outerHTML.slice(0, 200))
"""
POLICIES = ["solver", "random"]


class Viewer(NamedTuple):
    """A viewer that serves the runs of a folder."""

    address: str

    def page(self, path: str) -> str:
        return f"{self.address}{path}"


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Iterator[Viewer]:
    runs = tmp_path_factory.mktemp("runs")
    evaluate(["tiny:Guess", "tiny:Lamps", "tiny:Broken"], POLICIES, episodes=40, out=runs / "games")
    write_hostile_run(runs / "hostile")
    league("gem.testing.envs:Kuhn", ["solver", "random", "noop"], episodes=10, out=runs / "league")
    played = [episode(episode_index=n) for n in range(3)]
    lost = [failed(episode_index=n) for n in (3, 4)]
    write_run(runs / "live", *played, *lost, total=100)
    many = tuple(turn(action=f"\\boxed{{{n}}}", reward=0.01) for n in range(120))
    write_run(runs / "long", episode(turns=many), total=1)
    said = tuple(turn(action="\\boxed{3}", observation="Too low.") for _ in range(4))
    write_run(runs / "loops", *(episode(episode_index=n, turns=said) for n in range(3)), total=3)
    for seed in (0, 1):
        training_folders.made(runs / f"training-{seed}", seed=seed, updates=100)
    training_folders.made(runs / "training-raw", estimator=HOSTILE)
    names = ["games", "hostile", "league", "live", "long", "loops"]
    names += ["training-0", "training-1", "training-raw"]
    with served(site, runs / "cache", *(str(runs / name) for name in names)) as address:
        yield Viewer(address)


def count(page: Page) -> str:
    return page.locator("#count").inner_text()


def test_filters_change_the_list_and_the_address_without_a_reload(
    viewer: Viewer, page: Page
) -> None:
    page.goto(viewer.page("/runs/games"))
    page.evaluate("window.mark = 1")

    page.get_by_role("checkbox", name="failed").check()
    expect(page.locator("#count")).to_contain_text(" of 240 episodes")
    page.get_by_role("checkbox", name="Lamps").check()
    expect(page.locator("#active .chip")).to_have_count(2)

    assert page.evaluate("window.mark") == 1
    expect(page).to_have_url(re.compile("outcome=failed&env=1"))
    outcomes = page.locator("#list tbody .mark").all()
    assert {mark.get_attribute("aria-label") for mark in outcomes} == {"failed"}
    # The box that was checked still has the focus, though the facets were written again.
    assert page.evaluate("document.activeElement.name") == "env"

    page.get_by_role("link", name="Remove the filter failed").click()
    expect(page.locator("#count")).to_have_text("80 of 240 episodes")
    page.go_back()
    expect(page.locator("#active .chip")).to_have_count(2)


def test_an_address_opens_the_same_view(viewer: Viewer, page: Page) -> None:
    page.goto(
        viewer.page("/runs/games?outcome=succeeded&policy=solver&sort=-turns&page=2&turns_min=1")
    )

    assert page.get_by_role("checkbox", name="solver").is_checked()
    assert page.locator("[aria-sort=descending]").inner_text().startswith("Turns")
    assert page.get_by_label("Turns at least").input_value() == "1"
    assert "page 2 of" in page.locator(".pager").inner_text()
    first = rows(page)
    page.reload()
    assert rows(page) == first


def test_search_waits_for_no_key_and_leaves_by_escape(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/games"))

    page.keyboard.press("/")
    page.keyboard.type("wheel came off jj")
    expect(page.locator("#rows")).to_contain_text("No episode matches.")
    for _ in range(3):
        page.keyboard.press("Backspace")
    # The address of the last list: one that is still asked for would undo what follows.
    expect(page).to_have_url(re.compile(r"\bq=wheel\+came\+off(&|$)"))
    page.keyboard.press("Escape")
    page.keyboard.press("c")

    expect(page.locator("#count")).to_have_text("240 episodes")
    expect(page.locator("#q")).to_have_value("")


def test_a_search_of_conversations_leads_to_the_turn(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/long"))
    page.get_by_label("Search in").select_option("in conversations")
    page.keyboard.press("/")
    page.keyboard.type("boxed{77}")
    expect(page.locator("#active .chip")).to_contain_text("“boxed{77}” in conversations")
    page.locator("#list tbody a").click()

    expect(page.locator(".turn[aria-current=step]")).to_have_id("t78")


def test_columns_sort_up_down_and_not(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/games"))
    column = page.locator("#list th", has_text="Turns")

    for order in ("ascending", "descending"):
        column.get_by_role("link").click()
        expect(column).to_have_attribute("aria-sort", order)
    column.get_by_role("link").click()

    expect(page.locator("[aria-sort]")).to_have_count(0)


def test_all_can_be_done_by_keys(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/games?policy=random"))
    page.keyboard.press("]")
    expect(page.locator(".pager")).to_contain_text("page 2 of 3")
    second = rows(page)[1]
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#list tr[aria-selected=true]")).to_have_count(1)

    page.keyboard.press("Enter")
    # The page adds the turn to its address.
    page.wait_for_url(f"**{second}?policy=random&page=2**")
    page.keyboard.press("n")
    expect(page).not_to_have_url(re.compile(rf"{second}\?"))
    expect(page).to_have_url(re.compile(r"episodes/\d+\?policy=random"))
    page.wait_for_load_state()
    page.keyboard.press("p")
    page.wait_for_url(f"**{second}?policy=random&page=2**")
    page.wait_for_load_state()
    page.keyboard.press("u")

    page.wait_for_url("**/runs/games?policy=random&page=2")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("[")
    expect(page.locator(".pager")).to_contain_text("page 1 of 3")


def test_the_command_that_branches_follows_the_turn(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/loops/episodes/2"))
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("b")
    page.get_by_label("Played on by").select_option("random")

    expect(page.locator("#branch-turn")).to_have_text("3")
    command = page.locator("#branch code")
    expect(command).to_have_text(re.compile(r"loops 2 --turn 3 --policy random$"))
    copied = page.locator("#branch [data-copy]").get_attribute("data-copy")
    assert copied == command.inner_text()


def test_turns_of_a_long_episode_by_keys_link_and_plot(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/long/episodes/1#t49"))
    current = page.locator(".turn[aria-current=step]")

    expect(current).to_have_id("t49")
    page.keyboard.press("j")
    expect(current).to_have_id("t50")
    page.keyboard.press("j")
    page.wait_for_url("**turn=51#t51")
    expect(current).to_have_id("t51")
    page.locator("#moves a", has_text="59").click()
    expect(current).to_have_id("t60")
    assert page.locator("#moves tr[aria-selected=true]").inner_text().startswith("60")
    page.locator("#t62").click()
    expect(current).to_have_id("t62")
    page.locator("#track").click(position={"x": 400, "y": 30})
    page.wait_for_url(re.compile(r"turn=1\d\d#t1\d\d$"))
    page.keyboard.press("k")
    assert re.search(r"turn=1\d\d#t1\d\d$", page.url)


def test_flips_follow_one_another_by_keys(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/games"))
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url("**/compare**")
    seed = page.locator(".beside h3 .mono").inner_text()

    page.keyboard.press("j")
    page.wait_for_url("**flip=2#flips")
    page.wait_for_load_state()
    assert page.locator(".beside h3 .mono").inner_text() != seed
    assert page.locator("#pick a[aria-current]").count() == 1
    page.keyboard.press("k")
    page.wait_for_url("**flip=1#flips")

    assert page.locator(".beside h3 .mono").inner_text() == seed


def test_a_finding_leads_to_its_turn(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/loops"))
    page.get_by_role("checkbox", name="loop").check()
    expect(page.locator("#list tbody .chip.note")).to_have_count(3)
    page.locator("#list tbody a").first.click()

    link = page.locator("#findings a").first
    turn_of_finding = link.inner_text().removeprefix("turn ")
    link.click()

    expect(page.locator(".turn[aria-current=step]")).to_have_id(f"t{turn_of_finding}")
    expect(page.locator(".turn[aria-current=step] .chip.note")).to_have_text("loop")


def test_marked_rows_open_side_by_side_and_only_what_differs_stays(
    viewer: Viewer, page: Page
) -> None:
    page.goto(viewer.page("/runs/games?env=1&sort=number"))
    for key in ("j", "x"):
        page.keyboard.press(key)
    expect(page.locator("#list input:checked")).to_have_count(1)
    page.keyboard.press("]")
    expect(page.locator(".pager")).to_contain_text("page 2 of 2")
    page.locator("#list input[name=mark]").nth(2).click()

    page.wait_for_url("**/side-by-side?a=games%3A*&b=games%3A*")
    page.wait_for_load_state()
    turns = page.locator(".sbs tbody tr").count()
    page.keyboard.press("s")
    page.wait_for_url("**only=differs**")
    assert page.locator(".sbs tbody tr").count() <= turns
    page.keyboard.press("u")
    page.wait_for_url("**/runs/games")
    expect(page.locator("#list input:checked")).to_have_count(0)


def test_flips_of_the_list_follow_one_another(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("/runs/games?policy=random"))
    page.locator("#list tbody a").first.click()
    # The page adds its turn to the address, which is no other page.
    page.wait_for_url(re.compile(r"episodes/\d+\?policy=random#t\d+$"))
    before = page.url.partition("#")[0]

    page.keyboard.press("f")

    page.wait_for_url(lambda url: url.partition("#")[0] != before)
    expect(page).to_have_url(re.compile(r"episodes/\d+\?policy=random(#t\d+)?$"))
    outcomes = page.locator(".side table .mark, #head h1 .mark").all()
    assert len({mark.get_attribute("aria-label") for mark in outcomes}) == 2


def test_hostile_text_does_nothing_and_is_seen(viewer: Viewer, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    of_run = ("/runs/hostile", "/runs/hostile/episodes/1", "/runs/hostile/episodes/2")
    for path in (*of_run, "/", "/trainings"):
        page.goto(viewer.page(path))
        for fold in page.locator("summary").all():
            fold.click()
        assert page.evaluate("window.hacked") is None

    page.goto(viewer.page("/runs/hostile/episodes/1"))
    assert page.locator("#talk script, #talk a[href^=javascript], #talk [onerror]").count() == 0
    shown = page.locator(".says.policy .body").inner_text()
    assert shown == HOSTILE.replace("\u202e", "U+202E").replace("\x1b", "U+001B")
    picture = page.locator("img.shown")
    assert picture.count() == 1
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    assert "an image of type image/svg+xml, not shown" in page.locator("#talk").inner_text()
    assert {url for url in asked if not url.startswith(viewer.address)} == set()


def test_dark_and_light_follow_the_system_and_a_choice_is_kept(viewer: Viewer, page: Page) -> None:
    def paper() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    page.goto(viewer.page("/runs/games"))
    assert paper() == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    assert paper() == "rgb(21, 24, 28)"
    page.get_by_role("button", name="Light").click()
    assert paper() == "rgb(255, 255, 255)"
    page.reload()

    assert paper() == "rgb(255, 255, 255)"
    assert page.get_by_role("button", name="Dark").is_visible()


@pytest.mark.parametrize(
    ("theme", "rules"),
    [("light", {}), ("dark", {"runOnly": ["color-contrast"]})],
    ids=["light", "dark"],
)
def test_axe_finds_nothing(
    viewer: Viewer, page: Page, theme: str, rules: dict[str, list[str]]
) -> None:
    axe = axe_module.Axe()
    paths = [
        "/?",
        "/runs/games?outcome=failed&q=1&turns_min=2&",
        "/runs/games?q=nothing+of+this&",
        "/runs/games?q=guess&within=conversations&",
        "/runs/league?",
        "/runs/live?",
        "/runs/hostile/episodes/1?",
        "/runs/hostile/episodes/2?",
        "/runs/games/episodes/3?",
        "/runs/loops?finder=loop&",
        "/runs/loops/episodes/1?",
        "/compare?run=games&",
        "/compare?only=differs&",
        "/side-by-side?a=games:1&b=hostile:1&",
        "/trainings?",
        "/trainings?of=training-0&of=training-1&x=turns&",
    ]
    for path in paths:
        page.goto(viewer.page(f"{path}theme={theme}"))
        found = axe.run(page, options={"resultTypes": ["violations"], **rules})
        assert found.violations_count == 0, f"{path}: {found.generate_report()}"


@pytest.mark.parametrize("width", [1600, 1200, 1000, 800, 390])
def test_no_page_scrolls_sideways(viewer: Viewer, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for path in (
        "/",
        "/runs/games",
        "/runs/league",
        "/runs/games/episodes/3",
        "/runs/hostile/episodes/1",
        "/compare?run=games",
        "/trainings",
    ):
        page.goto(viewer.page(path))
        assert page.evaluate(TOO_WIDE) == [], path


def test_without_scripts_filters_pages_and_turns_work(viewer: Viewer, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(viewer.page("/runs/games"))

    page.get_by_role("checkbox", name="random").check()
    page.get_by_role("button", name="Apply").click()
    assert count(page) == "120 of 240 episodes"
    page.get_by_role("link", name="Next").click()
    assert "page 2 of 3" in page.locator(".pager").inner_text()
    page.locator("#list tbody a").first.click()
    assert page.locator(".turn").count() > 0
    expect(page.get_by_role("button", name="Keys")).to_be_hidden()
    context.close()


def test_a_copied_command_is_the_whole_command(viewer: Viewer, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(viewer.page("/runs/hostile"))

    page.get_by_role("button", name="Copy the command").click()

    expect(page.locator("#said")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "gem-env eval tiny:Guess"


@pytest.mark.skipif("GEM_VIEWER_PICTURES" not in os.environ, reason="no pictures are asked for")
@pytest.mark.parametrize(
    ("name", "path", "height"),
    [
        ("run", "/runs/games", 530),
        ("episode", "/runs/games/episodes/600", 320),
        ("training", "/trainings", 480),
    ],
)
def test_pictures_for_the_documentation(
    browser: Browser, name: str, path: str, height: int
) -> None:
    picture = Path(os.environ["GEM_VIEWER_PICTURES"], f"{name}.png")
    context = browser.new_context(viewport={"width": 1110, "height": height}, color_scheme="light")
    page = context.new_page()
    page.goto(f"{os.environ['GEM_VIEWER_ADDRESS'].rstrip('/')}{path}")

    page.screenshot(path=picture)

    assert picture.stat().st_size < 100_000
    context.close()
