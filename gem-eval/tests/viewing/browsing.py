"""Show runs to a real browser: a viewer in a process of its own, and the pages of a Chromium.

To import this skips the tests that do where there is no Chromium, or nothing to drive it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

__all__ = ["expect", "new_context", "new_page", "rows", "served", "started"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip(
        "no Chromium is installed (Debian: apt-get install chromium)", allow_module_level=True
    )
for _module in ("starlette", "jinja2"):
    pytest.importorskip(_module, reason="gem-eval's extra `view` is not installed")
_playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
expect = _playwright.expect
# Generous: on a busy machine a page may take long, and only what is broken takes all of it.
_PATIENCE_MS = 60_000
expect.set_options(timeout=_PATIENCE_MS)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


@contextmanager
def served(site: Path, cache: Path, *words: str) -> Iterator[str]:
    """Give the address of a viewer that is started with these words of a command."""
    with subprocess.Popen(
        [sys.executable, "-m", "gem", "view", *words, "--port=0"],
        env={**os.environ, "PYTHONPATH": str(site), "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert " at http" in line, "the viewer ended before it served"
            yield line.partition(" at ")[2].partition(" .")[0].rstrip("/")
            process.terminate()
            process.communicate()
            assert process.returncode == 0
        finally:
            process.kill()  # which does nothing where it has ended


@contextmanager
def started() -> Iterator[Browser]:
    """Give a browser."""
    with _playwright.sync_playwright() as driver:
        # A container's root may not start Chromium's own sandbox.
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def new_context(browser: Browser) -> Iterator[BrowserContext]:
    """Give a window of a usual size, in light colours, that has visited nothing."""
    found = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    found.set_default_timeout(_PATIENCE_MS)
    yield found
    found.close()


@contextmanager
def new_page(context: BrowserContext) -> Iterator[Page]:
    """Give a page. What the browser complains of fails: a breach of the content policy, say."""
    found = context.new_page()
    complaints: list[str] = []
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    found.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield found
    assert complaints == []


def rows(page: Page) -> list[str]:
    """Return the addresses of the episodes that are listed, without filters."""
    links = page.locator("#list tbody a").all()
    return [str(link.get_attribute("href")).partition("?")[0] for link in links]
