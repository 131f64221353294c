"""The wrappers that come with the core, one a file. `gem.plugin` lists them by id.

Importing this package imports none of them.
"""
