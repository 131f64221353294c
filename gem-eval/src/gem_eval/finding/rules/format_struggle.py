"""`format_struggle`: the environment cannot read what the policy answers."""

from __future__ import annotations

from collections.abc import Iterator

from gem.episode import Episode, Turn
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import excerpt, in_turns
from gem_eval.wording import counted

__all__ = ["FINDER", "LEAST_REFUSALS"]

LEAST_REFUSALS = 2
"""One slip that the policy mends at once is no struggle, unless it ends the episode."""


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find the answers that were refused for their form.

    An environment marks them as `gem.testing` says. A move that is read and not allowed is none.
    """
    turns = episode.turns
    refused = [place for place, turn in enumerate(turns) if _is_refused(turn)]
    if not refused:
        return
    # A limit or an error may follow a slip by chance: only the environment ends by it.
    ends_it = episode.stop_reason == "terminated" and refused[-1] == len(turns) - 1
    if ends_it or len(refused) >= LEAST_REFUSALS:
        which = "which" if len(refused) == 1 else "the last of which"
        end = f", {which} ended the episode" if ends_it else ""
        yield Evidence(
            refused[0],
            f"{len(refused):,} of {counted(len(turns), 'answer')} could not be read "
            f"({in_turns(refused)}){end}; the first is {excerpt(turns[refused[0]].action)}.",
        )


def _is_refused(turn: Turn) -> bool:
    return turn.info.get("action_error") == "format" or bool(turn.reward_parts.get("format_error"))


def _examples() -> list[Example]:
    unread = example_turn("I say 7", info={"action_error": "format"})
    fined = example_turn("seven", reward_parts={"format_error": -0.1})
    illegal = example_turn("\\boxed{99}", info={"action_error": "invalid"})
    good = example_turn("\\boxed{7}", reward_parts={"format_error": 0.0})
    return [
        Example("two of three", example_episode(good, unread, fined, good), (1,)),
        Example("one that ends it", example_episode(good, unread), (1,)),
        Example("the only answer", example_episode(fined), (0,)),
        Example("a slip", example_episode(unread, good)),
        Example("a slip before a limit", example_episode(good, unread, stop_reason="max_turns")),
        Example("moves that are not allowed", example_episode(illegal, illegal, illegal)),
        Example("no turn at all", example_episode()),
    ]


FINDER = Finder(
    id="format_struggle",
    summary="answers that the environment cannot read: two of them, or one that ends the episode",
    rule=rule,
    examples=_examples,
)
