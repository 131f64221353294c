"""`gem-env build-search`: build an index and say what it holds."""

from __future__ import annotations

import argparse
import shlex
import sys

from gem.cli import one_line
from gem_tools.search.building import build_index
from gem_tools.search.documents import Fields

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Build what the options say and return the exit status."""
    shows_progress = sys.stderr.isatty() and not options.json
    manifest = build_index(
        options.source,
        options.out,
        engine=options.engine,
        language=options.language,
        fields=Fields(options.id_field, options.title_field, options.text_field),
        on_progress=_show if shows_progress else None,
    )
    if shows_progress:
        print("\r\x1b[K", end="", file=sys.stderr)
    if options.json:
        print(manifest.model_dump_json(indent=2))
        return 0
    print(
        f"Indexed {manifest.documents:,} documents of {one_line(options.source)} in "
        f"{one_line(options.out)} ({manifest.engine} {manifest.engine_version}, language "
        f"{manifest.language})."
    )
    print(f"Serve it: gem-env serve-search {shlex.quote(options.out)}")
    return 0


def _show(documents: int, read: float | None) -> None:
    share = "" if read is None else f" ({read:.0%} of the source)"
    print(f"\r{documents:,} documents{share}", end="", file=sys.stderr, flush=True)
