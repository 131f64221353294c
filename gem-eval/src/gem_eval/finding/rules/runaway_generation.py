"""`runaway_generation`: an answer that repeats itself to its end, or is longer than any can be."""

from __future__ import annotations

from collections.abc import Iterator

from gem.episode import Episode
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import excerpt
from gem_eval.wording import counted

__all__ = ["FINDER", "LEAST_REPEATED", "LEAST_ROUNDS", "LONGEST_ANSWER", "LONGEST_UNIT"]

LEAST_ROUNDS = 8
"""Lists and boards repeat a line a few times; none that was meant does so eight times and ends."""

LEAST_REPEATED = 400
"""Characters that repeat: a row of digits or dashes, 0.3333 say, is shorter."""

LONGEST_UNIT = 2_000
"""Characters of what repeats: a paragraph. Longer ones are not looked for."""

LONGEST_ANSWER = 100_000
"""Characters, about 25,000 tokens: more than any environment reads. Thoughts may be longer."""

_PROBE = 32  # characters; the end of a text, looked for before itself
_AT_ONCE = 4_096  # characters that are compared at once


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find the first answer, or the thoughts before one, that ran away."""
    for place, turn in enumerate(episode.turns):
        for name, text in (("answer", turn.action), ("reasoning", turn.reasoning or "")):
            rounds, unit = _repetition(text)
            if rounds:
                yield Evidence(
                    place,
                    f"The {name} in turn {place + 1:,}, of {counted(len(text), 'character')}, "
                    f"ends with {excerpt(unit)} {rounds:,} times.",
                )
                return
        if len(turn.action) > LONGEST_ANSWER:
            yield Evidence(
                place,
                f"The answer in turn {place + 1:,} has {counted(len(turn.action), 'character')}, "
                f"more than {LONGEST_ANSWER:,}.",
            )
            return


def _repetition(text: str) -> tuple[int, str]:
    """Return how often a text repeats its end, and what; 0 where that is not too often.

    >>> _repetition("I see. " + "No, wait. " * 50)[0]
    50
    """
    if len(text) < LEAST_REPEATED:
        return 0, ""
    probe = text[-_PROBE:]
    # The nearest place where the end stood before: as far back as what repeats is long.
    before = text.rfind(probe, max(0, len(text) - _PROBE - LONGEST_UNIT), len(text) - 1)
    if before < 0:
        return 0, ""
    length = len(text) - _PROBE - before
    unit = text[-length:]
    repeated = len(text) - _beginning(text, unit)
    rounds = repeated // length
    if rounds < LEAST_ROUNDS or repeated < LEAST_REPEATED:
        return 0, ""
    return rounds, unit


def _beginning(text: str, unit: str) -> int:
    """Return where the repetition begins that a text ends with."""
    start = len(text)
    # Many at once, and then one by one: a megabyte of one letter is a million units.
    for step in (unit * max(1, _AT_ONCE // len(unit)), unit):
        while start >= len(step) and text.startswith(step, start - len(step)):
            start -= len(step)
    return start


def _examples() -> list[Example]:
    stuck = "I think so. " + "Wait, let me think again. " * 40
    listed = "".join(f"{number}. Look left, then look right.\n" for number in range(100))
    line = f"{'I will look at the left lamp first, and then at the right':<59}\n"
    board = "- - - - - -\n" * 7
    return [
        Example("a sentence", example_episode(example_turn("7"), example_turn(stuck)), (1,)),
        Example("one that was cut off", example_episode(example_turn(stuck[:-9])), (0,)),
        Example("eight lines", example_episode(example_turn(line * LEAST_ROUNDS)), (0,)),
        Example("seven lines", example_episode(example_turn(line * (LEAST_ROUNDS - 1)))),
        Example("one character", example_episode(example_turn("!" * 5_000)), (0,)),
        Example("thoughts", example_episode(example_turn("7", reasoning=stuck)), (0,)),
        Example("too long for all", example_episode(example_turn(listed * 50)), (0,)),
        Example("a list", example_episode(example_turn(listed))),
        Example("twice, to be sure", example_episode(example_turn(listed + stuck[-104:]))),
        Example("a board", example_episode(example_turn(f"I see it so:\n{board}"))),
        Example("long thoughts", example_episode(example_turn("7", reasoning=listed * 50 + "."))),
        Example("said, and ended", example_episode(example_turn(f"{stuck}It is 7."))),
    ]


FINDER = Finder(
    id="runaway_generation",
    summary="an answer or thoughts that repeat themselves to their end, or a far too long answer",
    rule=rule,
    examples=_examples,
)
