"""A service desk of two seats: the agent's and the user's. Who sits in them is the rollout's.

The user is told what it wants and knows; a model, a person or the automaton plays it. `hint` of
the user's seat is what the automaton would do, so a solver there is the scripted user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gem import SeatedEnv, Step
from gem.content import Observation
from gem_envs_agents.desk.actions import Move, read_move, write_call
from gem_envs_agents.desk.rules import LONGEST_MESSAGE, Desk, agent_prompt, schemas
from gem_envs_agents.desk.solving import next_action
from gem_envs_agents.desk.tool import Call, Tools
from gem_envs_agents.users.assent import assent
from gem_envs_agents.users.automaton import STOP, Reply, State, answer, begin
from gem_envs_agents.users.hearing import hear
from gem_envs_agents.users.script import listens_for

__all__ = ["AGENT", "USER", "ServiceDeskOfTwo"]

AGENT = 0
USER = 1

_NO_MOVE = "Neither a message nor a call was found. Write to the other side, or call."
_TOO_LONG = f"Not sent: a message has {LONGEST_MESSAGE} characters at most."


class ServiceDeskOfTwo(Desk, SeatedEnv):
    """Let two policies talk at a service desk. A subclass draws the task and gives `case`.

    The user speaks first, and alone ends the dialogue, by the sign that it is told. Both seats earn
    the same, at the end: a customer wants to be served. Consent is a yes, in any words, to what the
    agent proposed last; it holds until the user says no or the agent reports that it is done.
    """

    seats = ("agent", "user")
    reward_range = (0.0, 1.0)

    usual_turns = 100  # the actions of both count
    knows_what_is_asked = False  # another than the automaton may ask in any order

    def open_desk(self) -> None:
        super().open_desk()
        self.user_plan: list[str] = []  # what the automaton would do next
        self.is_agreed = False
        self.is_proposed = False  # in what the agent said last

    @property
    def user_tools(self) -> Tools:
        """The user's tools, which are the same in every task."""
        raise NotImplementedError(f"{type(self).__name__} defines no user_tools.")

    def shown_to(self, seat: int) -> tuple[bool, bool, list[Mapping[str, Any]]]:
        tools = self.agent_tools if seat == AGENT else self.user_tools
        return False, False, list(schemas(tools))

    def start(self) -> tuple[Observation, dict[str, Any]]:
        self.open_desk()
        state, opening = begin(self.case.script)
        self._plan(state, opening)
        self.tell(AGENT, agent_prompt(self.case, self.turns))
        self.tell(USER, _user_prompt(self.case.instruction))
        return self.begin(USER, info=dict(self.task_facts))

    def step(self, action: str) -> Step:
        return self._agent_step(action) if self.seat == AGENT else self._user_step(action)

    def _agent_step(self, action: str) -> Step:
        move = read_move(action)
        if move.calls:
            results = self.agent_calls(move, agreed=self._agreed())
            return self._again(AGENT, results.observation, are_errors=results.are_errors)
        problem = _problem(move)
        if problem:
            return self._again(AGENT, problem, are_errors=True)
        before = State(*self.user)
        heard = hear(move.text, listens_for(self.case.script, before.closed))
        self.hear_agent(move.text, heard)
        self.is_proposed = heard.proposes
        # What was agreed to is over once it is reported, so that no yes is good for two requests.
        self.is_agreed = self.is_agreed and not (heard.reports and not heard.proposes)
        state, reply = answer(self.case.script, before, heard)
        self._plan(state, reply)
        if state.closed > before.closed:
            self.asked = []
        else:
            self.asked += [slot for slot in heard.asks if slot not in self.asked]
        return self._ask_or_cut_off(USER, f"Agent: {move.text}")

    def _agreed(self) -> Sequence[Call]:
        """Return the calls of every request, as the user may ask in any order; none without a yes.

        What the user has no wish for is agreed to by no yes.
        """
        return [call for plan in self.case.plans for call in plan.calls] if self.is_agreed else ()

    def _user_step(self, action: str) -> Step:
        move = read_move(action)
        del self.user_plan[:1]
        if move.calls:
            results = self.user_calls(move)
            return self._again(USER, results.observation, are_errors=results.are_errors)
        problem = _problem(move)
        if problem:
            return self._again(USER, problem, are_errors=True)
        text = move.text.replace(STOP, "").strip()
        self.hear_user(text)
        verdict = assent(text)
        if verdict == "no":
            self.is_agreed = False
        elif verdict == "yes" and self.is_proposed:
            self.is_agreed = True
        if STOP not in move.text:
            return self._ask_or_cut_off(AGENT, f"Customer: {text}")
        self.tell(AGENT, f"Customer: {text} [The customer has left.]")
        parts, graded = self.graded(action)
        earned = float(all(parts.values()))
        info = {**self.task_facts, **graded}
        return self.end((earned, earned), success=earned == 1.0, info=info)

    def _again(self, seat: int, observation: Any, *, are_errors: bool) -> Step:
        """Ask the seat that acted again, after what its calls led to."""
        error = {"action_error": "invalid"} if are_errors else {}
        return self._ask_or_cut_off(seat, observation, error)

    def _ask_or_cut_off(
        self, seat: int, observation: Any, facts: Mapping[str, Any] | None = None
    ) -> Step:
        texts = [observation] if isinstance(observation, str) else list(observation)
        self.tell(seat, *texts)
        info = {**self.task_facts, **(facts or {})}
        if self.turn + 1 >= self.turns:
            return self.end(success=False, truncated=True, info=info)
        return self.ask(seat, info=info)

    def _plan(self, state: State, reply: Reply) -> None:
        """Keep what the automaton would do: its calls one by one, then its words."""
        self.user = tuple(state)
        self.user_plan = [*map(write_call, reply.calls), reply.text]

    def secrets(self) -> Mapping[int, Sequence[str]]:
        return {USER: [self.case.instruction]}

    def sample_action(self) -> str:
        if self.seat == USER:
            return self.user_plan[0] if self.user_plan else "I see."
        return self.sample_rng.choice(
            (
                "Could you tell me your email?",
                "Please tell me the order number.",
                "I can do that. Shall I go ahead (yes/no)?",
                "That is done. Is there anything else?",
            )
        )

    def solve(self) -> str | None:
        """Return what the automaton would do, or an agent that has read the solution."""
        if self.seat == USER:
            return self.user_plan[0] if self.user_plan else STOP
        return next_action(self.case, State(*self.user), self.asked, self.calls_made)


def _problem(move: Move) -> str:
    if not move.text:
        return _NO_MOVE
    return _TOO_LONG if len(move.text) > LONGEST_MESSAGE else ""


def _user_prompt(instruction: str) -> str:
    return (
        f"You are a customer who talks with an agent of a service. {instruction}\n\n"
        "Say what you want in your own words, one thing at a time, and answer what you are asked. "
        "Say only what is written here, and that you do not know what is not. Say yes to what you "
        f"want alone. When everything is done, or nothing is left to hope for, write {STOP}."
    )
