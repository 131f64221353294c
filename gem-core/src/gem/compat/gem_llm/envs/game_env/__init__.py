"""`gem.envs.game_env`, as in gem-llm: a folder of modules."""
