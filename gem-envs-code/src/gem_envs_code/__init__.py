"""Programming problems graded by their tests: the environments `code:` of GEM."""
