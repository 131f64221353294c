"""What the library's scorers would let pass, hang on or run, and what they raise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gem
from gem_envs_reasoning.answers import answer_in, tagged
from gem_envs_reasoning.listing import NAMES
from gem_envs_reasoning.verdicts import judge

pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")

RUN_AS_PYTHON = [
    *("binary_matrix", "countdown", "intermediate_integration", "n_queens", "number_sorting"),
    *("polynomial_multiplication", "puzzle24", "simple_integration", "spiral_matrix"),
    "string_insertion",
]
"""Tasks whose scorer in the library evaluates an answer, or hands it to sympy, which does."""

HOSTILE = [
    *("9**9**9**9", "9" * 1_900, "(" * 1_000, "[" * 1_900, "-" * 1_900 + "1", "1e999999999"),
    *("R999999999", "A+999999999999", "x*" * 900 + "1", "(x+1)*" * 300 + "1", "[1" + ",1" * 900),
    *('{"a":' * 300 + "1" + "}" * 300, "sin(" * 90 + "x" + ")" * 90, "9" * 500 + "/3"),
    *("\0", "\ud800", "\u0663", "\u00b2", "nan", "inf", "-inf", "[NaN]", "nan+nanj", "1e308*10"),
    *("null", "{}", "[]", "()", "True", "None", "0/0", "1/0", "~" * 1_900, "U" * 1_900),
    *("\u00d7".join(["9" * 100] * 15), "A=1," * 450, "1 " * 900, "\n" * 1_900, ", " * 900),
]


def judged(name: str, answer: str, seed: int = 0) -> tuple[float, bool, str | None]:
    """Return reward, success and note of an answer to the question of a seed."""
    with gem.make(f"rg:{name}") as env:
        env.reset(seed=seed)
        step = env.step(tagged(answer))
        return step.reward, step.info["success"], step.info.get("note")


def solution(name: str, seed: int = 0) -> str:
    with gem.make(f"rg:{name}") as env:
        env.reset(seed=seed)
        return str(answer_in(str(env.solve())))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", NAMES)
def test_no_hostile_answer_hangs_raises_or_wins(name: str) -> None:
    with gem.make(f"rg:{name}") as env:
        env.reset(seed=0)
        known = env.solve()
        right = answer_in(known) if known else None
        for answer in HOSTILE:
            with env.fork() as twin:
                step = twin.step(tagged(answer))
                assert 0.0 <= step.reward <= 1.0
                assert not step.info["success"] or answer == right, answer


MARKED = ["**{}**", "`{}`", "```\n{}\n```", "```json\n{}\n```", "**`{}`**", "${}$"]


@pytest.mark.parametrize("name", sorted({*NAMES} - {"boxnet", "rush_hour", "knight_swap"}))
def test_a_right_answer_may_be_marked_and_a_wrong_one_stays_wrong(name: str) -> None:
    with gem.make(f"rg:{name}") as env:
        env.reset(seed=1)
        known = str(answer_in(str(env.solve())))
        for mark in MARKED:
            is_whole = not any(sign in known for sign in ("*", "`", "$") if sign in mark)
            with env.fork() as twin, env.fork() as other:
                marked = twin.step(tagged(mark.format(known)))
                assert marked.info["success"] or not is_whole, mark
                assert not other.step(tagged(mark.format("7 of 9 zzz"))).info["success"], mark


@pytest.mark.parametrize("name", RUN_AS_PYTHON)
def test_no_answer_runs_as_python(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    for answer in ("open('made', 'w')", "[open('made', 'w')]", "__import__('os').mkdir('made')"):
        judged(name, answer)

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("answer", ["zzz", "1", "Truth", "No", "NaN", "[]"])
def test_a_game_of_life_halts_or_not(answer: str) -> None:
    assert judged("game_of_life_halting", answer)[:2] == (0.0, False)


@pytest.mark.parametrize("name", ["complex_arithmetic", "number_sorting", "coin_flip"])
def test_what_is_not_a_number_is_never_right(name: str) -> None:
    count = solution(name).count(",") + 1

    for answer in ("nan", "nan+nanj", f"[{', '.join(['NaN'] * count)}]", "Infinity"):
        assert judged(name, answer)[:2] == (0.0, False)


def test_four_other_numbers_do_not_make_24() -> None:
    assert solution("puzzle24") != "6*4*1*1"
    assert judged("puzzle24", "6*4*1*1")[1] is False


def test_a_number_near_24_is_not_24() -> None:
    spelled = solution("puzzle24")

    assert judged("puzzle24", f"({spelled})")[:2] == (1.0, True)
    assert judged("puzzle24", f"{spelled} + 0.5")[1] is False


@pytest.mark.parametrize("name", ["puzzle24", "countdown"])
def test_the_numbers_given_may_stand_in_any_order(name: str) -> None:
    assert judged(name, f"-(-({solution(name)}))")[:2] == (1.0, True)


@pytest.mark.parametrize("seed", range(10))
def test_a_small_probability_is_not_nought(seed: int) -> None:
    assert judged("coin_flip", "0", seed)[1] is False


def test_a_premise_is_no_conclusion() -> None:
    with gem.make("rg:propositional_logic") as env:
        question, _ = env.reset(seed=3)
        premises = [line[3:] for line in str(question).splitlines() if line[1:3] == ". "]
        assert premises
        for premise in premises:
            with env.fork() as twin:
                assert twin.step(tagged(premise)).info["note"] == "the answer repeats a premise"


def premises_of(seed: int) -> tuple[gem.Env, list[str]]:
    env = gem.make("rg:propositional_logic")
    question, _ = env.reset(seed=seed)
    return env, [line.split(". ", 1)[1] for line in str(question).splitlines() if ". " in line[:4]]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("seed", range(12))
def test_a_conclusion_is_a_formula_in_the_variables_of_the_premises(seed: int) -> None:
    env, premises = premises_of(seed)
    known = str(answer_in(str(env.solve())))
    letters = " \u2228 ".join("abcdefghijklmnopqrstuvwxyz")
    for answer in (
        *(f"{known} zzz", f"{known} or 7", f"{known}.", f"¬({known}", known.replace(" ", " Q ")),
        *("zzz ∧ yyy", letters, " \u2228 ".join(f"P{'()' * count}" for count in range(20))),
        *("¬" * 1_999, "Z ∧ ¬Z", "(P)(Q)", ")P ∧ Q(", "P ∧", "∧ P"),
    ):
        with env.fork() as twin:
            assert answer == known or not twin.step(tagged(answer)).info["success"], answer

    joined = " ∧ ".join(f"({premise})" for premise in premises)
    assert env.step(tagged(f"¬¬(({joined}) ∧ {joined})")).info["success"]


@pytest.mark.parametrize(
    ("name", "answer", "note"),
    [
        ("prime_factorization", "zzz", "the scorer raised ValueError"),
        ("boxnet", "7", "the scorer raised TypeError"),
        ("game_of_life", '{"a": 1}', "the scorer raised KeyError"),
        ("leg_counting", "4" * 10_000, "2000 are read"),
        ("leg_counting", "", "empty"),
        ("rubiks_cube", "R999999999", "no list of moves"),
        ("rush_hour", "A+100", "no list of moves"),
        ("sokoban", "look up: UDLR", "no list of moves"),
    ],
)
def test_an_answer_that_reaches_no_verdict_scores_nothing_and_says_why(
    name: str, answer: str, note: str
) -> None:
    reward, is_right, said = judged(name, answer)

    assert (reward, is_right) == (0.0, False)
    assert said is not None
    assert note in said


@pytest.mark.parametrize("seed", range(40))
def test_an_integral_may_have_any_constant(seed: int) -> None:
    spelled = solution("simple_integration", seed).removesuffix("+ C").strip()

    assert judged("simple_integration", f"{spelled} - 3", seed)[1]
    assert judged("simple_integration", spelled, seed)[1]
    assert not judged("simple_integration", f"2*({spelled})", seed)[1]


@pytest.mark.parametrize("name", ["c", "C", "k", "K"])
@pytest.mark.parametrize("task", ["simple_integration", "intermediate_integration"])
def test_a_constant_of_integration_is_called_as_mathematicians_call_it(
    task: str, name: str
) -> None:
    spelled = solution(task).removesuffix("+ C").strip()

    assert judged(task, f"{spelled} + {name}")[:2] == (1.0, True)
    assert judged(task, f"{spelled} + {name}*({spelled})")[:2] == (0.0, False)


@pytest.mark.parametrize("seed", range(3))
def test_a_number_is_right_by_its_sign_and_all_its_digits(seed: int) -> None:
    known = solution("gsm_symbolic", seed)

    for right in (known, f"{known}.0", f"${known}.", f"It is {known} well-known apples"):
        assert judged("gsm_symbolic", right, seed)[:2] == (1.0, True), right
    for form in ("{}.7k", "{}k", "{},000km", "{}.5x", "{}.0e1", "{}.e1", "{},0", "0,{}", "1.2.{}"):
        assert not judged("gsm_symbolic", form.format(known), seed)[1], form
    wrong = ["-{}", "- {}", "-  {}", "-${}", "-({})", "\u2212{}", "minus {}", ".{}", "{}.5", "{}e3"]
    for form in [*wrong, "{}/2", "{} or 7", "7 or {}", "{},000", "1{}", "{}-1", "{0} {0}", "x{}"]:
        answer = form.format(known)
        assert not judged("gsm_symbolic", answer, seed)[1], answer


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("task", ["letter_jumble", "spell_backward"])
def test_what_follows_a_right_answer_makes_it_another(task: str, seed: int) -> None:
    known = solution(task, seed)

    for longer in (f"{known} zzz", f"{known}\nor 7", f"{known} {known}"):
        assert judged(task, longer, seed)[:2] == (0.8, False)
    for right in (known, known.upper(), known.replace(" ", "  ")):
        assert judged(task, right, seed)[:2] == (1.0, True)


def test_json_is_compared_as_json() -> None:
    known = solution("codeio")

    assert judged("codeio", f" {known} ")[1]
    assert not judged("codeio", f'{{"answer": {known}}}')[1]


@pytest.mark.parametrize(
    ("answer", "known", "is_right"),
    [
        ("0", "false", False),
        ("true", "1", False),
        ("1.0", "true", False),
        ("[1, 0]", "[1, false]", False),
        ('{"a": [{"b": 1}]}', '{"a": [{"b": true}]}', False),
        ("false", "false", True),
        ("1.0", "1", True),
        ('{"b": [2, true], "a": null}', '{"a": null, "b": [2.0, true]}', True),
        ("[1, 2]", "[1, 2, 3]", False),
        ('{"a": 1}', '{"a": 1, "b": 2}', False),
        ("null", "false", False),
        ('"1"', "1", False),
    ],
)
def test_a_truth_of_json_is_no_number(answer: str, known: str, is_right: bool) -> None:
    entry = {"answer": known, "metadata": {}}

    verdict = judge("codeio", answer, entry, known, scorer=pytest.fail)

    assert verdict.score == float(is_right)


@pytest.mark.parametrize("seed", range(20))
def test_pooled_numbers_are_right_to_two_decimals(seed: int) -> None:
    rows = [row.split() for row in solution("pool_matrix", seed).splitlines()]

    def shifted(by: float) -> str:
        changed = [[f"{float(number) + by:.4f}" for number in row] for row in rows]
        return "\n".join(" ".join(row) for row in changed)

    assert judged("pool_matrix", shifted(0.0), seed)[:2] == (1.0, True)
    for wrong in (shifted(0.02), shifted(-0.02)):
        assert judged("pool_matrix", wrong, seed)[:2] == (0.1, False)
    for other in (shifted(0.0) + "\n1", shifted(0.0).replace(".", ","), "nan", "[[1]]", "1e9" * 99):
        assert judged("pool_matrix", other, seed)[1] is False, other


@pytest.mark.parametrize("seed", range(4))
def test_a_simplified_fraction_is_the_only_one_of_its_answer(seed: int) -> None:
    over, under = re.findall(r"\d+", solution("fraction_simplification", seed))

    for right in (
        f"{over}/{under}",
        rf"\frac{{{over}}}{{{under}}}",
        rf"$\dfrac{{{over}}}{{{under}}}$.",
        f"+{over}/{under}",
        rf"$$\frac{{{over}}}{{{under}}}$$.",
        rf"$\frac{{{over}}}{{{under}}}$,",
        rf"$\frac{{{over}}}{{{under}}}.$",
        rf"$ \frac{{{over}}}{{{under}}} $ .",
    ):
        assert judged("fraction_simplification", right, seed)[:2] == (1.0, True), right
        other = judged("fraction_simplification", rf"{right} or \frac{{1}}{{7}}", seed)
        assert other == (0.0, False, "the answer is no single fraction")


@pytest.mark.parametrize("seed", range(4))
def test_a_count_of_days_is_one_number_and_no_other_unit(seed: int) -> None:
    with gem.make("rg:time_intervals", task_types=["date"]) as env:
        env.reset(seed=seed)
        days = str(answer_in(str(env.solve()))).removesuffix(" days")
        marked = ("$ {} $", r"{} \text{{ days}}", r"${} \text{{ days}}$", "** {} days **")
        for right in ("{} days", "{}", "{} Days.", "The answer is {}.", *marked):
            with env.fork() as twin:
                assert twin.step(tagged(right.format(days))).info["success"], right
        others = (
            r"{} \text{{ weeks}}",
            r"{} \text{{ days}} or 7",
            "$ {} $ $ 7 $",
            "{} . 5",
            "-{}1",
        )
        mixed = ("{} or 7", "{} days or 7 days", "{} weeks", "{} days 7 hours", "{} {}1")
        for wrong in (*mixed, *others):
            with env.fork() as twin:
                assert not twin.step(tagged(wrong.format(days, days))).info["success"], wrong


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["fraction_simplification", "time_intervals"])
@pytest.mark.parametrize("start", ["1/2", r"\frac{1}{2}", "1", "1 days", r"1 \text{ days}", ""])
@pytest.mark.parametrize("filler", [" ", "$", ".", " $", "$.", " ."])
def test_what_surrounds_an_answer_is_refused_in_linear_time(
    name: str, start: str, filler: str
) -> None:
    entry = {"answer": "1", "metadata": {"task_type": "date"}}
    known = "1" * 100_000  # of what is known depends how much is read
    padded = filler * (200_000 // len(filler))

    for answer in (f"{start}{padded}x", f"{padded}{start}{padded}x"):
        assert judge(name, answer, entry, known, scorer=pytest.fail).score == 0.0
