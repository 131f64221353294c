"""Baselines: policies that learn, small enough for a laptop, and what trains them.

A learning policy plays through `gem.rollout`, so any registered environment trains it; estimators
are those of `gem.returns`. What needs torch imports it on first use. Knows nothing about servers or
training frameworks.
"""

from __future__ import annotations

__version__ = "0.1.0"
