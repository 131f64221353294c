"""Write the page of trainings as one file that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from gem_eval.viewing.export import content_policy, write_page
from gem_eval.viewing.rendering import asset, render
from gem_eval.viewing.trainings.page import training_values
from gem_eval.viewing.trainings.query import TrainingQuery
from gem_eval.viewing.trainings.training import ViewedTraining

__all__ = ["export_trainings"]


def export_trainings(trainings: Sequence[ViewedTraining], path: Path) -> int:
    """Write the usual curves of trainings, their evaluations and samples of one into a new file.

    Episodes are left out. Return its size in bytes. Raises ViewError.
    """
    for training in trainings:
        training.refresh(budget_s=math.inf)
    assets = {
        "style": asset("viewer.css") + asset("training.css"),
        "script": asset("viewer.js"),
    }
    page = render(
        "export_training.html",
        **training_values(trainings, TrainingQuery()),
        policy=content_policy(assets),
        assets=assets,
        theme="",
        several=False,
        is_export=True,
    ).encode("utf-8")
    write_page(path, page)
    return len(page)
