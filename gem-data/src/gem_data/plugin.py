"""What this distribution provides: the command `gem-env data`."""

from __future__ import annotations

from gem.specs import PluginManifest

plugin = PluginManifest(
    name="data",
    summary="Tables of rows: data sets of the Hugging Face Hub, files and lists.",
    hooks=("gem_data.hooks",),
)
