r"""Read what an equation's left side names: `x_1`, `f(x)`, `\cos C`, `\angle ABC`, `|AB|`, `E(X)`.

A name is a canonical text: two names that a reader takes for one have the same, or `same_name`
says so. Knows nothing about values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.text.names import DENIALS, split_letters
from gem_envs_math.grading.text.tokens import Token

__all__ = ["argument_of", "expression_name", "is_segment", "name_of", "same_name", "unbraced"]

Tokens = Sequence[Token]

_ANGLES = frozenset(("\\angle", "\\measuredangle", "\\triangle"))
_OPERATORS = frozenset(
    (
        "\\lim",
        "\\int",
        "\\sum",
        "\\prod",
        "\\gcd",
        "\\det",
        "\\deg",
        "\\dim",
        "\\arg",
        "\\Re",
        "\\Im",
        "\\Pr",
        "\\max",
        "\\min",
        "\\nabla",
        "\\complement",
        "\\sup",
        "\\inf",
        "\\limsup",
        "\\liminf",
        "\\ker",
        "\\zeta",
        "\\Gamma",
    )
)
_TRIGONOMETRIC = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
_APPLIED = frozenset("fghFGHPQVSETpqud")
"""Symbols that name a function whatever their bracket holds: `P(A \\mid B)`, `f(2)`."""
_NO_NAMES = DENIALS | {"all", "any", "each", "every", "some"}
"""Words that say more of what follows than how it is called: `\\text{All primes } p`."""
_CONSTANTS = frozenset(("e", "i", "\\pi", "\\infty"))
_UNKNOWNS = frozenset("xy")
_MARKS = frozenset(("\\mathbb", "\\bar", "\\overline", "\\tilde"))
_SET_SIGNS = frozenset(("\\cap", "\\cup", "\\setminus"))
_PARAMETERS = frozenset("abcdmnpq")
_VOWELS = frozenset("aeiou")
_OPERATIONS = frozenset(("+", "-", "*", "/", "^", "{", "}", "(", ")", "\\frac"))
_BARS = frozenset(("|", "\\|"))
_SWAPS = {"{": "", "}": "", "[": "(", "]": ")", "\\max": "max", "\\min": "min", "\\mathbb": ""}
_SWAPS["\\overline"] = "\\bar"
_QUANTITY = re.compile(
    '"(determinant|det|trace|tr|rank|rk|nullity|dim|degree|deg|variance|var|covariance|cov|mean'
    "|kernel|ker|image|im|range"
    "|expectedvalue|expectation|gcd|lcm|maximum|max|minimum|min|supremum|sup|infimum|inf)"
)
_OPERATOR = re.compile(r"\\(det|dim|deg|ker|gcd|max|min|sup|inf)")
"""The quantities that words, and those that signs, are names of."""

_LONG_QUANTITIES = {"determinant": "det", "trace": "tr", "degree": "deg", "maximum": "max"}
_LONG_QUANTITIES |= {"minimum": "min", "supremum": "sup", "infimum": "inf", "kernel": "ker"}
_DIFFERENTIAL = re.compile(r"d(?:\^(\d))?([A-Za-z])")
_UNDER = re.compile(r"d([A-Za-z])(?:\^(\d))?")
_PARTIAL = re.compile(r"\\partial([A-Za-z])")
_NAME = re.compile(r"(\\?[A-Za-z]+(?:_.+?)?(?:\^-1)?)('*)(?:\((\\?[A-Za-z]+(?:,\\?[A-Za-z]+)*)\))?")


def name_of(tokens: Tokens) -> str:
    r"""Return the name that the left side of an equation is, "" where it is an expression.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> name_of(tokenize(r"m\angle A")), name_of(tokenize("x_{1}")), name_of(tokenize("2x"))
    ('A', 'x_1', '')
    """
    tokens = unbraced(tokens)
    if not tokens:
        return ""
    for reader in _READERS:
        name = reader(tokens)
        if name:
            return name
    return _ratio(tokens)


def expression_name(tokens: Tokens) -> str:
    r"""Return `a+b` of `a+b=5` as the name of what was asked, "" for one of unknowns.

    To be asked only where the other side is a number: else an equation is a relation.
    """
    letters = "".join(token.text for token in tokens if token.kind == "letters")
    rest = {token.text for token in tokens if token.kind not in ("letters", "number")}
    is_asked = bool(letters) and set(letters) <= _PARAMETERS and rest <= _OPERATIONS
    return f"={_text(tokens)}" if is_asked else ""


def same_name(a: str, b: str) -> bool:
    r"""Whether two names may stand for one thing: `f(x)` is `f` and `y`, a word is any symbol.

    >>> same_name("f(x)", "y"), same_name("f(x)", "g(x)"), same_name("x", "y")
    (True, False, False)
    """
    if a == b or (is_segment(a) and is_segment(b) and a == b[::-1]):
        return True
    if _is_root(a, b) or _is_root(b, a):
        return True
    if _is_determinant(a, b) or _is_determinant(b, a):
        return True
    if _is_quantity_of(a, b) or _is_quantity_of(b, a):
        return True
    if a[:1] == '"' or b[:1] == '"':
        return a[:1] != b[:1] and not _are_of_different_quantities(a, b)
    if any(_is_transform(*pair) or _is_written_determinant(*pair) for pair in ((a, b), (b, a))):
        return True
    first = _NAME.fullmatch(a)
    second = _NAME.fullmatch(b)
    if first is None or second is None or first[2] != second[2]:
        return False
    if first[3] and first[3] == second[3] and _is_density(first[1], second[1]):
        return True
    if not (first[3] or second[3]) or (first[3] and second[3] and first[3] != second[3]):
        return False
    applied, other = (first, second) if first[3] else (second, first)
    return applied[1] == other[1] or _is_graph(applied, other) or _is_graph(other, applied)


def _are_of_different_quantities(a: str, b: str) -> bool:
    r"""Whether words and an operator name two quantities: `\text{tr } A` and `\det A`."""
    words, operator = (a, b) if a[:1] == '"' else (b, a)
    named = _QUANTITY.match(words)
    applied = _OPERATOR.match(operator)
    if named is None or applied is None:
        return False
    return _LONG_QUANTITIES.get(named[1], named[1]) != applied[1]


def _is_quantity_of(short: str, long: str) -> bool:
    """Whether one name is a quantity without what it is one of: `rank` of `rank A`."""
    match = _QUANTITY.fullmatch(short)
    return match is not None and long.startswith(short) and len(long) == len(short) + 1


def _is_transform(transform: str, function: str) -> bool:
    r"""Whether a name is a Laplace transform and the other a function of its variable, `F(s)`."""
    if transform.startswith("L^-1\\{"):
        return argument_of(function)[1] == "t"
    return transform.startswith("L\\{") and argument_of(function)[1] == "s"


def _is_written_determinant(matrix: str, letter: str) -> bool:
    r"""Whether a name is a determinant that is written out, and the other one of a letter."""
    is_letter = letter in (f"\\det{letter[-1:]}", f"|{letter[1:2]}|")
    return matrix.startswith("\\beginvmatrix") and is_letter


def _is_root(numbered: str, symbol: str) -> bool:
    """Whether a name is one of the values of a symbol: `x_1` of `x`."""
    head, _, number = numbered.partition("_")
    return head == symbol and number.replace(",", "").isdigit()


def _is_determinant(operator: str, bars: str) -> bool:
    r"""Whether a name in bars is a matrix's determinant: `|A|` is `\det A`, and `|v|` a length."""
    capital = operator.removeprefix("\\det")
    return capital.isupper() and operator == f"\\det{capital}" and bars == f"|{capital}|"


def _is_density(a: str, b: str) -> bool:
    """Whether two names are one function's, with and without its variable: `f_X` and `f`."""
    long, short = (a, b) if len(a) > len(b) else (b, a)
    head, _, capital = long.partition("_")
    return head == short and head in "fFp" and len(capital) == 1 and capital.isupper()


def _is_graph(function: re.Match[str], symbol: re.Match[str]) -> bool:
    """Whether a symbol is the y of `y = f(x)`."""
    if not function[3] or function[1][0] not in _APPLIED:
        return False
    return symbol[1] == "yz"[function[3].count(",") == 1] and symbol[1] not in function[3]


def argument_of(name: str) -> tuple[str, str]:
    """Return the head of `f(x)` and the symbol in its bracket, or twice "" for another name."""
    match = _NAME.fullmatch(name)
    if match is None or not match[3] or "," in match[3]:
        return "", ""
    return match[1] + match[2], match[3]


def is_segment(name: str) -> bool:
    """Whether a name is two capitals: the points at a segment's ends."""
    return len(name) == 2 and name.isalpha() and name.isupper()


def unbraced(tokens: Tokens) -> Tokens:
    """Return tokens without braces around all of them."""
    while len(tokens) > 2 and tokens[0].text == "{" and _closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _text(tokens: Tokens) -> str:
    """Return the tokens' text without braces and in round brackets: `x_{n+1}` is `x_n+1`."""
    return "".join(_SWAPS.get(token.text, token.text) for token in tokens)


def _words(tokens: Tokens) -> str:
    r"""Read a name in words, whatever follows them: `\text{Area of } ABC`."""
    word = tokens[0].text
    is_word = tokens[0].kind == "word" and len(word) > 1 and word not in _TRIGONOMETRIC
    if not is_word or word.casefold() in ("ln", "log", "exp", "arcsin", "arccos", "arctan", "sqrt"):
        return ""
    if not _NO_NAMES.isdisjoint(token.text.casefold() for token in tokens):
        return ""
    return '"' + _text(_unbracketed(tokens)).casefold()


def _angle(tokens: Tokens) -> str:
    start = 1 if tokens[0].text == "m" and len(tokens) > 2 else 0
    if tokens[start].text not in _ANGLES or len(tokens) < start + 2:
        return ""
    rest = tokens[start + 1 :]
    return rest[0].text if len(rest) == 1 else _symbol(rest)


def _symbol(tokens: Tokens) -> str:
    """Read a symbol with a subscript, primes and what it is applied to; or a tuple of such."""
    if tokens[0].text == "(" and _closing(tokens, 0) == len(tokens) - 1:
        return _tuple(tokens[1:-1])
    at = _head(tokens)
    if not at or tokens[0].text in _CONSTANTS:
        return ""
    if len(tokens) == 2 and tokens[1].kind == "number" and not tokens[1].spaced:
        # `x1=5` is no product: nobody writes the number last.
        return f"{tokens[0].text}_{tokens[1].text}" if tokens[1].text.isdigit() else ""
    while at < len(tokens):
        text = tokens[at].text
        if text == "_" and at + 1 < len(tokens):
            at = _closing(tokens, at + 1) + 1 if tokens[at + 1].text == "{" else at + 2
        elif text == "'":
            at += 1
        elif text == "^" and _is_inverse(tokens, at):
            at += 5
        elif text == "\\{" and tokens[0].text == "L" and _closing(tokens, at) == len(tokens) - 1:
            return _text(tokens)  # a Laplace transform
        elif text in ("(", "[") and _closing(tokens, at) == len(tokens) - 1:
            return _text(tokens) if _is_applied(tokens[0].text, tokens[at + 1 : -1]) else ""
        else:
            return ""
    return _text(tokens)


def _is_inverse(tokens: Tokens, at: int) -> bool:
    """Whether an exponent of -1 makes an inverse: of a function, or of a matrix."""
    is_matrix = tokens[0].text.isupper()
    return _text(tokens[at : at + 5]) == "^-1" and (at + 5 < len(tokens) or is_matrix)


def _head(tokens: Tokens) -> int:
    """Return how many tokens the symbol at the start is, 0 where there is none."""
    first = tokens[0]
    if first.text in _MARKS and len(tokens) > 3 and tokens[1].text == "{":
        return 4
    if first.text in _MARKS and len(tokens) > 1 and tokens[1].text != "{":
        return 2
    if first.text == "\\Delta" and len(tokens) > 1 and tokens[1].kind == "letters":
        return 2
    is_letter = first.kind in ("letters", "word") and len(first.text) == 1
    is_symbol = first.kind == "command" and split_letters([first])[0].kind == "symbol"
    return 1 if is_letter or is_symbol else 0


def _is_applied(head: str, inside: Tokens) -> bool:
    """Whether a bracket holds what the symbol before it is applied to, and is no factor."""
    if not inside:
        return False
    if head in _APPLIED or head == "\\mathbb":
        return True
    names = [token.text for token in inside if token.text != ","]
    is_list = all(token.kind in ("letters", "command") for token in inside if token.text != ",")
    return (
        is_list
        and all(len(name) == 1 or name[0] == "\\" for name in names)
        and (head not in names and (head not in "abckmn" or names in (["t"], ["x"])))
    )


def _tuple(tokens: Tokens) -> str:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    names = [_symbol(part) if part else "" for part in parts]
    return ",".join(names) if all(names) and len(names) > 1 else ""


def _segment(tokens: Tokens) -> str:
    """Read a run of capitals, `ABC`, or a long word in mathematics."""
    name = tokens[0].text
    if name == "\\sigma" and _text(tokens) == "\\sigma^2":
        return "\\sigma^2"  # a variance
    if len(tokens) > 1 or tokens[0].kind != "letters":
        return ""
    if name.casefold() in _NO_NAMES:
        return ""
    if name.isupper() or len(name) < 4:
        return name if name.isupper() else ""
    # A word without \\text{} is a name in words as well; letters in a row, `abcd`, are a product.
    return f'"{name.casefold()}' if _is_word(name) else name


def _is_word(letters: str) -> bool:
    return not _VOWELS.isdisjoint(letters.casefold()) and not set(letters) <= _PARAMETERS


def _derivative(tokens: Tokens) -> str:
    r"""Read `\frac{dy}{dx}` as `y'(x)`, and a partial derivative as `f_x`."""
    if tokens[0].text != "\\frac" or len(tokens) > 20 or tokens[-1].text != "}":
        return ""
    end = _closing(tokens, 1)
    if len(tokens) < end + 3 or _closing(tokens, end + 1) != len(tokens) - 1:
        return ""
    over = _text(tokens[2:end])
    under = _text(tokens[end + 2 : -1])
    above = _DIFFERENTIAL.fullmatch(over)
    below = _UNDER.fullmatch(under)
    if above and below and (above[1] or "1") == (below[2] or "1"):
        return f"{above[2]}{chr(39) * int(above[1] or 1)}({below[1]})"
    partial = _PARTIAL.fullmatch(over)
    by = _PARTIAL.fullmatch(under)
    return f"{partial[1]}_{by[1]}" if partial and by else ""


def _bars(tokens: Tokens) -> str:
    r"""Read a length: `|AB|` is `AB`. Not `|x|`, which leaves the sign of an unknown open."""
    if tokens[0].text not in _BARS or tokens[-1].text != tokens[0].text or len(tokens) < 3:
        return ""
    inside = tokens[1:-1]
    if any(token.text in _BARS or token.text in _UNKNOWNS for token in inside):
        return ""
    if not _has_symbol(inside):
        return ""
    segment = _segment(inside)
    return segment if is_segment(segment) else f"|{_text(inside)}|"


def _function(tokens: Tokens) -> str:
    r"""Read `\cos C` or `\sin^2 (A+B)`: the cosine of what is named."""
    name = tokens[0].text.removeprefix("\\")
    if name not in _TRIGONOMETRIC or not _has_symbol(tokens[1:]) or _is_sum(tokens):
        return ""
    rest = [token for token in tokens[1:] if token.text not in _ANGLES]
    if rest[0].text == "(" and _closing(rest, 0) == len(rest) - 1:
        rest = rest[1:-1]
    if any(token.text in ("(", "\\frac", "*", "/") for token in rest) or _has_function(rest):
        return ""
    return f"{name} {_text(rest)}"


def _operator(tokens: Tokens) -> str:
    if tokens[0].text not in _OPERATORS or len(tokens) < 2 or tokens[1].text == "^":
        return ""
    return _text(_unbracketed(tokens))


def _unbracketed(tokens: Tokens) -> Tokens:
    r"""Return `\det(A)` as `\det A`: without the brackets around all that follows the head."""
    has_brackets = len(tokens) > 2 and tokens[1].text == "(" and tokens[-1].text == ")"
    if not has_brackets or _closing(tokens, 1) < len(tokens) - 1:
        return tokens
    return [tokens[0], *tokens[2:-1]]


def _ratio(tokens: Tokens) -> str:
    r"""Read names that are reckoned with: `\frac{AB}{CD}`, `AB+CD`, `a:b:c`, `A \cap B`."""
    texts = [token.text for token in tokens]
    if not _SET_SIGNS.isdisjoint(texts):
        is_sets = all(len(text) == 1 and text.isupper() for text in texts if text not in _SET_SIGNS)
        return "".join(texts) if is_sets and len(texts) > 2 else ""
    letters = [token.text for token in tokens if token.kind in ("letters", "word", "command")]
    letters = [text for text in letters if text != "\\frac"]
    if not letters:
        return ""
    if any(token.text == ":" for token in tokens):
        letters = [text for text in letters if text.removeprefix("\\") not in _TRIGONOMETRIC]
        is_names = all(len(text) == 1 or is_segment(text) for text in letters)
        rest = {token.text for token in tokens if token.kind == "sign"}
        return _text(tokens) if is_names and rest == {":"} else ""
    signs = {token.text for token in tokens if token.kind == "sign"}
    is_segments = all(map(is_segment, letters)) and signs <= set("+-*/{}()")
    return _text(tokens) if is_segments else ""


def _has_symbol(tokens: Tokens) -> bool:
    symbols = (token for token in split_letters(tokens) if token.kind == "symbol")
    return any(token.text not in _CONSTANTS for token in symbols)


def _has_function(tokens: Tokens) -> bool:
    return any(token.kind == "function" for token in split_letters(tokens))


def _is_sum(tokens: Tokens) -> bool:
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "{")) - (token.text in (")", "}"))
        if not depth and token.text in ("+", "-", "\\pm", "\\mp"):
            return True
    return False


def _closing(tokens: Tokens, at: int) -> int:
    """Return where the bracket at an index closes; the number of tokens where it does not."""
    depth = 0
    for index in range(at, len(tokens)):
        text = tokens[index].text
        depth += (text in ("(", "[", "{", "\\{")) - (text in (")", "]", "}", "\\}"))
        if not depth:
            return index
    return len(tokens)


def _determinant(tokens: Tokens) -> str:
    r"""Read `\begin{vmatrix} ... \end{vmatrix}`, whose value was asked for."""
    text = "".join(token.text for token in tokens[:4]) if tokens[0].text == "\\begin" else ""
    is_one = [token.text for token in tokens].count("\\begin") == 1
    is_whole = is_one and _text(tokens[-3:]) == "vmatrix" and tokens[-4].text == "\\end"
    return _text(tokens) if text == "\\begin{vmatrix}" and is_whole else ""


def _degree(tokens: Tokens) -> str:
    r"""Read the degree of a field over another, `[K:\mathbb{Q}]`."""
    texts = [token.text for token in tokens]
    is_one = texts[0] == "[" and _closing(tokens, 0) == len(tokens) - 1 and texts.count(":") == 1
    return f"[{_text(tokens[1:-1])}]" if is_one and len(tokens) > 4 else ""


_READERS = (
    *(_words, _angle, _symbol, _segment, _derivative, _bars, _function, _operator),
    *(_determinant, _degree),
)
