r"""Read one expression from its tokens and compute it in whatever arithmetic is given.

There is no tree: the reader computes as it goes, in Field or in Floats. The grammar is that of
the textbook; where LaTeX as models write it is ambiguous, docs/grading.md states the rule.
Depth is bounded; time is linear in the number of tokens times the arithmetic's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from gem_envs_math.grading.limits import DEPTH, TooDeep, Undefined, Unread
from gem_envs_math.grading.text.names import INVERSES, RANDOM, UNKNOWN_FUNCTIONS, split_letters
from gem_envs_math.grading.text.tokens import Token

__all__ = ["Arithmetic", "compute"]

T = TypeVar("T")


class Arithmetic(Protocol[T]):
    """What the reader asks of an arithmetic: see Field for what each method means."""

    def number(self, number: int | Fraction) -> T: ...
    def symbol(self, name: str) -> T: ...
    def add(self, a: T, b: T) -> T: ...
    def negate(self, a: T) -> T: ...
    def multiply(self, a: T, b: T) -> T: ...
    def divide(self, a: T, b: T) -> T: ...
    def power(self, base: T, exponent: T) -> T: ...
    def root(self, degree: int, a: T) -> T: ...
    def call(self, name: str, *arguments: T) -> T: ...
    def absolute(self, a: T) -> T: ...
    def floor(self, a: T) -> T: ...
    def factorial(self, a: T, step: int = 1) -> T: ...
    def binomial(self, a: T, b: T) -> T: ...


def compute(tokens: Sequence[Token], arithmetic: Arithmetic[T]) -> T:
    r"""Return the value of an expression. Raises Unread, TooDeep, TooLarge or Undefined.

    >>> from gem_envs_math.grading.arithmetic.field import Field
    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> compute(tokenize(r"1\frac12 + 2^{3} \cdot 2"), Field())
    Fraction(35, 2)
    """
    reader = _Reader(split_letters(tokens), arithmetic)
    value = reader.sum()
    if reader.next:
        raise Unread(f"{reader.next!r} has no place in an expression")
    return value


_END = Token("end", "")
_CLOSING = {"(": ")", "[": "]", "{": "}", "\\{": "\\}", "\\lfloor": "\\rfloor"}
_CLOSING |= {"\\lceil": "\\rceil"}
_STARTS = frozenset(
    (
        "\\bar",
        "\\dot",
        "\\ddot",
        "\\tilde",
        "\\overline",
        "(",
        "[",
        "{",
        "\\frac",
        "\\sqrt",
        "\\binom",
        "\\lfloor",
        "\\lceil",
        "\\max",
        "\\min",
    )
)
_MARKS = {mark: mark for mark in ("\\bar", "\\dot", "\\ddot", "\\tilde")}
_MARKS["\\overline"] = "\\bar"
_WHOLE = frozenset(("number", "repeating"))
_SPECIAL = ("\\Gamma", "\\zeta")  # before a bracket they are functions, and else symbols


class _Reader(Generic[T]):
    def __init__(self, tokens: list[Token], arithmetic: Arithmetic[T]) -> None:
        self.tokens = [*tokens, _END, _END]
        self.at = 0
        self.next = self.tokens[0].text
        self.does = arithmetic
        self.depth = 0
        self.bars = 0

    def sum(self) -> T:
        self._enter()
        value = self.product()
        while self.next in ("+", "-"):
            value = self.does.add(value, self._signed_product())
        self.depth -= 1
        return value

    def product(self) -> T:
        start = self.at  # of the last factor
        value = self.signed()
        while True:
            if self.next in ("*", "/"):
                sign = self._take().text
                start = self.at
                factor = self.signed()
                value = (self.does.divide if sign == "/" else self.does.multiply)(value, factor)
            elif self._starts_factor() or self._is_number_factor(start):
                if self.next == "{" and self._is_beside_digits():
                    raise Undefined("digits in braces, which are seen as one number: `{5}{6}`")
                start = self.at
                value = self.does.multiply(value, self.power())
            else:
                return value

    def signed(self) -> T:
        is_negative = False
        while self.next in ("+", "-"):
            is_negative ^= self._take().text == "-"
        value = self.power()
        return self.does.negate(value) if is_negative else value

    def power(self) -> T:
        self._enter()
        is_number = self._kind() in _WHOLE
        value = self.mixed() if is_number else self.atom()
        value = self._postfix(value)
        self.depth -= 1
        return value

    def _postfix(self, value: T) -> T:
        has_power = False
        while True:
            if self.next == "^":
                if has_power:
                    raise Unread("two powers at one base")
                has_power = True
                value = self._raised(value)
            elif self.next in ("!", "!!"):
                value = self.does.factorial(value, len(self._take().text))
            elif self.next == "%":
                self._take()
                value = self.does.divide(value, self.does.number(100))
            else:
                return value

    def _raised(self, value: T) -> T:
        self._take()
        tokens = [token.text for token in self.tokens[self.at : self.at + 3]]
        if tokens[0] == "\\circ" or tokens == ["{", "\\circ", "}"]:
            self._skip(1 if tokens[0] == "\\circ" else 3)
            straight = self.does.divide(self.does.symbol("\\pi"), self.does.number(180))
            return self.does.multiply(value, straight)
        return self.does.power(value, self._exponent())

    def _exponent(self) -> T:
        if self.next in ("+", "-"):
            return self.signed()
        value = self.atom()  # a number whole, unlike TeX: models mean x^{10} by x^10
        return self.does.power(value, self._raise_tower()) if self.next == "^" else value

    def _raise_tower(self) -> T:
        self._enter()
        self._take()
        value = self._exponent()
        self.depth -= 1
        return value

    def mixed(self) -> T:
        whole = self._take()
        value = self.does.number(_read_number(whole))
        if whole.kind == "number" and whole.text.isdigit():
            part = self._proper_fraction()
            if part is not None:
                return self.does.add(value, self.does.number(part))
        return value

    def _proper_fraction(self) -> Fraction | None:
        r"""Take the fraction of a mixed number, if one below 1 follows: `1\frac12`, `1 1/2`."""
        if self.next != "\\frac" and self._kind() != "number":
            return None
        texts = [token.text for token in self.tokens[self.at : self.at + 7]]
        length = 0
        over = ""
        under = ""
        if texts[0] == "\\frac":
            length, over, under = _parts_of_fraction(texts)
        elif self._kind() == "number" and texts[1] == "/" and self.tokens[self.at].spaced:
            length = 3
            over = texts[0]
            under = texts[2]
        if not (over.isdecimal() and under.isdecimal()) or int(over) >= int(under):
            return None
        self._skip(length)
        return Fraction(int(over), int(under))

    def atom(self) -> T:
        token = self._take()
        if token.kind in _WHOLE:
            return self.does.number(_read_number(token))
        if token.kind == "symbol":
            return self._symbol(token.text)
        if token.kind == "function":
            return self._function(token.text)
        if token.text in ("(", "[", "{"):
            return self._until(_CLOSING[token.text])
        if token.text == "|":
            return self._absolute()
        if token.text in _MARKS:
            return self._marked(token.text)
        if token.text == "\\frac":
            return self.does.divide(self._argument(), self._argument())
        if token.text == "\\sqrt":
            return self._root()
        if token.text == "\\binom":
            return self.does.binomial(self._argument(), self._argument())
        if token.text == "\\lfloor":
            return self._floor("\\rfloor")
        if token.text == "\\lceil":
            return self._floor("\\rceil", is_ceiling=True)
        if token.text in ("\\max", "\\min"):
            return self._extreme(token.text[1:])
        raise Unread(f"{token.text!r} starts no expression")

    def _floor(self, closing: str, *, is_ceiling: bool = False) -> T:
        r"""Read what is rounded term by term: whole numbers leave it, `\lfloor x+1 \rfloor`."""
        self._enter()
        bars = self.bars
        self.bars = 0
        whole = inside = self.does.number(0)
        is_first = True
        while is_first or self.next in ("+", "-"):
            term = self.product() if is_first else self._signed_product()
            is_first = False
            if isinstance(term, int):
                whole = self.does.add(whole, term)
            else:
                inside = self.does.add(inside, term)
        self._expect(closing)
        self.bars = bars
        self.depth -= 1
        if is_ceiling:
            inside = self.does.negate(inside)
        rounded = self.does.floor(inside)
        return self.does.add(whole, self.does.negate(rounded) if is_ceiling else rounded)

    def _signed_product(self) -> T:
        sign = self._take().text
        term = self.product()
        return self.does.negate(term) if sign == "-" else term

    def _extreme(self, name: str) -> T:
        r"""Read `\max(a, b)` or `\max\{a, b\}`."""
        closing = {"(": ")", "\\{": "\\}"}.get(self._take().text)
        if closing is None:
            raise Unread(f"{name} of what is in no brackets")
        bars = self.bars
        self.bars = 0
        values = [self.sum()]
        while self.next == ",":
            self._take()
            values.append(self.sum())
        self._expect(closing)
        self.bars = bars
        return self.does.call(name, *values)

    def _symbol(self, name: str) -> T:
        if self.next == "_":
            self._take()
            name += f"_{self._subscript()}"
        while self.next == "'":
            name += self._take().text
        if name == "E":
            return self._expectation()
        if self.next == "(" and (name[0] in UNKNOWN_FUNCTIONS or name in _SPECIAL):
            self._take()
            return self.does.call(name, self._until(")"))
        return self.does.symbol(name)

    def _expectation(self) -> T:
        r"""Read `E[X^2]`, which is not `E[X]^2`; an E beside anything else is a symbol."""
        closer = {"(": ")", "[": "]"}.get(self.next, "")
        if not closer or not self._holds_random(closer):
            return self.does.symbol("E")
        self._take()
        return self.does.call("E", self._until(closer))

    def _holds_random(self, closer: str) -> bool:
        """Whether a random variable stands before the bracket that closes next."""
        for token in self.tokens[self.at :]:
            if token.text == closer:
                return False
            if token.kind == "symbol" and token.text in RANDOM:
                return True
        return False

    def _marked(self, mark: str) -> T:
        r"""Read a letter with a mark, which is a symbol of its own: `\bar{X}`, `\ddot{x}`."""
        is_braced = self.next == "{"
        if is_braced:
            self._take()
        letter = self._take()
        if letter.kind != "symbol" or letter.text in ("e", "i", "\\pi"):
            raise Unread("a mark over what is no letter")
        if is_braced:
            self._expect("}")
        return self._symbol(f"{_MARKS[mark]} {letter.text}")

    def _subscript(self) -> str:
        if self.next != "{":
            return self._take().text
        self._take()
        texts = []
        while self.next not in ("}", ""):
            if self.next in ("{", "\\frac", "\\sqrt"):
                raise Unread("a subscript that is no name")
            texts.append(self._take().text)
        self._expect("}")
        return "".join(texts)

    def _function(self, name: str) -> T:
        exponent: T | None = None
        base: T | None = None
        if self.next == "_" and name == "log":
            self._take()
            base = self._argument()
        if self.next == "^":
            self._take()
            texts = [token.text for token in self.tokens[self.at : self.at + 4]]
            if texts == ["{", "-", "1", "}"]:
                self._skip(4)
                if name not in INVERSES:
                    raise Unread(f"the inverse of {name} is not known")
                name = INVERSES[name]
            else:
                exponent = self._exponent()
        value = self._applied(name, self._operand(), base)
        return value if exponent is None else self.does.power(value, exponent)

    def _applied(self, name: str, operand: T, base: T | None) -> T:
        if name == "sqrt":
            return self.does.root(2, operand)
        if name == "abs":
            return self.does.absolute(operand)
        if name == "exp":
            return self.does.power(self.does.symbol("e"), operand)
        if base is not None:
            logarithms = self.does.call("ln", operand), self.does.call("ln", base)
            return self.does.divide(*logarithms)
        return self.does.call(name, operand)

    def _operand(self) -> T:
        r"""Read what a function is applied to: a bracket, or the product `2x` in `\sin 2x`."""
        self._enter()
        if self.next in ("(", "[", "{"):
            value = self._until(_CLOSING[self._take().text])
        else:
            value = self.signed()
            while self._kind() == "symbol" or self.next == "\\frac":
                value = self.does.multiply(value, self.power())
            if self.next == "/" and self.tokens[self.at + 1].kind == "number":
                self._take()
                value = self.does.divide(value, self.power())
        self.depth -= 1
        return value

    def _root(self) -> T:
        degree = 2
        if self.next == "[":
            self._take()
            token = self._take()
            if token.kind != "number" or not token.text.isdigit():
                raise Unread("a root whose degree is no number")
            degree = int(token.text)
            self._expect("]")
        elif self._kind() == "number" and len(self.next) > 1:
            raise Unread("how much stands under the root is not clear")
        return self.does.root(degree, self._argument())

    def _absolute(self) -> T:
        if self.bars:
            raise Unread("bars inside bars")
        self.bars += 1
        value = self.sum()
        self._expect("|")
        self.bars -= 1
        return self.does.absolute(value)

    def _until(self, closing: str) -> T:
        bars = self.bars
        self.bars = 0
        value = self.sum()
        self._expect(closing)
        self.bars = bars
        return value

    def _argument(self) -> T:
        r"""Read the argument of a command: a group, or one sign as TeX does: `\frac12`."""
        token = self.tokens[self.at]
        if token.kind == "number" and len(token.text) > 1:
            if not token.text.isdigit():
                raise Unread("a decimal number without braces")
            self.tokens[self.at] = Token("number", token.text[1:])
            self.next = token.text[1:]
            return self.does.number(int(token.text[0]))
        self._enter()
        value = self.atom()
        self.depth -= 1
        return value

    def _starts_factor(self) -> bool:
        kind = self._kind()
        if kind in ("symbol", "function") or self.next in _STARTS:
            return True
        return self.next == "|" and not self.bars

    def _is_number_factor(self, start: int) -> bool:
        r"""Whether a number follows a factor as another: `n2^n`, `i2\pi`, `2!9!`, `0.2^3 0.8^7`.

        Elsewhere a number follows no factor: `x2` may be x_2, and `{5}2^3` is seen as 52^3.
        """
        if self._kind() != "number":
            return False
        before = self.tokens[self.at - 1]
        while self.tokens[start].text in ("+", "-"):
            start += 1
        if before.kind == "symbol" and before.text in ("i", "\\pi"):
            return self.tokens[start] == before  # and no subscript: `x_i2`
        if self.tokens[self.at + 1].text == "!":
            return before.text == "!"
        if self.tokens[start].text == "{" and self.tokens[self.at - 2].kind == "number":
            raise Undefined("digits beside digits in braces, which are seen as one number")
        is_end = before.kind == "symbol" or before.text in (")", "!", "}")
        is_exponent = self.tokens[self.at - 2].text == "^" and before.kind == "number"
        has_space = self.tokens[self.at].spaced
        return (is_end or (is_exponent and has_space)) and self.tokens[self.at + 1].text == "^"

    def _is_beside_digits(self) -> bool:
        """Whether the group that follows begins with a digit, and a number or a group ends here."""
        before = self.tokens[self.at - 1]
        return self.tokens[self.at + 1].kind == "number" and (
            before.kind == "number" or before.text == "}"
        )

    def _kind(self) -> str:
        return self.tokens[self.at].kind

    def _take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind == "end":
            raise Unread("the expression ends too early")
        self._skip(1)
        return token

    def _skip(self, count: int) -> None:
        self.at += count
        self.next = self.tokens[self.at].text

    def _expect(self, text: str) -> None:
        if self.next != text:
            raise Unread(f"{text!r} is missing")
        self._skip(1)

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > 2 * DEPTH:
            raise TooDeep(f"more than {DEPTH} levels")


def _read_number(token: Token) -> int | Fraction:
    if token.kind == "number":
        text = token.text
        if text.isdigit():
            return int(text)
        number = Fraction(text)
        return number if number.denominator > 1 else number.numerator
    whole, _, tail = token.text.partition(".")
    fixed, _, period = tail.partition("\\overline{")
    period = period[:-1]
    size = Fraction(int(period), 10 ** len(fixed) * (10 ** len(period) - 1))
    return size + Fraction(f"{whole or 0}.{fixed or 0}")


def _parts_of_fraction(texts: list[str]) -> tuple[int, str, str]:
    match texts:
        case [_, "{", over, "}", "{", under, "}"]:
            return 7, over, under
        case [_, "{", over, "}", under, *_] if len(under) == 1:
            return 5, over, under
        case [_, over, "{", under, "}", *_] if len(over) == 1:
            return 5, over, under
        case [_, over, under, *_] if len(over) == 1 == len(under):
            return 3, over, under
        case [_, digits, *_] if len(digits) == 2:
            return 2, digits[0], digits[1]
    return 0, "", ""
