"""Turn the name of a judge into one. A name is plain data: it goes to other processes and logs.

Knows nothing about what a judge is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable

from gem.content import Message
from gem.conversation import Policy, Request, as_reply
from gem.env import key_seed, wait_for
from gem.errors import BadArguments
from gem.registry import load_target, policies
from gem_envs_agents.desk.judging import Judge

__all__ = ["PolicyJudge", "as_judge"]


class PolicyJudge:
    """A policy as a judge, a model behind an endpoint for one. It is asked without a history.

    The seed of a request follows from the question alone: where a server takes seeds, the same
    dialogue gets the same verdict in every run. Its connections are closed as it is collected, with
    its environment.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def __call__(self, question: str) -> str:
        request = Request(messages=(Message("user", question),), seed=key_seed("judge", question))
        answer = self._policy(request)
        if isinstance(answer, Awaitable):
            # On the background loop: `step` runs on a thread that may wait.
            answer = wait_for(answer)
        return as_reply(answer).message.text


def as_judge(judge: Judge | str) -> Judge:
    """Return a judge that was given as itself, as `module:attribute` or by a policy's name.

    Raises GemError where a name leads to nothing, and BadArguments on what cannot be called.
    """
    if not isinstance(judge, str):
        return judge
    name = judge.partition(":")[0]
    if name in {spec.id for spec in policies()}:
        from gem.rollouts import make_policy  # here: an environment without a judge needs none

        return PolicyJudge(make_policy(judge))
    if ":" not in judge:
        raise BadArguments(
            f"The judge {judge!r:.60} is neither a policy that is installed nor a "
            "'module:attribute'. Give one of these, such as 'openai:MODEL@URL', or a function.",
            subject="judge",
        )
    loaded = load_target(judge)
    if not callable(loaded):
        raise BadArguments(
            f"The judge {judge!r:.60} cannot be called. Name a function from a question to an "
            "answer.",
            subject="judge",
        )
    return loaded  # type: ignore[no-any-return]
