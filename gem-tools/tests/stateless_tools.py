"""Tools that workers can import by name."""

from __future__ import annotations

import gem


@gem.tool
def halve(low: int, high: int, context: gem.ToolContext) -> str:
    """Say where the middle is, and what the episode has to do with it."""
    return f"{(low + high) // 2}, by {context.seed}"
