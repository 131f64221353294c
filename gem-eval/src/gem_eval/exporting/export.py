"""Export a run: choose its episodes, have a format written, and say what is in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from gem_eval.errors import ExportError
from gem_eval.exporting.choosing import Choice, Source, chosen_names
from gem_eval.exporting.drafts import draft_of
from gem_eval.exporting.formats import FORMATS, Format
from gem_eval.exporting.stored_log import StoredLog
from gem_eval.run_folder import RunFolder

__all__ = ["Export", "export"]


class Export(BaseModel):
    """What was exported: `rows` (pairs, samples or files) of so many `episodes`, and where.

    `left_out` counts episodes, of several seats their parts, by the reason in words. An episode
    that an error ended is never among those that were not solved.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    to: str
    path: str
    episodes: int
    rows: int
    left_out: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return self.model_dump(mode="json")


def export(
    run: str | os.PathLike[str],
    *,
    to: str,
    out: str | os.PathLike[str],
    policies: Sequence[str] | None = None,
    envs: Sequence[str] | None = None,
    seats: Sequence[str] | None = None,
    solved: bool = False,
    min_return: float | None = None,
    margin: float | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Export:
    """Write the episodes of a run folder in a format that other tools read: see `FORMATS`.

    `policies` (names, or short ones) and `envs` (ids, or shell patterns) choose among them, and
    `solved` leaves only successes. Of several seats each is handed on by itself, as
    `Episode.parts` has it; a policy of a line-up chooses its seats, and `seats` does by name.

    `min_return` is for "sft": at least this return, solved or not. `margin` is for "dpo": two
    returns that differ by at least as much make a pair. An episode is read when it is written, and
    the run may still go on. `on_progress` is called with the share that has been read.

    Raises ExportError, RunFolderError, LogError and MissingRequirement, and leaves then nothing
    behind.
    """
    chosen_format = _format(to, {"min_return": min_return, "margin": margin})
    if margin is not None and not margin > 0:
        raise ExportError(f"margin={margin:g} was given, and is not above 0. Give 0.5, say.")
    writer = chosen_format.writer()
    folder = RunFolder.open(run)
    chosen_seats = None if seats is None else frozenset(seats)
    choice = Choice(*chosen_names(folder, policies, envs), chosen_seats, solved, min_return, margin)
    place = Path(out)
    with (
        StoredLog(folder.episodes_path) as log,
        draft_of(place, is_folder=chosen_format.is_folder) as draft,
    ):
        source = Source(folder, log, choice, on_progress)
        written = writer(source, draft)
        if not written.rows:
            raise _nothing(chosen_format, source, written.notes)
    return Export(
        to=to,
        path=str(place),
        episodes=written.episodes,
        rows=written.rows,
        left_out=dict(source.left_out),
        notes=written.notes,
    )


def _format(to: str, options: Mapping[str, object]) -> Format:
    chosen = FORMATS.get(to)
    if chosen is None:
        raise ExportError(f"{to!r} is no format to export to. They are {', '.join(FORMATS)}.")
    for name, value in options.items():
        if value is not None and name not in chosen.options:
            [owner] = [each.name for each in FORMATS.values() if name in each.options]
            raise ExportError(
                f"{name} says what the format {owner} takes, and not {to}. Leave it out, or "
                f"export to {owner}."
            )
    return chosen


def _nothing(chosen: Format, source: Source, notes: Sequence[str]) -> ExportError:
    counts = [f"{count} {reason}" for reason, count in sorted(source.left_out.items())]
    why = "; ".join([*counts, *notes]) or "no episode has finished"
    return ExportError(
        f"{source.folder.path} gives no {chosen.noun}s of the format {chosen.name}: {why}. Choose "
        "other episodes, or wait until there are some."
    )
