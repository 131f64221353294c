"""Self-play: both seats by the policy that learns, frozen copies of it, and who sees a collapse.

Knows no game and nothing about how a policy learns.
"""

from __future__ import annotations

from gem_baselines.self_play.averages import MovingAverages
from gem_baselines.self_play.monitor import Check, Monitor
from gem_baselines.self_play.pool import Pool
from gem_baselines.self_play.settings import SelfPlaySettings

__all__ = ["Check", "Monitor", "MovingAverages", "Pool", "SelfPlaySettings"]
