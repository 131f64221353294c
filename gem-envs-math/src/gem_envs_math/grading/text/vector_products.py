r"""Tell vector products apart: `\vec{v}\times\vec{B}` is no `\vec{B}\times\vec{v}`.

Nor is it `\vec{v}\cdot\vec{B}`. Letters commute everywhere else, and all signs of products are one.
Knows nothing about values.
"""

from __future__ import annotations

import re

__all__ = ["has_other_vector_products"]

_MARK = r"\\(?:vec|mathbf|boldsymbol|bm|overrightarrow)\s*"
_SUBSCRIPT = r"(?:_(?:\w|\{\w{1,9}\}))?"
_LETTER = rf"\{{?\s*([A-Za-z]|\\[a-z]{{1,7}})({_SUBSCRIPT})\s*\}}?({_SUBSCRIPT})"
_MARKED = re.compile(rf"{_MARK}{_LETTER}\s*\\times\s*{_MARK}{_LETTER}")
_BARE = re.compile(rf"(?:{_MARK})?{_LETTER}\s*\\times\s*(?:{_MARK})?{_LETTER}")


def has_other_vector_products(a: str, b: str) -> bool:
    r"""Whether two texts in LaTeX multiply vectors by `\times`, and not the same ones in one order.

    False where neither does: a `\times` between letters without a mark of vectors is a product.

    >>> has_other_vector_products(r"\vec{v}\times\vec{B}", r"\mathbf{B}\times\mathbf{v}")
    True
    >>> has_other_vector_products(r"\vec{v}\times\vec{B}", r"v \times B")
    False
    """
    if _MARKED.search(a) is None and _MARKED.search(b) is None:
        return False
    return _products(a) != _products(b)


def _products(text: str) -> list[tuple[str, ...]]:
    return sorted(match.groups() for match in _BARE.finditer(text))
