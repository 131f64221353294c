"""The environment file that RL2 loads; `rl2_reinforce.sh` has the launch command.

RL2 calls the functions by name, so which environment they play is in the environment variable
GEM_EXAMPLE: `guess` where it is not set, `arithmetic` or `tool`.
"""

from __future__ import annotations

import os
from typing import Any

from gem_integrations.rl2 import environment

EXAMPLES: dict[str, dict[str, Any]] = {
    "guess": {
        "env_id": "game:GuessTheNumber-v0-hard",
        "system_prompt": "Think briefly before each guess.",
        "max_turn_tokens": 512,
    },
    "arithmetic": {"env_id": "math:Arithmetic-v0"},
    "tool": {"env_id": "math:Arithmetic-v0", "wrappers": ["python_tool"], "max_turns": 4},
}

generate, reset, step = environment(**EXAMPLES[os.environ.get("GEM_EXAMPLE", "guess")])
