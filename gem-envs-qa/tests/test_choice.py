from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import Step
from gem.errors import BadArguments, DataError
from gem_envs_qa.choice import Choice

Choose = Callable[..., Step]

OPTIONS = ["A) True", "B) False", "C) Uncertain"]
DEPTHS = (0, 1, 2, 3, 5)
RULES = "Anne is kind. If someone is kind then they are nice. Question: Anne is nice."


@pytest.fixture
def choose() -> Choose:
    """Return a function that poses one question with options: `choose(options, right, action)`."""

    def answered(options: Any, right: Any, action: str, **kwargs: Any) -> Step:
        rows = [{"question": "Which one?", "options": options, "answer": right}]
        with gem.make("logic:FOLIO", data=rows, **kwargs) as env:
            env.reset(task=0)
            return env.step(action)

    return answered


@pytest.mark.parametrize("right", ["B", "b", "False", "B) False", "no", False])
@pytest.mark.parametrize("said", ["B", "false", "(B) False"])
def test_rows_and_answers_name_an_option_by_letter_or_text(
    choose: Choose, right: Any, said: str
) -> None:
    step = choose(OPTIONS, right, f"<answer>{said}</answer>")

    assert (step.reward, step.info["success"], step.info["chosen"]) == (1.0, True, "B")


@pytest.mark.parametrize("said", ["A", "True", "C", "Uncertain", "unknown"])
def test_another_option_is_wrong(choose: Choose, said: str) -> None:
    step = choose(OPTIONS, "B", f"<answer>{said}</answer>", format_error_reward=-0.1)

    assert (step.reward, step.info["success"]) == (0.0, False)
    assert step.info["chosen"] in ("A", "C")


@pytest.mark.parametrize("said", ["", "D", "A) False", "True or False", "all of them"])
def test_what_means_no_option_is_a_format_error(choose: Choose, said: str) -> None:
    step = choose(OPTIONS, "B", f"<answer>{said}</answer>", format_error_reward=-0.1)

    assert (step.reward, step.info["action_error"]) == (-0.1, "format")


def test_context_question_and_options_stand_in_this_order() -> None:
    row = {"context": "Ice is cold.", "question": "Is it?", "options": OPTIONS, "answer": "A"}
    text = str(Choice(data=[row]).reset()[0])

    places = [
        text.index(piece) for piece in ("Ice is cold.", "Is it?", "A) True\nB) False\nC) Unc")
    ]
    assert places == sorted(places)
    assert "A) A)" not in text


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (["True", "False"], "C"),
        (["True", "False"], "maybe"),
        (["True", "False"], None),
        (["True"], "A"),
        (["True", "true."], "A"),
        (["True", ""], "A"),
        (["B", "A"], "A"),
        ("True", "A"),
        ([str(number) for number in range(27)], "A"),
    ],
)
def test_a_row_that_does_not_fit_is_one_clear_error(
    choose: Choose, options: Any, answer: Any
) -> None:
    with pytest.raises(DataError, match=r"row 1: the field '(options|answer)' is .* must be"):
        choose(options, answer, "")


@pytest.mark.parametrize("options", [("True",), ("True", "true"), ("B", "A")])
def test_options_for_every_row_must_differ(options: tuple[str, ...]) -> None:
    with pytest.raises(BadArguments, match="2 to 26 texts that differ"):
        Choice(data=[{"question": "?", "answer": "A"}], options=options)


def test_a_file_that_was_checked_with_some_options_is_checked_again_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = pytest.importorskip("datasets", reason="the extra `data` is not installed")
    monkeypatch.setattr(library.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    file = str(tmp_path / "rows.parquet")
    library.Dataset.from_list([{"question": "Is it?", "answer": "True"}]).to_parquet(file)

    assert Choice(data=file, options=("True", "False")).num_tasks == 1
    with pytest.raises(DataError, match="row 1: the field 'answer' is 'True'"):
        Choice(data=file, options=("Heads", "Tails"))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(
    ("label", "said", "reward"),
    [
        ("True", "True", 1.0),
        ("False", r"\text{False}", 1.0),
        (True, "A", 1.0),
        (False, "true", 0.0),
        ("entailment", "yes", 1.0),
        ("not entailment", "False", 1.0),
        ("not entailment", "True", 0.0),
    ],
)
def test_ruletaker_asks_for_a_box_and_grades_it(
    depth: int, label: Any, said: str, reward: float
) -> None:
    rows = [{"question": RULES, "answer": label}]
    with gem.make(f"logic:RuleTaker-d{depth}", data=rows) as env:
        observation, _ = env.reset(task=0)
        step = env.step(rf"So \boxed{{{said}}}.")

    assert r"\boxed{...}" in str(observation)
    assert "A) True\nB) False" in str(observation)
    assert "<answer>" not in str(observation)
    assert step.reward == reward
    assert "action_error" not in step.info


@pytest.mark.parametrize("name", ["ProntoQA", "ProofWriter", "LogicalDeduction", "FOLIO"])
def test_data_that_is_not_on_the_hub_is_one_clear_error(name: str) -> None:
    with pytest.raises(DataError, match=rf"Get https://.*{name}.* \(licence: ") as caught:
        gem.make(f"logic:{name}")
    assert "'question', 'options', 'answer'" in str(caught.value)
    assert "\n" not in str(caught.value)
