"""What an address asks of the token page: a colouring, a turn, an estimator. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urlencode

from gem_eval.viewing.credit import ESTIMATORS, NORMALISERS
from gem_eval.viewing.query import Query

__all__ = ["COLOURINGS", "TokenQuery"]

_MOST_NAME = 200
COLOURINGS = {
    "mask": "Source",
    "lp": "Logprob",
    "ent": "Entropy",
    "adv": "Advantage",
    "diff": "Difference",
}
"""What tokens are coloured by, and what it is called; in the order of the keys 1 to 5."""


@dataclass(frozen=True, slots=True)
class TokenQuery:
    """A view of tokens. `listed` are the filters of the list from which the episode was opened.

    `seat` names the seat whose tokens alone are shown, of several.
    """

    by: str = "lp"
    turn: int = 1
    estimator: str = "rebn"
    gamma: float = 1.0
    lam: float = 0.95
    norm: str = "sum"
    only: bool = False
    seat: str = ""
    listed: Query = field(default_factory=Query)

    @classmethod
    def read(cls, words: Mapping[str, str], listed: Query) -> TokenQuery:
        """Take what there is of an address. What makes no sense there is left out."""
        usual = cls()
        turn = words.get("turn", "")
        return cls(
            by=_one_of(COLOURINGS, words.get("by"), usual.by),
            turn=int(turn) if turn.isascii() and turn.isdecimal() and len(turn) < 18 else 1,
            estimator=_one_of(ESTIMATORS, words.get("estimator"), usual.estimator),
            gamma=_share(words.get("gamma"), usual.gamma),
            lam=_share(words.get("lam"), usual.lam),
            norm=_one_of(NORMALISERS, words.get("norm"), usual.norm),
            only=words.get("only") == "1",
            seat=words.get("seat", "")[:_MOST_NAME],
            listed=listed,
        )

    def pairs(self, **changes: Any) -> list[tuple[str, str]]:
        """Return what an address holds of it: `read` gives an equal one."""
        changed = replace(self, **changes)
        found = [*changed.listed.pairs(), ("by", changed.by)]
        for own_field in fields(changed):
            value = getattr(changed, own_field.name)
            if own_field.name in ("by", "listed") or value == own_field.default:
                continue
            word = "1" if value is True else f"{value:g}" if isinstance(value, float) else value
            found.append((own_field.name, str(word)))
        return found

    def address(self, **changes: Any) -> str:
        """Return the part of an address from `?` on, with some fields changed."""
        return f"?{urlencode(self.pairs(**changes))}"


def _one_of(known: Mapping[str, Any], word: str | None, usual: str) -> str:
    return usual if word is None or word not in known else word


def _share(text: str | None, usual: float) -> float:
    try:
        number = float(text or "")
    except ValueError:
        return usual
    return number if 0.0 <= number <= 1.0 else usual
