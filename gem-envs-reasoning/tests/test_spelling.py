"""Right answers in the spellings of models, and wrong ones in the same spellings."""

from __future__ import annotations

import re

import pytest

import gem
from gem_envs_reasoning.answers import answer_in, tagged
from gem_envs_reasoning.spelling import respelled

pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")

NUMBERS = ["lcm", "leg_counting", "products", "simple_equations", "count_primes", "maze", "gcd"]
WORDS = [
    *("acre", "color_cube_rotation", "course_schedule", "family_relationships"),
    *("isomorphic_strings", "mahjong_puzzle", "needle_haystack", "ransom_note", "syllogism"),
]
SENTENCES = [
    *("{}.", "The answer is {}.", "the final answer is: **{}**", "Answer: {}", r"\text{{{}}}"),
    *(r"$\mathbf{{{}}}$", "So, the answer is {}", "The answer is **{}**.", "**{}.**"),
]


def is_right(name: str, answer: str, seed: int = 0) -> bool:
    with gem.make(f"rg:{name}") as env:
        env.reset(seed=seed)
        return bool(env.step(tagged(answer)).info["success"])


def solution(name: str, seed: int = 0) -> str:
    with gem.make(f"rg:{name}") as env:
        env.reset(seed=seed)
        return str(answer_in(str(env.solve())))


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("sentence", [*SENTENCES, "{}.0", "{}.00", "${}$."])
def test_a_number_is_right_in_a_sentence_and_another_is_not(name: str, sentence: str) -> None:
    known = solution(name)

    assert is_right(name, sentence.format(known))
    for other in (f"{int(known) + 1}", f"-{known}1", f"{known}.5", f"{known} or 7", f"{known}0"):
        assert not is_right(name, sentence.format(other)), other


@pytest.mark.parametrize("name", sorted({*NUMBERS} - {"simple_equations"}))
def test_a_number_may_have_a_name_where_the_question_gives_none(name: str) -> None:
    known = solution(name)

    assert is_right(name, f"x = {known}")
    assert not is_right(name, f"x = {known}1")


@pytest.mark.parametrize("seed", range(8))
def test_an_unknown_has_the_name_that_the_question_asks_for(seed: int) -> None:
    with gem.make("rg:simple_equations") as env:
        question, _ = env.reset(seed=seed)
    found = re.search(r"(?:value of|Solve for) ([a-z])\b", str(question))
    assert found is not None
    asked = found[1]
    known = solution("simple_equations", seed)

    for form in ("{} = {}", "{}={}.", "${} = {}$", "**{} = {}**", "**{} = {}.**"):
        assert is_right("simple_equations", form.format(asked, known), seed), form
        for other in sorted({"Q", "q", "x", "y", asked.upper()} - {asked}):
            assert not is_right("simple_equations", form.format(other, known), seed), form


@pytest.mark.parametrize(
    ("answer", "spelled"),
    [
        ("3e9", "3e9"),
        ("3.0e9", "3.0e9"),
        ("3.00E9", "3.00E9"),
        ("1,000.0e3", "1000.0e3"),
        ("3.0", "3"),
        ("3.5", "3.5"),
        ("0.0", "0"),
    ],
)
def test_a_fraction_of_nought_is_left_out_but_before_an_exponent(answer: str, spelled: str) -> None:
    assert respelled("base_conversion", answer, "3e9") == spelled


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_choice_is_right_in_a_sentence_and_in_any_case(name: str, sentence: str) -> None:
    known = solution(name)

    for spelled in (known, known.upper(), known.lower()):
        assert is_right(name, sentence.format(spelled))
    for other in (f"not {known}", f"{known} or zzz", f"un{known}", f"{known}{known}"):
        assert not is_right(name, sentence.format(other)), other


@pytest.mark.parametrize("group", [",", "{,}", "\\,"])
def test_thousands_may_be_parted_by_threes_alone(group: str) -> None:
    seed = next(seed for seed in range(50) if len(solution("lcm", seed)) == 4)
    known = solution("lcm", seed)

    assert is_right("lcm", f"{known[0]}{group}{known[1:]}", seed)
    for other in (f"{known[:2]}{group}{known[2:]}", f"{known}{group}000", f"{group}{known}"):
        assert not is_right("lcm", other, seed), other


@pytest.mark.parametrize("task", ["spell_backward", "caesar_cipher", "string_manipulation", "bf"])
@pytest.mark.parametrize("sentence", ["{}.", "The answer is {}", "Answer: {}"])
def test_text_that_is_worked_out_by_letters_has_no_sentence_around_it(
    task: str, sentence: str
) -> None:
    assert not is_right(task, sentence.format(solution(task)))


@pytest.mark.parametrize("seed", range(5))
def test_a_fraction_may_be_written_in_latex(seed: int) -> None:
    over, under = solution("dice", seed).split("/")

    assert is_right("dice", rf"\frac{{{over}}}{{{under}}}", seed)
    assert is_right("dice", rf"The answer is $\dfrac{{{over}}}{{{under}}}$.", seed)
    assert not is_right("dice", rf"\frac{{{under}}}{{{over}}}", seed)
    assert not is_right("dice", rf"-\frac{{{over}}}{{{under}}}", seed)


@pytest.mark.parametrize("seed", range(5))
def test_a_probability_may_be_percent_or_have_an_exponent(seed: int) -> None:
    known = float(solution("coin_flip", seed))

    for right in (f"{100 * known:.8f}%", rf"{100 * known:.8f}\%", f"{known:.8e}"):
        assert is_right("coin_flip", right, seed), right
    for other in (f"{known}%", f"{known}e2", f"{known}%%", f"{100 * known}", "1e-999999999"):
        assert not is_right("coin_flip", other, seed), other


@pytest.mark.parametrize("sign", ["*", r"\times", r"\cdot"])
@pytest.mark.parametrize("seed", range(4))
def test_factors_may_have_another_sign_between_them(sign: str, seed: int) -> None:
    known = solution("prime_factorization", seed)

    assert is_right("prime_factorization", known.replace("\u00d7", sign), seed)
    assert not is_right("prime_factorization", f"{known} {sign} 1", seed)


@pytest.mark.parametrize("seed", range(12))
def test_a_formula_may_be_written_in_latex_and_a_premise_stays_one(seed: int) -> None:
    latex = {"\u2228": r"\lor ", "∧": r"\land ", "¬": r"\neg ", "→": r"\to ", "↔": r"\iff "}

    def written(formula: str) -> str:
        return "".join(latex.get(sign, sign) for sign in formula)

    with gem.make("rg:propositional_logic") as env:
        question, _ = env.reset(seed=seed)
        known = str(answer_in(str(env.solve())))
        lines = str(question).splitlines()
        premises = [line.split(". ", 1)[1] for line in lines if ". " in line[:4]]
        for premise in premises:
            with env.fork() as twin:
                assert not twin.step(tagged(written(premise))).info["success"]
        assert env.step(tagged(f"${written(known)}$")).info["success"]


def test_a_sign_of_latex_is_a_whole_command() -> None:
    assert respelled("propositional_logic", r"P \total Q", None) == r"P \total Q"


@pytest.mark.parametrize("text", ["the answer is " * 40_000, "1,000" * 90_000, "**" * 100_000])
def test_a_long_answer_is_respelled_at_once(text: str) -> None:
    assert respelled("lcm", text, "7") == text
