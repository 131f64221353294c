"""`tools`: a policy calls tools, and the environment sees only the actions that call none.

Knows nothing about any tool there is, or about formats.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

from gem import Snapshot, Wrapper
from gem.content import Action, Message, Observation, ToolResult
from gem.env import Env, Step, key_seed, on_background
from gem.errors import BadArguments, SnapshotError
from gem.parsing import Malformed, OpenAI, Parsed, ParsedCall
from gem.tools import Tool, ToolContext, answer, failure
from gem_tools.caching import answers
from gem_tools.choosing import ToolLike, as_tools
from gem_tools.formats import Format, is_told_elsewhere, parser_for
from gem_tools.slots import slot

__all__ = ["Tools"]

MOST_AT_ONCE = 16
"""Calls of one action that are made; those beyond are refused."""

_numbers = itertools.count()


class Tools(Wrapper, both_forms=True):  # both forms of close end the session
    """Let a policy call tools. An action with a call is answered here, and goes no further.

    `format` says how calls are written: "openai" (beside the text), "tags", "fences", a word of
    `gem.parsing.FAMILIES`, or it is a `gem.parsing.Parser`, or the `module:attribute` of one. Calls
    that come beside the text count in every format, and `gem.tokens` reads them there as the chat
    template asks for them. With "tags", "fences" and a parser of your own the prompt that you
    write says how to call: nobody else is told of the tools.

    The calls of one action run at once, and their results come back in its order: as messages of
    the role "tool", or, for calls within the text, as one text, each in `<result_tag>`. A call
    that cannot be read, names no tool or fails has a result as well, which says why. A tool that
    is pure is not asked the same twice.

    Each call earns `tool_reward`, and `tool_success_reward` or `tool_error_reward`. An episode
    has `max_tool_uses` calls, None for no limit; further ones are refused, and an action that
    makes some after an earlier one was refused truncates the episode. `timeout_s` bounds each
    call, if the tool has no shorter time of its own.
    """

    shared = ("_tools", "_parser", "_session", "_holding")

    def __init__(
        self,
        env: Env,
        tools: Sequence[ToolLike],
        *,
        format: Format = "openai",  # noqa: A002 - the word for it
        max_tool_uses: int | None = 10,
        tool_reward: float = 0.0,
        tool_success_reward: float = 0.0,
        tool_error_reward: float = 0.0,
        timeout_s: float | None = None,
        result_tag: str = "tool_response",
    ) -> None:
        super().__init__(env)
        self._tools = _by_name(tools, env.tools)
        self._parser = parser_for(format, self._tools.values())
        self._is_told_elsewhere = is_told_elsewhere(format)
        self._most = max_tool_uses
        self._rewards = (tool_reward, tool_success_reward, tool_error_reward)
        self._timeout_s = timeout_s
        self._result_tag = result_tag
        self._session: str | None = None
        self._holding: frozenset[str] = frozenset()  # tools that keep something for the session
        self._uses = self._errors = self._actions = 0
        self._was_refused = False

    @property
    def tools(self) -> tuple[Mapping[str, Any], ...]:  # type: ignore[override]
        """The schemas of the environment's own tools and of these, but for formats of one's own.

        Whoever is given schemas tells the model how to call, in a format of his.
        """
        if not self._is_told_elsewhere:
            return tuple(self.env.tools)
        return (*self.env.tools, *(tool.schema() for tool in self._tools.values()))

    @property
    def callable_tools(self) -> tuple[Mapping[str, Any], ...]:
        """The schemas of all tools, whatever the format: calls beside the text count in each."""
        inner = getattr(self.env, "callable_tools", self.env.tools)
        return (*inner, *(tool.schema() for tool in self._tools.values()))

    @property
    def max_turns(self) -> int | None:  # type: ignore[override]
        """The environment's own limit, with room for every action that can call a tool."""
        inner = self.env.max_turns
        return None if inner is None or self._most is None else inner + self._most + 2

    @property
    def single_turn(self) -> bool:  # type: ignore[override]
        """False: calls take turns."""
        return False

    @property
    def reward_range(self) -> tuple[float, float]:  # type: ignore[override]
        """The environment's own range, widened by what the calls of one action can earn."""
        low, high = self.env.reward_range
        use, success, error = self._rewards
        ends = [MOST_AT_ONCE * (use + outcome) for outcome in (success, error)]
        return min(low, use + min(success, error), *ends), max(
            high, use + max(success, error), *ends
        )

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._end_session()
        self._uses = self._errors = self._actions = 0
        self._was_refused = False
        return observation, info

    def on_action(self, action: str) -> Any:
        if isinstance(action, Action) and action.tool_calls:
            parsed = OpenAI().parse(action)
        else:
            parsed = self._parser.parse(action)
        if not parsed.found or self._is_for_the_environment(parsed):
            return action
        return self._answered(action, parsed)

    def on_step(self, action: str, step: Step) -> Step:
        counts = {"uses": self._uses, "errors": self._errors, **step.info.get("tools", {})}
        return step._replace(info={**step.info, "tools": counts})

    def _is_for_the_environment(self, parsed: Parsed) -> bool:
        """Say whether every call is of a tool that the environment itself has."""
        theirs = _names(self.env.tools)
        return bool(theirs) and all(call.name in theirs for call in parsed.found)

    async def _answered(self, action: str, parsed: Parsed) -> Step:
        """Make the calls of an action, and return the step that is their answer."""
        self._actions += 1  # before the calls, whose seeds it is a part of
        was_refused = self._was_refused  # by an earlier action: `_refusal` sets it for this one
        calls = parsed.found
        refused = [self._refusal(number, call) for number, call in enumerate(calls)]
        recorded = action.tool_results if isinstance(action, Action) else ()
        if len(recorded) == len(calls):  # a replay
            results = list(recorded)
        else:
            results = list(await on_background(self._results(calls, refused)))
        self._errors += sum(result.is_error for result in results)
        ends = was_refused and any(_is_over_limit(refusal) for refusal in refused)
        return self._step(calls, results, ends=ends)

    def _refusal(self, number: int, call: ParsedCall | Malformed) -> ToolResult | None:
        """Return why a call is not made; None for one that is."""
        if number >= MOST_AT_ONCE:
            return failure(call.id, "limit", f"Not made: {MOST_AT_ONCE} calls are made at once.")
        if self._most is not None and self._uses >= self._most:
            self._was_refused = True
            text = f"Not made: all {self._most} calls of this episode are used. Answer without one."
            return failure(call.id, _OVER, text)
        self._uses += 1
        if isinstance(call, Malformed):
            return failure(call.id, call.kind, call.reason)
        if call.name in self._tools:
            return None
        if call.name in _names(self.env.tools):
            return failure(call.id, "mixed", f"Not made: call {call.name} in an answer of its own.")
        known = ", ".join(map(repr, self._tools))
        return failure(call.id, "unknown", f"There is no tool {call.name!r:.60}. There is {known}.")

    async def _results(
        self, calls: Sequence[ParsedCall | Malformed], refused: Sequence[ToolResult | None]
    ) -> list[ToolResult]:
        """Make the calls that are not refused, all at once."""
        coroutines = [
            self._made(number, call)
            for number, (call, refusal) in enumerate(zip(calls, refused, strict=True))
            if refusal is None and isinstance(call, ParsedCall)
        ]
        # In the order of the calls, whichever was answered first.
        outcomes = iter(await asyncio.gather(*coroutines))
        return [next(outcomes) if refusal is None else refusal for refusal in refused]

    async def _made(self, number: int, call: ParsedCall) -> ToolResult:
        tool = self._tools[call.name]
        seed = self.episode_seed
        if self._session is None:
            self._session = _new_session()
        if tool.keeps_sessions:
            self._holding |= {tool.name}
        limits = [limit for limit in (tool.timeout_s, self._timeout_s) if limit is not None]
        context = ToolContext(
            call_id=call.id,
            session=self._session,
            seed=None if seed is None else key_seed("tool", seed, self._actions, number),
            timeout_s=min(limits, default=None),
        )
        known = answers.get(tool, call.arguments, call.id)
        if known is not None:
            return known
        async with slot(tool):
            result = await answer(tool, call.arguments, context)
        answers.put(tool, call.arguments, result)
        return result

    def _step(
        self, calls: Sequence[ParsedCall | Malformed], results: Sequence[ToolResult], *, ends: bool
    ) -> Step:
        parts = self._reward_parts(results)
        info: dict[str, Any] = {
            "tool_results": tuple(results),
            "reward_parts": parts,
            "tools": {
                "uses": self._uses,
                "errors": self._errors,
                "calls": [
                    {**result.meta, "id": call.id, "name": call.name}
                    for call, result in zip(calls, results, strict=True)
                ],
            },
        }
        return Step(self._as_observation(calls, results), sum(parts.values()), False, ends, info)

    def _reward_parts(self, results: Sequence[ToolResult]) -> dict[str, float]:
        counted = results[:MOST_AT_ONCE]
        errors = sum(result.is_error for result in counted)
        counts = (len(counted), len(counted) - errors, errors)
        names = ("tool", "tool_success", "tool_error")
        return {
            name: count * reward
            for name, count, reward in zip(names, counts, self._rewards, strict=True)
            if reward
        }

    def _as_observation(
        self, calls: Sequence[ParsedCall | Malformed], results: Sequence[ToolResult]
    ) -> Observation:
        if all(call.span is None for call in calls):
            return tuple(
                Message("tool", result.content, call_id=result.call_id) for result in results
            )
        texts = [result.content for result in results[:MOST_AT_ONCE]]
        if len(results) > MOST_AT_ONCE:
            texts.append(f"{len(results) - MOST_AT_ONCE} more: {results[-1].content}")
        tag = self._result_tag
        return "\n".join(f"<{tag}>\n{text}\n</{tag}>" for text in texts)

    def snapshot(self) -> Snapshot:
        """As every wrapper's. Raises SnapshotError where a tool keeps something for the episode."""
        if self._holding:
            raise SnapshotError(
                f"A snapshot was asked for, and the tool {min(self._holding)!r} keeps a state of "
                "its own for this episode, which no snapshot holds. Take it before the tool's "
                "first call."
            )
        return super().snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self._end_session()

    def fork(self) -> Tools:
        """As every wrapper's. Raises SnapshotError where a tool cannot copy what it keeps."""
        session = _new_session()
        for name in sorted(self._holding):
            self._tools[name].fork_session(str(self._session), session)
        twin = super().fork()
        twin._session = session
        return twin

    def close(self) -> None:
        self._end_session()
        super().close()

    async def aclose(self) -> None:
        self._end_session()
        await super().aclose()

    def _end_session(self) -> None:
        for name in sorted(self._holding):
            self._tools[name].end_session(str(self._session))
        # A new session next time: what a tool kept for this one is not to be met again.
        self._session = None
        self._holding = frozenset()


_OVER = "over_limit"


def _is_over_limit(refusal: ToolResult | None) -> bool:
    return refusal is not None and refusal.meta["error"] == _OVER


def _new_session() -> str:
    return f"{os.getpid()}-{next(_numbers)}"


def _names(schemas: Sequence[Mapping[str, Any]]) -> set[str | None]:
    return {schema.get("function", {}).get("name") for schema in schemas}


def _by_name(likes: Sequence[ToolLike], schemas: Sequence[Mapping[str, Any]]) -> dict[str, Tool]:
    if isinstance(likes, (str, Mapping)):
        raise BadArguments(
            f"tools was given {likes!r:.80}, which is one tool. Give a list of tools.",
            subject="tools",
        )
    tools: dict[str, Tool] = {}
    for tool in itertools.chain.from_iterable(map(as_tools, likes)):
        if tool.name in tools or tool.name in _names(schemas):
            raise BadArguments(
                f"tools was given two tools with the name {tool.name!r}, and a call names one. "
                "Give each a name of its own.",
                subject="tools",
            )
        tools[tool.name] = tool
    return tools
