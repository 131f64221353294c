"""What this distribution provides: the policy `baseline:PATH`, and commands of `gem-env`."""

from __future__ import annotations

from gem.specs import PluginManifest, PolicySpec

plugin = PluginManifest(
    name="baselines",
    summary="Baselines: policies that learn on a laptop, and what trains them.",
    policies=(
        PolicySpec(
            id="baseline",
            target="gem_baselines.baseline:load",
            summary="What `gem-env train` left behind: its best policy, or one of a checkpoint.",
            takes_argument="PATH",
        ),
    ),
    hooks=("gem_baselines.hooks",),
)
