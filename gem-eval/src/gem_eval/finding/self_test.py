"""Check that a finder does what its examples say, and that no text of a model stops it.

For the tests of whoever writes one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gem.content import ToolCall, ToolResult
from gem.conversation import Usage
from gem.episode import Episode
from gem.errors import in_one_line
from gem_eval.finding.evidence import found_by
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Finder

__all__ = ["finder_failures", "hostile_episodes"]

_LARGE = 1_000_000  # characters
_MANY = 2_000  # turns


def finder_failures(finder: Finder) -> list[str]:
    """Return a line for each thing that a finder does not as its examples say; none if all holds.

    It needs an example to find something in and one to spare; what it finds are the turns of each,
    in their order, twice the same. On hostile episodes (none of whose text means anything) it may
    find what it likes, and must not raise.

        def test_my_finder() -> None:
            assert gem_eval.finding.finder_failures(MY_FINDER) == []
    """
    try:
        examples = list(finder.examples())
    except Exception as error:  # noqa: BLE001 - its author wants to know, whatever it is
        return [f"its examples cannot be made: {in_one_line(error)}"]
    return [*_lacks(examples), *_differences(finder, examples), *_crashes(finder)]


def _lacks(examples: Sequence[Example]) -> Iterator[str]:
    if not any(example.turns for example in examples):
        yield "it has no example that it finds something in"
    if all(example.turns for example in examples):
        yield "it has no example that it spares"


def _differences(finder: Finder, examples: Sequence[Example]) -> Iterator[str]:
    for example in examples:
        # Twice: a rule that keeps something of the first time is none.
        for _ in range(2):
            found = _turns_found(finder, example.episode)
            if found != list(example.turns):
                yield f"{example.label!r}: it found {found}, and not {list(example.turns)}"
                break


def _crashes(finder: Finder) -> Iterator[str]:
    for example in hostile_episodes():
        found = _turns_found(finder, example.episode)
        if isinstance(found, str):
            yield f"{example.label!r}: {found}"


def _turns_found(finder: Finder, episode: Episode) -> list[int | None] | str:
    try:
        return [finding.turn for finding in found_by(finder, episode)]
    except Exception as error:  # noqa: BLE001 - as above
        return f"it raised {in_one_line(error, at_most=300)}"


def hostile_episodes() -> Iterator[Example]:
    """Yield episodes as no environment and no model should make them; all can be logged."""
    texts = {
        "a megabyte of one letter": "a" * _LARGE,
        "a megabyte of blanks": " " * _LARGE,
        "boxes that never end": "\\boxed{" * (_LARGE // 7),
        "braces": "{" * _LARGE,
        "unclosed tags": "<answer>" * (_LARGE // 8),
        "bait for expressions that go back": "a" * 50_000 + "!" + "(" * 50_000,
        "control characters": "".join(map(chr, range(32))) * 100,
        "marks of direction": "\u202e\u2066right\u2069" * 1_000,
        "what grows in small letters": "\u0130\ufb03" * 10_000,
    }
    for label, text in texts.items():
        call = ToolCall(text[:50], text[:50], {text[:50]: [text]})
        turn = example_turn(
            text,
            text,
            info={"gold": text, "action_error": text},
            reasoning=text,
            tool_calls=(call, call),
            tool_results=(ToolResult(text[:50], text),),
        )
        yield Example(label, example_episode(turn, turn, error=text, stop_reason="env_error"))
    odd = example_turn(
        "7",
        info={"gold": None, "action_error": ["format"]},
        reward_parts={"format_error": math.nan},
        token_ids=(),
        logprobs=(math.inf,),
        mask=(0, 1),
        usage=Usage(-1, -1),
    )
    yield Example("figures that cannot be", example_episode(odd, odd, total_reward=math.nan))
    yield Example("no turn", example_episode(success=None, final_observation=None))
    yield Example("many turns", example_episode(*[example_turn("7")] * _MANY))
