"""`loop`: the same actions again and again, and the same answers to them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from gem.content import (
    ImagePart,
    Observation,
    ToolCall,
    observation_text,
    observation_to_json,
)
from gem.episode import Episode, Turn
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import excerpt
from gem_eval.wording import counted

__all__ = ["FINDER", "LEAST_ROUNDS", "LONGEST_CYCLE"]

LEAST_ROUNDS = 3
"""Twice may be a second try. Three times, the answer to the second has taught nothing."""

LONGEST_CYCLE = 8
"""Turns of a cycle. Policies loop over few actions, and each length costs one more look."""

_NEWEST = 500
"""Characters: where each observation is the whole prompt, its end is what the turn has added."""


class _Cycle(NamedTuple):
    """A cycle of `length` turns that holds for `turns` turns from `start` on."""

    start: int
    length: int
    turns: int


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find the longest stretch in which actions and answers repeat."""
    steps = _steps(episode)
    cycles = [_longest_cycle(steps, length) for length in range(1, LONGEST_CYCLE + 1)]
    # Of equal ones the first: whatever repeats with one length does so with twice that too.
    longest = max(cycles, key=lambda cycle: cycle.turns)
    if longest.turns:
        first = longest.start + 1
        action = episode.turns[longest.start].action
        yield Evidence(
            longest.start,
            f"Turns {first} to {longest.start + longest.turns} are the same "
            f"{counted(longest.length, 'action')} {longest.turns // longest.length} times, and the "
            f"environment answers the same each time; the first is {excerpt(action)}.",
        )


def _longest_cycle(steps: Sequence[int], length: int) -> _Cycle:
    """Return the longest stretch that repeats after `length` turns; of 0 turns if it is short."""
    longest = _Cycle(0, length, 0)
    alike = 0
    for turn in range(length, len(steps)):
        alike = alike + 1 if steps[turn] == steps[turn - length] else 0
        turns = alike + length
        if turns >= LEAST_ROUNDS * length and turns > longest.turns:
            longest = _Cycle(turn + 1 - turns, length, turns)
    return longest


def _steps(episode: Episode) -> list[int]:
    """Number what was done in each turn and what came of it: equal steps have equal numbers."""
    numbers: dict[Hashable, int] = {}
    turns = episode.turns
    steps = []
    for place, turn in enumerate(turns):
        is_last = place + 1 == len(turns)
        answer = episode.final_observation if is_last else turns[place + 1].observation
        key = (
            turn.action,
            _calls(turn.tool_calls),
            turn.reward,
            _seen(answer, is_whole=episode.rewrites_history),
        )
        steps.append(numbers.setdefault(key, len(numbers)))
    return steps


def _calls(calls: Sequence[ToolCall]) -> str:
    plain = [[call.name, call.arguments] for call in calls]
    return json.dumps(plain, sort_keys=True, default=repr) if plain else ""


def _seen(observation: Observation | None, *, is_whole: bool) -> str:
    """Return an observation as text, so that equal ones are equal texts."""
    if observation is None:
        return ""
    if is_whole:
        return observation_text(observation)[-_NEWEST:]
    if isinstance(observation, str):
        return observation
    return json.dumps(observation_to_json(observation), sort_keys=True)


def _turns(*pairs: tuple[str, str]) -> list[Turn]:
    """Return turns by pairs of an action and what the environment answered to it."""
    before = ["Begin.", *(answer for _, answer in pairs)]
    return [
        example_turn(action, observation)
        for (action, _), observation in zip(pairs, before, strict=False)
    ]


def _examples() -> list[Example]:
    wall = ("left", "A wall.")
    door = ("right", "A door.")
    rooms = [("right", f"Room {number}.") for number in range(5)]
    prompt = "Find the door." + "You are in a room with one door. " * 20
    growing = [example_turn("left", prompt + "left A wall. " * count) for count in range(80)]
    images = [example_turn("left", (ImagePart(b"wall"),)) for _ in range(4)]
    calls = [example_turn("", tool_calls=(ToolCall(str(n), "go", {"to": n}),)) for n in range(4)]
    return [
        Example("one action, three times", example_episode(*_turns(wall, wall, wall, door)), (0,)),
        Example("two in turn", example_episode(*_turns(door, *[wall, door] * 3)), (0,)),
        Example(
            "prompts that grow",
            example_episode(*growing, final_observation=prompt, rewrites_history=True),
            (38,),  # from where the end of the prompt is the same walls each time
        ),
        Example("images", example_episode(*images), (0,)),
        Example("other calls each time", example_episode(*calls)),
        Example("twice is a second try", example_episode(*_turns(wall, wall, door))),
        Example("other answers each time", example_episode(*_turns(*rooms))),
        Example("no turn at all", example_episode()),
    ]


FINDER = Finder(
    id="loop",
    summary="the same actions again and again, and the same answers to them",
    rule=rule,
    examples=_examples,
)
