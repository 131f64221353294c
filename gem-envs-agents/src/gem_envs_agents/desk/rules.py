"""What happens at a service desk, for environments of one seat and of two.

The agent calls tools on the shop's database, the user calls theirs on a database of their own, and
each hears nothing of the other but what is said. Neither may call the other's tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem.content import Message, Observation
from gem.parsing import Malformed, ParsedCall
from gem_envs_agents.desk.actions import MOST_AT_ONCE, Move
from gem_envs_agents.desk.case import Case
from gem_envs_agents.desk.database import Changes, Database
from gem_envs_agents.desk.judging import Judge, answers, judged
from gem_envs_agents.desk.ledger import (
    Ledger,
    after_answer,
    after_call,
    after_message,
    after_words,
    untold,
)
from gem_envs_agents.desk.scoring import attempt, reaches
from gem_envs_agents.desk.tool import Call, Outcome, Tools, run
from gem_envs_agents.users.automaton import State
from gem_envs_agents.users.hearing import Heard
from gem_envs_agents.users.refusal import turns_down

__all__ = ["LONGEST_MESSAGE", "Basis", "Desk", "Results", "agent_prompt", "schemas"]

Basis = str
"""What a reward is made of: the names of its parts, joined by "+", or "official"."""

LONGEST_MESSAGE = 4_000
"""Characters that a message to the other side may have; a longer one is not sent."""


class Results(NamedTuple):
    """What the calls of an action led to: an observation, and whether every one was an error."""

    observation: Observation
    are_errors: bool


class Desk:
    """The state of one episode, and how it changes. Its attributes are plain data.

    A subclass gives `case`, and what `reset` calls: `start`. The tables of a case are shared by all
    episodes; `changes` are the rows that this one wrote.
    """

    max_turns: int | None
    usual_turns: int
    """The turns of an episode where nobody says how many."""

    reward: Basis
    changes: Changes
    user_changes: Changes
    attempts: list[str]  # calls of the solution that have to be refused, and were
    calls_made: int  # calls of the solution that the agent has made, in its order
    unlawful: int  # with the part "policy": writes that were not agreed to, or for nobody known
    turned_down: list[int]  # the requests that were open as the agent said no
    ledger: tuple[Any, ...]  # what the agent knows and has told, as plain data
    transcript: list[str]  # what both have said
    user: tuple[Any, ...]  # where the automaton stands, or would, as plain data
    asked: list[str]  # slots that the agent asked for about the present request
    judge: Judge | None = None
    knows_what_is_asked = True
    """Whether the user asks as the script says, so that a question is known to be open."""

    def __init__(self, *, reward: Basis, max_turns: int | None) -> None:
        self.reward = reward
        self.turns = self.usual_turns if max_turns is None else max_turns
        self.max_turns = self.turns
        self.open_desk()

    def start(self) -> tuple[Observation, dict[str, Any]]:
        """Open the desk for the task that was drawn: what `reset` returns."""
        raise NotImplementedError(f"{type(self).__name__} defines no start.")

    @property
    def agent_tools(self) -> Tools:
        """The agent's tools, which are the same in every task."""
        raise NotImplementedError(f"{type(self).__name__} defines no agent_tools.")

    @property
    def case(self) -> Case:
        """The task of this episode."""
        raise NotImplementedError(f"{type(self).__name__} defines no case.")

    @property
    def task_facts(self) -> Mapping[str, Any]:
        """What an info says of the task: its id, and of a published one its number beside it."""
        return {"task": self.case.id}

    @property
    def database(self) -> Database:
        """The shop's database as it is now."""
        return Database(self.case.tables, self.changes)

    @property
    def user_database(self) -> Database:
        """The user's own database as it is now."""
        return Database(self.case.user_tables, self.user_changes)

    def open_desk(self) -> None:
        """Forget the episode before."""
        self.changes = {}
        self.user_changes = {}
        self.attempts = []
        self.calls_made = 0
        self.unlawful = 0
        self.turned_down = []
        self.ledger = tuple(Ledger())
        self.transcript = []
        self.user = ()
        self.asked = []

    def knows_user(self) -> bool:
        """Say whether the agent has asked who the user is, or was told unasked."""
        identity = self.case.script.identity.values()
        if not identity or State(*self.user).asked_who:
            return True
        told = [line.casefold() for line in self.transcript if line.startswith("Customer: ")]
        return any(value.casefold() in line for value in identity for line in told)

    def hear_agent(self, text: str, heard: Heard) -> None:
        """Note a message of the agent to the user, and what the user hears in it."""
        case = self.case
        number = State(*self.user).closed
        if number not in self.turned_down and turns_down(text, heard):
            self.turned_down.append(number)
        ledger = Ledger(*self.ledger)
        if case.decoys is None or not self.knows_what_is_asked:
            ledger = after_message(ledger, text, case.outputs, case.policy)
        else:
            is_open = case.script.requests[number].kind == "question"
            outputs = case.plans[number].outputs if is_open else ()
            ledger = after_answer(ledger, text, outputs, case.policy, case.decoys)
        self.ledger = tuple(ledger)
        self.transcript.append(f"Agent: {text}")

    def hear_user(self, text: str) -> None:
        """Note what the user says to the agent."""
        self.ledger = tuple(after_words(Ledger(*self.ledger), text, self.case.outputs))
        self.transcript.append(f"Customer: {text}")

    def agent_calls(self, move: Move, *, agreed: Sequence[Call]) -> Results:
        """Make the agent's calls. `agreed` are calls of the solution that the user agreed to."""
        outcomes = [self._agent_call(parsed, agreed) for parsed in move.calls[:MOST_AT_ONCE]]
        return _results(move, outcomes)

    def user_calls(self, move: Move) -> Results:
        """Make the user's calls of their own tools."""
        outcomes = [self._user_call(parsed) for parsed in move.calls[:MOST_AT_ONCE]]
        return _results(move, outcomes)

    def use_device(self, call: Call) -> Outcome:
        """Let the user make one call of their own tools."""
        outcome = run(self.case.user_tools, self.user_database, call)
        self.user_changes = outcome.database.changes
        return outcome

    def parts(self) -> dict[str, float]:
        """Return each part of the reward, 0.0 or 1.0, for the episode as it is.

        What a judge says is not among them: `graded` adds it.
        """
        case = self.case
        is_right = reaches(case.goal, self.database, self.attempts)
        is_right_there = reaches(case.user_goal, self.user_database, ())
        parts = {"db": float(is_right and is_right_there)}
        names = self._part_names()
        if "communicate" in names:
            is_told = not untold(Ledger(*self.ledger), case.outputs)
            parts["communicate"] = float(is_told and self._has_said_no())
        if "policy" in names:
            parts["policy"] = float(self.unlawful == 0)
        return parts

    def _has_said_no(self) -> bool:
        """Say whether the agent told the user that what is against the rules cannot be done."""
        if not self.knows_what_is_asked:
            # Another than the automaton may ask in any order, and hears for itself what it is told.
            return True
        against = {number for number, plan in enumerate(self.case.plans) if plan.denial}
        return against.issubset(self.turned_down)

    def graded(self, action: str) -> tuple[dict[str, float], dict[str, Any]]:
        """Return each part of the reward of an episode that `action` ended, and the info of both.

        Where there is a judge the info has its answers. Raises VerdictError where one is no
        verdict.
        """
        parts = self.parts()
        if self.judge is None:
            return parts, {"reward_parts": parts}
        statements = self.case.assertions
        results = answers(self.judge, statements, self.transcript, action)
        parts["judge"] = judged(statements, results)
        return parts, {"reward_parts": parts, "tool_results": results}

    def _agent_call(self, parsed: ParsedCall | Malformed, agreed: Sequence[Call]) -> Outcome:
        case = self.case
        before = self.database
        if isinstance(parsed, Malformed):
            return Outcome(f"Error: {parsed.reason}", True, before)
        call = Call(parsed.name, parsed.arguments)
        outcome = run(case.tools, before, call)
        tool = case.tools.get(call.name)
        if tool is not None:
            self._note(call, outcome, writes=tool.writes)
        if tool is not None and not tool.echoes and not outcome.is_error:
            ledger = Ledger(*self.ledger)
            ledger = after_call(ledger, call.arguments, outcome.text, case.outputs, case.policy)
            self.ledger = tuple(ledger)
        if outcome.database is not before:
            # To find it out takes the calls of the solution, so only where it is paid for.
            if "policy" in self._part_names():
                # What needs no consent is not written for a stranger either.
                needs_consent = tool is not None and tool.needs_consent
                is_agreed = not needs_consent or self._does_one_of(agreed, call, outcome)
                is_lawful = self.knows_user() and is_agreed
                self.unlawful += not is_lawful
            self.changes = outcome.database.changes
        return outcome

    def _does_one_of(self, agreed: Sequence[Call], call: Call, outcome: Outcome) -> bool:
        """Say whether a write left what one of the calls that were agreed to would have left.

        A yes to one thing is none to another, also where the other is taken back later. By what is
        left and not by the arguments: a tool may read two spellings of one address alike.
        """
        text = attempt(call)
        # Also when it is made again, and leaves everything as it was.
        if any(attempt(each) == text for each in agreed):
            return True
        before = self.database
        state = outcome.database.state()
        if state == before.state():
            # So does a call that fails, or is made again: it makes them no one write.
            return False
        tools = self.case.tools
        writes = [each for each in agreed if each.name in tools and tools[each.name].writes]
        return any(run(tools, before, each).database.state() == state for each in writes)

    def _part_names(self) -> list[str]:
        return self.reward.split("+")

    def _note(self, call: Call, outcome: Outcome, *, writes: bool) -> None:
        text = attempt(call)
        is_wanted = text in self.case.goal.attempts and text not in self.attempts
        if writes and outcome.is_error and is_wanted:
            # What the solution tries alone, and once: who calls a thousand times fills no memory.
            self.attempts.append(text)
        solution = [each for plan in self.case.plans for each in plan.calls]
        if self.calls_made < len(solution) and attempt(solution[self.calls_made]) == text:
            self.calls_made += 1

    def _user_call(self, parsed: ParsedCall | Malformed) -> Outcome:
        if isinstance(parsed, Malformed):
            return Outcome(f"Error: {parsed.reason}", True, self.user_database)
        return self.use_device(Call(parsed.name, parsed.arguments))


def agent_prompt(case: Case, turns: int) -> str:
    """Return what an agent is told before the first word of the user."""
    signatures = [f"{name}({', '.join(tool.parameters)})" for name, tool in case.tools.items()]
    return (
        f"{case.policy}\n\n"
        "How to act: write to the customer, or call tools. Where you have no other way to call "
        'one, write <tool_call>{"name": ..., "arguments": {...}}</tool_call>. A message that '
        "calls a tool is not shown to the customer, and what you think is not either. The "
        "customer agrees to a change where one message proposes what was asked for and nothing "
        "else: what you do, with the number of the order or reservation, the items, and the "
        "payment that the customer wants. The customer ends the dialogue; there are "
        f"{turns} messages and calls at most.\n\n"
        f"Tools: {'; '.join(signatures)}."
    )


def schemas(tools: Tools) -> Sequence[Mapping[str, Any]]:
    """Return the schemas of tools in the OpenAI form."""
    return [tool.schema() for tool in tools.values()]


def _results(move: Move, outcomes: list[Outcome]) -> Results:
    texts = [outcome.text for outcome in outcomes]
    not_made = len(move.calls) - len(texts)
    if not_made:
        # A call beside the text has a result each; calls within it share one.
        refusal = f"Error: not called, {MOST_AT_ONCE} calls are made at once."
        texts += [refusal] * (not_made if move.is_beside else 1)
    are_errors = all(outcome.is_error for outcome in outcomes)
    if move.is_beside:
        pairs = zip(move.calls, texts, strict=True)
        return Results(
            tuple(Message("tool", text, call_id=call.id) for call, text in pairs), are_errors
        )
    joined = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in texts)
    return Results(joined, are_errors)
