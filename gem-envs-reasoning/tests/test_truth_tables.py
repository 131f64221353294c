"""Formulas of propositional logic are read as the library writes them, and in linear time."""

# ruff: noqa: RUF001 - the sign of "or" is meant

from __future__ import annotations

import pytest

from gem_envs_reasoning.arithmetic import UnreadableError
from gem_envs_reasoning.truth_tables import all_rows, read_formula


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("P∧Q∨R", "(P ∧ Q) ∨ R"),
        ("P ∨ Q ∧ R", "P ∨ (Q ∧ R)"),
        ("P → Q ∨ R", "P → (Q ∨ R)"),
        ("P ↔ Q → R", "P ↔ (Q → R)"),
        ("P → Q → R", "(P → Q) → R"),
        ("¬P ∧ Q", "(¬P) ∧ Q"),
        ("¬(P ∧ Q)", "¬P ∨ ¬Q"),
        ("¬¬P", "P"),
        ("P → Q", "¬Q → ¬P"),
        ("P ↔ Q", "(P → Q) ∧ (Q → P)"),
        ("(((P)))", " P "),
    ],
)
def test_operators_bind_as_in_the_library(text: str, same: str) -> None:
    assert read_formula(text, "PQR").table == read_formula(same, "PQR").table


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("P → Q → R", "P → (Q → R)"),
        ("P → Q", "Q → P"),
        ("¬P ∧ Q", "¬(P ∧ Q)"),
        ("P ∨ Q ∧ R", "(P ∨ Q) ∧ R"),
    ],
)
def test_brackets_make_a_difference(text: str, other: str) -> None:
    assert read_formula(text, "PQR").table != read_formula(other, "PQR").table


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "¬", "P ∧", "∧ P", "P Q", "PQ", "P¬", "P(Q)", "(P)(Q)", "()", "(P", "P)", ")P("),
        *("S", "p", "P ∨ zzz", "P & Q", "P.", "P -> Q", "1", "\0", "\u0663", "(" * 1_000_000),
    ],
)
def test_what_is_no_formula_in_these_variables_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_formula(text, "PQR")


@pytest.mark.timeout(20)
def test_a_formula_may_nest_as_deep_as_it_is_long() -> None:
    assert read_formula("¬" * 1_000_000 + "P", "P") == (0b10, False)
    assert read_formula("(" * 300_000 + "P" + ")" * 300_000, "P") == (0b10, True)
    assert read_formula("P → " * 200_001 + "P", "P").table == 0b11


def test_a_tautology_is_true_in_every_row() -> None:
    assert read_formula("P ∨ ¬P", "PQR").table == all_rows("PQR") == 2**8 - 1
