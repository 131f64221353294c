"""A module of gem-llm that is not here: its names say what to use."""

from gem.compat._provided import names_of

__getattr__ = names_of(__name__)
