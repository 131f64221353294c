"""Decide at once, where that is possible: exactly, in bounded time, with nothing evaluated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from gem_envs_math.grading.comparing.comparer import Comparer
from gem_envs_math.grading.comparing.families import same_family
from gem_envs_math.grading.comparing.freely_named import are_freely_named
from gem_envs_math.grading.comparing.parsed import is_formula
from gem_envs_math.grading.limits import (
    LONGEST,
    LONGEST_ASKED,
    TooDeep,
    TooLarge,
    Undefined,
    Unread,
)
from gem_envs_math.grading.plain import plain
from gem_envs_math.grading.reading.answer import read
from gem_envs_math.grading.reading.prose import Prose, judge_prose, read_prose
from gem_envs_math.grading.reading.shapes import Named, Relation, Scalar, Shape, Words
from gem_envs_math.grading.reading.wording import trimmed
from gem_envs_math.grading.text.characters import latex, unseen
from gem_envs_math.grading.text.chemistry import substance
from gem_envs_math.grading.text.constants import are_arbitrary, count_constants, renamed
from gem_envs_math.grading.text.factors import with_factors
from gem_envs_math.grading.text.free_letters import with_one_parameter, with_one_variable
from gem_envs_math.grading.text.marks import without_marks
from gem_envs_math.grading.text.matrices import are_ordered_alike
from gem_envs_math.grading.text.normal_form import same_form
from gem_envs_math.grading.text.parameters import (
    kind_of_letter,
    natural_letter,
    without_integers,
)
from gem_envs_math.grading.text.spelling import tokens_of
from gem_envs_math.grading.text.tokens import Token
from gem_envs_math.grading.text.vector_products import has_other_vector_products
from gem_envs_math.grading.text.whole_letters import with_one_integer, with_one_natural
from gem_envs_math.grading.verdict import Verdict

__all__ = ["Reading", "compare", "decide", "reading"]

_NUMBERS = {True: Verdict("right", "number"), False: Verdict("wrong", "number")}
_UNEVALUATED = frozenset(
    ("\\sum", "\\prod", "\\int", "\\lim", "\\zeta", "\\Gamma", "\\gcd", "\\max", "\\min")
)
_COMMAS = re.compile(r"[0-9],[0-9]{3}(?![0-9])")
_SHORT_GROUP = re.compile(r"(?<![0-9])[0-9]{1,2},[0-9]{3}(?![0-9])")
_DIGITS = re.compile(r"[0-9]+")
_ZEROS = re.compile(r"(?<=[0-9]), ?(?=0[0-9]{2}(?![0-9]))")


def decide(answer: str, gold: str) -> Verdict | None:
    r"""Return the verdict on an answer, None where math-verify must be asked (see `verify`).

    Takes at most milliseconds, whatever the texts; raises nothing. "right" and "wrong" stay the
    same with answer and gold exchanged, but for the limits, which are those of an answer.

    >>> decide(r"\frac{\sqrt{8}}{2}", r"\sqrt{2}")
    Verdict(outcome='right', how='value')
    >>> decide("0.333", r"\frac13")
    Verdict(outcome='wrong', how='number')
    """
    first = plain(answer)
    second = plain(gold)
    if first is not None and second is not None:
        return _NUMBERS[first[0] * second[1] == second[0] * first[1]]
    answer = answer.strip()
    gold = gold.strip()
    if not answer:
        return Verdict("unreadable", "empty")
    if answer == gold:
        return Verdict("right", "exact")
    if len(answer) > LONGEST:
        return Verdict("wrong", "too long")
    if len(gold) > LONGEST:
        return Verdict("undecided", "gold too long")
    answer = latex(without_marks(answer))
    gold = latex(without_marks(gold))
    if unseen(answer):
        return Verdict("unreadable", "characters")
    return compare(answer, gold, _COMPARER)


_COMPARER = Comparer()


def compare(answer: str, gold: str, comparer: Comparer) -> Verdict | None:
    """Return the verdict by the rules for two texts in LaTeX, within the limits; None without one.

    Takes milliseconds and raises nothing.
    """
    formula = substance(gold)
    if formula and formula == substance(answer):
        return Verdict("right", "words")
    sides = reading(answer), reading(gold)
    if sides[0].prose is not None or sides[1].prose is not None:
        # Beside prose, words in the other's \text{} are no label.
        return judge_prose(
            read_prose(answer, is_read=False) or answer,
            read_prose(gold, is_read=False) or gold,
            lambda first, second: compare(first, second, comparer),
        )
    verdict = _compare(*sides, comparer)
    has_other_reading = _COMMAS.search(answer) is not None or _COMMAS.search(gold) is not None
    if has_other_reading and (verdict is None or verdict.outcome == "wrong"):
        # 101,102 may be a list as well: then the other side shows it by a space. But 115,000 is
        # no list of 115 and 0: a group that begins with 0 goes on.
        first, second = (_ZEROS.sub("", text).replace(",", ", ") for text in (answer, gold))
        if _SHORT_GROUP.search(f"{answer} {gold}") and _DIGITS.findall(first) != _DIGITS.findall(
            second
        ):
            return verdict  # 1,234 may be the list 1, 234, but nobody writes 234, 1 so
        spaced = _compare(reading(first), reading(second), comparer)
        return spaced if spaced is not None and spaced.outcome == "right" else verdict
    is_open = verdict is None or verdict.how in ("gold unreadable", "no rule")
    # Some words about a parameter are read by nothing else.
    says_natural = is_open and any(natural_letter(side.tokens) for side in sides)
    if says_natural or verdict is None or verdict == ("wrong", "value"):
        return _with_other_letters(*sides, comparer, verdict)
    return verdict


def _with_other_letters(
    answer: Reading, gold: Reading, comparer: Comparer, otherwise: Verdict | None
) -> Verdict | None:
    """Return "right" where other names of constants or of a parameter make two answers one.

    The same holds where they are one family. Else the verdict `otherwise`; None where it is open.
    """
    if not answer.tokens or not gold.tokens:
        return otherwise
    sides = _without_constant(answer.tokens), _without_constant(gold.tokens)
    one_each = with_one_parameter(*sides) or with_one_variable(*sides)
    letters = answer.tokens, gold.tokens
    others = chain(with_one_integer(*letters), with_one_natural(*letters))
    verdict = otherwise
    last: Sequence[Token] | None = None
    alike = [pair for pair in (one_each, with_factors(*letters)) if pair]
    for first, second in chain(alike, renamed(*(one_each or sides)), others):
        try:
            shapes = read(first), read(second)
        except Unread:
            continue
        answer_form = answer._replace(tokens=first, shape=shapes[0])
        gold_form = gold._replace(tokens=second, shape=shapes[1])
        new_verdict = _compare(answer_form, gold_form, comparer)
        if new_verdict is not None and new_verdict.outcome == "right":
            return new_verdict
        if new_verdict is None and not comparer.kit.proves:
            verdict = None
        if not are_arbitrary(*sides) or first is last:
            continue  # families stay the same with their constants in another order
        last = first
        truth = same_family(*shapes, count_constants(first), comparer.kit)
        if truth:
            return Verdict("right", "value")
        if truth is None:
            verdict = None
    return verdict


def _without_constant(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return tokens without the words at their end that a letter is any real number."""
    return without_integers(tokens) if kind_of_letter(tokens) == "R" else tokens


class Reading(NamedTuple):
    """A text's tokens and shape, or the word for why there is none; and what it is as prose."""

    text: str
    tokens: Sequence[Token]
    shape: Shape | None
    trouble: str = ""

    @property
    def prose(self) -> Prose | None:
        is_read = self.shape is not None and not _has_sentence(self.shape)
        return read_prose(self.text, is_read=is_read or self.trouble != "")


def reading(text: str) -> Reading:
    """Return the tokens and the shape of a text in LaTeX. Raises nothing."""
    tokens: Sequence[Token] = ()
    try:
        tokens = trimmed(tokens_of(text))
        return Reading(text, tokens, read(tokens))
    except Unread as error:
        return Reading(text, tokens, None, _trouble(error))


def _has_sentence(shape: Shape) -> bool:
    """Whether words stand in a relation: nothing reads those, as names are single words."""
    tokens = (
        (token for side in shape.sides for token in side) if isinstance(shape, Relation) else ()
    )
    return sum(token.kind == "word" and len(token.text) > 1 for token in tokens) > 1


def _trouble(error: Unread) -> str:
    """Return the word for what an answer must not be, "" where it is merely not read."""
    words = {TooDeep: "too deep", TooLarge: "too large", Undefined: "undefined"}
    return words.get(type(error), "")


def _compare(answer: Reading, gold: Reading, comparer: Comparer) -> Verdict | None:
    texts = [token.text for token in answer.tokens]
    gold_texts = [token.text for token in gold.tokens]
    if texts and gold_texts and has_other_vector_products(answer.text, gold.text):
        return Verdict("wrong", "value")  # the tokens of both may be the same
    if texts and texts == gold_texts:
        return Verdict("right", "normal form")
    is_read = answer.shape is not None and gold.shape is not None
    if not is_read and texts and same_form(texts, gold_texts):
        return Verdict("right", "normal form")
    kinds = {kind_of_letter(answer.tokens), kind_of_letter(gold.tokens)}
    if kinds == {"Z", "R"}:
        return Verdict("wrong", "value")  # k\pi for all integers k is not for all real ones
    if answer.trouble:
        return Verdict("wrong", answer.trouble)
    is_evaluated = isinstance(answer.shape, Named)  # what has to be evaluated is but its name
    has_more = not _UNEVALUATED.isdisjoint(texts) and _UNEVALUATED.isdisjoint(gold_texts)
    if has_more and not is_evaluated:
        return Verdict("wrong", "unevaluated")
    if not _is_known(answer):
        return _unread(answer)
    is_gold_undefined = gold.trouble == "undefined"
    if is_gold_undefined or not _is_known(gold):
        return Verdict("undecided", "gold unreadable")
    if answer.shape is None or gold.shape is None:
        return Verdict("unreadable", "too long") if len(answer.text) > LONGEST_ASKED else None
    try:
        truth = comparer.same(answer.shape, gold.shape)
        if truth is False:
            truth = _same_by_another_name(answer.shape, gold.shape, comparer)
    except Unread as error:
        trouble = _trouble(error)
        return Verdict("wrong", trouble) if trouble else None
    if truth is None:
        return None
    if truth and not are_ordered_alike(*map(_value_tokens, (answer, gold))):
        return Verdict("wrong", "value")
    is_words = isinstance(answer.shape, Words) or isinstance(gold.shape, Words)
    return Verdict("right" if truth else "wrong", "words" if is_words else "value")


def _same_by_another_name(a: Shape, b: Shape, comparer: Comparer) -> bool | None:
    if not isinstance(a, Named) or not isinstance(b, Named) or not are_freely_named(a, b):
        return False
    return comparer.same(a.values[-1], b.values[-1])


def _value_tokens(side: Reading) -> Sequence[Token]:
    """Return what stands after a name's sign of equality, or all tokens."""
    shape = side.shape
    if isinstance(shape, Named) and isinstance(shape.values[-1], Scalar):
        return shape.values[-1].tokens
    return side.tokens


def _is_known(side: Reading) -> bool:
    """Whether a rule reads a text, or math-verify's parser may."""
    if side.shape is not None:
        return True
    return any(char.isalnum() for char in side.text) and is_formula(side.tokens)


def _unread(answer: Reading) -> Verdict:
    if not any(char.isalnum() for char in answer.text):
        return Verdict("unreadable", "empty")
    is_long = len(answer.text) > LONGEST_ASKED
    return Verdict("unreadable", "too long" if is_long else "no rule")
