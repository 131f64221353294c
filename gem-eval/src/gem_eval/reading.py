"""Sum up a run from its folder alone, also while another process writes it. Changes nothing."""

from __future__ import annotations

from gem import read_episodes
from gem_eval.run_folder import RunFolder
from gem_eval.summary import Outcome, Summary, Tries, summarise

__all__ = ["read_summary"]


def read_summary(folder: RunFolder) -> Summary:
    """Sum up the whole lines of a run's log. Makes no environment. Raises LogError."""
    tries = Tries()
    if folder.episodes_path.exists():  # a run that was just begun has no log
        for episode in read_episodes(folder.episodes_path):
            tries.add(Outcome.of(episode))
    return summarise(
        folder.record.settings,
        tries.last,
        run=str(folder.path),
        retried=tries.retried,
        planned=folder.record.total,
    )
