r"""What a scripted user hears in an agent's words. Knows nothing about what it answers.

Words alone decide, sentence by sentence, in linear time. A sentence asks for something where it is
a question or an order ("please", "tell me"); a slot is asked for where such a sentence holds a word
of it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["SLOTS", "Heard", "hear"]

_LONGEST = 4_000  # characters that a user listens to

_WHO = r"\bidentity\b|\bwho you are\b|\bwho am i (?:speaking|talking)\b"

SLOTS = {
    "email": rf"\be-?mail\b|{_WHO}",
    "name": rf"\b(?:full |first |last |your )name\b|{_WHO}",
    "zip": r"\bzip\b|\bpost(?:al)? ?code\b",
    "user_id": r"\b(?:user|customer|account) ?(?:id|number)\b",
    "order": r"\border (?:id|number)|\b(?:which|what) (?:order|reservation|booking)",
    "item": r"\b(?:which|what) (?:item|product|one)|\bitems? (?:is|are)\b",
    "payment": r"\bpayment\b|\brefund(?:ed)? to\b|\bpay (?:with|by)\b",
    "address": r"(?<!mail )\baddress\b|\bwhere (?:to|should)\b",
    "reason": r"\breason\b|\bwhy\b",
    "variant": r"\b(?:which|what) (?:colou?r|variant|option|size|version|replacement)\b",
    "label": r"\blabel\b|\bserial\b",
    "restart": r"\brestart\b|\breboot\b|\boff and on\b",
}
"""The slots, and the words that ask for each."""

_SLOTS = {slot: re.compile(pattern) for slot, pattern in SLOTS.items()}
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]?")
_ASKS = re.compile(
    r"\?|\b(?:please|could you|can you|may i|tell me|give me|provide|let me know|i need|"
    r"i'll need)\b"
)
_PROPOSES = re.compile(
    r"\b(?:shall i|should i|do you want me to|would you like me to|go ahead|proceed|do you agree|"
    r"do you confirm|please confirm|yes/no)\b"
)
_DONE = re.compile(
    r"\b(?:done|has been|have been|is now|are now|completed|successfully|processed)\b"
)
_MORE = re.compile(r"\b(?:anything|something|what) else\b")
_WAITS = re.compile(r"\b(?:moment|let me|i will|i'll|i am going to|hold on|checking|looking)\b")
_REFUSES = re.compile(
    r"\b(?:cannot|can't|can not|unable|not able|not possible|not allowed|against (?:our|the) polic)"
)
_TRANSFERS = re.compile(r"\bhuman agent\b|\bbeing transferred\b|\btransfer you\b")
_ID = re.compile(r"#\w+")


class Heard(NamedTuple):
    """What a message says, as far as a scripted user understands it.

    `reports` says that something was done, which closes what the user agreed to. `answers` says
    that it only states something, or offers more help, which closes a question.
    """

    asks: tuple[str, ...] = ()
    proposes: bool = False
    reports: bool = False
    refuses: bool = False
    transfers: bool = False
    names: tuple[str, ...] = ()
    answers: bool = False


def hear(message: str) -> Heard:
    """Return what a message says. It draws nothing, and no text raises.

    >>> hear("I would cancel the order #W12. Shall I go ahead?")
    Heard(asks=(), proposes=True, reports=False, refuses=False, transfers=False, \
names=('#w12',), answers=False)
    >>> hear("Could you tell me your e-mail, or your name and zip code?").asks
    ('email', 'name', 'zip')
    """
    text = message[:_LONGEST].casefold().replace("\u2019", "'")
    asked: set[str] = set()
    proposes = False
    transfers = False
    only_states = bool(text.strip()) and not _WAITS.search(text)
    for sentence in _SENTENCE.findall(text):
        if not _ASKS.search(sentence):
            # "Would you like to be transferred?" is an offer.
            transfers = transfers or _TRANSFERS.search(sentence) is not None
            continue
        only_states = False
        found = {slot for slot, pattern in _SLOTS.items() if pattern.search(sentence)}
        # "Shall I refund it to your payment method?" proposes; "Please confirm your email." asks.
        if _PROPOSES.search(sentence) and not found.intersection(("email", "name", "zip")):
            proposes = True
        else:
            asked |= found
    offers_more = _MORE.search(text) is not None
    return Heard(
        asks=tuple(slot for slot in SLOTS if slot in asked),
        proposes=proposes,
        reports=offers_more or _DONE.search(text) is not None,
        refuses=bool(_REFUSES.search(text)),
        transfers=transfers,
        names=tuple(sorted(set(_ID.findall(text)))),
        answers=offers_more or only_states,
    )
