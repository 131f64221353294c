from __future__ import annotations

import pytest

from gem_envs_reasoning.answers import answer_in, tagged, unmarked


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<answer>4</answer>", "4"),
        ("<answer>1 2\n3 4</answer>", "1 2\n3 4"),
        ("<answer> 4 </answer> or <answer>5</answer>", "5"),
        (r"\boxed{4}", "4"),
        (r"\boxed{x^{2}} then \boxed{y}", "y"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r'\boxed{{"a": 1}}', '{"a": 1}'),
        (r"<answer>4</answer>, that is \boxed{5}", "5"),
        (r"\boxed{5}, that is <answer>4</answer>", "4"),
        (r"<answer>\boxed{4}</answer>", "4"),
        (r"<answer>\boxed{4} or \boxed{5}</answer>", r"\boxed{4} or \boxed{5}"),
        ("<answer><answer>4</answer>", "4"),
        (r"\boxed{4} and \boxed{", "4"),
        ("<answer></answer>", ""),
        ("4", None),
        ("<answer>4", None),
        ("</answer>4<answer>", None),
        (r"\boxed{4", None),
        ("}}}", None),
        ("", None),
    ],
)
def test_the_last_closed_answer_is_read(reply: str, answer: str | None) -> None:
    assert answer_in(reply) == answer


@pytest.mark.parametrize("answer", ["4", "a b\nc", '{"a": [1]}', r"x^{2}", "\u0663"])
def test_what_is_written_as_asked_for_is_read_back(answer: str) -> None:
    assert answer_in(tagged(answer)) == answer


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        *(("**4**", "4"), ("`4`", "4"), ("$4$", "4"), ("**`$4$`**", "4"), ("`**4**`", "4")),
        *(("```\n1 2\n3 4\n```", "1 2\n3 4"), ("```json\r\n[1]\r\n```", "[1]")),
        *(("```4```", "```4```"), ("```\n4", "```\n4"), ("```\n4\n``` ```", "```\n4\n``` ```")),
        *(("$4$ or $5$", "$4$ or $5$"), ("**4** **5**", "**4** **5**"), ("4**", "4**")),
        *(("**", "**"), ("****", "****"), ("`", "`"), ("``", "``"), ("", ""), ('"4"', '"4"')),
        *(
            (r"\text{4}", "4"),
            (r"$\mathrm{4}$", "4"),
            (r"\textbf{ 4 }", "4"),
            (r"\text{}", r"\text{}"),
        ),
        *(
            (r"\text{4}\text{5}", r"\text{4}\text{5}"),
            (r"\text{4", r"\text{4"),
            (r"\sqrt{4}", r"\sqrt{4}"),
        ),
        ("$`" * 100_000, "$`" * 100_000),
    ],
)
def test_marks_around_the_whole_of_an_answer_are_left_out(answer: str, plain: str) -> None:
    assert unmarked(answer) == plain
