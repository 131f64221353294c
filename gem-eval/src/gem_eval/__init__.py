"""Policies, run folders and statistics for evaluation, for GEM."""
