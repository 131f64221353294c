r"""Write an expression with `\pm` in it as those with a plus and with a minus.

Knows nothing about values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from gem_envs_math.grading.limits import TooLarge
from gem_envs_math.grading.text.tokens import Token

__all__ = ["both_signs", "every_sign"]

Tokens = Sequence[Token]

_UPPER = {"\\pm": "+", "\\mp": "-"}
_LOWER = {"\\pm": "-", "\\mp": "+"}
_MOST = 4


def both_signs(tokens: Tokens) -> list[Tokens]:
    """Return the tokens with the upper signs, and with the lower ones."""
    return [_signed(tokens, _UPPER), _signed(tokens, _LOWER)]


def every_sign(tokens: Tokens) -> list[Tokens]:
    r"""Return the tokens with every choice of signs: `\pm 1 \pm 2` is four numbers.

    Beside a `\mp` the upper signs go together, and the lower ones. Raises TooLarge for more signs
    than anyone writes.
    """
    places = [at for at, token in enumerate(tokens) if token.text == "\\pm"]
    if len(places) < 2 or any(token.text == "\\mp" for token in tokens):
        return both_signs(tokens)
    if len(places) > _MOST:
        raise TooLarge(f"more than {_MOST} signs of plus and minus")
    choices: list[Tokens] = []
    for signs in product("+-", repeat=len(places)):
        chosen = list(tokens)
        for at, sign in zip(places, signs, strict=True):
            chosen[at] = Token("sign", sign)
        choices.append(chosen)
    return choices


def _signed(tokens: Tokens, signs: Mapping[str, str]) -> Tokens:
    return [Token("sign", signs[token.text]) if token.text in signs else token for token in tokens]
