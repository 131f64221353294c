"""The command line, one file per command. Here is what a command of another pack takes from it.

`columns` and `one_line` put text on a terminal; `env_kwargs` and `wrapper_list` read the options
`--env-kwargs` and `--wrappers`, and `find_modules_here` lets a name stand for a module in the
current folder. Nothing else of core imports this.
"""

from __future__ import annotations

from gem.cli._options import env_kwargs, find_modules_here, wrapper_list
from gem.cli._text import columns, one_line

__all__ = ["columns", "env_kwargs", "find_modules_here", "one_line", "wrapper_list"]
