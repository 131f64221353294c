"""The formats in which a run is handed on: one line each, and what each needs.

Knows nothing about how they are written: a writer is imported when it is used, and this module
costs next to nothing, for the help of the command reads it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gem_eval.errors import ExportError

if TYPE_CHECKING:
    from gem_eval.exporting.choosing import Source

__all__ = ["FORMATS", "Format", "Writer", "Written"]


class Written(NamedTuple):
    """What a writer wrote: `episodes` of the run, as so many `rows`, and what to know of it."""

    episodes: int
    rows: int
    notes: tuple[str, ...] = ()


class Writer(Protocol):
    """What a format's module has as `write`."""

    def __call__(self, source: Source, draft: Path) -> Written:
        """Write the chosen episodes to a draft. Raises LogError, OSError and ExportError."""


class Format(NamedTuple):
    """A format: `noun` is what one of its rows is called, `requires` what its extra brings."""

    name: str
    summary: str
    noun: str
    module: str
    is_folder: bool
    requires: tuple[str, ...] = ()
    oldest_python: tuple[int, int] = (3, 10)
    options: frozenset[str] = frozenset()

    def writer(self, python: tuple[int, ...] = sys.version_info[:2]) -> Writer:
        """Return what writes it. Raises MissingRequirement, and ExportError on an older Python."""
        if python < self.oldest_python:
            oldest = ".".join(map(str, self.oldest_python))
            raise ExportError(
                f"The format {self.name} needs Python {oldest} or newer, and this is "
                f"{'.'.join(map(str, python))}. Export with a newer Python, or --to another format."
            )
        from gem.registry import check_requirements

        check_requirements(self.requires, subject=f"export --to {self.name}", of="gem-eval")
        writer: Writer = importlib.import_module(self.module).write
        return writer


_ALL = (
    Format(
        "parquet",
        "a file with a row for each episode, or each of its seats, its turns nested in it",
        "row",
        "gem_eval.exporting.parquet",
        is_folder=False,
        requires=("pyarrow>=17",),
    ),
    Format(
        "hf",
        "the same rows as a folder of Hugging Face datasets",
        "row",
        "gem_eval.exporting.hf",
        is_folder=True,
        requires=("datasets>=3.0",),
    ),
    Format(
        "sft",
        "JSON lines of chat messages, to fine-tune on what was solved",
        "row",
        "gem_eval.exporting.sft",
        is_folder=False,
        options=frozenset({"min_return"}),
    ),
    Format(
        "dpo",
        "JSON lines of preference pairs: a better and a worse answer to one seed",
        "pair",
        "gem_eval.exporting.dpo",
        is_folder=False,
        options=frozenset({"margin"}),
    ),
    Format(
        "inspect",
        "a folder of inspect_ai logs, one for each policy and environment",
        "sample",
        "gem_eval.exporting.inspect_logs",
        is_folder=True,
    ),
    Format(
        "atif",
        "a folder of ATIF 1.8 trajectories, a file for each episode or seat",
        "file",
        "gem_eval.exporting.atif",
        is_folder=True,
        requires=("atif>=1.8",),
        oldest_python=(3, 11),
    ),
)
FORMATS: Mapping[str, Format] = {each.name: each for each in _ALL}
"""Every format by its name."""
