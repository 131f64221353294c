r"""Write the formula of a substance in one way: `\text{H}_2\text{O}`, `\ce{H2O}` and `H2O`.

Knows nothing about mathematics: a text that may be an expression is none.
"""

from __future__ import annotations

import re

__all__ = ["substance"]

_LOOKS = re.compile(r"\\(?:text|mathrm|mathbf|rm|ce|operatorname)(?![a-zA-Z])|\\[,;!]|[{}\s$~]")
_ELEMENT_LIST = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br "
    "Kr Rb Sr Ag Cd Sn Sb Te I Xe Cs Ba W Pt Au Hg Pb Bi U"
)
_ELEMENT = "(?:" + "|".join(sorted(_ELEMENT_LIST.split(), key=len, reverse=True)) + ")"
_PART = rf"(?:{_ELEMENT}(?:_?[0-9]{{1,2}})?|\((?:{_ELEMENT}(?:_?[0-9])?){{1,4}}\)_?[0-9])"
_SUBSTANCE = re.compile(rf"({_PART}{{1,12}})(?:\^([0-9]?[+-]))?")
_LONGEST = 80  # characters


def substance(text: str) -> str:
    r"""Return the formula of a substance of several elements with a count, "" for another text.

    >>> substance(r"\text{H}_2\text{O}"), substance("SO4^{2-}"), substance("x_2")
    ('H2O', 'SO4^2-', '')
    """
    if len(text) > _LONGEST or not any(char.isdigit() for char in text):
        return ""
    bare = _LOOKS.sub("", text)
    match = _SUBSTANCE.fullmatch(bare)
    if match is None or len(re.findall(_ELEMENT, match[1])) < 2:
        return ""
    return bare.replace("_", "")
