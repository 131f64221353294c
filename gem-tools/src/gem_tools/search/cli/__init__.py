"""The commands of search."""
