"""The next action of an agent that knows the solution of a task, and says it step by step.

It asks who the user is and for every fact, reads, proposes, writes what was agreed to, and says
what the user wants to know. What the user said decides how far it is.
"""

from __future__ import annotations

from collections.abc import Collection

from gem_envs_agents.desk.actions import write_call
from gem_envs_agents.desk.case import Case, Plan
from gem_envs_agents.users.automaton import State
from gem_envs_agents.users.script import Request

__all__ = ["next_action"]

_WHO = "Could you tell me your email, or your name and zip code?"
_QUESTIONS = {
    "order": "which order it is about",
    "item": "which item it is about",
    "payment": "which payment method to use",
    "address": "the address",
    "reason": "the reason",
    "variant": "which variant you would like",
    "label": "what is on the label",
    "restart": "whether you can restart it",
    "flights": "which flight you would like",
    "cabin": "the cabin",
    "bags": "how many bags you have",
    "passengers": "which passengers it is about",
    "insurance": "about the insurance",
}


def next_action(case: Case, state: State, asked: Collection[str], calls_made: int) -> str:
    """Return an agent's next action.

    `asked` are the slots that the agent has asked for about the present request, and `calls_made`
    counts the calls of the solution that were made, in its order.
    """
    if not state.asked_who and case.script.identity:
        return _WHO
    number = min(state.closed, len(case.plans) - 1)
    plan = case.plans[number]
    request = case.script.requests[number]
    made = calls_made - sum(len(each.calls) for each in case.plans[:number])
    left = plan.calls[max(0, made) :]
    question = _question(request, asked)
    if question:
        return question
    if left and not case.tools[left[0].name].writes:
        return write_call(left[0])
    if plan.denial:
        return write_call(left[0]) if left else f"I am sorry, this is not possible: {plan.denial}"
    if request.kind == "action" and state.agreed != request.whole:
        return f"{plan.summary} Shall I go ahead (yes/no)?"
    if left:
        return write_call(left[0])
    return _report(plan)


def _question(request: Request, asked: Collection[str]) -> str:
    slots = [*request.facts, *(device.slot for device in request.devices)]
    unasked = [_QUESTIONS[slot] for slot in slots if slot not in asked]
    return f"Please tell me {' and '.join(unasked)}." if unasked else ""


def _report(plan: Plan) -> str:
    outputs = ", ".join(plan.outputs)
    answer = f"The answer is: {outputs}. " if outputs else ""
    return f"{answer}That is done. Is there anything else?"
