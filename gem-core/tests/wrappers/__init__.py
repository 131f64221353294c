"""Tests of the wrappers, one file each."""
