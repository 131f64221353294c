"""`hollow_answer`: an answer with nothing in it, and no call of a tool either."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gem.content import ToolCall
from gem.episode import Episode
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import in_turns
from gem_eval.wording import counted

__all__ = ["FINDER"]

# One class of characters: the search stops at the first, and never goes back. Beside blanks and
# control characters, those that show nothing: soft hyphen, joiners, marks of direction.
_VISIBLE = re.compile(
    "[^\\s\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
_BOX = "\\boxed{"


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find the answers that say nothing."""
    hollow = [
        place
        for place, turn in enumerate(episode.turns)
        if not turn.tool_calls and _is_hollow(turn.action)
    ]
    if hollow:
        thoughts = sum(len(episode.turns[place].reasoning or "") for place in hollow)
        after = f", after {counted(thoughts, 'character')} of reasoning" if thoughts else ""
        yield Evidence(
            hollow[0],
            f"{len(hollow):,} of {counted(len(episode.turns), 'answer')} had nothing in "
            f"{'it' if len(hollow) == 1 else 'them'} ({in_turns(hollow)}){after}.",
        )


def _is_hollow(text: str) -> bool:
    r"""Whether a text shows nothing, or its last box holds nothing.

    >>> _is_hollow(" \u200b"), _is_hollow("It is \\boxed{ }."), _is_hollow("7")
    (True, True, False)
    """
    if _VISIBLE.search(text) is None:
        return True
    _, box, rest = text.rpartition(_BOX)
    inside, end, _ = rest.partition("}")
    return bool(box and end) and _VISIBLE.search(inside) is None


def _examples() -> list[Example]:
    call = ToolCall("1", "search", {"query": "gem"})
    return [
        Example("no text", example_episode(example_turn("7"), example_turn("")), (1,)),
        Example("what cannot be seen", example_episode(example_turn("\u200b\n\x00 \u2067")), (0,)),
        Example("an empty box", example_episode(example_turn("So it is \\boxed{ }.")), (0,)),
        Example("thoughts alone", example_episode(example_turn("", reasoning="Seven?")), (0,)),
        Example("a call of a tool", example_episode(example_turn("", tool_calls=(call,)))),
        Example("a short answer", example_episode(example_turn("."))),
        Example("a box that is filled", example_episode(example_turn("\\boxed{} or \\boxed{7}"))),
        Example("a box that never ends", example_episode(example_turn("\\boxed{"))),
    ]


FINDER = Finder(
    id="hollow_answer",
    summary="an answer with nothing in it, and no call of a tool either",
    rule=rule,
    examples=_examples,
)
