"""What a few trainings of each arm say: estimates that outliers do not decide, and intervals.

As in "Deep Reinforcement Learning at the Edge of the Statistical Precipice" (arXiv 2108.13264).
Scores are a list with an array for each task, and a score for each run in it. Knows nothing about
where scores come from.
"""

from gem_baselines.statistics._bootstrap import Interval, bootstrap_interval
from gem_baselines.statistics._estimates import (
    Scores,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
)

__all__ = [
    "Interval",
    "Scores",
    "bootstrap_interval",
    "interquartile_mean",
    "performance_profile",
    "probability_of_improvement",
]
