"""Where the published files are, as far as they are here at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import gem
from gem import Env

__all__ = ["Folders", "published"]


class Folders(NamedTuple):
    """Folders with published files, None for those that are not here.

    `corrected` has the tasks of v1.0.1, whose tables are taken from `retail` where it has none.
    """

    retail: str | None
    airline: str | None
    corrected: str | None


def published(folders: Folders) -> Iterator[tuple[str, Env]]:
    """Yield the sets that are here: the id, and an environment of all tasks of the main split."""
    for env_id, data, database in (
        ("tau:Retail-2024", folders.retail, None),
        ("tau:Airline-2024", folders.airline, None),
        ("tau:Retail-v1.0.1", folders.corrected, folders.retail),
    ):
        if data is not None:
            kwargs: dict[str, Any] = {} if database is None else {"database": database}
            yield env_id, gem.make(env_id, data=data, **kwargs)
