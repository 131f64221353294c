"""What a tool is: something with a name and a schema that a policy may call during an episode.

Knows nothing about how a call is read out of an action, or about any tool there is.
"""

from __future__ import annotations

from gem.tools.answering import answer, failure
from gem.tools.base import Tool, ToolContext
from gem.tools.function import FunctionTool, tool

__all__ = ["FunctionTool", "Tool", "ToolContext", "answer", "failure", "tool"]

# The modules that gem-llm had here: see `gem.compat`.
__path__.append(f"{__path__[0].rpartition('/')[0]}/compat/gem_llm/tools")
