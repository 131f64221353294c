r"""Cut an answer's LaTeX into tokens, without what only changes its looks.

`\left`, `\,`, `\displaystyle`, `$` and `\text{...}` leave no token of their own: two answers
with the same tokens are the same answer, spelled differently. Knows nothing about what
the tokens mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gem_envs_math.grading.limits import DEPTH, TooDeep, TooLarge, Unread

__all__ = ["CLOSERS", "OPENERS", "Token", "tokenize"]

OPENERS = frozenset(("(", "[", "{", "\\{", "<<"))
CLOSERS = frozenset((")", "]", "}", "\\}", ">>"))


class Token(NamedTuple):
    r"""One token: its kind, and its canonical text.

    Kinds are "number" (digits with at most one point), "repeating" (`0.1(6)`), "letters" (a run
    of letters in mathematics), "word" (one in `\text{}`), "command" (`\frac`) and "sign"
    (everything else). `spaced` says whether a space stood before it.
    """

    kind: str
    text: str
    spaced: bool = False


_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2}(?![0-9a-zA-Z]))?"
_COMMA = r"(?:,\s*\\!\s*|\{,\}\s*|\\[,;:]|\\[ ])"
_LEXICON = re.compile(
    rf"""
    (?P<space>\s+|\\[ ,;:!>\n()\[\]]|~|\\q?quad(?![a-zA-Z])
      |\\(?:bf|it|sf|tt|tiny|small|normalsize|large|Large|LARGE|huge|Huge)(?![a-zA-Z])
      |\\(?:text)?color\s*\{{[a-zA-Z]{{1,20}}\}}
      |\\(?:displaystyle|textstyle|left|middle|right|limits|[bB]igg?[lrm]?)(?![a-zA-Z])\.?)
    | (?P<huge>[0-9.]+[eE][+-]?[0-9]{{3,}})
    | (?P<repeating>[0-9]*\.(?:[0-9]*\\(?:overline|bar)\s*(?:\{{[0-9]+\}}|[0-9])
        |[0-9]*\\dot\s*(?:\{{[0-9]\}}|[0-9])(?:[0-9]*\\dot\s*(?:\{{[0-9]\}}|[0-9]))?
        |\([0-9]+\))
      |[0-9]{{0,12}}\.[0-9]{{0,12}}?(?:(?P<digit>[0-9])(?P=digit){{2,20}}
        |(?P<block>[0-9]{{2,6}}?)(?P=block){{1,8}})(?:\\[lc]?dots(?![a-zA-Z])|\.\.\.))
    | (?P<grouped>[0-9]{{1,3}}(?:(?:{_COMMA}[0-9]{{3}})+|(?:,[0-9]{{3}})+|(?:\ [0-9]{{3}})+)
        (?![0-9])(?:\.[0-9]+)?)
    | (?P<number>{_NUMBER})
    | (?P<dollar>\\?\$)
    | \\(?P<style>text(?:bf|it|rm|sf|tt|normal|up)?|mbox|hbox|math(?:rm|bf|it|sf|cal|normal)
        |operatorname\*?|emph|underline|boldsymbol|bm|vec|hat|widehat|overrightarrow|boxed|fbox
        |(?:overline|bar)(?=\s*\{{[A-Z]{{2,}}\}}))
        (?![a-zA-Z])\s*(?P<brace>\{{)?
    | (?P<roman>\\rm(?![a-zA-Z]))
    | (?P<command>\\(?:not\s*=|[a-zA-Z]+|.))
    | (?P<letters>[^\W\d_]+)
    | (?P<sign><=|>=|!=|=>|\*\*|!!|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN_NUMBER = re.compile(_NUMBER)
_NOT_DIGITS = re.compile(r"[^0-9.]")
_WORDS = frozenset(
    ("text", "mbox", "hbox", "textbf", "textit", "textrm", "textsf", "texttt", "emph")
)
_MERGED = {
    **dict.fromkeys(("\\dfrac", "\\tfrac", "\\cfrac"), "\\frac"),
    **dict.fromkeys(("\\cdot", "\\times", "\\ast"), "*"),
    "**": "^",
    **dict.fromkeys(("\\div", "\\over"), "/"),
    **dict.fromkeys(("\\lbrack", "\\lparen"), "["),
    "\\rbrack": "]",
    **dict.fromkeys(("\\le", "\\leq", "\\leqslant"), "<="),
    **dict.fromkeys(("\\ge", "\\geq", "\\geqslant"), ">="),
    **dict.fromkeys(("\\ne", "\\neq", "\\not=", "\\not ="), "!="),
    **dict.fromkeys(("\\lt",), "<"),
    **dict.fromkeys(("\\gt",), ">"),
    **dict.fromkeys(("\\approx", "\\simeq", "\\doteq"), "\\approx"),
    **dict.fromkeys(("\\varnothing", "\\emptyset"), "\\emptyset"),
    **dict.fromkeys(("\\langle",), "<<"),
    **dict.fromkeys(("\\rangle",), ">>"),
    **dict.fromkeys(("\\lbrace", "\\{"), "\\{"),
    **dict.fromkeys(("\\rbrace", "\\}"), "\\}"),
    **dict.fromkeys(("\\vert", "\\mid", "\\lvert", "\\rvert"), "|"),
    **dict.fromkeys(("\\%",), "%"),
    "\\degrees": "\\degree",
    **dict.fromkeys(("\\cdots", "\\dots", "\\dotsb", "\\dotsc"), "\\ldots"),
    "\\Bbb": "\\mathbb",
    **dict.fromkeys(("\\reals", "\\Reals"), "\\R"),
    **dict.fromkeys(("\\smallsetminus", "\\backslash"), "\\setminus"),
    **dict.fromkeys(("\\lVert", "\\rVert", "\\Vert"), "\\|"),
    **dict.fromkeys(("\\prime",), "'"),
    **dict.fromkeys(("\\binom", "\\dbinom", "\\tbinom"), "\\binom"),
    **dict.fromkeys(("\\lor", "\\vee"), "\\lor"),
    **dict.fromkeys(("\\wedge",), "\\land"),
    "\\imath": "i",
    "\\jmath": "j",
    "\\top": "T",
    "\\colon": ":",
    "\\cong": "=",
    **dict.fromkeys(("\\rightarrow", "\\longrightarrow"), "\\to"),
    "\\varphi": "\\phi",
    "\\vartheta": "\\theta",
    "\\varepsilon": "\\epsilon",
}


def tokenize(text: str) -> list[Token]:
    r"""Return the tokens of a text, in time linear in its length.

    Raises Unread where braces or `$` do not balance, TooDeep beyond DEPTH brackets.

    >>> [token.text for token in tokenize(r"\left( 1,\!000 \dfrac{x}{2} \right)")]
    ['(', '1000', '\\frac', '{', 'x', '}', '{', '2', '}', ')']
    """
    return list(_Tokenizer(text).tokens())


class _Tokenizer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.dollars = text.count("$") - text.count("\\$")
        self.braces: list[str] = []  # each open brace: "word", "style", "{", "{word" with \rm
        self.depth = 0
        self.groups = 0  # brackets that hold a list, in which a comma parts
        self.words = 0

    def tokens(self) -> Iterator[Token]:
        at = 0
        spaced = False
        end = len(self.text)
        while at < end:
            match = _LEXICON.match(self.text, at)
            assert match is not None  # the last alternative takes any character
            at = match.end()
            kind = match.lastgroup or ""
            if kind == "space":
                spaced = True
                continue
            if kind == "grouped" and self.groups and "," in match[0] and not _is_marked(match[0]):
                match = _PLAIN_NUMBER.match(self.text, match.start())
                assert match is not None
                at = match.end()
                kind = "number"
            token = self._token(kind, match, spaced)
            if token is not None:
                yield token
            spaced = token is None and (spaced or self.words > 0)
        if self.braces:
            raise Unread("a brace is not closed")

    def _token(self, kind: str, match: re.Match[str], spaced: bool) -> Token | None:
        text = match[0]
        if kind == "number":
            return Token("number", text.rstrip("."), spaced)
        if kind == "grouped":
            return Token("number", _NOT_DIGITS.sub("", text), spaced)
        if kind == "letters":
            return Token("word" if self.words else "letters", text, spaced)
        if kind == "dollar":
            return self._dollar(text, spaced)
        if kind == "huge":
            raise TooLarge("an exponent of three digits or more")
        if kind in ("style", "brace"):
            if kind == "brace":
                self._open_style(match["style"])
            return None
        if kind == "roman":
            self._turn_roman()
            return None
        if kind == "repeating":
            at = match.start("digit") if match["digit"] else match.start("block")
            if at >= 0:
                period = match["digit"] or match["block"]
                text = f"{text[: at - match.start()]}\\overline{{{period}}}"
            return Token("repeating", _repeating(text), spaced)
        return self._sign(text, spaced)

    def _dollar(self, text: str, spaced: bool) -> Token | None:
        if text == "\\$" or (self.dollars == 1 and not self.words):
            return Token("sign", "$", spaced)
        if self.dollars % 2:
            raise Unread("the $ are not in pairs")
        return None

    def _open_style(self, style: str) -> None:
        is_word = style in _WORDS or style.startswith(("operatorname", "mathrm"))
        self.braces.append("word" if is_word else "style")
        if is_word:
            self.words += 1
        self._deepen()

    def _turn_roman(self) -> None:
        r"""Take what follows in this group, or in all the text, for words: `{\rm kg}`."""
        if self.braces and self.braces[-1] in ("{", "style"):
            self.braces[-1] = "word" if self.braces[-1] == "style" else "{word"
        elif self.braces:
            return  # in words already
        self.words += 1

    def _sign(self, text: str, spaced: bool) -> Token | None:
        text = _MERGED.get(text, text)
        if text == "{":
            self.braces.append(text)
        elif text in OPENERS:
            self.groups += 1
        if text in OPENERS:
            self._deepen()
        elif text == "}":
            self.depth -= 1
            opened = self.braces.pop() if self.braces else ""
            if not opened:
                raise Unread("a brace is closed that was not opened")
            self.words -= opened in ("word", "{word")
            if opened not in ("{", "{word"):
                return None
        elif text in CLOSERS:
            self.depth -= 1
            self.groups -= 1
        kind = "command" if text[0] == "\\" and text[-1].isalpha() else "sign"
        if text.isalpha():
            kind = "letters"
        return Token(kind, text, spaced)

    def _deepen(self) -> None:
        self.depth += 1
        if self.depth > DEPTH:
            raise TooDeep(f"more than {DEPTH} brackets inside one another")


def _repeating(text: str) -> str:
    r"""Return a repeating decimal as `0.1\overline{6}`, however its period is marked.

    >>> _repeating(r"0.\dot{1}2\dot{3}"), _repeating(r"0.1\bar6"), _repeating("0.(3)")
    ('0.\\overline{123}', '0.1\\overline{6}', '0.\\overline{3}')
    """
    before, _, period = re.split(r"(\\[a-z]+|\()", text, maxsplit=1)
    return f"{before}\\overline{{{_NOT_DIGITS.sub('', period)}}}"


def _is_marked(text: str) -> bool:
    return "\\" in text or "{" in text
