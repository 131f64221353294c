"""Our distributions: what each is imported as, its extras, and which others of ours it wants.

What a distribution depends on is in its own pyproject.toml; here is what the tasks of noxfile.py
install of it.
"""

from __future__ import annotations

__all__ = ["EXTRAS", "IMPORT_NAMES", "NEEDS", "NEIGHBOURS", "SOURCES", "TORCH", "installed_with"]

IMPORT_NAMES = {
    "gem-baselines": "gem_baselines",
    "gem-core": "gem",
    "gem-data": "gem_data",
    "gem-envs-agents": "gem_envs_agents",
    "gem-envs-code": "gem_envs_code",
    "gem-envs-games": "gem_envs_games",
    "gem-envs-math": "gem_envs_math",
    "gem-envs-qa": "gem_envs_qa",
    "gem-envs-reasoning": "gem_envs_reasoning",
    "gem-eval": "gem_eval",
    "gem-integrations": "gem_integrations",
    "gem-tools": "gem_tools",
    "gem-train": "gem_train",
}
SOURCES = [f"{name}/src" for name in IMPORT_NAMES]
EXTRAS = {
    "gem-baselines": "[hf]",
    "gem-core": "[progress,vector]",
    "gem-data": "[datasets]",
    "gem-envs-code": "[data,sandbox]",
    "gem-envs-games": "[textarena,wiki]",
    "gem-envs-math": "[data,verify,visual]",
    "gem-envs-qa": "[data]",
    "gem-envs-reasoning": "[tasks]",
    "gem-eval": "[atif,hf,league,pandas,parquet,plot,tokens,view]",
    "gem-integrations": "[pettingzoo,ray]",
    "gem-tools": "[bm25s,data,http,mcp,search,serve]",
}
"""The extras that `tests` and `isolation` install; what else there is has tasks of its own."""
NEEDS = {
    "gem-baselines": {"gem-train"},
    "gem-envs-code": {"gem-data"},
    "gem-envs-math": {"gem-data"},
    "gem-envs-qa": {"gem-data"},
    "gem-integrations": {"gem-train"},
}
"""The distributions of ours, beside core, that a distribution depends on."""
NEIGHBOURS = {
    "gem-core": {"gem-data", "gem-train"},
    "gem-envs-code": {"gem-tools"},
    "gem-eval": {"gem-train"},
}
"""The distributions of ours that a distribution's extras, or the doors of core, name."""
TORCH = {"gem-baselines"}
"""The distributions whose extras bring torch. What needs it runs in `isolation`, and across
distributions in `torch`: where torch is, much of what others made would run in `tests`.
"""


def installed_with(name: str) -> set[str]:
    """Return the distributions of ours that `isolation` installs with one."""
    return {"gem-core", *NEEDS.get(name, ()), *NEIGHBOURS.get(name, ())}
