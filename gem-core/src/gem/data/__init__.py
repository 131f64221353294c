"""Tables of rows that environments pose: of the Hugging Face Hub, of a file, or in memory.

A pack states a `RowKind`, what it needs of a row; `load_table` loads a table of such rows once
per process. Knows nothing about environments. Importing it costs nothing: `datasets` is
imported when a table of the hub, of Parquet or of a large file is loaded.
"""

from __future__ import annotations

from gem.data.golds import Golds, Ungradable, check_golds
from gem.data.loading import load_table
from gem.data.overlap import Overlap, contamination
from gem.data.rows import Graded, Misfit, RowKind, Rows
from gem.data.table import Origin, Table
from gem.data.table_arguments import TableArguments
from gem.data.texts import is_text
from gem.specs import DataSource

__all__ = [
    "DataSource",
    "Golds",
    "Graded",
    "Misfit",
    "Origin",
    "Overlap",
    "RowKind",
    "Rows",
    "Table",
    "TableArguments",
    "Ungradable",
    "check_golds",
    "contamination",
    "is_text",
    "load_table",
]
