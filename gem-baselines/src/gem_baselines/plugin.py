"""What this distribution provides: nothing to install beside it yet."""

from __future__ import annotations

from gem.specs import PluginManifest

plugin = PluginManifest(
    name="baselines",
    summary="Baselines: policies that learn on a laptop, and what trains them.",
    hooks=("gem_baselines.hooks",),
)
