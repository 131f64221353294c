"""`gem.utils.qa_em`, as in gem-llm: a pack provides its names."""

from gem.compat._provided import names_of

__getattr__ = names_of(__name__)
