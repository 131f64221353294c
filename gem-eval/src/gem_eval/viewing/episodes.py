"""Read one episode of a log for a page: its record, and those of its turns that the page shows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gem_eval.viewing import rows
from gem_eval.viewing.conversation import Said, TurnView, final_said, tools_text, turn_view
from gem_eval.viewing.log_index import LogIndex
from gem_eval.viewing.rows import Row
from gem_eval.viewing.scanning import TURNS_AT_ONCE, LongTurns
from gem_eval.viewing.seat_parts import part_in, rounds_of
from gem_eval.viewing.seats import SeatFigures, seat_named

__all__ = ["EpisodeView", "TurnPage", "read_episode", "read_turn", "read_turns"]

_MOST_RECORD = 2000


class TurnPage(NamedTuple):
    """Some turns of an episode as they stand in a log. `first` is the number of the first.

    `before` are the returns before it, one a seat.
    """

    first: int
    turns: Sequence[Any]
    before: tuple[float, ...]


class EpisodeView(NamedTuple):
    """An episode as a page shows it. `curve` has some of its turns, with the returns so far.

    `first` is the number of the first turn that is shown, of `row.turns`. `record` is the episode
    without its turns, as it stands in the log. `groups` are the turns that are shown, those of a
    round together. `finals` is what each seat was shown last.

    `seat` is the one whose part alone is shown, None for all of them.
    """

    row: Row
    turns: tuple[TurnView, ...]
    first: int
    curve: tuple[tuple[int, tuple[float, ...]], ...]
    final: tuple[Said, ...]
    error: str | None
    facts: tuple[tuple[str, str], ...]
    record: Mapping[str, Any]
    has_token_ids: bool = False
    seat: SeatFigures | None = None
    finals: tuple[tuple[tuple[str, ...], tuple[Said, ...]], ...] = ()

    @property
    def groups(self) -> list[list[TurnView]]:
        """The turns that are shown, each by itself, and those of a round together."""
        return rounds_of(self.turns)


def read_episode(
    log: Path, index: LogIndex, line: int, turn: int = 1, seat: str = ""
) -> EpisodeView | None:
    """Return an episode with the turns around one, from 1. None where no try stands there.

    `seat` names the seat whose part alone is shown, if any. Raises OSError and ValueError where the
    log is no longer what was indexed, and ViewError where no part can be made.
    """
    found = _found(index, line)
    if found is None:
        return None
    row, long_turns = found
    turn = min(max(turn, 1), max(row.turns, 1))
    record, page = _page(log, row, long_turns, turn)
    views = _views(page)
    curve = [(view.number, view.returns) for view in views]
    if long_turns is not None:
        curve = [(number, tuple(returns)) for number, returns in long_turns.curve]
    final = record.get("final_observation")
    finals = _finals(record)
    chosen = seat_named(seat, row.seats) if seat else None
    if chosen is not None:
        part = part_in(_read(log, row.start, row.length), chosen.number)
        views = part.turns_from(page.first, len(page.turns))
        curve = [(number, (total,)) for number, total in part.curve]
        final = part.final
        finals = ()
        record = {**record, "error": part.error}
    return EpisodeView(
        row=row,
        turns=tuple(views),
        first=page.first,
        curve=tuple(point for point in curve if all(map(math.isfinite, point[1]))),
        final=() if final is None else final_said(final),
        seat=chosen,
        finals=finals,
        error=record["error"] if isinstance(record.get("error"), str) else None,
        facts=tuple(_facts(record)),
        record=record,
        has_token_ids=any(map(_has_token_ids, page.turns)),
    )


def read_turns(log: Path, index: LogIndex, line: int, turn: int = 1) -> tuple[Row, TurnPage] | None:
    """Return the turns around one as they stand in the log. None where no try stands there.

    Raises OSError and ValueError where the log is no longer what was indexed.
    """
    found = _found(index, line)
    if found is None:
        return None
    row, long_turns = found
    _, page = _page(log, row, long_turns, min(max(turn, 1), max(row.turns, 1)))
    return row, page


def read_turn(log: Path, index: LogIndex, line: int, turn: int) -> Any:
    """Return one turn as it stands in the log, or None where there is none."""
    found = _found(index, line)
    if found is None or not 1 <= turn <= found[0].turns:
        return None
    row, long_turns = found
    _, page = _page(log, row, long_turns, turn)
    return page.turns[turn - page.first]


def _views(page: TurnPage) -> list[TurnView]:
    views = []
    so_far = page.before
    tool_texts: dict[int, str | None] = {}  # of the turn before, by seat
    for number, plain in enumerate(page.turns, start=page.first):
        seat = plain.get("seat", 0) if isinstance(plain, Mapping) else 0
        view, read = turn_view(plain, number, so_far, tool_texts.get(seat))
        so_far = view.returns
        tool_texts[view.seat] = tools_text(read)
        views.append(view)
    return views


def _finals(record: Mapping[str, Any]) -> tuple[tuple[tuple[str, ...], tuple[Said, ...]], ...]:
    """Return what the seats were shown last: the same text once, with all who were shown it."""
    shown: dict[str, list[str]] = {}
    for outcome in record.get("seats") or ():
        final = outcome.get("final_observation")
        if final is not None:
            shown.setdefault(json.dumps(final), []).append(str(outcome.get("name")))
    finals = ((tuple(names), final_said(json.loads(text))) for text, names in shown.items())
    return tuple(final for final in finals if any(map(_says_something, final[1])))


def _says_something(said: Said) -> bool:
    return bool(said.images) or any(piece.text for piece in said.body.pieces)


def _has_token_ids(plain: Any) -> bool:
    return isinstance(plain, Mapping) and bool(plain.get("token_ids"))


def _found(index: LogIndex, line: int) -> tuple[Row, LongTurns | None] | None:
    with index.reading() as db:
        row = rows.row_at(db, line)
        if row is None:
            return None
        return row, rows.long_turns_of(db, line)


def _page(
    log: Path, row: Row, long_turns: LongTurns | None, turn: int
) -> tuple[dict[str, Any], TurnPage]:
    """Return the record without its turns, and the page that has a turn."""
    if long_turns is None:
        record = json.loads(_read(log, row.start, row.length))
        turns = record.pop("turns")
        return record, TurnPage(1, turns[:TURNS_AT_ONCE], (0.0,) * max(1, len(row.seats)))
    number = (turn - 1) // TURNS_AT_ONCE
    start, end, before = long_turns.blocks[number]
    turns = json.loads(b"[%b]" % _read(log, row.start + start, end - start))
    first = number * TURNS_AT_ONCE + 1
    return json.loads(long_turns.record), TurnPage(first, turns, tuple(before))


def _read(log: Path, start: int, length: int) -> bytes:
    with log.open("rb") as file:
        file.seek(start)
        return file.read(length)


def _facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    wrappers = record.get("wrappers") or []
    versions = record.get("versions") or {}
    return [
        ("environment", str(record.get("env_id"))),
        ("arguments", _flat(record.get("env_kwargs")) or "none"),
        ("wrappers", ", ".join(map(_flat, wrappers)) or "none"),
        ("seed", str(record.get("seed"))),
        ("task", "none" if record.get("task") is None else str(record["task"])),
        ("policy", str(record.get("policy"))),
        ("stop reason", str(record.get("stop_reason"))),
        ("versions", _flat(versions) or "none"),
    ]


def _flat(value: Any) -> str:
    """Write plain data on one line, the outer braces left out."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=str)[:_MOST_RECORD]
    if set(value) == {"id"} or (value.keys() == {"id", "kwargs"} and not value["kwargs"]):
        return str(value["id"])
    parts = []
    for name, item in value.items():
        text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)
        parts.append(f"{name} {text}")
    return ", ".join(parts)[:_MOST_RECORD]
