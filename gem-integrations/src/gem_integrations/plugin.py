"""What this distribution provides: backends from other projects."""

from __future__ import annotations

from gem.specs import ExecutorSpec, PluginManifest

plugin = PluginManifest(
    name="integrations",
    summary="Backends from other projects.",
    executors=(
        ExecutorSpec(
            id="ray",
            target="gem_integrations.ray.executor:RayVectorEnv",
            stage="gem_integrations.ray.executor:RayStage",
            summary="Hold environments in the actors of a Ray cluster, on one machine or many.",
            requires=("ray>=2.40",),
        ),
    ),
)
