"""Go from one page of an encyclopedia to another by links alone."""

from __future__ import annotations

from gem_envs_games.wiki_game.backend import Backend, Page
from gem_envs_games.wiki_game.game import PUBLISHED, WikiGame, WikiRewards
from gem_envs_games.wiki_game.graph import Graph, bundled

__all__ = ["PUBLISHED", "Backend", "Graph", "Page", "WikiGame", "WikiRewards", "bundled"]
