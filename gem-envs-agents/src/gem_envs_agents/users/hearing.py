r"""What a scripted user hears in an agent's words. Knows nothing about what it answers.

Words alone decide, sentence by sentence, in linear time. A sentence asks for something where it is
a question or an order ("please", "tell me"); a slot is asked for where such a sentence holds a word
of it. Of a proposal it hears the verbs, and what is named: ids of every form, methods of payment,
and the words that the user listens for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

__all__ = ["ANY_AMOUNT", "PAYMENTS", "SLOTS", "VERBS", "Heard", "hear"]

_LONGEST = 4_000  # characters that a user listens to

_WHO = r"\bidentity\b|\bwho you are\b|\bwho am i (?:speaking|talking)\b"

SLOTS = {
    "email": rf"\be-?mail\b|{_WHO}",
    "name": rf"\b(?:full |first |last |your )name\b|"
    rf"\bnames? (?:on|and (?:your |the )?(?:zip|post))|"
    rf"\b(?:what|which) name\b|\bwhat(?:'s| is) the name\b|{_WHO}",
    "zip": r"\bzip\b|\bpost(?:al)? ?code\b",
    "user_id": r"\b(?:user|customer|account) ?(?:id|number)\b",
    "order": r"\b(?:order|reservation|booking|confirmation) (?:id|number|code)|"
    r"\b(?:which|what) (?:order|reservation|booking|trip)|"
    r"\bwhich (?:one )?of (?:your|the|these|those)(?: \w{1,12}){0,2} (?:order|reservation|"
    r"booking|trip)|"
    r"\b(?:provide|share|specify|tell me|give me) (?:the|your) (?:order|reservation|booking)\b",
    "item": r"\b(?:which|what) (?:item|product|one)|\bitems? (?:is|are)\b",
    "payment": r"\bpayment\b|\brefund(?:ed)? to\b|\bpay (?:with|by)\b|\bwhich card\b|"
    r"\blike to (?:pay|be refunded)\b|\brefund to go\b",
    "address": r"(?<!mail )\baddress\b|\bwhere (?:to|should)\b|"
    r"\bwhere (?:would|do) you (?:like|want) (?:it|this|them|the (?:order|package|parcel))\b",
    "reason": r"\breason\b|\bwhy\b",
    "variant": r"\b(?:which|what|new|desired|preferred) (?:new |item |product )?(?:colou?rs?|"
    r"variants?|options?|sizes?|versions?|replacements?)\b|\bwhat changes\b|"
    r"\bwhat would you like instead\b",
    "flights": r"\b(?:which|what) (?:flights?|dates?|days?|times?)\b|\b(?:flight|travel|departure) "
    r"(?:preferences?|dates?|times?)\b|\bwhen (?:would|do) you\b",
    "cabin": r"\bcabin\b|\b(?:which|what) (?:travel |fare )?class\b",
    "bags": r"\b(?:how many|any|number of) (?:\w+ )?(?:bags?|baggages?|suitcases?)\b",
    "passengers": r"\b(?:which|how many|who are the|number of) passengers?\b|"
    r"\bpassengers?' names?\b|"
    r"\bpassengers? (?:names?|details?)\b|\bwho (?:will|is) (?:fly|travel)",
    "insurance": r"\binsurance\b|\binsured\b",
    "label": r"\blabel\b|\bserial\b",
    "restart": r"\b(?:restart|reboot)(?:ed|ing)?\b|\boff\b[^.!?\n]{0,40}\bon\b|"
    r"\bpower.?cycl(?:e|ing)\b|\bunplug(?:ged|ging)?\b",
}
"""The slots, and the words that ask for each."""

_SLOTS = {slot: re.compile(pattern) for slot, pattern in SLOTS.items()}
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]?")
_ASKS = re.compile(
    r"\?|\b(?:please|could you|can you|may i|tell me|give me|provide|let me know|i need|"
    r"i'll need|yes/no|yes or no|(?:reply|respond|answer)(?: with)? [\"']?yes)\b"
)
# What stands under a question that ends with a colon is asked for, line by line.
_LISTS = re.compile(r":[\s*_]*$")
_ENTRY = re.compile(r"\s*(?:[-*\u2022]|\d{1,2}[.)])")
_NUMBER = re.compile(r"\s*\d{1,2}\.")  # of an entry, which ends a sentence to the pattern above
_THOSE = re.compile(r"\b(?:those|these|that|this) (?:details?|information)\b")
_PROPOSES = re.compile(
    r"\b(?:shall i|should i|do you want me to|would you like me to|go ahead|proceed|do you agree|"
    r"do you confirm|do you approve|do you consent|please confirm|yes/no|yes or no|"
    r"(?:could|can|would) you (?:please )?confirm (?:that|if|whether)|"
    r"(?:reply|respond|answer)(?: with)? [\"']?yes|"
    r"do i have your (?:permission|consent|approval|confirmation|ok|okay)|"
    r"(?:may|can|could) i (?:now )?(?:cancel|return|exchange|change|book)|"
    r"(?:would you like|do you want) to (?:cancel|return|exchange|change|modify|update|book|"
    r"upgrade)|"
    r"is (?:that|this|it|everything) (?:ok|okay|all right|alright|correct|right|fine)|"
    r"(?:does|would|will) (?:that|this) (?:work|sound|look)|"
    r"are you (?:ok|okay|fine|happy) with)\b"
)
# "Which one shall I cancel?" leaves open what would be done, and so proposes nothing.
_OPEN = re.compile(r"\b(?:which|what|how|where|when)\b[^,;:]{0,60}$")
# "Tell me which, and I will proceed" proposes nothing yet.
_LATER = re.compile(r"\b(?:i will|i'll|i can|we can|before i|before we)(?: then)? $")
_ALSO_ASKS = re.compile(r"\b(?:which|what|how many|let me know|tell me|provide|specify)\b")
_DONE = re.compile(
    r"\b(?:done|has been|have been|is now|are now|completed|successfully|processed|"
    r"(?:i|we)(?:'ve| have) (?:now |just |also )?(?:cancell?ed|returned|exchanged|changed|updated|"
    r"modified|booked|registered|submitted|arranged|issued|sent|upgraded))\b"
)
_MORE = re.compile(r"\b(?:anything|something|what) else\b")
_WAITS = re.compile(r"\b(?:moment|let me|i will|i'll|i am going to|hold on|checking|looking)\b")
_NOT_POSSIBLE = (
    r"cannot|can't|can not|unable|not able|not possible|not allowed|against (?:our|the) polic|"
    r"(?:not|no longer) (?:eligible|permitted)|isn't (?:possible|allowed|eligible)|won't be able|"
    r"(?:not|isn't) something|too late|sold out|out of stock|"
    r"(?:has|have) (?:closed|passed|expired)"
)
_REFUSES = re.compile(
    rf"\b(?:{_NOT_POSSIBLE}|won't be possible|we (?:do not|don't) (?:allow|accept|permit)|"
    r"can no longer be (?:done|cancell?ed|returned|exchanged|changed|modified)|"
    r"request (?:is|was|has been) (?:declined|turned down))"
)
# Fewer words than a no has: a proposal may say more of what it holds ("and #W2, which can no longer
# be changed"), and a user who took that for ruled out would agree to what it did not ask for.
_RULES_OUT = re.compile(rf"\b(?:{_NOT_POSSIBLE})")
_TRANSFERS = re.compile(r"\bhuman agent\b|\bbeing transferred\b|\btransfer you\b")
# "I could transfer you, if you like" and "I cannot transfer you" hand nobody over.
_KEEPS = re.compile(
    r"\bif you\b|(?:\b(?:not|cannot|can|could|may|might|unable to|without|won't)|n't)"
    r"(?: \w{1,12}){0,3} (?:transfer|human)"
)

VERBS = {
    "cancel": r"cancel(?:l?ing)?|(?<!flight )cancellation(?! (?:policy|polic|fee|rule))|"
    r"call(?:ing)? [^.!?\n]{0,40}\boff|undo",
    "return": r"return(?:ing)?(?! (?:flights?|trip|leg|journey|date|on|from|segment|window|period|"
    r"policy|label))|"
    r"(?:send(?:ing)?|take|taking) (?!(?:the |your )?(?:money|refund))[^.!?\n]{0,40}\bback",
    "exchange": r"exchang(?:e|ing)|swap(?:ping)?",
    "change": r"chang(?:es?|ing)(?! (?:fees?|policy|of (?:plans?|mind)|in (?:plans?|travel)))|"
    r"modifications?|modify(?:ing)?|updat(?:e|ing)(?! you\b)|upgrad(?:e|ing)|downgrad(?:e|ing)|"
    r"switch(?:ing)?(?! (?:(?:it|them|the \w{1,12}) )?(?:on|off)\b)|replac(?:e|ing)|"
    r"correct(?:ing)? (?:the|your|this|that|it)|mov(?:e|ing)(?! (?:forward|ahead|on)\b)|"
    r"add(?:ing)?|remov(?:e|ing)",
    "book": r"(?:re)?book|reserve|(?:re)?booking (?:this|it|the|a|your)|with (?:the|this|"
    r"your) booking",
    "compensate": r"compensat(?:e|ing|ion)|(?:issu|send|offer|provid)(?:e|ing)?(?: you)?(?: with)? "
    r"(?:a|the) [^.!?\n]{0,30}\b(?:certificate|voucher)",
    "repair": r"repair(?:ing)?|fix(?:ing)?|mend(?:ing)?",
    "give": r"give(?! (?:you|me|us|your (?:consent|confirmation|approval|permission))\b)|"
    r"donat(?:e|ing)|delet(?:e|ing)|hand(?:ing)? over|clos(?:e|ing) "
    r"(?:\w+ )?account|withdraw(?:ing)?",
}
"""What an agent may propose to do, and the words for each kind. The last is what nobody wants."""

_VERBS = {kind: re.compile(rf"\b(?:{pattern})\b") for kind, pattern in VERBS.items()}
# "I would not cancel it": a verb that is denied proposes nothing, and "how to return it" neither.
_DENIED = re.compile(
    r"(?:\bnot|n't|\bnever|\bwithout|\binstead of|\brather than|\bcannot|\bhow to|"
    r"\binstructions (?:to|for|on))(?: \w{1,12}){0,2} $"
)
_BEFORE = 45  # characters before a verb in which it may be denied
_BEFORE_A_PROPOSAL = 70  # characters before words of consent that may leave open what is meant

PAYMENTS = ("credit card", "gift card", "paypal", "certificate")
"""The methods of payment, which a user hears whatever it listens for."""
_PAYMENTS = {name: re.compile(rf"\b{name}s?\b") for name in PAYMENTS}
ANY_AMOUNT = "$"
"""Beside what a right proposal may name, it says that amounts are not compared."""

_ID = re.compile(
    r"#\w+"
    r"|\b[a-z]+_(?:[a-z]+_){0,3}\d+\b"  # methods of payment, users
    r"|\b\d{8,16}\b"  # items, products
    r"|\b[A-Z]{1,3}\d{4,8}[A-Z]?(?:-\d+)?\b"  # order numbers without their sign, serial numbers
    r"|\b[A-Z0-9]{6}\b"  # reservations, flights
)
# Words of six capitals that name nothing: an agent may shout.
_SHOUTED = frozenset(
    (
        *("CANCEL", "REFUND", "RETURN", "CHANGE", "MODIFY", "UPDATE", "PLEASE", "FLIGHT", "NUMBER"),
        *("STATUS", "POLICY", "CREDIT", "PAYPAL", "AMOUNT", "ORDERS", "BEFORE", "CANNOT", "REASON"),
    )
)
_AMOUNT = re.compile(r"\$ ?(\d[\d,]{0,12}(?:\.\d+)?)|\b(\d[\d,]{0,12}(?:\.\d+)?) dollars\b")


class Heard(NamedTuple):
    """What a message says, as far as a scripted user understands it.

    `reports` says that something was done, which closes what the user agreed to. `answers` says
    that it only states something, or offers more help, which closes a question. `verbs` and `names`
    are what a proposal holds, sorted; other messages have none.
    """

    asks: tuple[str, ...] = ()
    proposes: bool = False
    reports: bool = False
    refuses: bool = False
    transfers: bool = False
    names: tuple[str, ...] = ()
    answers: bool = False
    verbs: tuple[str, ...] = ()


def hear(message: str, words: Collection[str] = ()) -> Heard:
    """Return what a message says. It draws nothing, and no text raises.

    `words` are those that the user listens for in a proposal, in lower case. An amount is written
    with its sign, "$5"; where there is one among the words, every amount is heard.

    >>> hear("I would cancel the order #W12 with the lamp. Shall I go ahead?", ["lamp"])
    Heard(asks=(), proposes=True, reports=False, refuses=False, transfers=False, \
names=('#w12', 'lamp'), answers=False, verbs=('cancel',))
    >>> hear("Could you tell me your e-mail, or your name and zip code?").asks
    ('email', 'name', 'zip')
    """
    listened_to = message[:_LONGEST].replace("\u2019", "'")
    text = listened_to.casefold()
    verbs: tuple[str, ...] | None = None  # looked for once something is proposed: most propose none
    asked: set[str] = set()
    proposes = False
    transfers = False
    only_states = bool(text.strip()) and not _WAITS.search(text)
    is_listing = False
    before = ""  # the sentence before
    for sentence in _SENTENCE.findall(text):
        if _ASKS.search(sentence):
            only_states = False
            found = _slots_in(sentence) or (_slots_in(before) if _THOSE.search(sentence) else set())
            # "Shall I refund it to your payment?" proposes; "Please confirm your email." asks.
            is_proposal = _is_proposal(sentence) and found.isdisjoint(("email", "name", "zip"))
            if is_proposal and verbs is None:
                verbs = tuple(sorted(_verbs(text)))
            # Where nothing would be done, what is to be confirmed is a fact.
            is_deed = is_proposal and (bool(verbs) or not found)
            proposes = proposes or is_deed
            if not is_deed or _ALSO_ASKS.search(sentence):
                asked |= found
            is_listing = not is_proposal and _LISTS.search(sentence) is not None
        else:
            # "Would you like to be transferred?" is an offer.
            is_handed_over = _TRANSFERS.search(sentence) and not _KEEPS.search(sentence)
            transfers = transfers or bool(is_handed_over)
            if is_listing and (_ENTRY.match(sentence) or _NUMBER.fullmatch(before)):
                asked |= _slots_in(sentence)
            elif sentence.strip():
                is_listing = False
        before = sentence
    offers_more = _MORE.search(text) is not None
    return Heard(
        asks=tuple(slot for slot in SLOTS if slot in asked),
        proposes=proposes,
        reports=offers_more or _DONE.search(text) is not None,
        refuses=bool(_REFUSES.search(text)),
        transfers=transfers,
        names=tuple(sorted(set(_names(listened_to, text, words)))) if proposes else (),
        answers=offers_more or only_states,
        verbs=(verbs or ()) if proposes else (),
    )


def _slots_in(sentence: str) -> set[str]:
    return {slot for slot, pattern in _SLOTS.items() if pattern.search(sentence)}


def _is_proposal(sentence: str) -> bool:
    """Say whether a sentence asks for consent, and not which of several things is wanted."""
    for match in _PROPOSES.finditer(sentence):
        before = sentence[: match.start()]
        if not _OPEN.search(before[-_BEFORE_A_PROPOSAL:]) and not _LATER.search(before[-20:]):
            return True
    return False


def _verbs(text: str) -> Iterator[str]:
    """Yield the kinds of what is proposed: of verbs that are not denied."""
    for kind, pattern in _VERBS.items():
        for match in pattern.finditer(text):
            if not _DENIED.search(text[max(0, match.start() - _BEFORE) : match.start()]):
                yield kind
                break


def _names(message: str, text: str, words: Collection[str]) -> Iterator[str]:
    """Yield what is named: ids as they stand in the message, words as they stand in its text.

    An id that no user listens for is not named by the sentence that rules it out.
    """
    for sentence in _SENTENCE.findall(message):
        ids = [found.casefold() for found in _ID.findall(sentence) if found not in _SHOUTED]
        is_ruled_out = bool(ids) and _RULES_OUT.search(sentence.casefold()) is not None
        yield from (each for each in ids if each in words or not is_ruled_out)
    for name, pattern in _PAYMENTS.items():
        if pattern.search(text):
            yield name
    are_amounts_heard = False
    for word in words:
        if word.startswith("$"):
            are_amounts_heard = True
        elif word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text):
            yield word
    if are_amounts_heard:
        for match in _AMOUNT.finditer(text):
            yield f"${float((match[1] or match[2]).replace(',', '')):g}"
