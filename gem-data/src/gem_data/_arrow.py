"""Read tables of `datasets`, memory-mapped, as plain values. Knows nothing about where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datasets

__all__ = ["Plain", "TextColumn", "undecoded"]


class Plain:
    """The rows of a `datasets.Dataset` as plain values, but for media, which stay undecoded.

    An image is `{"bytes": ..., "path": ...}`, as the library stores it: reading one takes no
    Pillow, and a corrupt one harms nobody who does not look at it.
    """

    def __init__(self, rows: datasets.Dataset, columns: Sequence[str]) -> None:
        # Apart, for the library decodes what it returns as plain values, and Arrow does not.
        media = [column for column in columns if _is_media(rows.features[column])]
        plain = [column for column in columns if column not in media]
        self._rows = rows  # kept alive too: a table of rows in memory is known by their id
        self._plain = rows.select_columns(plain).with_format(None) if plain else None
        self._media = rows.select_columns(media).with_format("arrow") if media else None

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Mapping[str, Any]:
        plain = {} if self._plain is None else self._plain[index]
        if self._media is None:
            return plain
        return {**plain, **self._media[index : index + 1].to_pylist()[0]}

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        if self._plain is None or self._media is not None:
            return (self[index] for index in range(len(self)))
        return iter(self._plain)  # the library reads many rows at once, and is quicker


def _is_media(feature: Any) -> bool:
    """Say whether the library would decode what is in a column, other than from JSON."""
    if isinstance(feature, (dict, list)):  # before its version 4 the library had lists
        parts = feature.values() if isinstance(feature, dict) else feature
        return any(map(_is_media, parts))
    if hasattr(feature, "feature"):
        return _is_media(feature.feature)
    return hasattr(feature, "decode") and type(feature).__name__ != "Json"


def undecoded(rows: datasets.IterableDataset) -> datasets.IterableDataset:
    """Return rows that arrive one by one with their media as the library stores them."""
    if rows.features is None or not _is_media(dict(rows.features)):
        return rows
    features = {name: _undecoded(feature) for name, feature in rows.features.items()}
    return rows.cast(type(rows.features)(features))


def _undecoded(feature: Any) -> Any:
    if isinstance(feature, (dict, list)):
        named = feature.items() if isinstance(feature, dict) else enumerate(feature)
        parts = {name: _undecoded(part) for name, part in named}
        return parts if isinstance(feature, dict) else list(parts.values())
    if not _is_media(feature):
        return feature
    changed = copy(feature)  # the library shares features between tables
    if hasattr(changed, "feature"):
        changed.feature = _undecoded(changed.feature)
    else:
        changed.decode = False
    return changed


class TextColumn(Sequence[str]):
    """One column of texts, read one at a time."""

    def __init__(self, rows: datasets.Dataset, column: str) -> None:
        # As Arrow, without the library's slower ways to read a row.
        self._texts = rows.data.column(column)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: Any) -> Any:
        return self._texts[index].as_py()
