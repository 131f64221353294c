"""Policies, run folders and statistics for evaluation, for GEM.

Importing this package costs nothing: each public name loads its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem_eval.errors import EvalError, PolicyError, RunFolderError, RunStopped, SettingsError
    from gem_eval.evaluation import Evaluation, evaluate, evaluate_async, resume, resume_async
    from gem_eval.policies import make_policy
    from gem_eval.policies.token_server import TokenServer
    from gem_eval.summary import Result, Summary

__version__ = "0.1.0"

_HOMES = {
    "gem_eval.errors": "EvalError PolicyError RunFolderError RunStopped SettingsError",
    "gem_eval.evaluation": "Evaluation evaluate evaluate_async resume resume_async",
    "gem_eval.policies": "make_policy",
    "gem_eval.policies.token_server": "TokenServer",
    "gem_eval.summary": "Result Summary",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "EvalError",
    "Evaluation",
    "PolicyError",
    "Result",
    "RunFolderError",
    "RunStopped",
    "SettingsError",
    "Summary",
    "TokenServer",
    "evaluate",
    "evaluate_async",
    "make_policy",
    "resume",
    "resume_async",
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
