"""Bridges from GEM to other projects. Imports nothing until it is asked to."""
