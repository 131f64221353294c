"""The finders of gem-eval itself. Those of packs come beside them, in `finding.installed`."""

from __future__ import annotations

from gem_eval.finding.finder import Finder
from gem_eval.finding.rules import (
    answer_in_the_prompt,
    environment_error,
    format_struggle,
    hollow_answer,
    loop,
    missing_tokens,
    repeated_tool_call,
    runaway_generation,
    truncated,
)

__all__ = ["FINDERS"]

FINDERS: tuple[Finder, ...] = (
    environment_error.FINDER,
    truncated.FINDER,
    format_struggle.FINDER,
    hollow_answer.FINDER,
    loop.FINDER,
    repeated_tool_call.FINDER,
    runaway_generation.FINDER,
    answer_in_the_prompt.FINDER,
    missing_tokens.FINDER,
)
