"""Read pages of the viewer as a person does: their text, and what they list."""

from __future__ import annotations

import html
import re

from gem_eval.viewing.runs import Run

from .conftest import Client


def page(run: Run, query: str = "") -> str:
    """Return the page of a run."""
    answer = Client(run).get(f"/runs/{run.name}{query}")
    assert answer.status_code == 200
    return answer.text


def listed(run: Run, query: str = "") -> list[int]:
    """Return the lines of the log whose episodes a page lists, in its order."""
    table = page(run, query).partition('<table class="list"')[2]
    return [int(line) for line in re.findall(r'<td><a href="/runs/[^/]+/episodes/(\d+)', table)]


def words(text: str) -> str:
    """Return the text of a page, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
