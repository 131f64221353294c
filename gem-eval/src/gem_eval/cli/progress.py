"""Show how far a run is, on a terminal and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gem.episode import Episode

if TYPE_CHECKING:
    from gem_eval.job import Job

__all__ = ["progress"]


@contextmanager
def progress(job: Job, *, hidden: bool) -> Iterator[Callable[[Episode], None] | None]:
    """Give a function to call with each episode; None where nobody looks."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("episodes", total=job.total, completed=job.finished)

        def on_episode(episode: Episode) -> None:
            shown.update(task, advance=1, description=f"{episode.env_id} {episode.policy}")

        yield on_episode
