"""The wrappers that come with the core, one a file. `gem.registry._core_plugin` lists them by id.

Importing this package imports none of them. They import what an environment and a record are made
of; nothing in core but `gem.compat` imports them.
"""

from __future__ import annotations

__all__: list[str] = []

# The modules that gem-llm had here: see `gem.compat`.
__path__.append(f"{__path__[0].rpartition('/')[0]}/compat/gem_llm/wrappers")
