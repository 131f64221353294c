"""A folder that `datasets.load_from_disk` opens, with the rows of the format parquet."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gem_eval.exporting.choosing import Source
from gem_eval.exporting.columns import schema, tables
from gem_eval.exporting.formats import Written

__all__ = ["write"]


def write(source: Source, draft: Path) -> Written:
    """Write the chosen episodes as a data set.

    The rows go through one file that is then read by memory map: no more than a group of them is
    in memory at once, and for a while they are on the disk twice.
    """
    import datasets  # heavy: 1 s
    import pyarrow as pa

    passage = draft / "passage"  # of its own: a data set is not saved beside the file that it maps
    passage.mkdir()
    rows_path = passage / "rows.arrow"
    num_rows = 0
    with (
        pa.OSFile(str(rows_path), "wb") as file,
        pa.ipc.new_stream(file, schema()) as writer,
    ):
        for table in tables(source):
            writer.write_table(table)
            num_rows += table.num_rows
    if num_rows:
        with _without_progress_bars():
            datasets.Dataset.from_file(str(rows_path)).save_to_disk(draft)
    shutil.rmtree(passage)
    return Written(source.num_episodes, num_rows)


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Hide what datasets would draw on stderr, and leave its setting as it was."""
    from datasets import utils

    was_hidden = utils.are_progress_bars_disabled()
    utils.disable_progress_bars()
    try:
        yield
    finally:
        if not was_hidden:
            utils.enable_progress_bars()
