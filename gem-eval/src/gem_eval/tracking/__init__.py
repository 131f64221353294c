"""Trackers of experiments, MLflow and others, that are told the figures of a run while it goes on.

Each listens in a process of its own, which reads the run's log: what fails there, hangs or prints
stops and slows nobody.
"""
