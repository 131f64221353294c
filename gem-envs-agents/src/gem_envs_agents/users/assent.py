"""Read whether a customer says yes or no to a proposal. Knows nothing about what was proposed.

Clauses decide, in linear time. One that denies makes it a no, whatever the others say; one that
agrees makes it a yes, unless it asks something or depends on a condition. Anything else is neither.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["assent"]

_LONGEST = 4_000  # characters that are read
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]?")
_CLAUSE = re.compile(r"[,;:\u2013\u2014]+|\bbut\b|\bthough\b|\bhowever\b|\band\b")

_AGREES = (
    r"yes|yeah|yep|yup|sure|certainly|of course|absolutely|definitely|ok|okay|all right|alright|"
    r"fine|agreed|confirmed|correct|exactly|go ahead|go for it|proceed|please do|do it|do that|"
    r"do so|sounds good|looks good|that works|works for me|"
    r"(?:i|we) (?:do |fully |hereby |also )?(?:agree|confirm|consent|approve|accept)|"
    r"that(?: i|')s (?:right|correct|fine|ok|okay|good|all right)|"
    r"(?:it|that) is (?:right|correct|fine|ok|okay|good|all right)"
)
_YES = re.compile(rf"(?<!not )\b(?:{_AGREES})\b(?!@)")
# A denial of what is agreed to, and not of anything: "I do not need it any more" denies nothing.
_NO = re.compile(
    r"^\W*(?:no|nope|nah|no way|never|stop|wait|hold on|hang on|not (?:yet|now|that|this|so)|"
    r"(?:please )?(?:do not|don't))\b"
    rf"|(?:\bnot|n't|\bnever|\bneither|\brefuse to|\brather not|\bunable to|\bcannot)\b"
    rf"(?: \w{{1,12}}){{0,3}} (?:{_AGREES}|agree|confirm|consent|approve|accept|want (?:that|"
    rf"this|it|"
    r"you)|like (?:that|this|it|you)|happy)\b(?! (?:about|of|which|what|if)\b)"
    r"|\b(?:that|this|it)(?: is|'s| isn't) (?:not )?(?:wrong|incorrect)\b|\b(?:disagree|decline)\b"
    r"|\bchanged my mind\b|\brather not\b"
)
_NO_TROUBLE = re.compile(
    r"\b(?:no|not a) (?:problem|problems|worries|doubt|objections?|further|more|other|extra|"
    r"issue|issues)"
    r"\b|\bwhy not\b|\bdon't (?:worry|hesitate|mind)\b|\bdo not (?:worry|hesitate|mind)\b"
)
_CONDITION = re.compile(
    r"(?<!even )\b(?:if|unless|provided|as long as|only when|once|after|until)\b"
)


def assent(text: str) -> Literal["yes", "no", ""]:
    """Return "yes" or "no" to a proposal, or "" where a text is neither. No text raises.

    >>> [assent(text) for text in ("Sure, go ahead.", "I do not say yes to that.", "Which one?")]
    ['yes', 'no', '']
    """
    found: Literal["yes", "no", ""] = ""
    for sentence in _SENTENCE.findall(text[:_LONGEST].casefold().replace("\u2019", "'")):
        verdict = _of_sentence(sentence)
        if verdict == "no":
            return "no"
        found = verdict or found
    return found


def _of_sentence(sentence: str) -> Literal["yes", "no", ""]:
    # "No problem" would be read as a no.
    clauses = _CLAUSE.split(_NO_TROUBLE.sub(" ", sentence))
    if any(_NO.search(clause.strip()) for clause in clauses):
        return "no"
    if _CONDITION.search(sentence):
        return ""
    # The last clause of a question is what is asked: "Yes, how long will it take?"
    said = clauses[:-1] if sentence.rstrip().endswith("?") else clauses
    return "yes" if any(_YES.search(clause) for clause in said) else ""
