from __future__ import annotations

import pytest

from gem_eval.short_names import short_names

QWEN = "openai:Qwen/Qwen3-8B@http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("solver", "solver"),
        (QWEN, "Qwen3-8B"),
        ("openai:llama3:8b@http://127.0.0.1:11434/v1", "llama3:8b"),
        ("scripted:my_policies:Careful", "Careful"),
        ("hf:checkpoints/step-100/", "step-100"),
        ("", ""),
        ("openai:/", "/"),
        ("openai:", "openai:"),
    ],
)
def test_a_name_alone_is_called_by_its_last_part(name: str, short: str) -> None:
    assert short_names([name]) == {name: short}


def test_one_model_on_two_servers_is_told_by_where_it_is() -> None:
    other = "openai:Qwen/Qwen3-8B@https://elsewhere/v1"

    assert short_names([QWEN, other]) == {
        QWEN: "Qwen3-8B@localhost:8000",
        other: "Qwen3-8B@elsewhere",
    }


def test_one_name_of_two_makers_is_told_by_the_maker() -> None:
    other = "openai:copies/Qwen3-8B@http://localhost:8000/v1"

    assert short_names([QWEN, other]) == {QWEN: "Qwen/Qwen3-8B", other: "copies/Qwen3-8B"}


def test_what_only_differs_at_the_end_keeps_its_whole_name() -> None:
    other = f"{QWEN}/other"

    assert short_names([QWEN, other]) == {QWEN: QWEN, other: other}


def test_a_short_name_is_never_the_name_of_another() -> None:
    assert short_names(["scripted:mine:random", "random"]) == {
        "scripted:mine:random": "mine:random",
        "random": "random",
    }
