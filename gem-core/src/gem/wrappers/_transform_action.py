"""`transform_action`: a function between the policy's actions and the environment."""

from __future__ import annotations

from collections.abc import Callable

from gem.content import Action
from gem.env._env import Env
from gem.env._wrapper import Wrapper
from gem.wrappers._functions import as_function

__all__ = ["TransformAction"]


class TransformAction(Wrapper):
    """Pass every action through `function` before it is taken.

    `function` takes and returns a string, must accept any text a model may write, and keeps
    nothing between calls; tool calls stay with the action. `sample_action` and `solve` are the
    wrapped environment's, so what they return is transformed as well.
    """

    shared = ("_function",)

    def __init__(self, env: Env, function: Callable[[str], str] | str) -> None:
        super().__init__(env)
        self._function = as_function(function, subject="transform_action")

    def on_action(self, action: str) -> str:
        changed = self._function(action)
        # A function of text returns plain text; the calls beside it are the policy's all the same.
        if isinstance(action, Action) and not isinstance(changed, Action):
            return Action(changed, tool_calls=action.tool_calls, tool_results=action.tool_results)
        return changed
