"""`answer_in_the_prompt`: the right answer can be copied from the first prompt."""

from __future__ import annotations

from collections.abc import Iterator

from gem.content import observation_text
from gem.episode import Episode
from gem.parsing import last_boxed
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import excerpt
from gem_eval.wording import counted

__all__ = ["FINDER", "LEAST_CHARACTERS", "MOST_CHARACTERS"]

LEAST_CHARACTERS = 6
"""Letters of options, years, yes and no stand in a prompt by chance, and are found in many."""

MOST_CHARACTERS = 2_000
"""Of a longer answer this much of its beginning is looked for, so that a search stays cheap."""

_LONGEST_SEARCH = 100_000
"""Characters of an answer's end in which its box is looked for: 2 MB of braces take a second."""

_MOST_PLACES = 1_000
"""Places that are looked at: a crafted text has it in the midst of words a million times."""


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find the right answer as a whole word in what the policy saw before its first turn."""
    if not episode.turns:
        return
    known = dict.fromkeys(map(_plain, _right_answers(episode)))
    answers = [answer for answer in known if len(answer) >= LEAST_CHARACTERS]
    if not answers:  # as of most episodes: their prompts may be long
        return
    prompt = _plain(observation_text(episode.turns[0].observation))
    for answer in answers:
        place = _place(answer[:MOST_CHARACTERS], prompt)
        if place >= 0:
            yield Evidence(
                0,
                f"The right answer {excerpt(answer)}, of {counted(len(answer), 'character')}, "
                f"stands in the first prompt, at character {place + 1:,} of {len(prompt):,}.",
            )
            return


def _right_answers(episode: Episode) -> Iterator[str]:
    """Yield what is known to be right: the gold answer on record, or the one answer that solved.

    Of several turns the last is most often a move, and what it names stands on the board.
    """
    turn = episode.turns[-1]
    gold = turn.info.get("gold")
    if isinstance(gold, str):
        yield gold
    if episode.success and len(episode.turns) == 1:
        yield _inside(turn.action)


def _inside(action: str) -> str:
    r"""Return what the last box of an answer holds, or its last tag `answer`, or all of it.

    >>> _inside("It is \\boxed{\\frac{1}{2}}."), _inside("<answer>b</answer>"), _inside("c")
    ('\\frac{1}{2}', 'b', 'c')
    """
    # What begins before these can change no box that begins in them.
    boxed = last_boxed(action[-_LONGEST_SEARCH:])
    if boxed is not None:
        return boxed
    _, found, rest = action.rpartition("<answer>")
    inside, end, _ = rest.partition("</answer>")
    return inside if found and end else action


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _place(answer: str, prompt: str) -> int:
    """Return where an answer stands between the ends of words, -1 where it does not."""
    place = -1
    for _ in range(_MOST_PLACES):
        place = prompt.find(answer, place + 1)
        if place < 0:
            break
        end = place + len(answer)
        around = prompt[max(0, place - 1) : place] + prompt[end : end + 1]
        if not any(map(str.isalnum, around)):
            return place
    return -1


def _examples() -> list[Example]:
    asked = "Who wrote Emma? Hint: JANE   AUSTEN did."
    right = {"gold": "Jane Austen"}
    return [
        Example("the gold", example_episode(example_turn("Who?", asked, info=right)), (0,)),
        Example(
            "what solved it",
            example_episode(example_turn("\\boxed{Jane Austen}", asked), success=True),
            (0,),
        ),
        Example(
            "in a tag",
            example_episode(example_turn("<answer>jane austen</answer>", asked), success=True),
            (0,),
        ),
        Example("a wrong answer", example_episode(example_turn("Jane Austen", asked))),
        Example(
            "how another fraction begins",
            example_episode(
                example_turn(r"\boxed{\frac{1}{2}}", r"What is \frac{1}{3} and 1/6?"), success=True
            ),
        ),
        Example(
            "the letter of an option",
            example_episode(example_turn("B", "A: red, B: blue", info={"gold": "B"})),
        ),
        Example(
            "a part of words",
            example_episode(example_turn("austen", "Austenite", info={"gold": "austen"})),
        ),
        Example(
            "found in the second turn",
            example_episode(example_turn("?", "Who?"), example_turn("", asked, info=right)),
        ),
        Example(
            "a move to what is on the board",
            example_episode(
                example_turn("?", asked), example_turn("Jane Austen", asked), success=True
            ),
        ),
        Example("no turn at all", example_episode(success=True)),
    ]


FINDER = Finder(
    id="answer_in_the_prompt",
    summary="the right answer stands in the first prompt, and can be copied",
    rule=rule,
    examples=_examples,
)
