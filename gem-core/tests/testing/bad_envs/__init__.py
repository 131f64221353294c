"""Environments that each break one rule, for the check to find. Imported by target, by name."""
