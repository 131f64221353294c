"""`repeated_tool_call`: a tool is called as before, and answers as before."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

from gem.content import ToolCall, ToolResult, observation_text
from gem.episode import Episode
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import excerpt, in_turns

__all__ = ["FINDER", "LEAST_CALLS"]

LEAST_CALLS = 3
"""A second call may be a check, or one more try of a tool that failed. A third learns nothing."""


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find the call that was made most often with one answer."""
    turns_of: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for turn, name, arguments, answer in _calls(episode):
        turns_of[name, arguments, answer].append(turn)
    if not turns_of:
        return
    call = max(turns_of, key=lambda key: len(turns_of[key]))
    turns = turns_of[call]
    if len(turns) >= LEAST_CALLS:
        name, arguments, _ = call
        yield Evidence(
            turns[1],  # where it began to repeat
            f"The tool {excerpt(name)} was called {len(turns):,} times with the arguments "
            f"{excerpt(arguments)}, and answered the same each time ({in_turns(turns)}).",
        )


def _calls(episode: Episode) -> Iterator[tuple[int, str, str, str]]:
    """Yield the turn, name, arguments and answer of each call that is on record as one.

    A tool that the environment itself has leaves no result: its answer is what was seen next.
    """
    turns = episode.turns
    for place, turn in enumerate(turns):
        if not turn.tool_calls:
            continue
        is_last = place + 1 == len(turns)
        seen = episode.final_observation if is_last else turns[place + 1].observation
        whole = "" if seen is None else observation_text(seen)
        results = {result.call_id: result.content for result in turn.tool_results}
        for call in turn.tool_calls:
            arguments = json.dumps(call.arguments, sort_keys=True, default=repr)
            yield place, call.name, arguments, results.get(call.id, whole)


def _examples() -> list[Example]:
    def episode(*calls: tuple[str, str]) -> Episode:
        """Return an episode of searches: what was looked for, and what was found."""
        return example_episode(
            *(
                example_turn(
                    "",
                    tool_calls=(ToolCall(f"call {number}", "search", {"query": query}),),
                    tool_results=(ToolResult(f"call {number}", found),),
                )
                for number, (query, found) in enumerate(calls)
            )
        )

    call = ToolCall("1", "look", {})
    own = [example_turn("", "A wall.", tool_calls=(call,)) for _ in range(4)]
    moved = [
        example_turn("", f"Room {room}.", tool_calls=(call, ToolCall("2", "go", {"to": room})))
        for room in range(4)
    ]
    again = ("gem", "Nothing was found.")
    return [
        Example("three equal searches", episode(again, ("ruby", "Red."), again, again), (2,)),
        Example("a tool of the environment", example_episode(*own), (1,)),
        Example("a search and a second try", episode(again, again, ("ruby", "Red."))),
        Example("one page after the other", episode(*(("next", f"page {n}") for n in range(5)))),
        Example("the world has changed", example_episode(*moved)),
        Example("no tool at all", example_episode(example_turn("7"), example_turn("7"))),
    ]


FINDER = Finder(
    id="repeated_tool_call",
    summary="a tool is called with the same arguments, and answers the same, three times",
    rule=rule,
    examples=_examples,
)
