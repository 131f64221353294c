"""`gem.tools.search_engine`, as in gem-llm: a folder of modules."""
