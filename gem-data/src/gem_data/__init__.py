"""Tables of rows that environments pose: of the Hugging Face Hub, of a file, or in memory, for GEM.

A pack states a `RowKind`, what it needs of a row; `load_table` loads a table of such rows once
per process, and `DatasetEnv` poses one. Importing this package costs nothing: each public name
loads its module on first use, and `datasets` is imported when a table of the hub, of Parquet or
of a large file is loaded. `gem.data` shows the same names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem.specs import DataSource
    from gem_data._dataset_env import DatasetEnv
    from gem_data._golds import Golds, Ungradable, check_golds
    from gem_data._loading import load_table
    from gem_data._overlap import Overlap, contamination
    from gem_data._rows import Graded, Misfit, RowKind, Rows
    from gem_data._table import Origin, Table
    from gem_data._table_arguments import TableArguments
    from gem_data._texts import is_text

__version__ = "0.1.0"

_HOMES = {
    "gem.specs": "DataSource",
    "gem_data._dataset_env": "DatasetEnv",
    "gem_data._golds": "Golds Ungradable check_golds",
    "gem_data._loading": "load_table",
    "gem_data._overlap": "Overlap contamination",
    "gem_data._rows": "Graded Misfit RowKind Rows",
    "gem_data._table": "Origin Table",
    "gem_data._table_arguments": "TableArguments",
    "gem_data._texts": "is_text",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "DataSource",
    "DatasetEnv",
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


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gem_data' has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
