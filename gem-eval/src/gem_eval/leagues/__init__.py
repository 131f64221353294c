"""Rank policies that play against each other: who met whom, ratings, and whether one number ranks.

The statistics are plain functions on plain data, and know nothing about episodes or run folders.
"""
