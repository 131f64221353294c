"""An exported run in a real browser, with nothing to ask: no viewer runs, and the network is off.

Needs what test_browser.py needs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .browsing import expect
from .hostile_runs import write_hostile_run

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.slow


def test_an_export_opens_with_the_network_off(
    context: BrowserContext, page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "hostile.html"
    run = write_hostile_run(tmp_path / "hostile")
    command = [sys.executable, "-m", "gem", "view", str(run.path)]
    subprocess.run([*command, "--no-cache", "--export", str(path)], check=True, capture_output=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    decoded = "image => image.decode().then(() => image.naturalWidth)"
    context.set_offline(True)

    page.goto(path.as_uri())
    expect(page.locator("#run-page")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page.locator("#e1")).to_be_visible()
    expect(page.locator("#run-page")).to_be_hidden()
    assert page.locator("#e1 img.shown").evaluate(decoded) == 1
    assert page.evaluate("window.hacked") is None
    page.locator("#e1").get_by_role("link", name="Back to the run").click()
    expect(page.locator("#run-page")).to_be_visible()
    assert {url for url in asked if not url.startswith(("file:", "data:"))} == set()
    found = axe_module.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
