"""Search a few hundred documents by words: BM25, in memory. Knows nothing about worlds."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["Index"]

_WORD = re.compile(r"\w+")
_K1 = 1.2  # the usual constant for how often a word stands in a document
_B = 0.75  # and for how long the document is
_MOST_CHARACTERS = 4096
_MOST_WORDS = 64
_TOO_COMMON = """
    a about an and are as at be been by did do does for from had has have how in is it its of on or
    that the their them they this to was were what when where which who whom whose with
"""
_COMMON = frozenset(_TOO_COMMON.split())


class Index:
    """An inverted index over texts, built once and then only read: safe between threads.

    Capitals make no difference, and words as common as "the" do not count. There is no query
    language: a query is words, of which the first 64 within 4096 characters count.

    >>> Index(["A tide clock.", "A clockwork orrery."]).search("Orrery?", k=1)
    [1]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_words(text)) for text in texts]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / max(len(lengths), 1) or 1.0
        holders = Counter(word for count in counts for word in count)
        self._postings: dict[str, list[tuple[int, float]]] = {word: [] for word in holders}
        for place, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            norm = _K1 * (1 - _B + _B * length / mean)
            for word, times in count.items():
                rarity = math.log(1 + (len(texts) - holders[word] + 0.5) / (holders[word] + 0.5))
                weight = rarity * times * (_K1 + 1) / (times + norm)
                self._postings[word].append((place, weight))

    def search(self, query: str, *, k: int) -> list[int]:
        """Return the places, from 0, of up to `k` texts that match, the best first."""
        scores: dict[int, float] = {}
        for word in dict.fromkeys(_words(query[:_MOST_CHARACTERS])[:_MOST_WORDS]):
            for place, weight in self._postings.get(word, ()):
                scores[place] = scores.get(place, 0.0) + weight
        # Of texts that match equally well the first comes first, in every process.
        return heapq.nsmallest(k, scores, key=lambda place: (-scores[place], place))


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _COMMON]
