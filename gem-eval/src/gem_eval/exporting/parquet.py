"""Parquet: a row for each episode, its turns nested in it, in groups that fit into memory."""

from __future__ import annotations

from pathlib import Path

from gem_eval.exporting.choosing import Source
from gem_eval.exporting.columns import schema, tables
from gem_eval.exporting.formats import Written

__all__ = ["write"]


def write(source: Source, draft: Path) -> Written:
    """Write the chosen episodes, those that an error ended among them, with `success` null."""
    import pyarrow.parquet as pq  # heavy: 0.2 s

    num_rows = 0
    with pq.ParquetWriter(draft, schema(), compression="zstd") as writer:
        for table in tables(source):
            writer.write_table(table)
            num_rows += table.num_rows
    return Written(source.num_episodes, num_rows)
