"""Tests of the tables of rows."""
