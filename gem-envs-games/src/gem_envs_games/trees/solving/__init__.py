"""Exact values, best responses, equilibria and perfect play of games that are `Position`s.

Pure Python. Knows no environment; only `stored` and the searches know single games.
"""

from __future__ import annotations

from gem_envs_games.trees.solving.analysis import Analysis, analysis_of, exploitability, nash_conv
from gem_envs_games.trees.solving.equilibrium import Equilibrium, find_equilibrium
from gem_envs_games.trees.solving.policies import Policy, Table, from_table, uniform
from gem_envs_games.trees.solving.sequence_form import SequenceForm

__all__ = [
    "Analysis",
    "Equilibrium",
    "Policy",
    "SequenceForm",
    "Table",
    "analysis_of",
    "exploitability",
    "find_equilibrium",
    "from_table",
    "nash_conv",
    "uniform",
]
