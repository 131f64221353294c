r"""Write tokens that are spelled in several ways in one: `90\degree`, `\mathbb R`, `{n \choose k}`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.brackets import turned
from gem_envs_math.grading.tokens import Token, tokenize

__all__ = ["spelled_once", "tokens_of"]

_TRIGGERS = frozenset(
    (
        "\\degree",
        "o",
        "\\mathbb",
        "\\R",
        "\\choose",
        "\\max",
        "\\min",
        "x",
        "C",
        "P",
        "i",
        "e",
        ".",
        "'",
    )
)
_BOLD_SET = re.compile(
    r"(^\s*|\\in\s*)\\(?:mathbf|bf)\s*(?:\{\s*)?([RZNQ])(?:\s*\})?(?=\s*(?:$|,|;|\\setminus))"
)
"""The bold letter of a set of numbers, alone or after \\in; elsewhere it is a vector."""

_SEXAGESIMAL = re.compile(
    r"([0-9]+) (?:\^ (?:\\circ|\{ \\circ \})|\\degree) ([0-9]{1,2}) (?:\^ )?(?:'|\{ ' \})(?! ')"
    r"(?: ([0-9]{1,2}(?:\.[0-9]{1,9})?) (?:\^ )?(?:' '|\{ ' ' \}|\"))?(?![^ ])"
)
_BEFORE_CHOICE = re.compile(r"(?:\{ \} )?[_^] (?:\{ )?([0-9]{1,4})(?: \})?$")
_AFTER_CHOICE = re.compile(r"_ (?:\{ ([0-9]{1,4}) \}|([0-9]{1,4})(?![^ ]))")
_BEFORE_NUMBER = frozenset(("+", "-", "=", ",", "(", "[", "{", "*", "/", "\\approx"))

_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_RAISED = Token("sign", "^")
_CIRCLE = Token("command", "\\circ")
_OPEN, _CLOSE = Token("sign", "{"), Token("sign", "}")


def tokens_of(text: str) -> list[Token]:
    r"""Return the tokens of a text, each spelled in one way. Raises what `tokenize` raises.

    >>> [token.text for token in tokens_of(r"90\degree")]
    ['90', '^', '\\circ']
    """
    return spelled_once(tokenize(_BOLD_SET.sub(r"\1\\mathbb{\2}", text)))


def spelled_once(tokens: list[Token]) -> list[Token]:
    """Return tokens in one spelling, in one pass."""
    texts = [token.text for token in tokens]
    if "[" in texts or "]" in texts:
        tokens = turned(tokens)
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
    elif text == "." and _is_ellipsis(tokens, at):
        written.append(Token("command", "\\ldots"))
        return at + 3
    elif text == "C" and _is_combination(tokens, at):
        return _combination(tokens, at, written)
    elif text in ("C", "P") and _is_chosen(tokens, at, written):
        return _chosen(tokens, at, written)
    elif tokens[at].kind == "number" and _SEXAGESIMAL.match(_following(tokens, at)):
        return _sexagesimal(tokens, at, written)
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
    return tokens[at].kind == "word" and all(token.kind != "word" for token in beside)


def _is_times(tokens: Sequence[Token], at: int) -> bool:
    """Whether an x is a sign of multiplication: `1.2 x 10^5`."""
    texts = [token.text for token in tokens[at + 1 : at + 3]]
    return texts == ["10", "^"] and at > 0 and tokens[at - 1].kind == "number"


def _is_ellipsis(tokens: Sequence[Token], at: int) -> bool:
    """Whether three points stand for terms or items, `1 + x + ...`, and end no sentence."""
    is_after_sign = at > 0 and tokens[at - 1].text in ("+", "-", ",")
    return is_after_sign and [token.text for token in tokens[at : at + 3]] == ["."] * 3


def _is_combination(tokens: Sequence[Token], at: int) -> bool:
    return _combination(tokens, at, []) > at


def _combination(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Write `C_{10}^3` and `C(10,3)` as `\binom{10}{3}`; return the index after it, or `at`."""
    texts = [token.text for token in tokens[at : at + 9]]
    bare = [text for text in texts if text not in ("{", "}")]
    match bare:
        case ["C", "_", upper, "^", lower, *_] if _is_count(upper, lower):
            length = _length(texts, 5)
        case ["C", "(", upper, ",", lower, ")", *_] if _is_count(upper, lower):
            length = 6
        case _:
            return at
    if upper.isdigit() and int(upper[:5]) < 2:
        return at
    written.append(Token("command", "\\binom"))
    for number in (upper, lower):
        kind = "number" if number.isdigit() else "letters"
        written.extend([_OPEN, Token(kind, number), _CLOSE])
    return at + length


def _is_count(upper: str, lower: str) -> bool:
    return (upper.isdigit() and lower.isdigit()) or (upper in "nN" and lower in "kr")


def _is_chosen(tokens: Sequence[Token], at: int, written: list[Token]) -> bool:
    return _chosen(tokens, at, list(written)) > at


def _chosen(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Write `{}_{10}C_3` as `\binom{10}{3}`, `{}_{10}P_3` as `\frac{10!}{7!}`; return as above."""
    before = _BEFORE_CHOICE.search(" ".join(token.text for token in written[-8:]))
    after = _AFTER_CHOICE.match(" ".join(token.text for token in tokens[at + 1 : at + 5]))
    if before is None or after is None:
        return at
    upper, lower = before[1], after[1] or after[2]
    removed = len(before[0].split())
    start = len(written) - removed
    is_factor = start > 0 and written[start - 1].text not in _BEFORE_NUMBER
    if is_factor or int(lower) > int(upper):
        return at
    del written[start:]
    if tokens[at].text == "C":
        parts = [[upper], [lower]]
        written.append(Token("command", "\\binom"))
    else:
        parts = [[upper, "!"], [str(int(upper) - int(lower)), "!"]]
        written.append(Token("command", "\\frac"))
    for part in parts:
        signs = (Token("number" if text.isdigit() else "sign", text) for text in part)
        written.extend([_OPEN, *signs, _CLOSE])
    return at + 1 + len(after[0].split())


def _following(tokens: Sequence[Token], at: int) -> str:
    return " ".join(token.text for token in tokens[at : at + 20])


def _sexagesimal(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Write `30^\circ 15' 36''` as the sum of its degrees; return the index after it."""
    found = _SEXAGESIMAL.match(_following(tokens, at))
    is_first = not written or written[-1].text in _BEFORE_NUMBER
    assert found is not None
    degrees, minutes, seconds = found[1], found[2], found[3] or "0"
    if not is_first or int(minutes) >= 60 or float(seconds) >= 60:
        written.append(tokens[at])
        return at + 1
    texts = ["(", degrees, "+", minutes, "/", "60", "+", seconds, "/", "3600", ")"]
    written.extend(Token("number" if text[0].isdigit() else "sign", text) for text in texts)
    written.extend([_RAISED, _CIRCLE])
    return at + len(found[0].split())


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
