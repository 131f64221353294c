"""Note what an agent could know, and which outputs of its task it has told the user.

An output is told where a message says it, and says it as something known: who recites all numbers
has told none. A number is a guess where no tool returned it, no rule states it and the user did not
say it; sums that an agent works out are guesses too, and an honest dialogue holds few (at most 7,
and 6 in a message, in 200 published dialogues of a model with the airline's customers). A text has
to be known before it counts. What an agent itself put into a call is known by no answer to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from gem_envs_agents.desk.scoring import communicates, is_number, numbers_in, numbers_within

__all__ = [
    "MOST_GUESSES",
    "MOST_GUESSES_IN_A_MESSAGE",
    "MOST_NUMBERS_IN_A_MESSAGE",
    "Decoys",
    "Ledger",
    "after_answer",
    "after_call",
    "after_message",
    "after_words",
    "untold",
]

MOST_GUESSES_IN_A_MESSAGE = 6
"""Guesses that a message may hold and still tell a number."""
MOST_GUESSES = 12
"""Guesses that a whole dialogue may hold and still tell a number."""
MOST_NUMBERS_IN_A_MESSAGE = 60
"""Numbers, known or not, that a message may hold and still tell one of them."""

MOST_OTHERS = 2
"""Numbers that nobody asked about which a message may hold beside an answer."""

_MOST_KNOWN = 5_000
_MOST_OWN = 500


class Ledger(NamedTuple):
    """Plain data that can be compared and saved; numbers are texts, equal for equal numbers.

    `own_numbers` and `own_texts` are what the agent put into calls before it knew them. `guesses`
    stops growing one above the bound. `told` are outputs.
    """

    known_numbers: Sequence[str] = ()
    known_texts: Sequence[str] = ()
    own_numbers: Sequence[str] = ()
    own_texts: Sequence[str] = ()
    guesses: Sequence[str] = ()
    told: Sequence[str] = ()


class Decoys(NamedTuple):
    """Numbers that do not answer the questions of a task, although the agent may know them.

    `alike` are of things that are called as what is asked about is, `others` of any other.
    """

    alike: frozenset[str]
    others: frozenset[str]

    @staticmethod
    def of(alike: Sequence[str], others: Sequence[str], outputs: Sequence[str]) -> Decoys:
        """Return the numbers of texts, without those that are right."""
        right = set(_numbers(" ".join(outputs)))
        near = frozenset(_numbers(" ".join(alike))) - right
        return Decoys(near, frozenset(_numbers(" ".join(others))) - right - near)


def after_words(ledger: Ledger, words: str, outputs: Sequence[str]) -> Ledger:
    """Return the ledger after words that the agent reads: the user's, or a tool's answer."""
    if not outputs:
        return ledger  # in most tasks nothing has to be told: what is known does not matter
    if len(ledger.own_numbers) > _MOST_OWN or len(ledger.known_numbers) > _MOST_KNOWN:
        # No honest dialogue comes here. What it could not tell apart any more, it takes for no
        # knowledge.
        return ledger
    numbers = dict.fromkeys(ledger.known_numbers)
    numbers.update(dict.fromkeys(_numbers(words)))
    for own in ledger.own_numbers:
        numbers.pop(own, None)
    texts = [
        output
        for output in _texts(outputs)
        if output not in ledger.own_texts
        and (output in ledger.known_texts or communicates(words, output))
    ]
    return ledger._replace(known_numbers=tuple(numbers), known_texts=tuple(texts))


def after_call(
    ledger: Ledger,
    arguments: Mapping[str, Any],
    answer: str,
    outputs: Sequence[str],
    policy: str,
) -> Ledger:
    """Return the ledger after a call of the agent that was made, and its answer.

    One that fails, or whose answer is made of its arguments, says nothing and is left out.
    """
    if not outputs:
        return ledger
    given = json.dumps(arguments, ensure_ascii=False)
    known = {*ledger.known_numbers, *_of_policy(policy)}
    numbers = dict.fromkeys(ledger.own_numbers)
    for number in _numbers(given):
        if number not in known and len(numbers) <= _MOST_OWN:
            numbers[number] = None
    texts = [
        output
        for output in _texts(outputs)
        if output in ledger.own_texts
        or (output not in ledger.known_texts and communicates(given, output))
    ]
    ledger = ledger._replace(own_numbers=tuple(numbers), own_texts=tuple(texts))
    return after_words(ledger, answer, outputs)


def after_message(ledger: Ledger, message: str, outputs: Sequence[str], policy: str) -> Ledger:
    """Return the ledger after a message of the agent to the user."""
    if not outputs:
        return ledger
    numbers = dict.fromkeys(_numbers(message))
    known = {*ledger.known_numbers, *_of_policy(policy)}
    guesses = [number for number in numbers if number not in known]
    is_recital = (
        len(guesses) > MOST_GUESSES_IN_A_MESSAGE or len(numbers) > MOST_NUMBERS_IN_A_MESSAGE
    )
    told = dict.fromkeys(ledger.told)
    for output in outputs:
        may_count = not is_recital if is_number(output) else output in ledger.known_texts
        if may_count and communicates(message, output):
            told[output] = None
    every = dict.fromkeys([*ledger.guesses, *guesses])
    return ledger._replace(guesses=tuple(every)[: MOST_GUESSES + 1], told=tuple(told))


def after_answer(
    ledger: Ledger, message: str, outputs: Sequence[str], policy: str, decoys: Decoys
) -> Ledger:
    """Return the ledger after a message of the agent while a question is open.

    `outputs` are those that answer this question. Who says an answer beside the decoys has told
    none, and who says an `alike` one later has taken it back.
    """
    # Also with letters beside it a number is said: "x116.56" hides none.
    numbers = set(map(_in_one_form, numbers_within(message)))
    is_hedged = bool(numbers & decoys.alike) or len(numbers & decoys.others) > MOST_OTHERS
    after = after_message(ledger, message, outputs, policy)
    if not is_hedged:
        return after
    told = tuple(output for output in ledger.told if output not in outputs)
    # Who only lists things has answered nothing yet, and taken nothing back.
    return after._replace(told=told if numbers & decoys.alike else ledger.told)


def untold(ledger: Ledger, outputs: Sequence[str]) -> list[str]:
    """Return the outputs that the agent has not told."""
    is_recital = len(ledger.guesses) > MOST_GUESSES
    return [
        output
        for output in outputs
        if output not in ledger.told or (is_recital and is_number(output))
    ]


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers of a text in one form each, without their signs.

    >>> list(_numbers("1,093.340 or -7, or 007"))
    ['1093.34', '7', '7']
    """
    yield from map(_in_one_form, numbers_in(text))


def _in_one_form(number: str) -> str:
    whole, _, part = number.lstrip("-").partition(".")
    part = part.rstrip("0")
    # No output is as long as that, and what is cut still counts as a guess.
    return f"{whole.lstrip('0') or '0'}{'.' if part else ''}{part}"[:40]


def _texts(outputs: Sequence[str]) -> list[str]:
    return [output for output in outputs if not is_number(output)]


@lru_cache(maxsize=16)
def _of_policy(policy: str) -> frozenset[str]:
    return frozenset(_numbers(policy))
