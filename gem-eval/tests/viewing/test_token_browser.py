"""The token page in a real browser: keys, deep links, hostile tokens, axe, and 20,000 tokens.

Needs what test_browser.py needs, and the package tokenizers. It takes the picture of
docs/viewing.md where GEM_VIEWER_PICTURES names its folder.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from .browsing import expect, served
from .conftest import episode, write_run
from .token_runs import HOSTILE_TOKENS, long_episode, make_tokenizer, talk, token_turn

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

for _module in ("gem_train", "tokenizers"):
    pytest.importorskip(_module, reason="gem-eval's extra `tokens` is not installed")
axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.slow

COLOURINGS = ("mask", "lp", "ent", "adv", "diff")
TOO_WIDE = "document.documentElement.scrollWidth > innerWidth"


class Viewer(NamedTuple):
    """A viewer of three runs: four tries of a talk, 20,000 tokens, tokens with hostile texts."""

    address: str

    def page(self, path: str) -> str:
        return f"{self.address}/runs/{path}"


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Iterator[Viewer]:
    runs = tmp_path_factory.mktemp("runs")
    tokenizer = make_tokenizer(runs / "model")
    tries = [talk(tokenizer, success=n % 2 == 0, repeat=n) for n in range(4)]
    hostile_ids = [tokenizer.token_to_id(text) for text in HOSTILE_TOKENS]
    hostile = token_turn(hostile_ids, hostile_ids, random.Random(0), learner=True)
    logs = {
        "talks": tries,
        "long": [long_episode(20_000)],
        "hostile": [episode(turns=(hostile,))],
    }
    for name, episodes in logs.items():
        write_run(runs / name, *episodes, total=len(episodes), policies=["solver"])
    words = [*(str(runs / name) for name in logs), "--tokenizer", str(runs / "model")]
    with served(site, runs / "cache", *words) as address:
        yield Viewer(address)


def test_from_a_turn_to_its_tokens_and_back_by_t(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("talks/episodes/1?policy=solver"))

    page.keyboard.press("j")
    page.keyboard.press("t")
    page.wait_for_url("**/talks/episodes/1/tokens?policy=solver&by=lp&turn=2*")
    page.wait_for_load_state()
    expect(page.locator(".tk[aria-current=true]")).to_have_id(re.compile("^t2k"))
    page.keyboard.press("j")
    page.keyboard.press("t")

    page.wait_for_url("**/talks/episodes/1?policy=solver&turn=3#t3")


def test_keys_go_by_token_turn_and_outlier(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("talks/episodes/1/tokens"))
    chosen = page.locator(".tk[aria-current=true]")

    page.keyboard.press("ArrowRight")
    expect(chosen).to_have_id("t1k1")
    page.keyboard.press("j")
    expect(chosen).to_have_id(re.compile("^t2k"))
    assert "off" not in str(chosen.get_attribute("class")).split()
    first = str(chosen.get_attribute("id"))
    page.keyboard.press("ArrowLeft")
    expect(chosen).to_have_class("tk off at")
    page.keyboard.press("ArrowRight")
    expect(chosen).to_have_id(first)
    expect(page.locator("#detail")).to_contain_text("logprob")
    expect(page.locator("#by-turn tr[aria-selected=true] th")).to_have_text("2")
    page.keyboard.press("k")
    expect(chosen).to_have_id(re.compile("^t1k"))

    outliers = [str(link.get_attribute("href"))[1:] for link in page.locator("#outliers a").all()]
    page.keyboard.press("]")
    found = str(chosen.get_attribute("id"))
    assert found in outliers
    page.keyboard.press("]")
    assert chosen.get_attribute("id") != found
    page.keyboard.press("[")
    expect(chosen).to_have_id(found)
    page.locator("#outliers a").first.click()
    expect(chosen).to_have_id(outliers[0])


def test_numbers_choose_the_colouring_and_keep_the_token(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("talks/episodes/1/tokens?estimator=rloo&turn=2#t2k12"))
    chosen = page.locator(".tk[aria-current=true]")

    for number, by in enumerate(COLOURINGS, start=1):
        page.keyboard.press(str(number))
        page.wait_for_url(re.compile(rf"by={by}&.*turn=2.*#t2k12$"))
        page.wait_for_load_state()
        expect(page.locator("#colourings [aria-current]")).to_contain_text(str(number))
        expect(chosen).to_have_id("t2k12")
        assert "estimator=rloo" in page.url


def test_o_leaves_what_the_model_said(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("talks/episodes/1/tokens"))
    given = page.locator(".tk.off").first
    expect(given).to_be_visible()

    page.keyboard.press("o")
    expect(given).to_be_hidden()
    expect(page).to_have_url(re.compile("only=1"))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tk[aria-current=true]")).not_to_have_class(re.compile(r"\boff\b"))
    page.reload()
    expect(given).to_be_hidden()
    page.keyboard.press("o")

    expect(given).to_be_visible()
    expect(page).not_to_have_url(re.compile("only"))


def test_a_link_opens_the_token_and_the_estimator(viewer: Viewer, page: Page) -> None:
    page.goto(
        viewer.page("talks/episodes/2/tokens?by=adv&estimator=dr_grpo&gamma=0.9&turn=3#t3k14")
    )

    expect(page.locator(".tk[aria-current=true]")).to_have_id("t3k14")
    expect(page.locator("#sentence")).to_contain_text("Dr. GRPO, gamma 0.9")
    expect(page.locator("#estimator")).to_have_value("dr_grpo")
    page.locator("#estimator").select_option("grpo")
    page.locator("#gamma").fill("1")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**tokens?by=adv&turn=3&estimator=grpo&gamma=1&lam=0.95&norm=sum**")
    expect(page.locator("#by-turn tbody tr").first).to_contain_text("\u22121")


def test_hostile_tokens_do_nothing_and_are_seen(viewer: Viewer, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    for by in COLOURINGS:
        page.goto(viewer.page(f"hostile/episodes/1/tokens?by={by}"))
        page.keyboard.press("ArrowRight")
        page.locator("#t1k2").hover()
        assert page.evaluate("window.hacked") is None

    assert page.locator("#t1k1").inner_text() == HOSTILE_TOKENS[0]
    assert page.locator("#t1k3 .ctl").inner_text() == "U+202E"
    assert page.locator("#tokens script, #tokens img, #side img").count() == 0
    assert {url for url in asked if not url.startswith(viewer.address)} == set()


def test_twenty_thousand_tokens_are_drawn_where_they_are_seen(viewer: Viewer, page: Page) -> None:
    page.goto(viewer.page("long/episodes/1/tokens"))

    assert page.locator(".tk").count() == 20_000
    styles = page.evaluate(
        "[...new Set([...document.querySelectorAll('.line')]"
        ".map(line => getComputedStyle(line).contentVisibility))]"
    )
    assert styles == ["auto"]
    kinds = page.evaluate(
        "[...new Set([...document.querySelectorAll('.tk')].flatMap(token => "
        "[...token.childNodes]).map(node => node.className ?? node.nodeName))]"
    )
    assert set(kinds) <= {"#text", "ctl"}
    for _ in range(4):
        page.keyboard.press("j")
    expect(page.locator(".tk[aria-current=true]")).to_be_in_viewport()
    page.goto(viewer.page("talks/episodes/1/tokens"))
    assert page.locator("#tokens.many").count() == 0


@pytest.mark.parametrize(
    ("theme", "rules"),
    [("light", {}), ("dark", {"runOnly": ["color-contrast"]})],
    ids=["light", "dark"],
)
def test_axe_finds_nothing(
    viewer: Viewer, page: Page, theme: str, rules: dict[str, list[str]]
) -> None:
    axe = axe_module.Axe()
    pages = ("talks", "lp"), ("talks", "adv"), ("talks", "ent"), ("hostile", "diff")
    for run, by in pages:
        page.goto(viewer.page(f"{run}/episodes/1/tokens?by={by}&theme={theme}"))
        page.keyboard.press("j")
        found = axe.run(page, options={"resultTypes": ["violations"], **rules})
        assert found.violations_count == 0, f"{run} {by}: {found.generate_report()}"


@pytest.mark.parametrize("width", [1600, 1000, 800, 390])
def test_no_page_scrolls_sideways(viewer: Viewer, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("talks/episodes/1/tokens?by=adv", "hostile/episodes/1/tokens?by=diff"):
        page.goto(viewer.page(path))
        assert not page.evaluate(TOO_WIDE), path


def test_without_scripts_colourings_and_turns_work(viewer: Viewer, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(viewer.page("talks/episodes/1"))

    page.get_by_role("link", name="Tokens").click()
    page.get_by_role("link", name="Advantage").click()
    expect(page.locator("#sentence")).to_contain_text("ReBN, gamma 1")
    page.get_by_role("link", name="Only what the model said").click()
    expect(page.locator(".tk.off").first).to_be_hidden()
    page.get_by_role("link", name="Conversation").click()

    expect(page.locator(".turn").first).to_be_visible()
    context.close()


@pytest.mark.skipif("GEM_VIEWER_PICTURES" not in os.environ, reason="no pictures are asked for")
def test_picture_for_the_documentation(viewer: Viewer, browser: Browser) -> None:
    picture = Path(os.environ["GEM_VIEWER_PICTURES"], "tokens.png")
    context = browser.new_context(viewport={"width": 1110, "height": 560}, color_scheme="light")
    page = context.new_page()
    page.goto(viewer.page("talks/episodes/1/tokens"))
    page.keyboard.press("j")
    page.keyboard.press("]")

    page.screenshot(path=picture)

    assert picture.stat().st_size < 100_000
    context.close()
