"""`gem.envs`, as in gem-llm: a folder of modules."""
