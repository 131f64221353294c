"""Write a run as one file that needs nothing else: no server, no network, no script.

Episodes come in the order of the log until the file is as large as it may be; the page says what
was left out.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from gem_eval.errors import ViewError
from gem_eval.viewing import pages, rows
from gem_eval.viewing.conversation import UNREADABLE, Image
from gem_eval.viewing.query import Query
from gem_eval.viewing.rendering import asset, render
from gem_eval.viewing.runs import Run
from gem_eval.viewing.scanning import TURNS_AT_ONCE
from gem_eval.viewing.selection import Selection

__all__ = ["Exported", "content_policy", "export", "write_page"]

_ROWS_AT_ONCE = 500
_BYTES_PER_ROW = 700  # of the list, which is written before the episodes
_NAMES = {"style": "viewer.css", "script": "viewer.js"}


class _Shelf:
    """The episodes that fit, as HTML."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.rows: list[rows.Row] = []
        self.episodes: list[str] = []
        self._lines: set[int] = set()  # of the log: those of `rows`
        self.shortened = 0
        self.unreadable = 0

    def add(self, row: rows.Row, text: str) -> None:
        """Take in an episode as HTML."""
        self.rows.append(row)
        self._lines.add(row.line)
        self.episodes.append(text)

    def link(self, row: rows.Row) -> str:
        """Return where an episode stands in the file, empty where it is not in it.

        An error names its first episodes, which may be among those that are left out.
        """
        return f"#e{row.line}" if row.line in self._lines else ""


class Exported(NamedTuple):
    """How many episodes are in the file, of how many, and its size in bytes."""

    episodes: int
    of: int
    size: int


def export(run: Run, path: Path, *, most_bytes: int) -> Exported:
    """Write a run's page and its episodes into a new file. Raises ViewError."""
    run.refresh(budget_s=math.inf)
    if run.problem:
        raise ViewError(
            f"The run was to be exported to {path}, and its log cannot be read ({run.problem}). "
            "Make it readable, and export again."
        )
    run.overview()  # a page would not wait for it
    run.look_on(budget_s=math.inf)  # nor for the finders
    values = pages.run_values(run, Query())
    assets = {kind: asset(name) for kind, name in _NAMES.items()}
    fixed = sum(len(text) for text in assets.values()) + 200_000
    shelf = _Shelf(most_bytes - fixed)
    for row in _every_row(run):
        if not _add(shelf, run, row):
            break
    page = render(
        "export.html",
        **{
            **values,
            "rows": shelf.rows,
            "episodes": shelf.episodes,
            "shortened": shelf.shortened,
            "turns_at_once": TURNS_AT_ONCE,
            "most_bytes": most_bytes,
            "unreadable": shelf.unreadable,
            "left_out": values["count"] - len(shelf.rows),
            "episode_link": shelf.link,
            "policy": content_policy(assets),
            "assets": assets,
            "theme": "",
            "several": False,
            "is_export": True,
        },
    ).encode("utf-8")
    write_page(path, page)
    return Exported(len(shelf.rows), values["count"], len(page))


def _every_row(run: Run) -> Iterator[rows.Row]:
    """Yield the rows of a run in the order of its log, a few at a time."""
    number = 1
    while True:
        with run.index.reading() as db:
            found = Selection(db, Query(page=number), run.env_ids).rows(_ROWS_AT_ONCE)
        yield from found
        if len(found) < _ROWS_AT_ONCE:
            return
        number += 1


def _add(shelf: _Shelf, run: Run, row: rows.Row) -> bool:
    """Add an episode if there is room for it, and say so."""
    try:
        values = pages.episode_values(run, Query(), row.line, 1)
    except (OSError, IndexError, *UNREADABLE):  # the log has changed meanwhile
        values = None
    if values is None:
        shelf.unreadable += 1
        return True
    text = render(
        "exported_episode.html",
        **{**values, "prefix": f"e{row.line}-", "is_export": True, "image_link": _data_url},
    )
    shelf.room -= len(text.encode("utf-8")) + _BYTES_PER_ROW
    if shelf.room < 0:
        return False
    shelf.add(row, text)
    shelf.shortened += row.turns > TURNS_AT_ONCE
    return True


def _data_url(_: int, image: Image) -> str:
    assert image.shown is not None, "only such images are linked"
    encoded = base64.b64encode(image.shown.image).decode("ascii")
    return f"data:{image.shown.media_type};base64,{encoded}"


def content_policy(assets: dict[str, str]) -> str:
    """Allow the file's own style and script by their digests, and pictures within it."""
    digests = {
        kind: base64.b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
        for kind, text in assets.items()
    }
    return (
        f"default-src 'none'; script-src 'sha256-{digests['script']}'; "
        f"style-src 'sha256-{digests['style']}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


@contextmanager
def _removed_unless_whole(path: Path) -> Iterator[None]:
    """Remove a file that was begun here where it cannot be ended: a rest would refuse the retry."""
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_page(path: Path, page: bytes) -> None:
    """Write a new file. Raises ViewError where there is one, or it cannot be written."""
    try:
        with path.open("xb") as file, _removed_unless_whole(path):
            file.write(page)
            file.flush()  # what a full disk refuses is to be told in here
    except FileExistsError as error:
        raise ViewError(
            f"The run was to be exported to {path}, and that is there already. Choose another "
            "path, or remove it."
        ) from error
    except OSError as error:
        raise ViewError(
            f"The run was to be exported to {path}, and that cannot be written "
            f"({error.strerror}). Choose another path."
        ) from error
