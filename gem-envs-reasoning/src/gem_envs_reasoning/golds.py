"""Find the questions whose answer in the library is wrong, or only right as one reads the question.

Each rule works the answer out of what the question says, or names what the library overlooks.
Knows nothing about a model's answers.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from gem_envs_reasoning.truth_tables import all_rows, read_formula

__all__ = ["is_refuted"]

Entry = Mapping[str, Any]


def is_refuted(name: str, entry: Entry) -> bool:
    """Say whether the library's answer to this question of a task is wrong, or one of several."""
    rule = _RULES.get(name)
    return rule is not None and rule(entry)


_STATEMENT = re.compile(r"(All|No|Some) (\w+) are (not )?(\w+)")


def _follows_otherwise(entry: Entry) -> bool:
    """Try a syllogism in every world. The library does not ask whether its middle term is total.

    The question does not say whether "all cats are whales" says that there are cats, as Aristotle
    has it, or not, as logicians have it now: what is answered otherwise by the other is refuted.
    """
    metadata = entry["metadata"]
    places: dict[str, int] = {}
    statements = []
    for part in ("premise1", "premise2", "conclusion"):
        [(quantifier, subject, negation, predicate)] = _STATEMENT.findall(metadata[part])
        terms = (places.setdefault(term, len(places)) for term in (subject, predicate))
        statements.append((quantifier + (" not" if negation else ""), *terms))
    says_yes = entry["answer"] == "Yes"
    readings = (True, False)
    return any(_follows(*statements, has_each=reading) != says_yes for reading in readings)


_Statement = tuple[str, int, int]


@functools.lru_cache(maxsize=4096)
def _follows(one: _Statement, other: _Statement, conclusion: _Statement, *, has_each: bool) -> bool:
    """Say whether a conclusion about three terms holds wherever both premises hold.

    With `has_each` there is something of each term. A kind of thing is a number from 0 to 7,
    whose bits say which of the terms it is; a world is what kinds there are.
    """
    for world in range(1 << 8):
        kinds = [kind for kind in range(8) if world >> kind & 1]
        has_all_terms = all(any(kind >> term & 1 for kind in kinds) for term in range(3))
        is_world = has_all_terms or not has_each
        is_possible = is_world and _holds(one, kinds) and _holds(other, kinds)
        if is_possible and not _holds(conclusion, kinds):
            return False
    return True


def _holds(statement: _Statement, kinds: list[int]) -> bool:
    quantifier, subject, predicate = statement
    subjects = [kind >> predicate & 1 for kind in kinds if kind >> subject & 1]
    if quantifier == "All":
        return all(subjects)
    if quantifier == "No":
        return not any(subjects)
    return any(subjects) if quantifier == "Some" else not all(subjects)


_STEPS = ((-2, -1), (-1, 1), (1, 2))
"""Where the two other letters of a sequence are, seen from one."""


def _ends_otherwise(entry: Entry) -> bool:
    """Play the last round. The library draws cards blindly, and then says "Pass" unseen."""
    last = entry["metadata"]["rounds"][-1]
    card = last["add"]
    hand = last["cards"].replace(card, "", 1) + last["remove"]
    sequences = [[chr(ord(card) + step) for step in steps] for steps in _STEPS]
    if hand.count(card) >= 2:
        result = "Peng"
    elif any(first in hand and second in hand for first, second in sequences):
        result = "Chi"
    else:
        result = "Pass"
    return bool(entry["answer"] != result)


def _loses_time(entry: Entry) -> bool:
    """Find times of day after a weekday in brackets, which are cut off, and ends before starts."""
    is_cut_off = "(%A) %H" in entry["metadata"]["format"]
    return is_cut_off or entry["answer"].startswith("-")


def _ends_next_year(entry: Entry) -> bool:
    """Find business days to a date of the next year, which the question puts into this one."""
    metadata = entry["metadata"]
    is_count = metadata["task"] == "count_business_days"
    return bool(is_count and metadata["start_date"][:4] != metadata["end_date"][:4])


_WOMEN = re.compile(r"(\d+) female colleagues in total")


def _counts_one_circle(entry: Entry) -> bool:
    """Find colleagues of two circles: the library's sum is right if the second has two women."""
    found = _WOMEN.search(entry["question"])
    return found is not None and found[1] != "2"


def _takes_the_other_side(entry: Entry) -> bool:
    """Find relatives who are called what the other is to them: all in-laws, and some nieces."""
    from reasoning_gym.graphs.family_relationships import FamilyRelationshipsConfig

    metadata = entry["metadata"]
    relationship = metadata["relationship"]
    names = FamilyRelationshipsConfig()
    others = {"niece": names.male_names, "nephew": names.female_names}
    is_of_other_gender = metadata["person1"] in others.get(relationship, ())
    return relationship.endswith("-in-law") or is_of_other_gender


def _has_two_signs(entry: Entry) -> bool:
    """Find even powers of negative numbers: as the question has it, `-2^4`, they may be negative.

    The library takes the power of -2, mathematicians the negative of the power of 2.
    """
    metadata = entry["metadata"]
    return bool(metadata["base"] < 0 and metadata["exponent"] % 2 == 0)


def _contradicts_itself(entry: Entry) -> bool:
    """Find premises that are never true together: any formula follows from them."""
    metadata = entry["metadata"]
    held = all_rows(metadata["variables"])
    for premise in metadata["premises"]:
        held &= read_formula(premise, metadata["variables"]).table
    return held == 0


_RULES: Mapping[str, Callable[[Entry], bool]] = {
    "aiw": _counts_one_circle,
    "calendar_arithmetic": _ends_next_year,
    "family_relationships": _takes_the_other_side,
    "mahjong_puzzle": _ends_otherwise,
    "power_function": _has_two_signs,
    "propositional_logic": _contradicts_itself,
    "syllogism": _follows_otherwise,
    "time_intervals": _loses_time,
}
