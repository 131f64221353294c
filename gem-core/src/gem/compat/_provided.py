"""Names of gem-llm that a pack provides here, found when they are asked for.

Knows no pack: a plugin's manifest says what it provides (`published`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gem.errors import TargetError
from gem.registry._catalogue import plugins
from gem.registry._importing import load_target

__all__ = ["names_of"]


_REPLACED = {
    "gem.envs.math_visual_env": 'Make it by its id: gem.make("math:Geometry3K").',
    "gem.envs.mcpmark": "Give a policy the tools of any MCP server with gem.tools.mcp_tool.",
    "gem.multiagent": "Write a gem.SeatedEnv: docs/seats.md.",
    "gem.multiagent.multi_agent_env": "Write a gem.SeatedEnv: docs/seats.md.",
    "gem.tools.search_engine.google_search_server": "Serve an index with `gem-env serve-search`.",
    "gem.tools.search_engine.retrieval_server": "Serve an index with `gem-env serve-search`.",
    "gem.tools.search_engine.serp_search_server": "Serve an index with `gem-env serve-search`.",
    "gem.utils.math_grader": "Grade with gem.envs.math_env: MathEnv.check_correct(answer, gold).",
}
"""What to use in place of modules that nothing provides."""


def names_of(module: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module of gem-llm, which finds its names in the packs.

    Raises ImportError, with what to install, for a name that no installed pack provides or that
    cannot be imported there.
    """

    def getter(name: str) -> Any:
        # What Python's own machinery and pytest's ask of any module.
        if name.startswith(("__", "pytest")):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        # Asked for at each use, and not kept: packs may come and go (`registry.refresh`).
        target = _targets().get(f"{module}:{name}")
        if target is None:
            raise ImportError(_missing(module, name), name=module)
        try:
            return load_target(target)
        except TargetError as error:  # most often an extra that is not installed
            raise ImportError(str(error), name=module) from error

    return getter


def _targets() -> dict[str, str]:
    """Return where each of gem-llm's names is, of all installed packs."""
    targets: dict[str, str] = {}
    for record in plugins():
        if record.manifest is not None:
            targets.update(record.manifest.published)
    return targets


def _missing(module: str, name: str) -> str:
    if module in _REPLACED:
        return (
            f"{name!r} was asked of {module!r}, a module of gem-llm that is not here. "
            f"{_REPLACED[module]}"
        )
    provided = [path.partition(":")[2] for path in _targets() if path.startswith(f"{module}:")]
    if provided:
        return (
            f"{name!r} was asked of {module!r}, a module of gem-llm. Here it has "
            f"{', '.join(sorted(provided))}; docs/drop-in.md says what replaces the others."
        )
    return (
        f"{name!r} was asked of {module!r}, a module of gem-llm that a pack provides here, and "
        "none that is installed does. docs/drop-in.md says which to install."
    )
