r"""Call a kind of integers by one name: `all odd integers`, `n is odd` and `odd n` are `odd n`."""

from __future__ import annotations

import re

__all__ = ["kind_of_integers"]

_ALL = r"(?:(?:for )?(?:all|any|every|each|the) )?"
_IS = r"(?:is|are|must be|has to be|being)"
_KIND = "odd|even|prime|composite"
_NOUN = "(?:natural |whole )?(?:numbers?|integers?)"
_PLURALS = {"primes": "prime", "composites": "composite"}

_ADJECTIVE = re.compile(rf"{_ALL}({_KIND})(?: {_NOUN})?(?: ([k-q]))?")
_PREDICATE = re.compile(rf"{_ALL}(?:{_NOUN} )?([k-q]) (?:{_IS} )?(?:an? )?({_KIND})(?: {_NOUN})?")
_PLURAL = re.compile(rf"{_ALL}(primes|composites)(?: ([k-q]))?")
_MULTIPLE = re.compile(
    rf"{_ALL}(?:integers? )?(?:([k-q]) )?(?:{_IS} )?(?:that are |which are )?(not )?(?:an? )?"
    r"(?:all |the )?(?:multiples? of|divisible by) ([0-9]{1,9})"
)


def kind_of_integers(text: str) -> str:
    """Return folded words that call a kind of integers by one name, other words as they are.

    `odd` alone is left: it may be said of a function. A positive kind is another kind.

    >>> kind_of_integers("all odd integers n"), kind_of_integers("n must be odd")
    ('odd n', 'odd n')
    >>> kind_of_integers("odd"), kind_of_integers("n is not odd")
    ('odd', 'n is not odd')
    """
    match = _ADJECTIVE.fullmatch(text)
    if match is not None and text not in _KIND.split("|"):
        return f"{match[1]} {match[2] or 'n'}"
    match = _PREDICATE.fullmatch(text)
    if match is not None:
        return f"{match[2]} {match[1]}"
    match = _PLURAL.fullmatch(text)
    if match is not None:
        return f"{_PLURALS[match[1]]} {match[2] or 'n'}"
    match = _MULTIPLE.fullmatch(text)
    if match is not None:
        return f"{match[2] or ''}multiple of {match[3]}"
    return text
