"""The options of the commands of search: argparse alone, so that setting `gem-env` up is cheap."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_build", "add_serve"]

_BUILD = """\
Build an index of documents for search. SOURCE is a file of JSON lines (.gz too), each an object
with an id, a title and a text, or a folder that `datasets` wrote with save_to_disk. The index is
moved to its folder when it is whole: an interrupted build leaves nothing there.
"""
_BUILD_EXAMPLES = """\
examples:
  gem-env build-search articles.jsonl --out articles-index
  gem-env build-search wiki-18.jsonl.gz --out wiki-index --language none
"""
_SERVE = """\
Serve an index over HTTP as Search-R1's retrieval server does: POST /retrieve with "queries",
"topk" and "return_scores"; GET /health says what is served. It ends, with exit status 0, on Ctrl-C
or SIGTERM. There is no access control: it listens on this machine alone unless --host says more.
"""
_SERVE_EXAMPLES = """\
examples:
  gem-env serve-search articles-index
  gem-env serve-search articles-index --port 0    # a free port, which is printed
"""


def add_build(commands: Any) -> None:
    """Add `build-search` to the commands."""
    parser = commands.add_parser(
        "build-search",
        help="build an index of documents for search",
        description=_BUILD,
        epilog=_BUILD_EXAMPLES,
    )
    add = parser.add_argument
    add("source", metavar="SOURCE", help="the documents")
    add("--out", metavar="INDEX", required=True, help="the folder of the index, not there yet")
    add("--engine", default="tantivy", help="tantivy (default) or bm25s")
    add("--language", default="english", help="whose word endings are cut off; or none")
    for field in ("id", "title", "text"):
        add(f"--{field}-field", metavar="NAME", default=field, help=f"what holds the {field}")
    add("--json", action="store_true", help="print what was built as JSON")
    parser.set_defaults(run=_build)


def add_serve(commands: Any) -> None:
    """Add `serve-search` to the commands."""
    parser = commands.add_parser(
        "serve-search",
        help="serve a search index over HTTP",
        description=_SERVE,
        epilog=_SERVE_EXAMPLES,
    )
    add = parser.add_argument
    add("index", metavar="INDEX", help="a folder that build-search wrote")
    add("--host", default="127.0.0.1", help="the address to listen at (default: this machine)")
    add("--port", type=int, default=8000, metavar="N", help="default: 8000; 0: any that is free")
    add("--topk", type=int, default=3, metavar="K", help="hits where a request names no number")
    parser.set_defaults(run=_serve)


def _build(options: argparse.Namespace) -> int:
    from gem_tools.search.cli import build

    return build.run(options)


def _serve(options: argparse.Namespace) -> int:
    from gem_tools.search.cli import serve

    return serve.run(options)
