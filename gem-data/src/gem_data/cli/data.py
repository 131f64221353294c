"""`gem-env data`: where an environment's rows are from, what they are, and what two share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.cli import columns, env_kwargs, one_line

if TYPE_CHECKING:
    from gem.specs import EnvSpec
    from gem_data._golds import Golds
    from gem_data._overlap import Overlap
    from gem_data._table import Table

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env data math:GSM8K --prefetch
  gem-env data math:GSM8K --env-kwargs '{"data": "mine.jsonl"}'
  gem-env data math:GSM8K --against eval:MATH500
  gem-env data math:GSM8K --env-kwargs '{"data": "mine.jsonl"}' --golds
"""
_MOST_SHOWN = 300  # characters of a value
_MOST_PAIRS = 10  # rows that two tables share; --json lists all of them
_MOST_GOLDS = 20  # rows that cannot be graded; likewise


def add_command(commands: Any) -> None:
    """Add `data` to the commands."""
    parser = commands.add_parser(
        "data",
        help="what rows an environment poses, and from where",
        description="Show the data of an environment: source, revision, licence, fields and "
        "first rows. It is downloaded if it is not in the cache. With --against, compare it "
        "with another's; the exit status is 1 if they share a row. With --golds, say how answers "
        "are graded; the exit status is 1 if to a row no answer can be.",
        epilog=_EPILOGUE,
    )
    parser.add_argument("id", metavar="ID", help="an environment's id, as `gem-env list` shows it")
    parser.add_argument(
        "--env-kwargs", metavar="JSON", default="{}", help="arguments of the environment"
    )
    parser.add_argument(
        "--rows", metavar="N", type=int, default=3, help="how many rows to show (3)"
    )
    parser.add_argument("--prefetch", action="store_true", help="only fetch and check it")
    parser.add_argument(
        "--golds", action="store_true", help="list the rows whose gold cannot be graded"
    )
    parser.add_argument("--against", metavar="ID", help="find rows that are in both")
    parser.add_argument(
        "--against-kwargs", metavar="JSON", default="{}", help="arguments of that environment"
    )
    parser.add_argument(
        "--of", metavar="FIELD", default="question", help="the field to compare (question)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


class _Data(NamedTuple):
    """One environment's table, as it was asked for."""

    spec: EnvSpec
    table: Table[Any]


def _run(options: argparse.Namespace) -> int:
    from gem.errors import BadArguments

    if options.golds and options.against is not None:
        raise BadArguments(
            "--golds was given with --against. Run the command once for each.", subject="data"
        )
    data = _data_of(options.id, options.env_kwargs)
    if options.golds:
        return _check_golds(data, options)
    if options.against is not None:
        return _compare(data, _data_of(options.against, options.against_kwargs), options)
    facts = _facts(data, 0 if options.prefetch else options.rows)
    print(json.dumps(facts, indent=2) if options.json else _page(facts))
    return 0


def _data_of(env_id: str, kwargs: str) -> _Data:
    """Return an environment's table. Raises BadArguments for one that reads none."""
    from gem import make, registry
    from gem.errors import BadArguments
    from gem_data._table import Table

    spec = registry.spec(env_id)
    # The environment itself is asked: only it knows which table its arguments make it read.
    with make(env_id, **env_kwargs(kwargs)) as env:
        table = getattr(env, "table", None)
    if isinstance(table, Table):
        return _Data(spec, table)
    source = spec.source.rstrip(".") or "its source is not stated"
    raise BadArguments(
        f"{env_id} reads no table of rows ({source}). Name an environment over a data set.",
        subject=env_id,
    )


def _facts(data: _Data, rows: int) -> dict[str, Any]:
    spec, table = data
    source = table.origin.source  # None of rows that are a user's own
    facts = {
        "id": spec.id,
        "kind": table.kind.name,
        "source": table.origin.name if source is None else source.hub,
        "config": getattr(source, "config", None),
        "split": getattr(source, "split", None),
        "role": getattr(source, "role", None),
        "revision_asked": getattr(source, "revision", None),
        "revision": table.origin.revision,
        "licence": getattr(source, "licence", None),
        "homepage": getattr(source, "homepage", None),
        "rows": len(table),
        "fields": dict(table.fields),
        "can_check_golds": table.kind.graded is not None,
    }
    first = [_shortened(record) for record in islice(table.records(), max(rows, 0))]
    return {**facts, "first": first}


def _shortened(record: Mapping[str, Any]) -> dict[str, str]:
    return {field: _cut(value) for field, value in record.items()}


def _cut(value: object) -> str:
    """Return any value of a row as one short line."""
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    text = value[:_MOST_SHOWN] if isinstance(value, str) else json.dumps(value, default=_cut)
    is_cut = len(value if isinstance(value, str) else text) > _MOST_SHOWN
    return one_line(text[:_MOST_SHOWN]) + (" ..." if is_cut else "")


def _page(facts: Mapping[str, Any]) -> str:
    blocks = [one_line(facts["id"]), columns(_rows(facts), margin="  ")]
    for number, row in enumerate(facts["first"]):
        blocks.append(f"Task {number}\n{columns(list(row.items()), margin='  ')}")
    return "\n\n".join(blocks)


def _rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    asked = facts["revision_asked"]
    got = facts["revision"]
    renamed = (f"{ours} (theirs: {theirs})" for ours, theirs in facts["fields"].items())
    pin = "" if asked or not got else f'--env-kwargs \'{{"source": {{"revision": "{got}"}}}}\''
    rows = [
        ("rows", f"{facts['rows']:,}, each a {facts['kind']}"),
        ("source", facts["source"]),
        ("config", facts["config"]),
        ("split", facts["split"]),
        ("role", facts["role"]),
        ("asked for", asked and f"revision {asked}"),
        ("revision", got),
        ("to pin it", pin),
        ("licence", facts["licence"]),
        ("homepage", facts["homepage"]),
        ("fields", ", ".join(renamed)),
        ("golds", facts["can_check_golds"] and "--golds lists those that cannot be graded"),
    ]
    return [(name, value) for name, value in rows if value]


def _check_golds(data: _Data, options: argparse.Namespace) -> int:
    from gem_data._golds import check_golds

    golds = check_golds(data.table)
    if options.json:
        listed = [row._asdict() for row in golds.ungradable]
        facts = {"id": data.spec.id, "rows": golds.rows, "by": golds.by, "ungradable": listed}
        print(json.dumps(facts, indent=2))
    else:
        print(_golds_page(data, golds))
    return int(bool(golds.ungradable))


def _golds_page(data: _Data, golds: Golds) -> str:
    heading = f"{data.spec.id}: {golds.rows:,} rows of {data.table.origin.name}"
    decided = [(f"by {by}", f"{count:,}") for by, count in golds.by.items()]
    blocks = [one_line(heading), columns(decided, margin="  ")]
    if golds.ungradable:
        blocks.append("No answer to these can be graded. Correct them or leave them out:")
        first = golds.ungradable[:_MOST_GOLDS]
        rows = [(f"task {row.task}", f"{_cut(row.gold)[:100]}: {row.trouble}") for row in first]
        rest = len(golds.ungradable) - len(first)
        if rest:
            rows.append((f"and {rest:,} more", "(--json lists all)"))
        blocks.append(columns(rows, margin="  "))
    return "\n\n".join(blocks)


def _compare(a: _Data, b: _Data, options: argparse.Namespace) -> int:
    from gem_data._overlap import contamination

    overlap = contamination(a.table, b.table, of=options.of)
    if options.json:
        ids = {"a": a.spec.id, "b": b.spec.id, "of": options.of}
        print(json.dumps({**ids, **overlap._asdict(), "share": overlap.share}, indent=2))
    else:
        print(_overlap_page(a, b, overlap, options.of))
    return int(overlap.share > 0)


def _overlap_page(a: _Data, b: _Data, overlap: Overlap, of: str) -> str:
    pairs_found = len(overlap.exact) + len(overlap.normalised)
    rows = [
        ("compared", f"{of} of {a.spec.id} ({overlap.rows[0]:,} rows)"),
        ("with", f"{of} of {b.spec.id} ({overlap.rows[1]:,} rows)"),
        ("exact", f"{len(overlap.exact):,}"),
        ("normalised", f"{len(overlap.normalised):,}, the same but for case, spaces and marks"),
        ("share", f"{overlap.share:.2%} of the rows of {b.spec.id}"),
    ]
    pairs = []
    for first, second in (*overlap.exact, *overlap.normalised)[:_MOST_PAIRS]:
        text = _cut(b.table.record(second)[of])[:100]
        pairs.append((f"task {first} = task {second}", text))
    if pairs_found > len(pairs):
        pairs.append((f"and {pairs_found - len(pairs):,} more", "(--json lists all)"))
    return "\n\n".join(filter(None, [columns(rows), columns(pairs)]))
