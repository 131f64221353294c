"""A service desk with a scripted user inside: an environment of one seat, the agent's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gem.content import Observation
from gem.env import Env, Step
from gem_envs_agents.desk.actions import Move, read_move, write_call
from gem_envs_agents.desk.rules import LONGEST_MESSAGE, Desk, agent_prompt, schemas
from gem_envs_agents.desk.solving import next_action
from gem_envs_agents.desk.tool import Call, run
from gem_envs_agents.users.automaton import STOP, State, answer, begin
from gem_envs_agents.users.hearing import hear
from gem_envs_agents.users.script import listens_for

__all__ = ["ServiceDesk"]


class ServiceDesk(Desk, Env):
    """Serve a scripted user by tools and words. A subclass draws the task and gives `case`.

    The user ends the dialogue; the reward is then the product of the parts of its basis, and 0.0
    where the dialogue was cut off. The same seed and actions give the same episode.
    """

    reward_range = (0.0, 1.0)

    usual_turns = 60

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:  # type: ignore[override]
        """The schemas of the agent's tools."""
        return schemas(self.agent_tools)

    def start(self) -> tuple[Observation, dict[str, Any]]:
        self.open_desk()
        state, opening = begin(self.case.script)
        self.user = tuple(state)
        self.hear_user(opening.text)
        prompt = agent_prompt(self.case, self.turns)
        return f"{prompt}\n\nCustomer: {opening.text}", dict(self.task_facts)

    def step(self, action: str) -> Step:
        move = read_move(action)
        if move.calls:
            results = self.agent_calls(move, agreed=self._agreed())
            error = {"action_error": "invalid"} if results.are_errors else {}
            return self._going_on(results.observation, error)
        if not move.text:
            problem = "Neither a message nor a call was found. Write to the customer, or call."
            return self._going_on(problem, {"action_error": "format"})
        if len(move.text) > LONGEST_MESSAGE:
            problem = f"Not sent: a message has {LONGEST_MESSAGE} characters at most."
            return self._going_on(problem, {"action_error": "invalid"})
        return self._say(move, action)

    def _agreed(self) -> Sequence[Call]:
        """Return the calls of the open request, once the user has agreed to a part of it."""
        state = State(*self.user)
        return self.case.plans[state.closed].calls if state.agreed else ()

    def _say(self, move: Move, action: str) -> Step:
        before = State(*self.user)
        heard = hear(move.text, listens_for(self.case.script, before.closed))
        self.hear_agent(move.text, heard)
        state, reply = answer(self.case.script, before, heard)
        self.user = tuple(state)
        if state.closed > before.closed:
            self.asked = []
        else:
            self.asked += [slot for slot in heard.asks if slot not in self.asked]
        for call in reply.calls:
            self.use_device(call)
        text = reply.text.replace(STOP, "").strip()
        self.hear_user(text)
        if not state.end:
            return self._going_on(f"Customer: {text}", {})
        parts, graded = self.graded(action)
        earned = float(all(parts.values()))
        info = {**self._info(), "success": earned == 1.0, **graded}
        return Step(f"Customer: {text} [The customer has left.]", earned, True, False, info)

    def _going_on(self, observation: Observation, facts: Mapping[str, Any]) -> Step:
        is_over = self.turn + 1 >= self.turns
        info = {**self._info(), **facts}
        if is_over:
            info["success"] = False
        return Step(observation, 0.0, False, is_over, info)

    def _info(self) -> dict[str, Any]:
        return {**self.task_facts, "user": State(*self.user).end or "in the dialogue"}

    def sample_action(self) -> str:
        case = self.case
        request = case.script.requests[min(State(*self.user).closed, len(case.plans) - 1)]
        messages = (
            "Could you tell me your email?",
            f"Please tell me the {self.sample_rng.choice([*request.facts, 'reason'])}.",
            "I can do that. Shall I go ahead (yes/no)?",
            "That is done. Is there anything else?",
        )
        if self.sample_rng.random() < 0.5:
            return self.sample_rng.choice(messages)
        # What only reads, and can be read: a shop is not changed by chance.
        reads = [
            call
            for plan in case.plans
            for call in plan.calls
            if call.name in case.tools
            and not case.tools[call.name].writes
            and not run(case.tools, self.database, call).is_error
        ]
        return write_call(self.sample_rng.choice(reads)) if reads else messages[0]

    def solve(self) -> str | None:
        """Return the next action of an agent that has read the solution."""
        return next_action(self.case, State(*self.user), self.asked, self.calls_made)
