"""A gym for language-model agents: make an environment, step it, roll episodes out.

Importing this package costs nothing: each public name loads its module on first use.

>>> import gem
>>> env = gem.make("demo:Echo")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem.content import (
        Action,
        ImagePart,
        Message,
        Observation,
        Part,
        TextPart,
        ToolCall,
        ToolResult,
    )
    from gem.conversation import Policy, Reply, Request, Usage
    from gem.dataset_env import DatasetEnv
    from gem.env import Env, Step
    from gem.episode import Episode, Turn
    from gem.episode_log import EpisodeLog, read_episodes
    from gem.errors import BadArguments, DataError, GemError, ResetNeeded
    from gem.making import make
    from gem.microbatch import MicroBatch
    from gem.mixtures import Mixture
    from gem.registry import list_envs, register, spec
    from gem.replaying import replay
    from gem.rollout_options import RolloutOptions
    from gem.rollouts import rollout
    from gem.running import run
    from gem.schedules import Schedule
    from gem.single_turn import Grade, SingleTurnEnv
    from gem.snapshot import Snapshot
    from gem.specs import EnvSpec, PluginManifest, PolicySpec, ToolSpec, WrapperSpec
    from gem.step import StepInfo
    from gem.tools import Tool, ToolContext, tool
    from gem.vector import SyncVectorEnv, VectorEnv, VectorStep, make_vec
    from gem.wrapper import Wrapper

__version__ = "0.1.0"

# The import paths of gem-llm (`gem.core`, `gem.utils.parsing`) are modules in this folder. It is
# last: Python looks there only for what it does not find here.
__path__.append(f"{__path__[0]}/compat/gem_llm")

_HOMES = {
    "gem.content": ("Action ImagePart Message Observation Part TextPart ToolCall ToolResult"),
    "gem.conversation": "Policy Reply Request Usage",
    "gem.dataset_env": "DatasetEnv",
    "gem.env": "Env Step",
    "gem.episode": "Episode Turn",
    "gem.episode_log": "EpisodeLog read_episodes",
    "gem.errors": "BadArguments DataError GemError ResetNeeded",
    "gem.making": "make",
    "gem.microbatch": "MicroBatch",
    "gem.mixtures": "Mixture",
    "gem.registry": "list_envs register spec",
    "gem.replaying": "replay",
    "gem.rollout_options": "RolloutOptions",
    "gem.rollouts": "rollout",
    "gem.running": "run",
    "gem.schedules": "Schedule",
    "gem.single_turn": "Grade SingleTurnEnv",
    "gem.snapshot": "Snapshot",
    "gem.specs": "EnvSpec PluginManifest PolicySpec ToolSpec WrapperSpec",
    "gem.step": "StepInfo",
    "gem.tools": "Tool ToolContext tool",
    "gem.vector": "SyncVectorEnv VectorEnv VectorStep make_vec",
    "gem.wrapper": "Wrapper",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Action",
    "BadArguments",
    "DataError",
    "DatasetEnv",
    "Env",
    "EnvSpec",
    "Episode",
    "EpisodeLog",
    "GemError",
    "Grade",
    "ImagePart",
    "Message",
    "MicroBatch",
    "Mixture",
    "Observation",
    "Part",
    "PluginManifest",
    "Policy",
    "PolicySpec",
    "Reply",
    "Request",
    "ResetNeeded",
    "RolloutOptions",
    "Schedule",
    "SingleTurnEnv",
    "Snapshot",
    "Step",
    "StepInfo",
    "SyncVectorEnv",
    "TextPart",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "Turn",
    "Usage",
    "VectorEnv",
    "VectorStep",
    "Wrapper",
    "WrapperSpec",
    "list_envs",
    "make",
    "make_vec",
    "read_episodes",
    "register",
    "replay",
    "rollout",
    "run",
    "spec",
    "tool",
]

_OLDER = {"print_envs": "gem.compat.registration"}
"""Names that only code of earlier releases asks for."""


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name) or _OLDER.get(name)
    if home is None:
        raise AttributeError(f"module 'gem' has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
