"""The door of gem-data: tables of rows of the Hugging Face Hub, of a file, or in memory.

The distribution gem-data holds what is named here, and core imports it nowhere else. Where it is
not installed, each name raises MissingRequirement, with the pip command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem_data import (
        DatasetEnv,
        DataSource,
        Golds,
        Graded,
        Misfit,
        Origin,
        Overlap,
        RowKind,
        Rows,
        Table,
        TableArguments,
        Ungradable,
        check_golds,
        contamination,
        is_text,
        load_table,
    )

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
    if name not in __all__:
        raise AttributeError(f"module 'gem.data' has no attribute {name!r}")
    from gem.registry._behind_doors import package_behind  # here: the door itself costs nothing

    value: object = getattr(package_behind("gem.data", "gem-data"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
