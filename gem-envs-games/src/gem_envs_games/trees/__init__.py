"""Games of several players as pure game trees. Knows no environment, text of a prompt or model.

Every game is a class of positions as `position.py` says, and imports the standard library alone.
What works on all of them, exact values and equilibria, is in `solving`.
"""

from __future__ import annotations

from gem_envs_games.trees.connect_four import ConnectFour
from gem_envs_games.trees.kuhn_poker import KuhnPoker
from gem_envs_games.trees.leduc_poker import LeducPoker
from gem_envs_games.trees.liars_dice import LiarsDice
from gem_envs_games.trees.nim import Nim
from gem_envs_games.trees.position import Position
from gem_envs_games.trees.prisoners_dilemma import PrisonersDilemma
from gem_envs_games.trees.rock_paper_scissors import RockPaperScissors
from gem_envs_games.trees.tic_tac_toe import TicTacToe

__all__ = [
    "ConnectFour",
    "KuhnPoker",
    "LeducPoker",
    "LiarsDice",
    "Nim",
    "Position",
    "PrisonersDilemma",
    "RockPaperScissors",
    "TicTacToe",
]
