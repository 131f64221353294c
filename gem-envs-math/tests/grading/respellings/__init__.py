"""Respellings: golds of every form, and answers that are right or wrong by construction.

`python -m respellings` in the folder above judges them all and prints what went wrong. Knows
nothing of the grader's rules: only docs/grading.md's conventions, where mathematics leaves open.
"""
