"""Trainings as pages: curves over seeds, evaluations by update, samples of their episodes.

Knows nothing about who trains, but what a training folder holds.
"""
