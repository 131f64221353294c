"""What this pack provides, as data. Imports `gem.specs` and the list of tasks, nothing else."""

from __future__ import annotations

from gem.specs import EnvSpec, ObsoleteKwarg, PluginManifest
from gem_envs_reasoning.listing import CATEGORIES

__all__ = ["plugin"]

_REQUIRES = ("reasoning-gym==0.1.25",)
_SOURCE = "generated from the seed by reasoning-gym 0.1.25"
_LICENCE = "Apache-2.0; its NOTICE lists parts under MIT, acre is culled from code under GPL-3.0"
_OBSOLETE = {
    "size": ObsoleteKwarg(),  # questions are generated without end
    "use_mp": ObsoleteKwarg(),
    "verbose": ObsoleteKwarg(),
}
"""What these environments took in earlier releases."""

_AS_THERE = {"answer_form": "boxed"}  # as its trainers' templates ask

plugin = PluginManifest(
    name="reasoning",
    summary="Reasoning Gym's procedurally generated tasks.",
    envs=(
        EnvSpec(
            id="rg:composite",
            target="gem_envs_reasoning.composite:Composite",
            compat_kwargs=_AS_THERE,
            summary="A weighted mix of Reasoning Gym's tasks.",
            requires=_REQUIRES,
            source=_SOURCE,
            licence=_LICENCE,
            obsolete_kwargs=_OBSOLETE,
        ),
        *(
            EnvSpec(
                id=f"rg:{name}",
                target="gem_envs_reasoning.task:Task",
                kwargs={"name": name},
                compat_kwargs=_AS_THERE,
                summary=f"Reasoning Gym's {name.replace('_', ' ')}, of its category {category}.",
                requires=_REQUIRES,
                source=_SOURCE,
                licence=_LICENCE,
                obsolete_kwargs=_OBSOLETE,
            )
            for category, names in CATEGORIES.items()
            for name in names
        ),
    ),
    published={
        "gem.envs.reasoning_gym:ReasoningGymEnv": "gem_envs_reasoning.gem_llm:ReasoningGymEnv",
    },
)
