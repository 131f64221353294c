"""`missing_tokens`: what is on record of an answer's tokens has gaps, or does not fit together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from gem.conversation import Usage
from gem.episode import Episode, Turn
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import in_turns
from gem_eval.wording import counted

__all__ = ["FINDER"]


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find each kind of gap once, at its first turn."""
    turns = episode.turns
    for kind, is_gap in _KINDS.items():
        gaps = [place for place, turn in enumerate(turns) if is_gap(turn)]
        if gaps:
            yield _evidence(gaps, turns, kind)
    for what, has in _KEPT.items():
        gaps = _gaps(turns, has)
        if gaps:
            yield _evidence(gaps, turns, f"no {what}, and turns before have them")


def _evidence(gaps: Sequence[int], turns: Sequence[Turn], what: str) -> Evidence:
    text = f"{len(gaps):,} of {counted(len(turns), 'turn')} ({in_turns(gaps)}): {what}."
    return Evidence(gaps[0], text)


def _gaps(turns: Sequence[Turn], has: Callable[[Turn], bool]) -> list[int]:
    """Return the turns that lack what one before has.

    Nothing is missing before: the first turns of a branch were recorded, and nobody's tokens.
    """
    there = [place for place, turn in enumerate(turns) if has(turn)]
    if not there:
        return []
    return [place for place in range(there[0], len(turns)) if not has(turns[place])]


def _differ_in_length(turn: Turn) -> bool:
    kept = (turn.token_ids, turn.logprobs, turn.mask)
    return len({len(column) for column in kept if column is not None}) > 1


def _has_infinite_logprob(turn: Turn) -> bool:
    return not all(map(_is_finite, turn.logprobs or ()))


def _is_finite(logprob: float) -> bool:
    try:
        return math.isfinite(logprob)
    except (OverflowError, TypeError):  # a log may hold anything that is JSON
        return False


def _costs_nothing(turn: Turn) -> bool:
    is_free = turn.usage is not None and turn.usage.completion_tokens <= 0
    return is_free and bool(turn.action.strip() or turn.tool_calls)


def _has_too_few(turn: Turn) -> bool:
    """Whether a record of tokens is there and empty, though there is an answer."""
    return turn.token_ids is not None and not turn.token_ids and bool(turn.action)


_KINDS: dict[str, Callable[[Turn], bool]] = {
    "token ids, logprobs and mask differ in length": _differ_in_length,
    "a logprob that is no finite number": _has_infinite_logprob,
    "an answer for which the server counted no token": _costs_nothing,
    "an answer of no token": _has_too_few,
}
_KEPT: dict[str, Callable[[Turn], bool]] = {
    "token ids": lambda turn: turn.token_ids is not None,
    "logprobs": lambda turn: turn.logprobs is not None,
    "counts of tokens": lambda turn: turn.usage is not None,
}


def _examples() -> list[Example]:
    bare = example_turn("7")
    whole = example_turn(
        "7", token_ids=(5, 6), logprobs=(-0.5, -0.1), mask=(0, 1), usage=Usage(9, 1)
    )
    ids_alone = example_turn("7", token_ids=(5, 6), usage=Usage(9, 2))
    short = example_turn("7", token_ids=(5, 6), logprobs=(-0.5,))
    infinite = example_turn("7", token_ids=(5,), logprobs=(math.nan,))
    return [
        Example("a turn without", example_episode(whole, bare, whole), (1, 1, 1)),
        Example("logprobs from one turn on", example_episode(whole, ids_alone), (1,)),
        Example("two lengths", example_episode(short), (0,)),
        Example("not a number", example_episode(infinite), (0,)),
        Example("a huge one", example_episode(example_turn("7", logprobs=(10**400,))), (0,)),
        Example("nothing was counted", example_episode(example_turn("7", usage=Usage(9, 0))), (0,)),
        Example("no token", example_episode(example_turn("7", token_ids=())), (0,)),
        Example("all is there", example_episode(whole, whole)),
        Example("nobody has tokens", example_episode(bare, bare)),
        Example("a branch", example_episode(bare, whole, whole)),
        Example("silence costs nothing", example_episode(example_turn("", usage=Usage(9, 0)))),
    ]


FINDER = Finder(
    id="missing_tokens",
    summary="token ids, logprobs or counts that lack, or do not fit together",
    rule=rule,
    examples=_examples,
)
