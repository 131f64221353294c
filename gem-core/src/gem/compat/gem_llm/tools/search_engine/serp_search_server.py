"""A module of gem-llm that is not here: its names say what to use."""

from __future__ import annotations

from gem.compat.provided import names_of

__getattr__ = names_of("gem.tools.search_engine.serp_search_server")
