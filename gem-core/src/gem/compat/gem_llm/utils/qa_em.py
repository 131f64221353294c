"""`gem.utils.qa_em`, as in gem-llm: a pack provides its names."""

from __future__ import annotations

from gem.compat.provided import names_of

__getattr__ = names_of("gem.utils.qa_em")
