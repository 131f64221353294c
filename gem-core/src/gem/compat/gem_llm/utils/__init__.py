"""`gem.utils`, as in gem-llm: a folder of modules."""
