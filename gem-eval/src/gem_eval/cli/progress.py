"""Show how far an evaluation is, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gem.cli import one_line
from gem.episode import Episode
from gem.rollouts import Progress

if TYPE_CHECKING:
    from gem_eval.job import Job

__all__ = ["progress"]


@contextmanager
def progress(job: Job, *, hidden: bool) -> Iterator[Callable[[Episode], None] | None]:
    """Give a function to call with each episode; None where nobody looks."""
    if hidden:
        yield None
        return
    with Progress(
        job.stats, total=job.total, finished=job.finished, alert=lambda: one_line(job.state)
    ) as line:
        policy = ""

        def on_episode(episode: Episode) -> None:
            nonlocal policy
            if policy and policy != episode.policy:
                line.begin_policy()
            policy = episode.policy
            line.note = one_line(f"{episode.env_id} {episode.policy}")

        yield on_episode
