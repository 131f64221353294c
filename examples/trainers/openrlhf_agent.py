"""The agent that OpenRLHF loads; `openrlhf_grpo.sh` has the launch command.

OpenRLHF makes it without arguments, so which environment it plays is in the environment variable
GEM_EXAMPLE: `guess` where it is not set, `arithmetic` or `tool`.
"""

from __future__ import annotations

import os
from typing import Any

from gem_integrations.openrlhf import executor

EXAMPLES: dict[str, dict[str, Any]] = {
    "guess": {
        "env_id": "game:GuessTheNumber-v0-hard",
        "system_prompt": "Think briefly before each guess.",
        "max_turn_tokens": 512,
    },
    "arithmetic": {"env_id": "math:Arithmetic-v0"},
    "tool": {"env_id": "math:Arithmetic-v0", "wrappers": ["python_tool"], "max_turns": 4},
}

AgentExecutor = executor(**EXAMPLES[os.environ.get("GEM_EXAMPLE", "guess")])
