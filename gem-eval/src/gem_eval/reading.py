"""Sum up a run from its folder alone, also while another process writes it. Changes nothing."""

from __future__ import annotations

from pydantic import ValidationError

from gem import read_episodes
from gem_eval.references import read_references
from gem_eval.run_folder import RunFolder
from gem_eval.summary import Outcome, Summary, Tries, summarise

__all__ = ["read_summary", "stored_summary"]


def read_summary(folder: RunFolder) -> Summary:
    """Sum up the whole lines of a run's log. Makes no environment. Raises LogError.

    What the run decided is taken from its own summary: only its plan says what was looked at.
    """
    tries = Tries()
    if folder.episodes_path.exists():  # a run that was just begun has no log
        for episode in read_episodes(folder.episodes_path):
            tries.add(Outcome.of(episode))
    stored = stored_summary(folder)
    return summarise(
        folder.record.settings,
        tries.last,
        run=str(folder.path),
        retried=tries.retried,
        planned=folder.record.total,
        decisions=() if stored is None else stored.decisions,
        is_branch=folder.record.branch is not None,
        is_crossed=folder.record.is_crossed,
    ).model_copy(update={"references": read_references(folder)})


def stored_summary(folder: RunFolder) -> Summary | None:
    """Return the summary that the run wrote when it ended last, or None where there is none."""
    try:
        return Summary.model_validate_json(folder.summary_path.read_bytes())
    except (OSError, ValidationError):
        return None
