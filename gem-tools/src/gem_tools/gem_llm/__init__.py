"""The tools of gem-llm at its import paths, and its wrappers for `compat=True`.

Importing this package imports none of them: the manifest names each module.
"""
