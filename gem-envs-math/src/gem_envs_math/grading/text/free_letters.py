r"""Rename the parameter of a line or a curve: `(t, 2t)` is `(s, 2s)`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.text.tokens import Token

__all__ = ["with_one_parameter"]

Tokens = Sequence[Token]

_PARAMETERS = frozenset(("t", "s", "k", "r", "\\lambda", "\\mu"))
_NAMES = frozenset("xyz")
_NO_VECTORS = frozenset(("\\in", "\\mathbb", "\\sum", "\\int", "\\prod", "|", ":", "<", ">"))


def with_one_parameter(a: Tokens, b: Tokens) -> tuple[Tokens, Tokens] | None:
    r"""Return two vectors with the same parameter, None where they have not one each.

    It is the one letter beside the names of coordinates, and another letter in the other vector.
    """
    first, second = _parameter(a), _parameter(b)
    if not first or not second or first == second:
        return None
    return a, [token._replace(text=first) if token.text == second else token for token in b]


def _parameter(tokens: Tokens) -> str:
    texts = {token.text for token in tokens}
    is_vector = "," in texts or "\\begin" in texts
    if not is_vector or not _NO_VECTORS.isdisjoint(texts) or "word" in {t.kind for t in tokens}:
        return ""
    letters = {token.text for token in tokens if token.kind == "letters"} - _matrix_names(tokens)
    letters |= _PARAMETERS & texts
    letters -= _NAMES | _names_of_tuple(tokens)
    return next(iter(letters)) if len(letters) == 1 and letters <= _PARAMETERS else ""


def _names_of_tuple(tokens: Tokens) -> set[str]:
    """Return the a and b of `(a,b) = (2t,t)`."""
    texts = [token.text for token in tokens[:12]]
    if texts[0] != "(" or "=" not in texts:
        return set()
    return set(texts[: texts.index("=")])


def _matrix_names(tokens: Tokens) -> set[str]:
    return {token.text for token in tokens if token.text.endswith("matrix")}
