"""Load the table of an environment, or say where its data is to be had."""

from __future__ import annotations

from typing import Any, TypeVar

from gem.data import DataSource, RowKind, Table, load_table
from gem.errors import DataError

__all__ = ["table_of"]

Row = TypeVar("Row")


def table_of(
    kind: RowKind[Row], *, source: DataSource | None, data: Any, **choices: Any
) -> Table[Row]:
    """Return the table, as `gem.data.load_table` does, which takes the same arguments.

    Raises DataError also where nothing but a homepage is known of the data.
    """
    if data is None and source is not None and source.hub is None and source.homepage:
        raise DataError(
            f"The data of this environment was asked for, and it is not on the Hugging Face Hub. "
            f"Get {source.homepage} (licence: {source.licence}), and give the file, with the "
            f'fields {", ".join(map(repr, kind.needs))}: data="path/to/file.json", or on the '
            'command line --env-kwargs \'{"data": "path/to/file.json"}\'.',
            source=source.homepage,
        )
    return load_table(kind, source=source, data=data, **choices)
