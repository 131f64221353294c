"""Reasoning Gym's tasks, for GEM. Imports nothing until it is asked to."""
