"""Read what the paragraph of a published task says its user knows and prefers.

The user of a published task is a paragraph for a model to act out. A scripted user may say what
stands there, in its words, and nothing else. Knows nothing about solutions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gem_envs_agents.desk.scoring import communicates

__all__ = ["ABOUT", "Paragraph"]

ABOUT = {
    "order": r"orders?|reservations?|flights?|trips?|pending|bookings?|everything|received|recent",
    "item": r"items?|products?",
    "payment": r"paypal|payments?|cards?|gift|gc|cc|certificates?|visa|mastercard|amex",
    "address": r"address(?:es)?|live|living|moved?|moving|house|home|suite|street|city|"
    r"delivered to",
    "reason": r"because|since|mistake\w*|no longer|reasons?|damaged|broken|wrong|deal|issues?|"
    r"regret\w*|"
    r"don't need|do not need|lost|afford|unreasonable|unwell|sick|fin[ai]ncial",
    "variant": r"instead|same|cheapest|expensive|similar|colou?r\w*|sizes?|materials?|options?|"
    r"versions?|"
    r"prefer\w*|bigger|smaller|larger|type|changed?|exchanged?|modify|upgrade|level|pieces|one|"
    r"resolution|specs?|possible",
    "flights": r"flights?|fly|non-?stop|direct|one-?stop|stopover\w*|cheapest|dates?|mornings?|"
    r"depart\w*|"
    r"arriv\w*|may|june|prices?|days?|earl\w+|later?|fastest|legs?|round ?trip|one way|returns?",
    "cabin": r"economy|business|class|cabin|upgrad\w+|downgrad\w+",
    "bags": r"bags?|baggages?|suitcases?|luggages?",
    "passengers": r"passengers?|myself|yourself|friends?|companions?|dob|birthday|everyone|wife|"
    r"named?|for you",
    "insurance": r"insur\w+",
}
"""Words, by slot, of sentences that say what a user wants of it."""
_ABOUT = {slot: re.compile(rf"\b(?:{words})\b") for slot, words in ABOUT.items()}

# What a paragraph tells its actor to say to the agent, as words to the agent.
_SPOKEN = (
    (r"^(?:be insistent|tell the agent) that ", ""),
    (r"^insist (that|on)\b", r"you insist \1"),
    (r"^be persistent and ask for\b", "you ask for"),
    (r"^make sure to ask\b", "you want"),
    (r"^provide all details upfront in your very first message and ", ""),
    (r"\bto ask the agent(?= (?:if|about|how|what|which)\b)", "to know"),
    (r"\b(?:you )?ask the agent(?: explicitly)? to\b", "please"),
    (r"\b(?:you )?ask the agent(?: explicitly)? for\b", "you ask for"),
    (
        r"\b(?:you )?ask the agent(?: explicitly)?(?= (?:if|about|how|what|which)\b)",
        "please tell you",
    ),
    (r"^if not, (?=you (?:wonder|want to know)\b)", ""),
)
_PERSONS = (
    (
        r"\b(to|for|of|with|from|told|tells?|gives?|refund|upgrade|asks?|helps?|lets?|"
        r"saves?) you\b(?! (?:should|will|would|can|expect|have|want|need|get)\b)",
        r"\1 me",
    ),
    (r"\byou (?:are|were)\b(?= out of town\b)", "I was"),
    (r"\byou are\b", "I am"),
    (r"\byou're\b", "I am"),
    (r"\byou have\b", "I have"),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"\byou\b", "I"),
    (r"\bthe (?:customer )?(?:service )?agent\b", "you"),
)
# Who wonders whether the agent can help asks for it.
_HOPES = re.compile(r"\b(?:wonder|know|and) if the agent can\b", re.IGNORECASE)
# What a paragraph tells its actor to do, and not what a user would say.
_STAGE = re.compile(
    r"\b(?:do not|don't|not to|never) (?:reveal|mention|say|tell|offer)\b|\bthe agent (?:ask|"
    r"say|tell|"
    r"give|want|provide|find|can|does|is)|\bif and only if\b|\bagent\b.*\bconfirm|\bmention\b|"
    r"\bparaphrase\b|\binstruction\b|\brounds of\b|\bhalfway\b|\bsay that\b|\breactive\b|"
    r"\bmake up\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r" ?\([^()]{0,300}\)")
# What the user says once it is asked is what it says here.
_ASKED_FOR = re.compile(
    r"\bif (?:and only if )?the (?:service )?agent asks(?: you| for it| for that)?, (?=you\b)",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|every)(?: \w{1,12}){0,2} (?:orders?|addresses|reservations?)\b|\beverything\b|"
    r"\ball (?:order|things|possible)\b"
)
_LONGEST_ANSWER = 6  # sentences
_TEXT_LIMIT = 20_000  # characters: four times the longest published paragraph


class Paragraph:
    """A paragraph, and what is never said of it: who the user is, and what the agent has to say."""

    def __init__(self, text: str, unsaid: Sequence[str]) -> None:
        self._folded = f" {_folded(text[:_TEXT_LIMIT])} "
        spoken = _ASKED_FOR.sub("", _ASIDE.sub(_kept_aside, text[:_TEXT_LIMIT]))
        self._sentences = [
            _in_first_person(sentence)
            for sentence in map(_to_the_agent, _without(spoken, unsaid))
            if not _STAGE.search(_HOPES.sub("", sentence))
        ]
        self._words = _stems(" ".join(self._sentences))
        self.is_about_all = _ALL.search(self._folded) is not None
        """Whether it is about all orders, of which it then names none by what is in it."""

    def says(self, text: str) -> bool:
        """Say whether a text stands in the paragraph as it is, as whole words."""
        folded = _folded(text)
        return (
            bool(folded)
            and re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", self._folded) is not None
        )

    def knows_order(self, order_id: str) -> bool:
        """Say whether it names an order or a reservation, with its sign or without."""
        digits = order_id.lstrip("#").lstrip("W")
        return any(self.says(form) for form in (order_id, order_id.lstrip("#"), digits))

    def mentions(self, name: str) -> bool:
        """Say whether its user would mention a product by a word of its name, in any number."""
        return bool(_telling(name) & self._words)

    def about(self, slot: str, *names: str) -> str:
        """Return what it says about a slot, as its user would say it; "" where it says nothing.

        Of sentences those come first that mention one of the names, and are all where any does.
        """
        chosen = [each for each in self._sentences if _ABOUT[slot].search(each.casefold())]
        if names:
            words = frozenset().union(*map(_telling, names))
            chosen = [each for each in self._sentences if words & _stems(each)] or chosen
        return " ".join(chosen[:_LONGEST_ANSWER])

    def asking(self) -> str:
        """Return what it asks, as its user would say it: three sentences at most."""
        sentences = [each for each in self._sentences if not _BESIDE.match(each)]
        for pattern in (_WANTS_TO_KNOW, _ASKING):
            asking = [each for each in sentences if pattern.search(each)]
            if asking:
                return " ".join(asking[:_LONGEST_QUESTION])
        return self.wanting()

    def wanting(self) -> str:
        """Return how it begins, as its user would say it: three sentences at most."""
        return " ".join(self._sentences[:_LONGEST_QUESTION])


_LONGEST_QUESTION = 3  # sentences
_BESIDE = re.compile(r"if\b|\(", re.IGNORECASE)
_WANTS_TO_KNOW = re.compile(
    r"\b(?:to know|wonder|tell me|total amount|to check|to confirm|please confirm|"
    r"how (?:much|many)|ask about|"
    r"to ask which|figure out how)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\b(?:know|total|price|cost|what|which|saved?|refund|tracking|check|ask)\b",
    re.IGNORECASE,
)
# Words of products' names that say nothing of which it is.
_COMMON = frozenset(
    (
        "smart",
        "electric",
        "wireless",
        "digital",
        "portable",
        "set",
        "action",
        "item",
        "indoor",
        "pet",
    )
)


def _folded(text: str) -> str:
    """Return a text in lower case, hyphens left out: a T-Shirt is a tshirt."""
    return " ".join(text.casefold().replace("\u2019", "'").replace("-", "").split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, re.findall(r"[a-z0-9]+", _folded(text))))


def _telling(name: str) -> frozenset[str]:
    """Return the words of a product's name that say which it is."""
    return frozenset(word for word in _stems(name) - _COMMON if len(word) > 2)


def _kept_aside(aside: re.Match[str]) -> str:
    return "" if _STAGE.search(aside[0]) else aside[0]


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _without(text: str, unsaid: Sequence[str]) -> Iterator[str]:
    """Yield the sentences of a text that hold nothing of what is unsaid.

    Of one that does, the clauses that begin with "you" and do not are kept.
    """
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        if not any(_holds(sentence, each) for each in unsaid):
            yield from _if_any(sentence)
            continue
        for clause in re.split(r",? and (?=you\b)|[,;] (?=you\b)", sentence):
            is_open = not any(_holds(clause, each) for each in unsaid)
            if is_open and re.match(r"you\b", clause, re.IGNORECASE):
                yield from _if_any(clause)


def _if_any(sentence: str) -> Iterator[str]:
    # The corrected tasks write a point where they have no words.
    stripped = re.sub(r"\.\.$", ".", sentence.strip().lstrip(".,; ").rstrip(",;"))
    if len(stripped) > 1:
        yield stripped if stripped[-1] in ".!?" else f"{stripped}."


def _holds(sentence: str, text: str) -> bool:
    return text.casefold() in sentence.casefold() or communicates(sentence, text)


def _to_the_agent(sentence: str) -> str:
    """Return what its actor is told to say to the agent, as words to the agent."""
    return _replaced(sentence, _SPOKEN)


def _in_first_person(sentence: str) -> str:
    sentence = _replaced(sentence, _PERSONS)
    return sentence[:1].upper() + sentence[1:]


def _replaced(sentence: str, patterns: Sequence[tuple[str, str]]) -> str:
    for pattern, words in patterns:
        sentence = re.sub(pattern, words, sentence, flags=re.IGNORECASE)
    return sentence
