r"""Read a unit from tokens: `m/s^2`, `kJ\,mol^{-1}`, `\frac{m}{s}`, `square meters per hour`.

Words that are no unit count as one among units, and are a label alone. After a quotient all is
below it: `J/kg\cdot K` is `J/(kg\,K)`, as physicists write. Knows nothing about the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gem_envs_math.grading.limits import Unread
from gem_envs_math.grading.text.names import is_known
from gem_envs_math.grading.text.tokens import Token
from gem_envs_math.grading.units.measures import (
    DEGREE,
    LABEL,
    STRANGE,
    Unit,
    is_near_unit,
    known,
    product,
)
from gem_envs_math.grading.units.table import BARE, BARE_IF_SPACED, SCALES

__all__ = [
    "MICRO",
    "NO_LABELS",
    "SIGNS",
    "is_degree",
    "is_ideographic",
    "read_bare_unit",
    "read_unit",
    "stands_bare",
]

_NO_LABEL_LIST = (
    "and or not minus plus times over divided by less more than to from through at with "
    "is if where for mod modulo choose base root squared cubed power negative below "
    "half quarter third halves thirds fourths fifths sixths sevenths eighths ninths tenths "
    "tenth hundredth thousandth hundredths thousandths millionths double triple twice "
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
    "sixty seventy eighty ninety tens square cubic factorial repeating recurring "
    "reciprocal inverse imaginary reversed binary octal hexadecimal mille permille except "
    "wrong incorrect "
    "sin cos tan cot csc ln log exp sqrt arcsin arccos arctan lcm gcd"
)
NO_LABELS = frozenset(_NO_LABEL_LIST.split())
"""Words that change the value of the number before them."""

_OHMS = frozenset(("\\Omega", "\\ohm"))
_ANGSTROMS = frozenset(("\\AA", "\\angstrom"))
MICRO = frozenset(("\\mu", "\\micro"))
"""Signs that are a prefix where a unit follows."""
SIGNS = _OHMS | _ANGSTROMS | {"¢", "%", "\\celsius"}
"""Signs that are units."""

_POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS_AFTER = {"squared": 2, "cubed": 3}
_QUOTIENTS = frozenset(("/", "per"))
_ARTICLES = frozenset(("a", "an", "each", "every"))
_JOINTS = frozenset(("*", ".", "-"))
_SMALL = frozenset(("per", "an", "of", "sq", "cu", "the"))
_PREFIXES_OF_OHM = frozenset(("k", "M", "G", "m", "n", "µ"))
_DEGREE_WORDS = frozenset(("degree", "degrees", "deg"))
_TEMPERATURES = {
    **dict.fromkeys(("C", "celsius", "Celsius"), "celsius"),
    **dict.fromkeys(("F", "fahrenheit", "Fahrenheit"), "fahrenheit"),
    **dict.fromkeys(("K", "kelvin", "Kelvin", "kelvins"), "kelvin"),
}
_PAIRS = {
    "mm hg": "mmHg",
    "fl oz": "floz",
    "fluid ounce": "floz",
    "metric ton": "tonne",
    "nautical mile": "nmi",
    "light year": "ly",
    "astronomical unit": "AU",
    "electron volt": "eV",
    "per cent": "percent",
}
_DIRECTIONS = frozenset(("at", "from", "to", "with"))  # 5 m/s to the right
_COMPASS = frozenset("NSEW")
_OFFSETS = frozenset(("celsius", "fahrenheit"))
_ONE = Unit(())
_ENERGY = (("kg", 1), ("m", 2), ("s", -2))
_LIGHT = Unit((("m", 1), ("s", -1)), Fraction(299_792_458))
_LARGEST_EXPONENT = 12
_MOST_UNITS = 12
_SHORTEST_LABEL = 4  # in mathematics, where a shorter run of letters is a product


def read_unit(tokens: Sequence[Token], start: int) -> Unit:
    r"""Return the unit or the label that the tokens from `start` on are. Raises Unread.

    >>> from gem_envs_math.grading.text.tokens import tokenize
    >>> read_unit(tokenize(r"5\text{ km per hour}"), 1)
    Unit(dimension=(('m', 1), ('s', -1)), factor=Fraction(5, 18), turns=0, money=None)
    """
    return _Reader(tokens, start, is_bare=False).whole()


def read_bare_unit(tokens: Sequence[Token], start: int) -> Unit:
    """Return the unit that tokens are if letters are units and no symbols. Raises Unread."""
    return _Reader(tokens, start, is_bare=True).whole()


def is_degree(tokens: Sequence[Token], at: int) -> bool:
    r"""Whether `^\circ`, `^{\circ}` or `\circ` stands there."""
    texts = [token.text for token in tokens[at : at + 4]]
    is_raised = texts[:2] == ["^", "\\circ"] or texts == ["^", "{", "\\circ", "}"]
    return is_raised or texts[:1] == ["\\circ"]


def stands_bare(token: Token, *, is_near_number: bool = True) -> bool:
    """Whether a run of letters in mathematics is a unit or a label, and no product."""
    text = token.text
    if text in BARE or (text in BARE_IF_SPACED and token.spaced):
        return is_near_number
    is_long = len(text) >= _SHORTEST_LABEL or not text.isascii()  # Å, kΩ
    if is_long and known(text) is not None:
        return is_near_number
    if is_ideographic(text):
        return is_near_number
    return len(text) >= _SHORTEST_LABEL and token.spaced


def is_ideographic(text: str) -> bool:
    """Whether a word is Chinese or Japanese, where one sign is a word and no symbol."""
    return text[:1] >= "\u3040"


class _Reader:
    def __init__(self, tokens: Sequence[Token], start: int, *, is_bare: bool) -> None:
        self.tokens = tokens
        self.at = start
        self.is_bare = is_bare
        self.has_word = False  # a word in text was read: letters after it are units as well
        self.units = 0
        self.labels: list[str] = []
        self.power = 1  # of the last label
        self.is_strange = False

    def whole(self) -> Unit:
        unit = self._product("")
        if self.at < len(self.tokens):
            raise Unread("more than a unit")
        if not self.units and len(self.labels) == 1 and not self.is_strange:
            self.is_strange = _is_short(self.labels[0]) or is_near_unit(self.labels[0])
        if self.is_strange:
            return STRANGE
        if not self.units and len(self.labels) == 1 and self.labels[0] in ("unit", "units"):
            return Unit((("label", self.power),))
        return _without_offset(unit) if self.units else LABEL

    def _product(self, closer: str) -> Unit:
        factors: list[tuple[Unit, int]] = []
        sign = 1
        joint = " "
        while self._text() not in ("", closer):
            if self._is_quotient(is_first=not factors):
                if joint == "/":
                    raise Unread("two quotients in one place")
                self._take()
                sign = -1
                joint = "/"
            elif self._is_joint():
                joint = self._take().text
            else:
                if joint == "/" and self._text() == "c" and factors:
                    unit, exponent = self._light(factors[0][0])
                else:
                    unit, exponent = self._power(joint)
                factors.append((unit, sign * exponent))
                joint = " "
        if joint not in (" ", ".") or not factors:
            raise Unread("a unit that is not complete")
        return product(factors)

    def _is_quotient(self, *, is_first: bool) -> bool:
        text = self._text()
        if text in _ARTICLES:
            return not is_first and self._kind() == "word" and known(self._text(1)) is not None
        return text in _QUOTIENTS and f"{text} {self._text(1)}" not in _PAIRS

    def _is_joint(self) -> bool:
        text = self._text()
        if text != "-":
            return text in _JOINTS
        before = self.tokens[self.at - 1]
        sign = self.tokens[self.at]
        after = self._kind(1)
        return before.kind == after == "word" and not sign.spaced

    def _light(self, energy: Unit) -> tuple[Unit, int]:
        r"""Read the speed of light in `MeV/c^2`."""
        if energy.dimension != _ENERGY:
            raise Unread("c is no unit")
        self._take()
        return _LIGHT, self._exponent()

    def _power(self, joint: str) -> tuple[Unit, int]:
        exponent = 1
        if self._text().casefold() in _POWERS and self._kind(1) in ("word", "letters", "sign"):
            exponent = _POWERS[self._take().text.casefold()]
            if self._text() == ".":
                self._take()
        labels = len(self.labels)
        unit = self._atom(joint)
        power = self._exponent()
        if len(self.labels) == labels + 1 and _is_short(self.labels[-1]):
            self.is_strange |= power != 1 or joint in ("*", "/", "-")
        self.power = exponent * power
        return unit, exponent * power

    def _exponent(self) -> int:
        text = self._text()
        if text.casefold() in _POWERS_AFTER:
            return _POWERS_AFTER[self._take().text.casefold()]
        is_near_word = not self._is_spaced() and self.tokens[self.at - 1].kind == "word"
        if text in ("2", "3") and is_near_word:
            return int(self._take().text)  # m2
        if text != "^" or is_degree(self.tokens, self.at):
            return 1
        self._take()
        has_brace = self._text() == "{"
        if has_brace:
            self._take()
        sign = -1 if self._text() == "-" else 1
        if self._text() in ("-", "+"):
            self._take()
        digits = self._take().text
        if not digits.isdecimal() or len(digits) > 2 or int(digits) > _LARGEST_EXPONENT:
            raise Unread("an exponent that no unit has")
        if has_brace:
            self._expect("}")
        return sign * int(digits)

    def _atom(self, joint: str) -> Unit:
        if self._text() == "{" and self._text(1) == "}":
            self.at += 2  # TeX's way to raise a degree sign: {}^\circ
        if is_degree(self.tokens, self.at):
            return self._degree()
        token = self._take()
        if token.text in ("(", "{"):
            return self._until(")" if token.text == "(" else "}")
        if token.text == "\\frac":
            return product([(self._argument(), 1), (self._argument(), -1)])
        if token.text in MICRO:
            return self._micro()
        if token.text in _OHMS:
            return self._counted("Ω")
        if token.text in _ANGSTROMS:
            return self._counted("Å")
        if token.text in ("¢", "%", "\\celsius"):
            return self._counted(token.text.lstrip("\\"))
        if token.kind in ("word", "letters"):
            return self._named(token, joint)
        raise Unread(f"{token.text!r} is no unit")

    def _until(self, closer: str) -> Unit:
        unit = self._product(closer)
        self._expect(closer)
        return unit

    def _argument(self) -> Unit:
        self._expect("{")
        if self._text() == "1" and self._text(1) == "}":
            self._take()
            self._take()
            return _ONE
        return self._until("}")

    def _degree(self) -> Unit:
        while self._take().text != "\\circ":
            pass
        if self._text() == "}":
            self._take()
        if self._text() in _TEMPERATURES and len(self._text()) == 1:
            return self._counted(_TEMPERATURES[self._take().text])
        if self._text() in _COMPASS and self._kind() == "word":
            self.labels.append(self._take().text)
        self.units += 1
        return DEGREE

    def _micro(self) -> Unit:
        token = self._take()
        if token.text in _OHMS:
            return self._counted("µΩ")
        if token.kind != "word" and not self.is_bare and not (self.has_word and self.units):
            raise Unread("a product")
        return self._counted("µ" + token.text)

    def _named(self, token: Token, joint: str) -> Unit:
        self._check(token)
        self.has_word |= token.kind == "word"
        name = self._pair(token)
        if name:
            return self._counted(name)
        if token.text in _PREFIXES_OF_OHM and self._text() in _OHMS:
            self._take()
            return self._counted(token.text + "Ω")
        is_preposition = token.text == "in" and self.units and joint == " " and self._is_label()
        if is_preposition or token.text == "of" or (self.units and token.text in _DIRECTIONS):
            return self._rest()
        if known(token.text) is not None:
            return self._counted(token.text)
        return self._label(token)

    def _check(self, token: Token) -> None:
        """Raise Unread for letters that are a product here."""
        if token.kind == "word" or self.is_bare or stands_bare(token):
            return
        if self.has_word and self.units and known(token.text) is not None:
            return
        if token.text not in _SMALL or not token.spaced:
            raise Unread("a product")

    def _pair(self, token: Token) -> str:
        skipped = self._text() == "-"
        second = self._text(int(skipped))
        if token.text.casefold() in _DEGREE_WORDS and second in _TEMPERATURES:
            self._take()
            return _TEMPERATURES[second]
        name = _PAIRS.get(f"{token.text} {second}".casefold().removesuffix("s"), "")
        if name:
            self.at += 1 + skipped
        return name

    def _is_label(self) -> bool:
        return self._kind() in ("word", "letters") and known(self._text()) is None

    def _rest(self) -> Unit:
        """Read the words after a preposition: none of them is a unit."""
        self.labels.append("of")
        while self._text():
            token = self._take()
            is_letter = token.kind == "word" and len(token.text) == 1
            if not is_letter and token.text not in (".", "-", "'"):
                self._label(token)
        return _ONE

    def _counted(self, name: str) -> Unit:
        unit = known(name)
        self.units += 1
        if unit is None or self.units > _MOST_UNITS:
            raise Unread("no unit")
        return unit

    def _label(self, token: Token) -> Unit:
        text = token.text
        is_word = token.kind == "word" or (token.kind == "letters" and not self.is_bare)
        if text == "a" and is_word and self.units + len(self.labels):
            return _ONE
        is_letter = len(text) < 2 and not is_ideographic(text)
        changes_value = text.casefold() in NO_LABELS or _is_scale(text) or is_known(text)
        if not is_word or is_letter or changes_value:
            raise Unread("no label")
        self.labels.append(text)
        return _ONE

    def _text(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    def _is_spaced(self) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].spaced

    def _kind(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].kind if at < len(self.tokens) else ""

    def _take(self) -> Token:
        if self.at >= len(self.tokens):
            raise Unread("a unit ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def _expect(self, text: str) -> None:
        if self._take().text != text:
            raise Unread(f"{text!r} is missing")


def _is_scale(label: str) -> bool:
    return label.casefold().removesuffix("s") in SCALES


def _is_short(label: str) -> bool:
    return label.isascii() and len(label) < _SHORTEST_LABEL and label.casefold() not in _SMALL


def _without_offset(unit: Unit) -> Unit:
    """Return a unit in which degrees of temperature are differences, unless one stands alone."""
    offsets = {base: power for base, power in unit.dimension if base in _OFFSETS}
    stands_alone = len(unit.dimension) == 1 and 1 in offsets.values()
    if not offsets or stands_alone:
        return unit
    rest = tuple(power for power in unit.dimension if power[0] not in _OFFSETS)
    kelvins = Unit((("K", 1),))
    rankines = Unit((("K", 1),), Fraction(5, 9))
    factors = [(unit._replace(dimension=rest), 1)]
    factors.append((kelvins, offsets.get("celsius", 0)))
    factors.append((rankines, offsets.get("fahrenheit", 0)))
    return product(factors)
