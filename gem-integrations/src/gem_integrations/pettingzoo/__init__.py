"""PettingZoo, both ways: our environments as its own, and its environments as ours.

It needs the extra `pettingzoo`. An observation and an action are texts on our side, values of
Gymnasium's spaces on theirs.
"""

from __future__ import annotations

from gem.registry import check_requirements

check_requirements(
    ("pettingzoo>=1.27,<1.28",), subject="gem_integrations.pettingzoo", of="gem-integrations"
)

from gem_integrations.pettingzoo.aec import AECView, aec_env
from gem_integrations.pettingzoo.game import PettingZooGame
from gem_integrations.pettingzoo.parallel import ParallelView, parallel_env
from gem_integrations.pettingzoo.registering import register

__all__ = [
    "AECView",
    "ParallelView",
    "PettingZooGame",
    "aec_env",
    "parallel_env",
    "register",
]
