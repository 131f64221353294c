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
    from gem.data import DatasetEnv
    from gem.env._env import Env
    from gem.env._seated import SeatedEnv
    from gem.env._single_turn import Grade, SingleTurnEnv
    from gem.env._snapshot import Snapshot
    from gem.env._step import Step, StepInfo
    from gem.env._wrapper import Wrapper
    from gem.episode._episode import Episode
    from gem.episode._log import EpisodeLog, read_episodes
    from gem.episode._replay import replay
    from gem.episode._turn import Turn
    from gem.errors import BadArguments, DataError, GemError, ResetNeeded
    from gem.registry._catalogue import list_envs, spec
    from gem.registry._making import make
    from gem.registry._registering import register
    from gem.rollouts._microbatch import MicroBatch
    from gem.rollouts._mixtures import Mixture
    from gem.rollouts._options import RolloutOptions
    from gem.rollouts._rollout import rollout
    from gem.rollouts._run import run
    from gem.rollouts._schedules import Schedule
    from gem.specs import CheckHints, EnvSpec, PluginManifest, PolicySpec, ToolSpec, WrapperSpec
    from gem.tools import Tool, ToolContext, tool
    from gem.vector import SyncVectorEnv, VectorEnv, VectorStep, make_vec
    from gem.wrappers._seat_view import SeatView

__version__ = "0.1.0"

# The import paths of gem-llm (`gem.core`, `gem.utils.parsing`) are modules in this folder. It is
# last: Python looks there only for what it does not find here.
__path__.append(f"{__path__[0]}/compat/gem_llm")

_HOMES = {
    "gem.content": "Action ImagePart Message Observation Part TextPart ToolCall ToolResult",
    "gem.conversation": "Policy Reply Request Usage",
    "gem.data": "DatasetEnv",
    "gem.env._env": "Env",
    "gem.env._seated": "SeatedEnv",
    "gem.env._single_turn": "Grade SingleTurnEnv",
    "gem.env._snapshot": "Snapshot",
    "gem.env._step": "Step StepInfo",
    "gem.env._wrapper": "Wrapper",
    "gem.episode._episode": "Episode",
    "gem.episode._log": "EpisodeLog read_episodes",
    "gem.episode._replay": "replay",
    "gem.episode._turn": "Turn",
    "gem.errors": "BadArguments DataError GemError ResetNeeded",
    "gem.registry._catalogue": "list_envs spec",
    "gem.registry._making": "make",
    "gem.registry._registering": "register",
    "gem.rollouts._microbatch": "MicroBatch",
    "gem.rollouts._mixtures": "Mixture",
    "gem.rollouts._options": "RolloutOptions",
    "gem.rollouts._rollout": "rollout",
    "gem.rollouts._run": "run",
    "gem.rollouts._schedules": "Schedule",
    "gem.specs": "CheckHints EnvSpec PluginManifest PolicySpec ToolSpec WrapperSpec",
    "gem.tools": "Tool ToolContext tool",
    "gem.vector": "SyncVectorEnv VectorEnv VectorStep make_vec",
    "gem.wrappers._seat_view": "SeatView",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Action",
    "BadArguments",
    "CheckHints",
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
    "SeatView",
    "SeatedEnv",
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

_OLDER = {"print_envs": "gem.envs.registration"}
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
