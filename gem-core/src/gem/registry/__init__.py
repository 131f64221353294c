"""What is installed under which id, and how something is made of it.

Plugins are found here, and targets imported; an id becomes a spec, a spec and its arguments a
blueprint, and a blueprint a live environment. Imports the rooms of environments and of what they
are made of; knows nothing about episodes, or about where an environment runs.
"""

from __future__ import annotations

from gem._python.arguments import checked
from gem._python.near_names import near
from gem._python.recorded_arguments import recorded
from gem.registry._catalogue import (
    executor_spec,
    executors,
    list_envs,
    owner,
    plugins,
    policies,
    policy_spec,
    provider,
    spec,
    tool_spec,
    tools,
    versions,
    wrapper_of,
    wrapper_spec,
    wrappers,
)
from gem.registry._env_targets import spec_from
from gem.registry._importing import check_requirements, load_target
from gem.registry._installed import refresh
from gem.registry._installing import pip_command
from gem.registry._registering import blueprint_of, register, registration

__all__ = [
    "blueprint_of",
    "check_requirements",
    "checked",
    "executor_spec",
    "executors",
    "list_envs",
    "load_target",
    "near",
    "owner",
    "pip_command",
    "plugins",
    "policies",
    "policy_spec",
    "provider",
    "recorded",
    "refresh",
    "register",
    "registration",
    "spec",
    "spec_from",
    "tool_spec",
    "tools",
    "versions",
    "wrapper_of",
    "wrapper_spec",
    "wrappers",
]
