"""Training: an experiment, the loop that plays and updates, and the folder that it leaves.

Estimators are those of `gem.returns`, and a policy is anything that keeps to `LearningPolicy`:
nothing here knows what a policy is made of.
"""

from __future__ import annotations

from gem_baselines.training.experiment import Experiment
from gem_baselines.training.training import train

__all__ = ["Experiment", "train"]
