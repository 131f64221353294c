"""`gem.utils.parsing`, as in gem-llm."""

from __future__ import annotations

from gem.compat._parsing import (
    extract_code_from_model,
    extract_last_boxed_answer,
    extract_last_tagged_answer,
    last_boxed_only_string,
    remove_boxed,
)

__all__ = [
    "extract_code_from_model",
    "extract_last_boxed_answer",
    "extract_last_tagged_answer",
    "last_boxed_only_string",
    "remove_boxed",
]
