"""Load a policy that a user wrote."""

from __future__ import annotations

from typing import cast

from gem.conversation import Policy
from gem.errors import TargetError, in_one_line
from gem.registry import load_target

__all__ = ["load"]


def load(target: str) -> Policy:
    """Return the policy at `module:attribute`: a class is made without arguments.

    One instance serves every episode, and episodes interleave, so a policy keeps no state
    of its own between requests. Raises TargetError.
    """
    if ":" not in target:
        raise TargetError(
            f"The policy 'scripted:{target}' names no attribute. Write "
            "scripted:module:Class, for example scripted:my_policies:Careful.",
            target=target,
        )
    target_object = load_target(target)
    policy = _made(target_object, target) if isinstance(target_object, type) else target_object
    if not callable(policy):
        raise TargetError(
            f"{target!r} is a {type(policy).__name__}, which cannot be called. A policy is "
            "called with a gem.Request and returns a str, a gem.Message or a gem.Reply.",
            target=target,
        )
    return cast(Policy, policy)


def _made(policy_class: type, target: str) -> object:
    try:
        policy: object = policy_class()
    except Exception as error:  # a user's own class may raise anything
        raise TargetError(
            f"{target!r} cannot be made without arguments ({in_one_line(error)}). "
            "Give its parameters defaults.",
            target=target,
        ) from error
    return policy
