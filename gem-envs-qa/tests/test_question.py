from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import Step
from gem.errors import BadArguments, DataError
from gem_envs_qa.question import Question

Ask = Callable[..., Step]


@pytest.fixture
def ask() -> Ask:
    """Return a function that poses one open question and answers it: `ask(answers, action)`."""

    def answered(answers: Any, action: str, **kwargs: Any) -> Step:
        rows = [{"question": "Which one?", "answer": answers}]
        with gem.make("eval:QaOpen", data=rows, **kwargs) as env:
            env.reset(task=0)
            return env.step(action)

    return answered


@pytest.mark.parametrize("said", ["Jane Austen", "jane austen.", "Austen", "The Austen"])
def test_each_accepted_answer_is_right(ask: Ask, said: str) -> None:
    step = ask(["Jane Austen", "Austen"], f"I think <answer>{said}</answer>.")

    assert (step.reward, step.terminated, step.info["success"]) == (1.0, True, True)
    assert (step.info["em"], step.info["f1"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    "said", ["Jane", "Austen, Jane", "Charlotte Brontë", "Jane Austen wrote it"]
)
def test_another_answer_is_wrong(ask: Ask, said: str) -> None:
    step = ask(["Jane Austen", "Austen"], f"<answer>{said}</answer>")

    assert (step.reward, step.terminated, step.info["success"]) == (0.0, True, False)
    assert "action_error" not in step.info


def test_f1_can_be_what_is_paid_and_success_stays_an_exact_match(ask: Ask) -> None:
    step = ask("Jane Austen", "<answer>Jane</answer>", metric="f1")

    assert step.reward == step.info["f1"] == pytest.approx(2 / 3)
    assert not step.info["success"]


@pytest.mark.parametrize("action", ["", "Austen", "<answer></answer>", r"\boxed{Austen}"])
def test_an_answer_in_another_form_is_a_format_error(ask: Ask, action: str) -> None:
    step = ask("Austen", action, format_error_reward=-0.1)

    assert (step.reward, step.info["action_error"]) == (-0.1, "format")
    assert step.terminated
    assert not step.info["success"]


def test_the_prompt_asks_for_the_form_that_is_graded() -> None:
    rows = [{"question": "Who wrote Emma?", "answer": "Austen"}]
    tagged = Question(data=rows)
    boxed = Question(data=rows, answer_form="boxed")

    assert "<answer>...</answer>" in str(tagged.reset()[0])
    assert "boxed" not in str(tagged.reset()[0])
    assert r"\boxed{...}" in str(boxed.reset()[0])
    assert "<answer>" not in str(boxed.reset()[0])
    assert boxed.step(r"\boxed{\text{Austen}}").reward == 1.0


def test_a_context_stands_before_its_question() -> None:
    rows = [{"question": "Who wrote it?", "answer": "Austen", "context": "Austen wrote Emma."}]
    text = str(Question(data=rows).reset()[0])

    assert text.index("Context:\nAusten wrote Emma.") < text.index("Question: Who wrote it?")


def test_the_published_sets_ask_without_the_articles_of_their_tables() -> None:
    row = {"question": "Who wrote it?", "answer": "Austen", "context": {"title": ["Emma"]}}
    with gem.make("eval:HotpotQA", data=[row]) as env:
        assert "Emma" not in str(env.reset(task=0)[0])


@pytest.mark.parametrize("context", [{"title": ["Emma"]}, 7, " ", "\ud800"])
def test_a_context_that_is_no_text_is_one_clear_error(context: Any) -> None:
    row = {"question": "Who wrote it?", "answer": "Austen", "context": context}
    with pytest.raises(DataError, match=r"row 1: the field 'context' is .*, and must be text"):
        Question(data=[row])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (1912, "1912"),
        (2.5, "2.5"),
        (["a", 7], "7"),
        # A column of whole numbers with gaps is one of floats.
        (1912.0, "1912"),
        (1912.0, "1912.0"),
        (["a", 1000.0], "1,000"),
        (-0.0, "0"),
        (1e300, "1e+300"),
        (True, "true"),
        (True, "yes"),
        (False, "No."),
    ],
)
def test_an_answer_may_be_a_number_or_a_truth(ask: Ask, answer: Any, said: str) -> None:
    assert ask(answer, f"<answer>{said}</answer>").reward == 1.0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (2.5, "2"),
        (1912.0, "19120"),
        (1912, "1912.0"),
        (True, "no"),
        (False, "yes"),
        (True, "1"),
        (1.0, "yes"),
        ("True", "yes"),
    ],
)
def test_a_number_or_a_truth_accepts_no_other(ask: Ask, answer: Any, said: str) -> None:
    step = ask(answer, f"<answer>{said}</answer>")
    assert (step.reward, step.info["f1"]) == (0.0, 0.0)


@pytest.mark.parametrize("answer", [None, "", " ", [], ["x", ""], [None], {"a": 1}])
def test_a_row_without_an_answer_is_one_clear_error(ask: Ask, answer: Any) -> None:
    with pytest.raises(DataError, match=r"row 1: the field 'answer' is .* must be an answer"):
        ask(answer, "")


@pytest.mark.parametrize("answer", [float("nan"), ["x", float("nan")], float("inf")])
def test_a_row_whose_answer_is_no_number_is_one_clear_error(ask: Ask, answer: Any) -> None:
    with pytest.raises(DataError, match=r"row 1: the field 'answer' .*, and must be a value"):
        ask(answer, "")


@pytest.mark.parametrize("question", [None, "", 7, "\ud800"])
def test_a_row_without_a_question_is_one_clear_error(question: Any) -> None:
    with pytest.raises(DataError, match=r"row 1: the field 'question' is .*, and must be text"):
        Question(data=[{"question": question, "answer": "x"}])


def test_fields_may_have_other_names(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [{"q": f"What is number {n}?", "gold": [f"n{n}"]} for n in range(5)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    env = Question(data=path, fields={"question": "q", "answer": "gold"})

    assert env.num_tasks == 5
    assert "What is number 3?" in str(env.reset(task=3)[0])
    assert env.step("<answer>N3</answer>").reward == 1.0


def test_a_users_own_set_is_an_environment() -> None:
    rows = [{"question": "Who wrote Emma?", "answer": "Austen"}]
    gem.register("qa:Mine", "gem_envs_qa.question:Question", data=rows)

    with gem.make("qa:Mine", seed=0) as env:
        env.reset()
        assert env.step(str(env.solve())).info["success"]


def test_data_of_the_hub_that_is_absent_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs the extra `data`")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    # No other test asks for so many rows: a table that one of them still holds would be shared.
    with pytest.raises(DataError, match="axon-rl/NaturalQuestions") as caught:
        gem.make("qa:NaturalQuestions", limit=7)
    assert "CC BY-SA 3.0" in str(caught.value)


@pytest.mark.parametrize("paid", [-1.5, 0.5])
def test_a_format_error_never_pays(paid: float) -> None:
    with pytest.raises(BadArguments, match="between -1 and 0"):
        Question(data=[{"question": "?", "answer": "x"}], format_error_reward=paid)


def test_reset_takes_a_seed_and_a_task() -> None:
    env = gem.make("eval:QaOpen", data=[{"question": "?", "answer": "x"}])

    with pytest.raises(BadArguments, match="It takes seed and task;"):
        env.reset(difficulty=3)


def test_tables_are_shared_and_snapshots_hold_none_of_them() -> None:
    rows = [{"question": f"Is it {n}?", "answer": str(n)} for n in range(1000)]
    one = Question(data=rows)
    other = Question(data=rows)
    one.reset(task=7)

    assert one.table is other.table
    assert len(one.snapshot().to_json()) < 10_000
    assert one.fork().step("<answer>7</answer>").reward == 1.0
