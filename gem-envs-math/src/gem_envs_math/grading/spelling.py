r"""Write tokens that are spelled in several ways in one: `90\degree`, `\mathbb R`, `{n \choose k}`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_math.grading.tokens import Token, tokenize

__all__ = ["spelled_once", "tokens_of"]

_TRIGGERS = frozenset(
    ("\\degree", "o", "\\mathbb", "\\R", "\\choose", "\\max", "\\min", "x", "C", "i", "e")
)
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_RAISED = Token("sign", "^")
_CIRCLE = Token("command", "\\circ")
_OPEN, _CLOSE = Token("sign", "{"), Token("sign", "}")


def tokens_of(text: str) -> list[Token]:
    r"""Return the tokens of a text, each spelled in one way. Raises what `tokenize` raises.

    >>> [token.text for token in tokens_of(r"90\degree")]
    ['90', '^', '\\circ']
    """
    return spelled_once(tokenize(text))


def spelled_once(tokens: list[Token]) -> list[Token]:
    """Return tokens in one spelling, in one pass."""
    texts = [token.text for token in tokens]
    if _TRIGGERS.isdisjoint(texts) and _ORDINALS.isdisjoint(texts):
        return tokens
    written: list[Token] = []
    at = 0
    while at < len(tokens):
        at = _write(tokens, at, written)
    return written


def _write(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    """Append what the token at an index stands for, and return the index after it."""
    text = tokens[at].text
    if text == "\\degree":
        before = [token.text for token in written[-2:]]
        is_raised = before[-1:] == ["^"] or before == ["^", "{"]
        written.extend([_CIRCLE] if is_raised else [_RAISED, _CIRCLE])
    elif text == "^" and _is_degree(tokens, at):
        written.extend([_RAISED, _CIRCLE])
        return at + (4 if tokens[at + 1].text == "{" else 2)
    elif text == "\\R":
        written.extend([Token("command", "\\mathbb"), _OPEN, Token("letters", "R"), _CLOSE])
    elif text == "\\mathbb" and at + 1 < len(tokens) and tokens[at + 1].kind == "letters":
        letters = tokens[at + 1].text
        written.extend([tokens[at], _OPEN, Token("letters", letters[0]), _CLOSE])
        if letters[1:]:
            written.append(Token("letters", letters[1:]))
        return at + 2
    elif text in ("\\max", "\\min") and [token.text for token in written[-2:]] == ["_", "{"]:
        written.append(Token("word", text[1:]))
    elif text in _ORDINALS and _is_ordinal(tokens, at):
        return at + 1
    elif text == "^" and _is_ordinal(tokens, at):
        return at + (4 if tokens[at + 1].text == "{" else 2)
    elif text in ("i", "e") and _is_constant(tokens, at):
        written.append(tokens[at]._replace(kind="letters"))
    elif text == "x" and _is_times(tokens, at):
        written.append(Token("sign", "*"))
    elif text == "C" and _is_combination(tokens, at):
        return _combination(tokens, at, written)
    elif text == "\\choose":
        _choose(written)
    else:
        written.append(tokens[at])
    return at + 1


def _is_degree(tokens: Sequence[Token], at: int) -> bool:
    """Whether a raised letter o after a number is the sign of degrees: `30^o`."""
    texts = [token.text for token in tokens[at + 1 : at + 4]]
    is_letter = texts[:1] == ["o"] or texts == ["{", "o", "}"]
    return is_letter and at > 0 and tokens[at - 1].kind == "number"


def _is_ordinal(tokens: Sequence[Token], at: int) -> bool:
    """Whether the letters after a number make it an ordinal: `5th`, `5^{th}`."""
    texts = [token.text for token in tokens[at : at + 4]]
    start = 2 if texts[:2] == ["^", "{"] else 1 if texts[0] == "^" else 0
    is_word = len(texts) > start and texts[start] in _ORDINALS
    return is_word and at > 0 and tokens[at - 1].text.isdigit()


def _is_constant(tokens: Sequence[Token], at: int) -> bool:
    r"""Whether an upright letter is a number, `\mathrm{i}`, and none of several words."""
    beside = [*tokens[max(at - 1, 0) : at], *tokens[at + 1 : at + 2]]
    is_exponent = any(token.kind == "number" for token in tokens[at + 1 : at + 2])  # as in 10e3
    is_alone = not is_exponent and all(token.kind != "word" for token in beside)
    return tokens[at].kind == "word" and is_alone


def _is_times(tokens: Sequence[Token], at: int) -> bool:
    """Whether an x is a sign of multiplication: `1.2 x 10^5`."""
    texts = [token.text for token in tokens[at + 1 : at + 3]]
    return texts == ["10", "^"] and at > 0 and tokens[at - 1].kind == "number"


def _is_combination(tokens: Sequence[Token], at: int) -> bool:
    return _combination(tokens, at, []) > at


def _combination(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Write `C_{10}^3` and `C(10,3)` as `\binom{10}{3}`; return the index after it, or `at`."""
    texts = [token.text for token in tokens[at : at + 9]]
    bare = [text for text in texts if text not in ("{", "}")]
    match bare:
        case ["C", "_", upper, "^", lower, *_] if upper.isdigit() and lower.isdigit():
            length = _length(texts, 5)
        case ["C", "(", upper, ",", lower, ")", *_] if upper.isdigit() and lower.isdigit():
            length = 6
        case _:
            return at
    if int(upper[:5]) < 2:
        return at
    written.append(Token("command", "\\binom"))
    for number in (upper, lower):
        written.extend([_OPEN, Token("number", number), _CLOSE])
    return at + length


def _length(texts: Sequence[str], bare: int) -> int:
    """Return how many tokens hold so many that are no braces, with the brace that closes them."""
    length = 0
    while bare:
        bare -= texts[length] not in ("{", "}")
        length += 1
    return length + (texts[length : length + 1] == ["}"])


def _choose(written: list[Token]) -> None:
    r"""Turn the open group `{n` into `\binom{n}{`."""
    depth = 0
    for index in range(len(written) - 1, -1, -1):
        depth += (written[index].text == "}") - (written[index].text == "{")
        if depth < 0:
            written.insert(index, Token("command", "\\binom"))
            written.extend([_CLOSE, _OPEN])
            return
    written.append(Token("command", "\\choose"))
