"""What the benchmark of the doctor trains: three tasks, and the healthy trainings of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["HEALTHY", "TASKS"]

_GUESS = {
    "env": "game:GuessTheNumber-v0",
    "env_kwargs": {"min_number": 1, "max_number": 10, "max_turns": 10},
    "estimator": "rebn",
    "gamma": 0.9,
    "updates": 50,
    "episodes": 32,
    "eval_every": 25,
    "eval_episodes": 100,
}
_NUMBERS = [str(number) for number in range(1, 11)]
_SMALL = {"width": 32, "layers": 2, "heads": 4, "max_length": 64}

TASKS: Mapping[str, Mapping[str, Any]] = {
    "table": {**_GUESS, "policy_kwargs": {"view": "interval", "learning_rate": 0.1}},
    "transformer": {
        **_GUESS,
        "policy": "transformer",
        "policy_kwargs": {
            "opening": "\\boxed{",
            "closing": "}",
            "max_answer_tokens": 1,
            "instructions_end": "ends the game.",
            "keep": "higher|lower|before",
            "shape": _SMALL,
            "learning": {"lr": 1.5e-3, "epochs": 2, "constant": 5},
            "tokenizer": {
                "kind": "words",
                "vocabulary": [*_NUMBERS, "higher", "lower", "before", "\\boxed{", "}"],
            },
        },
    },
    "say": {
        **_GUESS,
        "env": f"{Path(__file__).with_name('envs.py')}:Say",
        "env_kwargs": {},
        "policy": "transformer",
        "policy_kwargs": {
            "max_answer_tokens": 16,
            "shape": {**_SMALL, "max_length": 96},
            "learning": {"lr": 3e-3, "epochs": 2, "constant": 5},
            "tokenizer": {"kind": "words", "vocabulary": ["say", "1", "2", "3", "4"]},
        },
    },
}
"""GuessTheNumber by a table and by a small transformer, and answers that end themselves."""

_GROUPS = {"repeats": 8}
_CRITIC = {"estimator": "ppo", "policy_kwargs.critic_rate": 0.2}
_VALUE_HEAD = {"estimator": "ppo", "policy_kwargs.shape.value_head": True}
_HARDER = {"env_kwargs": {"min_number": 1, "max_number": 20, "max_turns": 20}}

HEALTHY: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("table", {"seed": 1}),
    ("table", {"seed": 2, "updates": 200, "episodes": 64}),
    ("table", {"seed": 3, "estimator": "raw"}),
    ("table", {"seed": 4, "estimator": "constant"}),
    ("table", {"seed": 5, "estimator": "signed"}),
    ("table", {"seed": 6, "estimator": "rebn_leave_one_out"}),
    ("table", {"seed": 7, "estimator": "rloo", **_GROUPS}),
    ("table", {"seed": 8, "estimator": "grpo", **_GROUPS}),
    ("table", {"seed": 9, "estimator": "dr_grpo", **_GROUPS}),
    ("table", {"seed": 10, "estimator": "mt_rloo", **_GROUPS}),
    ("table", {"seed": 11, "estimator": "mt_grpo", **_GROUPS}),
    ("table", {"seed": 12, **_CRITIC}),
    ("table", {"seed": 13, **_HARDER, "updates": 100}),
    ("table", {"seed": 14, "gamma": 1.0, "env_kwargs.max_turns": 30}),
    ("table", {"seed": 15, "policy_kwargs.learning_rate": 0.5, "eval_every": 5}),
    ("transformer", {"seed": 1}),
    ("transformer", {"seed": 2, "estimator": "raw"}),
    ("transformer", {"seed": 3, "estimator": "signed"}),
    ("transformer", {"seed": 4, "estimator": "rebn_leave_one_out"}),
    ("transformer", {"seed": 5, "estimator": "rloo", **_GROUPS}),
    ("transformer", {"seed": 6, "estimator": "grpo", **_GROUPS}),
    ("transformer", {"seed": 7, "estimator": "mt_rloo", **_GROUPS}),
    ("transformer", {"seed": 8, **_VALUE_HEAD}),
    ("transformer", {"seed": 13, **_VALUE_HEAD, "estimator": "ppo_token"}),
    ("transformer", {"seed": 9, "policy_kwargs.temperature": 0.7}),
    ("transformer", {"seed": 10, "policy_kwargs.learning.minibatches": 4}),
    ("transformer", {"seed": 11, "policy_kwargs.learning.precision": "bf16"}),
    ("transformer", {"seed": 12, "gamma": 1.0, "updates": 100}),
    ("say", {"seed": 1}),
    ("say", {"seed": 2, "estimator": "dr_grpo", **_GROUPS, "updates": 100}),
    ("say", {"seed": 4, **_VALUE_HEAD, "estimator": "ppo_token"}),
    ("say", {"seed": 3, "policy_kwargs.learning.entropy_weight": 0.01}),
)
"""Thirty-two trainings without a bug: a task, and the settings that differ from it."""
