from __future__ import annotations

import pytest

from gem_envs_qa.options import are_distinct, meant, unlettered

TRUTHS = ("True", "False", "Unknown")
BOOKS = ("The green book is the first.", "The blue book is the first.", "A. Smith wrote it.")


@pytest.mark.parametrize(
    "answer",
    [
        *("B", "b", "(B)", "(b)", "B.", "B)", "B:", "option B", "Option b."),
        *("False", "false", "FALSE.", "'False'", "No", "no."),
        *("B) False", "(B) false", "B. False.", "B: no", "not entailment", "not_entailment"),
        *("**B**", "*b*", "`B`", '"B"', "'B.'", "[B]", "$B$", "**(B)**", "**B) False**", "__B__"),
        *("\u200bB", "B\ufe0f", "\ufeff(B)\u200b.", "\u200e**B**", "B\u200d) Fal\u00adse"),
        *(r"\text{B}", r"\(B\)", r"\boxed{B}", r"$\mathbf{B}$", r"\textbf{(B) False}"),
        *(
            r"\boxed{\mathbf{B}}",
            r"\(\boldsymbol{(B)}\)",
            r"**\mathbf{B}.**",
            r"option \mathbf{b}",
        ),
        *(r"\mathbf{B})  False", r"\boxed{\mathbf{B.}}"),
        *(r"\text{B) }\text{False}", r"\textbf{\text{False}}", r"\[ \text{False} \]"),
    ],
)
def test_these_mean_the_second_option(answer: str) -> None:
    assert meant(answer, TRUTHS) == 1


@pytest.mark.parametrize(
    "answer",
    [
        *("", " ", "D", "Z", "(D)", "1", "2", "maybe"),
        *("A) False", "B) True", "A False", "D) False", "B or C", "True or False"),
        *("**", "[]", "**A) False**", "**D**", "*B* C", "[A][B]", "**B**C", "~B~", "<B>", "!B"),
        *(r"\text{A) False}", r"\text{A}\text{B}", r"\mathbb{B}", r"\text{}", r"\text{B", r"\B"),
        r"\text{" * 100 + "B" + "}" * 100,
        *(
            r"\mathbf{A}\mathbf{B}",
            r"\mathbf{A}) False",
            r"\mathbf{AB}",
            r"\mathbf{B}C",
            r"\mathbf{}",
        ),
        *("A\u200bB", "\u200b", "\u200bD", "B\U000e0062"),
        *("It is False", "not True", "A B", "AB", "B" * 100_000, "False " * 100_000),
    ],
)
def test_these_mean_no_option(answer: str) -> None:
    assert meant(answer, TRUTHS) is None


@pytest.mark.parametrize("letter", ["\u212a", "\u0130", "\u0131", "\u017f"])
@pytest.mark.parametrize("form", ["{}", "({})", "option {}", "{}) 3"])
def test_letters_that_only_look_like_those_of_options_mean_none(letter: str, form: str) -> None:
    options = [str(number) for number in range(26)]
    assert meant(form.format(letter), options) is None


@pytest.mark.parametrize("answer", ["Uncertain", "unknown", "C", "C) uncertain"])
def test_uncertain_is_unknown(answer: str) -> None:
    assert meant(answer, TRUTHS) == 2
    assert meant(answer, ("True", "False", "Uncertain")) == 2


def test_an_options_own_word_goes_before_another_for_it() -> None:
    assert meant("Uncertain", ("Unknown", "Uncertain")) == 1
    assert meant("yes", ("True", "Yes")) == 1


def test_a_long_option_is_meant_by_its_letter_or_its_text() -> None:
    assert meant("b", BOOKS) == 1
    assert meant("the blue book is the first", BOOKS) == 1
    assert meant("B) The blue book is the first.", BOOKS) == 1
    assert meant("A) The blue book is the first.", BOOKS) is None
    assert meant("the blue book", BOOKS) is None


INTERVALS = ("(0, 1)", "[0, 1]", "(0, 1]", "[0, 1)")


@pytest.mark.parametrize(
    "options",
    [
        INTERVALS,
        ("x > 0", "x < 0"),
        ("C++", "C#", "C"),
        ("5", "+5"),
        (r"(\text{a}, 1)", r"[\text{a}, 1]"),
    ],
)
@pytest.mark.parametrize("form", ["{}", "{}.", "**{}**", "${}$", "`{}`", " {}\n"])
def test_marks_count_where_they_alone_tell_options_apart(
    options: tuple[str, ...], form: str
) -> None:
    assert are_distinct(options)
    for place, (letter, option) in enumerate(zip("ABCD", options, strict=False)):
        assert meant(form.format(option), options) == place
        assert meant(form.format(f"{letter}) {option}"), options) == place
        assert meant(form.format(letter), options) == place


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (("x > 0", "3x + 2", "4x"), "3x+2"),
        (("x > 0", "3x + 2", "4x"), "B) 3x+2"),
        (("x > 0", "3x + 2", "4x"), "**3 x + 2.**"),
        (("(a,b)", "(b,a)"), "(b, a)"),
        (("x>5", "x<5"), "B) x < 5"),
        (("x>5", "x<5"), "$x < 5$"),
        (("3x2", "3x + 2"), "3x+2"),
        (("a b", "ab"), "ab"),
        (("ab", "a b"), "B) a b"),
        (("12", "1 2"), "1  2"),
        (("12 + 3", "1 2 + 3"), "1 2+3"),
        (("x", "2 π + r"), "2π+r"),
        (("x", "now (here)"), "Now\n( here )"),
    ],
)
def test_white_space_between_marks_does_not_count(options: tuple[str, ...], answer: str) -> None:
    assert meant(answer, options) == 1


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (("x>5", "x<5"), "x 5"),
        (("x>5", "x<5"), "x = 5"),
        (("x>5", "x<5"), "A) x < 5"),
        (("3x + 2", "3x - 2"), "3x 2"),
        (("ab!", "a b?"), "a  bc"),
        (("*", "**x**"), "***"),
        (("12", "3"), "1 2"),
        (("12", "3"), "A) 1 2"),
        (("1 2", "3"), "12"),
        (("nowhere", "x y"), "now here"),
        (("now here", "x y"), "nowhere"),
        (("12 + 3", "15"), "1 2+3"),
    ],
)
def test_another_text_means_none_however_it_is_spaced(
    options: tuple[str, ...], answer: str
) -> None:
    assert meant(answer, options) is None


VECTORS = (r"$\mathbf{F}=ma$", "$F=ma$", "neither")


@pytest.mark.parametrize("form", ["{}", "**{}**", " {}."])
@pytest.mark.parametrize("command", ["mathbf", "boldsymbol"])
def test_what_is_bold_in_a_formula_is_another_thing(command: str, form: str) -> None:
    options = tuple(option.replace("mathbf", command) for option in VECTORS)
    assert are_distinct(options)
    for place, (letter, option) in enumerate(zip("ABC", options, strict=True)):
        assert meant(form.format(option), options) == place
        assert meant(form.format(f"{letter}) {option}"), options) == place
        assert meant(form.format(rf"\{command}{{{letter}}}) {option}"), options) == place
    assert meant(form.format(f"B) {options[0]}"), options) is None
    assert meant(form.format(f"A) {options[1]}"), options) is None


def test_a_text_without_the_marks_that_tell_options_apart_means_none() -> None:
    assert meant("0, 1", INTERVALS) is None
    assert meant("x 0", ("x > 0", "x < 0")) is None
    assert meant("B) (0, 1)", INTERVALS) is None
    assert meant("A) [0, 1)", INTERVALS) is None


@pytest.mark.parametrize(
    "options",
    [
        ("Bonn", "bonn."),
        ("x > 0", "X > 0."),
        ("B", "A"),
        ("x", "(A)"),
        ("'5'", "*5*"),
        (r"\text{B}", "none of these"),
    ],
)
def test_options_that_an_answer_could_not_tell_apart_are_not_distinct(
    options: tuple[str, ...],
) -> None:
    assert not are_distinct(options)


def test_a_text_that_looks_like_a_letter_and_a_text_is_read_as_it_stands() -> None:
    assert meant("A. Smith wrote it.", BOOKS) == 2


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["A) True", "B) False"], ("True", "False")),
        (["(A) True", "(B) False"], ("True", "False")),
        (["A. True", "B. False"], ("True", "False")),
        ([" True ", "False"], ("True", "False")),
        (["B) True", "A) False"], ("B) True", "A) False")),
        (["A) True", "False"], ("A) True", "False")),
    ],
)
def test_letters_are_taken_off_where_all_are_right(given: list[str], read: tuple[str, ...]) -> None:
    assert unlettered(given) == read
