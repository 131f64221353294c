"""Read whether a message turns a request down. Knows nothing about the request.

It grades agents, and scripted users do not hear by it: it knows more words of a no than they do,
also such as would mean something else within a question or a proposal. Sentences decide, in linear
time.
"""

from __future__ import annotations

import re

from gem_envs_agents.users.hearing import Heard

__all__ = ["turns_down"]

_LONGEST = 4_000  # characters that are read
_SENTENCE = re.compile(r"[^.!?\n]+")

_NOT = r"(?:not|isn't|aren't|wasn't|hasn't|haven't|no longer)"
_CANNOT = r"(?:cannot|can't|can not|can no longer|could not|couldn't|unable to|not able to)"
_DONE_WITH = (
    r"(?:cancell?ed|returned|exchanged|changed|modified|taken|sent|moved|swapped|done|made)"
)
_TURN = r"(?:decline|refuse|reject|deny|turn down)"
_NO = re.compile(
    rf"\b(?:{_CANNOT}|unable|not able|too late|sold out|out of stock|impossible|unavailable|"
    r"ineligible)\b"
    rf"|\b{_NOT} (?:yet |been |being |currently |in a )?(?:open|delivered|available|possible|"
    r"allowed|eligible|permitted|accepted|able|returnable|something|position|qualify)\b"
    r"|\b(?:won't|will not|no longer) (?:be (?:able|possible|accepted|allowed)|accept|take|allow|"
    r"permit|offer)\b"
    rf"|\b(?:won't|will not|may not|mustn't|must not|should not|shouldn't) be {_DONE_WITH}\b"
    r"|(?<!you )\b(?:do not|don't|does not|doesn't) (?:accept|allow|permit|offer|let me|let us|"
    r"take (?:it |this |that |them |items |orders )?back)\b"
    r"|\b(?:forbids?|forbidden|prohibits?|prohibited)\b"
    r"|\bagainst (?:our|the) (?:polic|rule)"
    r"|\b(?:outside(?: of)?|past|beyond|exceeds?) (?:our|the|your|its) (?:[\w-]{1,12} ){0,3}"
    r"(?:window|period|limit|polic|deadline)"
    r"|\b(?:window|period) (?:is|was) (?:over|closed|past)\b"
    r"|\b(?:has|have) (?:closed|passed|expired|ended)\b"
    rf"|\b(?:must|have to|has to|had to|need to) {_TURN}\b"
    rf"|\b{_TURN} (?:your|this|the|that) (?:\w{{1,12}} )?request\b"
    r"|\b(?:declining|refusing|rejecting|denying|turning down) (?:your|this|the|that) "
    r"(?:\w{1,12} )?request\b"
    r"|(?<!card )(?<!payment )\b(?:is|was|been|be) (?:declined|refused|rejected|denied|"
    r"turned down)\b"
    r"|\b(?:logged|recorded) (?:the|this|a) refusal\b"
    r"|\bafraid not\b|\banswer is no\b|\bnothing (?:more )?(?:i|we) can do\b"
    rf"|\bno (?:\w{{1,14}} )?(?:can|may) be {_DONE_WITH}\b"
)
# No refusals, although they hold the words of one: to be unable to see, or to thank enough, what is
# denied ("not too late"), and what depends on the customer.
_NO_NO = re.compile(
    rf"\b{_CANNOT} (?:yet |quite )?(?:see|find|look|locate|access|verify|check|identify|thank|wait|"
    r"hear)\b"
    rf"|\b(?:{_NOT}|never) (?:too late|sold out|out of stock|impossible|unavailable|ineligible|"
    r"forbidden|prohibited|declined|refused|rejected|denied|turned down|against|"
    r"outside|past|beyond)"
    r"|\bif you\b[^,;:]*|\bsomething to worry\b"
)
_WAITS = re.compile(
    r"\b(?:one|a) moment\b|\b(?:one|just a) (?:minute|second)\b|\bhold on\b|\bbear with\b"
)


def turns_down(message: str, heard: Heard) -> bool:
    """Say whether a message turns a request down. `heard` is what a user hears in it.

    Who asks for something or proposes something has not: that is still open.

    >>> turns_down("I am sorry, but the return window is over.", Heard())
    True
    >>> turns_down("I can't look at it yet. What is your email?", Heard(asks=("email",)))
    False
    """
    if heard.asks or heard.proposes:
        return False
    text = message[:_LONGEST].casefold().replace("\u2019", "'")
    return any(
        _NO.search(_NO_NO.sub("", sentence)) is not None and _WAITS.search(sentence) is None
        for sentence in _SENTENCE.findall(text)
    )
