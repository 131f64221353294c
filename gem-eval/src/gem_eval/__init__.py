"""Policies, run folders and statistics for evaluation, for GEM.

Importing this package costs nothing: each public name loads its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem_eval.branching.branch import branch, branch_async
    from gem_eval.comparing.comparison import Comparison, compare
    from gem_eval.errors import (
        BranchError,
        CompareError,
        EvalError,
        ExportError,
        FindError,
        LeagueError,
        NoiseError,
        PolicyError,
        RunFolderError,
        RunStopped,
        SettingsError,
    )
    from gem_eval.evaluation import Evaluation, evaluate, evaluate_async, resume, resume_async
    from gem_eval.exporting.export import Export, export
    from gem_eval.finding.finder import Finding
    from gem_eval.finding.inspecting import findings
    from gem_eval.finding.report import Found, find
    from gem_eval.leagues.league import League, league, league_async, resume_league, standings
    from gem_eval.leagues.results import Standings
    from gem_eval.plotting import plot
    from gem_eval.policies import make_policy
    from gem_eval.policies.token_server import TokenServer
    from gem_eval.summary import Result, Summary
    from gem_eval.variance.crossing import noise, noise_async
    from gem_eval.variance.results import Noise

__version__ = "0.1.0"

_HOMES = {
    "gem_eval.branching.branch": "branch branch_async",
    "gem_eval.comparing.comparison": "Comparison compare",
    "gem_eval.errors": (
        "BranchError CompareError EvalError ExportError FindError LeagueError "
        "NoiseError PolicyError RunFolderError RunStopped SettingsError"
    ),
    "gem_eval.evaluation": "Evaluation evaluate evaluate_async resume resume_async",
    "gem_eval.exporting.export": "Export export",
    "gem_eval.finding.finder": "Finding",
    "gem_eval.finding.inspecting": "findings",
    "gem_eval.finding.report": "Found find",
    "gem_eval.leagues.league": "League league league_async resume_league standings",
    "gem_eval.leagues.results": "Standings",
    "gem_eval.plotting": "plot",
    "gem_eval.policies": "make_policy",
    "gem_eval.policies.token_server": "TokenServer",
    "gem_eval.summary": "Result Summary",
    "gem_eval.variance.crossing": "noise noise_async",
    "gem_eval.variance.results": "Noise",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "BranchError",
    "CompareError",
    "Comparison",
    "EvalError",
    "Evaluation",
    "Export",
    "ExportError",
    "FindError",
    "Finding",
    "Found",
    "League",
    "LeagueError",
    "Noise",
    "NoiseError",
    "PolicyError",
    "Result",
    "RunFolderError",
    "RunStopped",
    "SettingsError",
    "Standings",
    "Summary",
    "TokenServer",
    "branch",
    "branch_async",
    "compare",
    "evaluate",
    "evaluate_async",
    "export",
    "find",
    "findings",
    "league",
    "league_async",
    "make_policy",
    "noise",
    "noise_async",
    "plot",
    "resume",
    "resume_async",
    "resume_league",
    "standings",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gem_eval' has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
