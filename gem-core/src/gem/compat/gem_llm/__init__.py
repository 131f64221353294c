"""The import paths of gem-llm, each a module that passes names on. See `gem.compat`."""
