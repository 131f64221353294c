"""What a tool is: something with a name and a schema that a policy may call during an episode.

Imports content, errors and what we add to Python; knows nothing about how a call is read out of an
action, or about any tool there is.
"""

from __future__ import annotations

from gem.tools._answering import answer, failure
from gem.tools._base import Tool, ToolContext
from gem.tools._function import FunctionTool, tool

__all__ = ["FunctionTool", "Tool", "ToolContext", "answer", "failure", "tool"]

# The modules that gem-llm had here: see `gem.compat`.
__path__.append(f"{__path__[0].rpartition('/')[0]}/compat/gem_llm/tools")
