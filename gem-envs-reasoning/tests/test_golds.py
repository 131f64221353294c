"""What the library answers wrongly, or in one of two ways, is not posed."""

from __future__ import annotations

import itertools
import re
from datetime import date, datetime, timedelta
from typing import Any

import pytest

import gem
from gem_envs_reasoning.answers import answer_in, tagged
from gem_envs_reasoning.golds import is_refuted

pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")

TERMS = ("children", "lions", "writers")


def posed(name: str, seeds: range, **kwargs: Any) -> list[tuple[str, str]]:
    """Return the questions of some seeds, each with its answer."""
    with gem.make(f"rg:{name}", **kwargs) as env:
        return [(str(env.reset(seed=seed)[0]), str(answer_in(str(env.solve())))) for seed in seeds]


def in_2022(day: str) -> date:
    return datetime.strptime(f"{day}, 2022", "%B %d, %Y").date()  # noqa: DTZ007 - a day has no zone


def syllogism(first: str, second: str, conclusion: str) -> bool:
    """Say whether the answer yes to it is refuted."""
    metadata = {"premise1": first, "premise2": second, "conclusion": conclusion}
    return is_refuted("syllogism", {"metadata": metadata, "answer": "Yes"})


@pytest.mark.parametrize(
    ("first", "second", "conclusion"),
    [
        ("All lions are children", "All children are writers", "All lions are writers"),
        ("All lions are children", "No children are writers", "No writers are lions"),
        ("Some lions are children", "No children are writers", "Some lions are not writers"),
        ("Some lions are children", "All children are writers", "Some writers are lions"),
        ("Some lions are children", "Some children are writers", "Some children are lions"),
        ("Some lions are not children", "All writers are children", "Some lions are not writers"),
    ],
)
def test_what_follows_in_every_world_is_posed(first: str, second: str, conclusion: str) -> None:
    assert not syllogism(first, second, conclusion)


@pytest.mark.parametrize(
    ("first", "second", "conclusion"),
    [
        ("All lions are children", "Some children are writers", "Some lions are writers"),
        ("All lions are children", "All writers are children", "All lions are writers"),
        ("Some lions are children", "Some children are writers", "Some lions are writers"),
        ("No lions are children", "No children are writers", "No lions are writers"),
        ("Some lions are not children", "No children are writers", "Some children are not lions"),
        ("All lions are children", "All children are writers", "All writers are lions"),
    ],
)
def test_a_syllogism_that_a_world_contradicts_is_not_posed(
    first: str, second: str, conclusion: str
) -> None:
    assert syllogism(first, second, conclusion)


def test_a_syllogism_is_posed_with_one_of_its_two_answers_at_most() -> None:
    forms = ("All {} are {}", "No {} are {}", "Some {} are {}", "Some {} are not {}")
    for parts in itertools.product(forms, repeat=3):
        premises = [form.format(*TERMS[place:]) for place, form in enumerate(parts[:2])]
        metadata = {
            "premise1": premises[0],
            "premise2": premises[1],
            "conclusion": parts[2].format(TERMS[2], TERMS[0]),
        }
        refuted = [
            is_refuted("syllogism", {"metadata": metadata, "answer": answer})
            for answer in ("Yes", "No")
        ]
        assert any(refuted)


def test_of_the_two_answers_to_a_syllogism_that_is_posed_only_one_is_refuted() -> None:
    with gem.make("rg:syllogism") as env:
        for seed in range(60):
            env.reset(seed=seed)
            entry = env.item.entry  # type: ignore[attr-defined]
            refuted = [
                answer
                for answer in ("Yes", "No")
                if is_refuted("syllogism", {**entry, "answer": answer})
            ]
            assert refuted == ["No" if entry["answer"] == "Yes" else "Yes"]


@pytest.mark.parametrize(
    ("first", "second", "conclusion"),
    [
        ("All lions are children", "No children are writers", "Some lions are not writers"),
        ("All lions are children", "All children are writers", "Some writers are lions"),
        ("All lions are children", "Some children are writers", "Some children are lions"),
    ],
)
@pytest.mark.parametrize("answer", ["Yes", "No"])
def test_what_follows_only_if_there_are_lions_is_not_posed(
    first: str, second: str, conclusion: str, answer: str
) -> None:
    metadata = {"premise1": first, "premise2": second, "conclusion": conclusion}

    assert is_refuted("syllogism", {"metadata": metadata, "answer": answer})


def test_a_power_is_posed_where_a_minus_before_it_has_one_meaning() -> None:
    negative = 0
    for question, answer in posed("power_function", range(200)):
        found = re.search(r"Compute (-?[\d.e-]+?)\^(-?\d+)\.", question)
        assert found is not None, question
        base = float(found[1])
        exponent = int(found[2])
        sign = -1 if base < 0 else 1
        assert float(answer) == pytest.approx(sign * abs(base) ** exponent)
        negative += base < 0

    assert negative > 40


def test_premises_that_contradict_each_other_are_not_posed() -> None:
    with gem.make("rg:propositional_logic") as env:
        for seed in range(100):
            question, _ = env.reset(seed=seed)
            letter = re.findall("[P-Z]", str(question).split("Given:")[1])[0]
            assert not env.step(tagged(f"({letter} ∧ ¬{letter})")).info["success"]


def test_premises_are_refuted_where_no_case_makes_all_of_them_true() -> None:
    def refuted(*premises: str) -> bool:
        metadata = {"premises": premises, "variables": ["P", "Q"]}
        return is_refuted("propositional_logic", {"metadata": metadata, "answer": "P"})

    assert refuted("P", "¬P")
    assert refuted("(P → Q)", "P", "¬Q")
    assert not refuted("(P → Q)", "P", "Q")


def test_the_last_round_of_mahjong_ends_as_its_rules_say() -> None:
    for question, answer in posed("mahjong_puzzle", range(150)):
        found = re.search(r"initial cards (\w+)", question)
        assert found is not None
        hand = list(found[1])
        result = ""
        for added, removed in re.findall(r"Add an? (\w) card and remove an? (\w) card", question):
            letters = {ord(card) - ord(added) for card in hand}
            is_chi = any(steps <= letters for steps in ({-2, -1}, {-1, 1}, {1, 2}))
            result = "Peng" if hand.count(added) >= 2 else "Chi" if is_chi else "Pass"
            hand.append(added)
            hand.remove(removed)
        assert answer == result


def test_an_interval_counts_the_time_of_day_and_never_ends_before_it_starts() -> None:
    questions = posed("time_intervals", range(300), task_types=["datetime", "datetime_tz"])
    lost = [question for question, _ in questions if re.search(r"day\) \d\d:", question)]

    assert lost == []
    assert not any(answer.startswith("-") for _, answer in questions)


def test_business_days_are_counted_between_the_dates_that_are_named() -> None:
    checked = 0
    day = r"(\w+day), (\w+ \d+)"
    for question, answer in posed("calendar_arithmetic", range(500)):
        if not re.search(r"[Bb]usiness days|excluding weekends", question):
            continue
        (name, start), (other, end) = re.findall(day, question)
        first = in_2022(start)
        last = in_2022(end)
        assert (f"{first:%A}", f"{last:%A}") == (name, other)
        days = [first + timedelta(days=count) for count in range((last - first).days + 1)]
        assert answer == str(sum(date.weekday(each) < 5 for each in days))
        checked += 1

    assert checked > 20


def test_matilda_has_the_colleagues_of_both_circles() -> None:
    checked = 0
    for question, answer in posed("aiw", range(300)):
        found = re.search(
            r"she also has (\d+) female colleagues.*?(\d+) female colleagues in", question
        )
        if found is not None:
            # the first woman, her colleagues and those of the other circle, less Matilda in both
            assert int(answer) == 1 + int(found[1]) + int(found[2]) - 2
            checked += 1

    assert checked > 3


def relation_of(story: str, name: str, other: str, women: list[str]) -> str | None:
    """Say what someone is to another in a story; None where it is none of those that are asked."""
    spouses: dict[str, str] = {}
    parents: dict[str, set[str]] = {}
    couple = r"(\w+) is married to (\w+)\.(?: They have (?:a child|children) called ([^.]+)\.)?"
    for one, two, children in re.findall(couple, story):
        spouses |= {one: two, two: one}
        for child in re.findall(r"\w+", children.replace(" and ", ", ")):
            parents[child] = {one, two}
    own = parents.get(name, set())
    others = parents.get(other, set())
    words = {
        ("mother", "father"): name in others,
        ("daughter", "son"): other in own,
        ("wife", "husband"): spouses.get(name) == other,
        ("sister", "brother"): bool(own) and own == others,
        ("grandmother", "grandfather"): any(name in parents.get(p, ()) for p in others),
        ("aunt", "uncle"): any(parents.get(p) == own for p in others if own),
        ("niece", "nephew"): any(parents.get(p) == others for p in own if others),
    }
    fitting = [pair for pair, fits in words.items() if fits]
    return fitting[0][0 if name in women else 1] if fitting else None


@pytest.mark.parametrize("size", [8, 12, 16])
def test_a_relative_is_called_what_they_are_and_not_what_the_other_is(size: int) -> None:
    from reasoning_gym.graphs.family_relationships import FamilyRelationshipsConfig

    women = FamilyRelationshipsConfig().female_names
    settings = {"min_family_size": size, "max_family_size": size}
    for question, answer in posed("family_relationships", range(120), **settings):
        story, asked, *_ = question.split("\n\n")
        found = re.match(r"(?:How|What|What relation) is (\w+)(?: related)? to (\w+)\?", asked)
        assert found is not None, asked
        assert answer == relation_of(story, found[1], found[2], women), question
