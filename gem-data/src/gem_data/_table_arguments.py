"""The arguments of an environment over a table, declared once for all of them.

Knows nothing about environments or how a table is loaded: `gem.data.load_table` takes these.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypedDict

from pydantic import Field

from gem.specs import DataSource
from gem_data._rows import Rows

__all__ = ["TableArguments"]


class TableArguments(TypedDict, total=False):
    """What `gem.data.load_table` takes besides the kind of rows; every key may be left out.

    An environment takes all of them by one line, `**table: Unpack[TableArguments]`: `gem.make`
    checks each by its type, and `gem-env show` lists them.
    """

    source: DataSource | None
    """A data set of the Hugging Face Hub, which is read where no `data` is given."""
    data: str | Path | Rows | None
    """The path of a .jsonl, .json, .csv or .parquet file, or rows in memory."""
    fields: Mapping[str, str] | None
    """Where the environment's fields are in the data: its name first, then the data's."""
    split: str | None
    """The split to take, where there are several."""
    limit: int | None
    """The number of first rows to keep."""
    streaming: Annotated[bool, Field(default=False)]
    """Whether rows are fetched in order as they are needed; `limit` must be given then."""
