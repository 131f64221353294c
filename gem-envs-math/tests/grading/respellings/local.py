r"""Golds of the local collections, respelt by what their text alone proves.

A gold is taken where its kind is plain to see: a number, a fraction, a sum, a list, a tuple, an
interval, a matrix. What no kind fits gets new looks and one changed digit.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from .problem import Problem

__all__ = ["FOLDERS", "golds", "respelt"]

FOLDERS = (
    ("math500", "test"),
    ("math_train4500", "train"),
    ("gsm8k", "test"),
    ("svamp", "test"),
)

_INTEGER = re.compile("-?[0-9]+")
_FRACTION = re.compile(r"(-?)\\[dt]?frac\{([0-9]+)\}\{([0-9]+)\}")
_LIST = re.compile(r"[^()\[\]{}\\A-Za-z;]+(?:, ?[^()\[\]{}\\A-Za-z;]+)+")
_TUPLE = re.compile(r"\(([^()\[\]]*)\)|\\left ?\(([^()\[\]]*)\\right ?\)")
_INTERVAL = re.compile(r"([(\[])([^()\[\],]*),([^()\[\],]*)([)\]])")
_MATRIX = re.compile(r"\\begin\{pmatrix\}([^{}]*)\\end\{pmatrix\}")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,(?:\\!)? ?[0-9]{3})+")
_ALGEBRA = re.compile(r"(?:\\(?:frac|sqrt|pi|cdot)(?![a-zA-Z])|[0-9a-zA-Z{}()^+ -])+")


def golds(data: Path) -> dict[str, list[str]]:
    """Return the distinct golds of every collection that is there, in their order."""
    found = {}
    for folder, name in FOLDERS:
        path = data / folder / f"{name}.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            found[folder] = list(dict.fromkeys(str(row["answer"]) for row in rows))
    return found


def respelt(gold: str, rng: random.Random) -> Problem:
    """Return a problem with the gold, as far as its kind is known."""
    right: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for kind in (_integer, _fraction, _list, _tuple, _interval, _matrix, _algebra):
        for is_right, change, answer in kind(gold, rng):
            (right if is_right else wrong).setdefault(change, answer)
    digits = [found.start() for found in re.finditer("[0-9]", gold)]
    if digits:
        at = rng.choice(digits)
        digit = str((int(gold[at]) + rng.randrange(1, 9)) % 10)
        wrong["a digit changed"] = gold[:at] + digit + gold[at + 1 :]
    return Problem(gold, right, wrong)


Changes = Iterator[tuple[bool, str, str]]


def _integer(gold: str, rng: random.Random) -> Changes:
    if not _INTEGER.fullmatch(gold) or (gold[0] == "0" and gold != "0"):
        return
    n = int(gold)
    k = rng.randrange(2, 9)
    yield True, "a decimal", f"{n}.0"
    yield True, "a fraction", rf"\frac{{{n * k}}}{{{k}}}"
    yield True, "a sum", f"{n - k}+{k}"
    yield True, "a difference", f"{n + k}-{k}"
    yield True, "a root", rf"{'-' if n < 0 else ''}\sqrt{{{n * n}}}"
    yield True, "text", rf"\text{{{n}}}"
    yield True, "named", f"x={n}"
    yield False, "one more", str(n + 1)
    yield False, "named, one less", f"x={n - 1}"
    yield False, "a tenth more", f"{n}.1"
    yield False, "ten times" if n else "ten", f"{n}0" if n else "10"
    yield False, "another fraction", rf"\frac{{{n * k + 1}}}{{{k}}}"
    yield False, "another sum", f"{n - k}+{k + 1}"
    if n:
        yield False, "a sign", str(-n)


def _fraction(gold: str, rng: random.Random) -> Changes:
    found = _FRACTION.fullmatch(gold)
    if not found:
        return
    sign = found[1]
    over = int(found[2])
    under = int(found[3])
    k = rng.randrange(2, 9)
    ratio = Fraction(over, under)
    yield True, "inline", f"{sign}{over}/{under}"
    yield True, "multiplied", rf"{sign}\frac{{{over * k}}}{{{under * k}}}"
    yield True, "a product", rf"{sign}{over} \cdot \frac{{1}}{{{under}}}"
    yield True, "a negative power", f"{sign}{over} \\cdot {under}^{{-1}}"
    yield (
        True,
        "from above one",
        rf"{sign or '+'}\left({k}-\frac{{{k * under - over}}}{{{under}}}\right)",
    )
    places = 20
    shifted = ratio * 10**places
    digits = str(int(shifted)).rjust(places + 1, "0")
    decimal = f"{sign}{digits[:-places]}.{digits[-places:].rstrip('0')}"
    yield shifted.denominator == 1, "a decimal" if shifted.denominator == 1 else "cut", decimal
    if ratio > 1 and ratio.denominator > 1:
        whole = int(ratio)
        rest = ratio - whole
        mixed = rf"{sign}{whole}\frac{{{rest.numerator}}}{{{rest.denominator}}}"
        yield True, "mixed", mixed
        yield False, "mixed, one more", mixed.replace(str(whole), str(whole + 1), 1)
    yield False, "one more above", rf"{sign}\frac{{{over + 1}}}{{{under}}}"
    yield False, "one more below", rf"{sign}\frac{{{over}}}{{{under + 1}}}"
    if over:
        yield False, "a sign", rf"{'' if sign else '-'}\frac{{{over}}}{{{under}}}"
    if over != under and over:
        yield False, "upside down", rf"{sign}\frac{{{under}}}{{{over}}}"


def _list(gold: str, rng: random.Random) -> Changes:
    if not _LIST.fullmatch(gold) or _THOUSANDS.fullmatch(gold):
        return
    items = [item.strip() for item in gold.split(",")]
    if not all(re.fullmatch(r"-?[0-9]+(?:\.[0-9]+|/[0-9]+)?", item) for item in items):
        return
    if any(len(item) == 3 and item.isdigit() for item in items):
        return  # 101,102 may be a number
    shuffled = rng.sample(items, len(items))
    yield True, "reordered", ", ".join(shuffled)
    yield True, "and", ", ".join(shuffled[:-1]) + rf" \text{{ and }} {shuffled[-1]}"
    yield (
        True,
        "a set, reordered",
        rf"\{{{', '.join(dict.fromkeys(shuffled))}\}}"
        if len(set(items)) == len(items)
        else ", ".join(items),
    )
    yield False, "one dropped", ", ".join(items[:-1])
    yield False, "one added", ", ".join([*items, "12345"])
    yield False, "the first moved", ", ".join([f"{items[0]}7", *items[1:]])


def _tuple(gold: str, rng: random.Random) -> Changes:
    found = _TUPLE.fullmatch(gold)
    if not found or "infty" in gold:
        return
    items = [item.strip() for item in (found[1] or found[2]).split(",")]
    if len(items) < 2 or not all(items):
        return
    yield True, "left and right", rf"\left({','.join(items)}\right)"
    yield True, "doubled within", f"({', '.join([*items[:-1], f'2({items[-1]})/2'])})"
    yield False, "one dropped", f"({', '.join(items[:-1])})"
    yield False, "one added", f"({', '.join([*items, '0'])})"
    yield False, "the first one more", f"({', '.join([f'{items[0]}+1', *items[1:]])})"


def _interval(gold: str, rng: random.Random) -> Changes:
    found = _INTERVAL.fullmatch(gold)
    if not found or (found[1] == "(" and found[4] == ")" and "infty" not in gold):
        return
    left, first, second, right = found.groups()
    first = first.strip()
    second = second.strip()
    yield True, "left and right", rf"\left{left}{first}, {second}\right{right}"
    yield True, "named", rf"x \in {left}{first},{second}{right}"
    if "infty" not in first:
        other = "[" if left == "(" else "("
        yield False, "the left end", f"{other}{first},{second}{right}"
        yield False, "the left end moved", f"{left}{first}-1,{second}{right}"
    if "infty" not in second:
        other = "]" if right == ")" else ")"
        yield False, "the right end", f"{left}{first},{second}{other}"
        yield False, "the right end moved", f"{left}{first},{second}+1{right}"


def _matrix(gold: str, rng: random.Random) -> Changes:
    found = _MATRIX.fullmatch(gold)
    if not found:
        return
    rows = [[cell.strip() for cell in row.split("&")] for row in found[1].split(r"\\")]
    if not all(cell for row in rows for cell in row):
        return

    def written(rows: list[list[str]], name: str = "pmatrix") -> str:
        body = r" \\ ".join(" & ".join(row) for row in rows)
        return rf"\begin{{{name}}} {body} \end{{{name}}}"

    yield True, "brackets", written(rows, "bmatrix")
    changed = [list(row) for row in rows]
    changed[-1][-1] += "+1"
    yield False, "the last one more", written(changed)
    yield False, "a row dropped", written(rows[:-1]) if len(rows) > 1 else "0"
    if len(rows) > 1 and rows[0] != rows[1]:
        yield False, "rows exchanged", written([rows[1], rows[0], *rows[2:]])


def _algebra(gold: str, rng: random.Random) -> Changes:
    is_plain = _INTEGER.fullmatch(gold) or _FRACTION.fullmatch(gold)
    if is_plain or not _ALGEBRA.fullmatch(gold) or re.search("[a-zA-Z]{3}", _bare(gold)):
        return
    if re.search(r"[0-9] ?\\frac|[0-9] [0-9]", gold):
        return  # maybe a mixed number
    k = rng.randrange(2, 9)
    yield True, "half of the double", rf"\frac{{2({gold})}}{{2}}"
    yield True, "and back", f"{gold}+{k}-{k}"
    yield True, "twice the sign", f"-(-({gold}))"
    yield False, "one more", f"{gold}+1"
    yield False, "doubled", f"2({gold})"
    yield False, "a sign", f"-({gold})"
    yield False, "half", rf"\frac{{{gold}}}{{2}}"
    terms = _terms(gold)
    if len(terms) > 1:
        shuffled = rng.sample(terms, len(terms))
        yield True, "reordered", "".join(shuffled).removeprefix("+")
        sign = "-" if terms[-1][0] == "+" else "+"
        yield False, "the last sign", "".join([*terms[:-1], sign + terms[-1][1:]]).removeprefix("+")
        yield False, "the last dropped", "".join(terms[:-1]).removeprefix("+")


def _bare(gold: str) -> str:
    return re.sub(r"\\[a-z]+", " ", gold)


def _terms(gold: str) -> list[str]:
    """Return the terms of a sum, each with its sign: those outside of all brackets."""
    terms = [""]
    depth = 0
    for char in gold.replace(" ", "") if "\\" not in gold else gold:
        if char in "{(":
            depth += 1
        elif char in "})":
            depth -= 1
        if char in "+-" and not depth:
            terms.append(char)
        else:
            terms[-1] += char
    first = terms.pop(0)
    return [f"+{first}", *terms] if first.strip() else terms
