"""`gem.tools.mcp_server`, as in gem-llm: a folder of modules."""
