r"""Write tokens that are spelled in several ways in one: `90\degree`, `\mathbb R`, `{n \choose k}`.

Knows nothing about the shape of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.text.brackets import turned
from gem_envs_math.grading.text.choices import BEFORE_NUMBER, write_choice, write_choose
from gem_envs_math.grading.text.derivatives import write_derivative
from gem_envs_math.grading.text.tokens import Token, tokenize

__all__ = ["spelled_once", "tokens_of"]

_TRIGGERS = frozenset(
    (
        "\\degree",
        "\\not",
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
        "\\frac",
        "\\partial",
        "|",
    )
)
_STARTS = _TRIGGERS | {"^"}
"""What begins something that has another spelling; so may any number."""

_BOLD_SET = re.compile(
    r"(^\s*|\\in\s*)\\(?:mathbf|bf)\s*(?:\{\s*)?([RZNQ])(?:\s*\})?(?=\s*(?:$|,|;|\^|\\setminus))"
)
"""The bold letter of a set of numbers, alone or after \\in; elsewhere it is a vector."""

_DOMAIN = re.compile(
    r"(?<!P)(?<!Pr)(?<![\s~])(?:\s|\\[ ,;:]|~|(?<=[}\d)]))+"
    r"\(([^()=]*(?:[<>]|\\(?:le|ge|ne|in)(?![a-pr-z]))[^()]*)\)\s*\.?$"
)
_DOMAIN_AFTER_SPACE = re.compile(
    r"(?<=[^,;:\s])\s*\\q?quad(?:\s|\\q?quad)*"
    r"(?=\(?\s*(?:-?\d+\s*(?:<|\\le)|[a-z]\s*(?:[<>]|\\(?:le|ge|ne|in)(?![a-pr-z]))))"
)
"""Where a function is defined, after it: `f(x)=\\sqrt{x} (x \\ge 0)`, `\\quad x \\ge 0`."""

_TURNED = re.compile(r"\\overrightarrow\s*\{\s*([A-Z])\s*([A-Z])\s*\}")
"""A vector between two points: from B to A it is minus the one from A to B."""

_SEXAGESIMAL = re.compile(
    r"([0-9]+) (?:\^ (?:\\circ|\{ \\circ \})|\\degree) ([0-9]{1,2}) (?:\^ )?(?:'|\{ ' \})(?! ')"
    r"(?: ([0-9]{1,2}(?:\.[0-9]{1,9})?) (?:\^ )?(?:' '|\{ ' ' \}|\"))?(?![^ ])"
)

_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_RAISED = Token("sign", "^")
_CIRCLE = Token("command", "\\circ")
_OPEN = Token("sign", "{")
_CLOSE = Token("sign", "}")


def tokens_of(text: str) -> list[Token]:
    r"""Return the tokens of a text, each spelled in one way. Raises what `tokenize` raises.

    >>> [token.text for token in tokens_of(r"90\degree")]
    ['90', '^', '\\circ']
    """
    if "=" in text:
        text = _DOMAIN.sub(r", \1", _DOMAIN_AFTER_SPACE.sub(", ", text))
    if "\\overrightarrow" in text:
        name, equals, value = text.rpartition("=")
        text = name + equals + _TURNED.sub(_in_order_of_points, value)
    text = text.replace("{:}", ":")
    return spelled_once(tokenize(_BOLD_SET.sub(r"\1\\mathbb{\2}", text)))


def _in_order_of_points(match: re.Match[str]) -> str:
    start = match[1]
    end = match[2]
    return match[0] if start <= end else rf"(-\overrightarrow{{{end}{start}}})"


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
        token = tokens[at]
        if token.kind == "number" or token.text in _STARTS or token.text in _ORDINALS:
            at = _write(tokens, at, written)
        else:
            written.append(token)
            at += 1
    return written


def _write(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    """Append what the token at an index stands for, and return the index after it."""
    text = tokens[at].text
    if text in ("\\frac", "\\partial"):
        end = write_derivative(tokens, at, written)
        if end > at:
            return end
        written.append(tokens[at])
    elif text == "|" and _is_norm(tokens, at):
        norm = Token("sign", "\\|")
        written.extend([norm, tokens[at + 2], norm])
        return at + 5
    elif text == "\\not" and [token.text for token in tokens[at + 1 : at + 2]] == ["="]:
        written.append(Token("sign", "!="))
        return at + 2
    elif text == "\\degree":
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
    elif text in ("C", "P"):
        return write_choice(tokens, at, written)
    elif _is_raised(tokens, at) and _SEXAGESIMAL.match(_following(tokens, at)):
        return _sexagesimal(tokens, at, written)
    elif tokens[at].kind == "number" and "e" in text and _has_euler(tokens, at):
        whole, _, rest = text.partition("e")
        written.extend([Token("number", whole), Token("letters", "e")])
        written.extend([Token("sign", rest[0]), Token("number", rest[1:])])
    elif text == "\\choose":
        write_choose(written)
    else:
        written.append(tokens[at])
    return at + 1


def _is_raised(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number has something raised or a sign of degrees after it."""
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return tokens[at].kind == "number" and after in ("^", "\\degree")


def _is_norm(tokens: Sequence[Token], at: int) -> bool:
    """Whether one letter stands between two bars on each side: `||v||`."""
    texts = [token.text for token in tokens[at : at + 5]]
    is_letter = len(texts) == 5 and tokens[at + 2].kind == "letters" and len(texts[2]) == 1
    return is_letter and texts[:2] == ["|", "|"] == texts[3:]


def _is_degree(tokens: Sequence[Token], at: int) -> bool:
    """Whether a raised letter o after a number is the sign of degrees: `30^o`."""
    texts = [token.text for token in tokens[at + 1 : at + 4]]
    is_letter = texts[:1] == ["o"] or texts == ["{", "o", "}"]
    return is_letter and at > 0 and tokens[at - 1].kind == "number"


def _is_ordinal(tokens: Sequence[Token], at: int) -> bool:
    """Whether the letters after a number make it an ordinal: `5th`, `5^{th}`."""
    texts = [token.text for token in tokens[at : at + 4]]
    start = 0  # where the letters are, after what raises them
    if texts[:2] == ["^", "{"]:
        start = 2
    elif texts[0] == "^":
        start = 1
    is_word = len(texts) > start and texts[start] in _ORDINALS
    return is_word and at > 0 and tokens[at - 1].text.isdigit()


def _is_constant(tokens: Sequence[Token], at: int) -> bool:
    r"""Whether an upright letter is a number, `\mathrm{i}`, and none of several words."""
    beside = [*tokens[max(at - 1, 0) : at], *tokens[at + 1 : at + 2]]
    is_exponent = any(token.kind == "number" for token in tokens[at + 1 : at + 2])  # as in 10e3
    is_alone = not is_exponent and all(token.kind != "word" for token in beside)
    return tokens[at].kind == "word" and is_alone


def _has_euler(tokens: Sequence[Token], at: int) -> bool:
    r"""Whether `2e-5` is twice Euler's number less 5: at the end, beside another e."""
    is_sum = re.fullmatch(r"[0-9]+e[+-][0-9]+", tokens[at].text) is not None
    after = tokens[at + 1].text if at + 1 < len(tokens) else "}"
    is_end = after in ("}", ")", "=", "]")
    return is_sum and is_end and any(token.text == "e" for token in tokens)


def _is_times(tokens: Sequence[Token], at: int) -> bool:
    """Whether an x is a sign of multiplication: `1.2 x 10^5`."""
    texts = [token.text for token in tokens[at + 1 : at + 3]]
    return texts == ["10", "^"] and at > 0 and tokens[at - 1].kind == "number"


def _is_ellipsis(tokens: Sequence[Token], at: int) -> bool:
    """Whether three points stand for terms or items, `1 + x + ...`, and end no sentence."""
    is_after_sign = at > 0 and tokens[at - 1].text in ("+", "-", ",")
    return is_after_sign and [token.text for token in tokens[at : at + 3]] == ["."] * 3


def _following(tokens: Sequence[Token], at: int) -> str:
    return " ".join(token.text for token in tokens[at : at + 20])


def _sexagesimal(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Write `30^\circ 15' 36''` as the sum of its degrees; return the index after it."""
    match = _SEXAGESIMAL.match(_following(tokens, at))
    is_first = not written or written[-1].text in BEFORE_NUMBER
    assert match is not None
    degrees = match[1]
    minutes = match[2]
    seconds = match[3] or "0"
    if not is_first or int(minutes) >= 60 or float(seconds) >= 60:
        written.append(tokens[at])
        return at + 1
    texts = ["(", degrees, "+", minutes, "/", "60", "+", seconds, "/", "3600", ")"]
    written.extend(Token("number" if text[0].isdigit() else "sign", text) for text in texts)
    written.extend([_RAISED, _CIRCLE])
    return at + len(match[0].split())
