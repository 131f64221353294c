from __future__ import annotations

from pathlib import Path

import pytest

from gem_eval import SettingsError
from gem_eval.cli.config import arguments, read_config


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "evaluation.toml"


def test_a_file_has_the_names_of_the_command_line(file: Path) -> None:
    file.write_text(
        """
        envs = "tiny:*"
        policy = ["solver", "random"]
        episodes = "all"
        task = [3, 5]
        seed-range = [0, 50]
        max-turns = 5
        step-timeout = 2
        wrappers = ["concat", {id = "time_limit", max_turns = 3}]
        env-kwargs = {highest = 9}
        backend = "process"
        workers = 2
        backend-options = {start_method = "spawn"}
        cache = "answers"
        track = "mlflow"
        max-requests = 100
        max-total-tokens = 200
        max-cost = 5
        prices = {my-model = {prompt = 1, completion = 2}}
        policy-kwargs.openai.temperature = 0.5
        """
    )

    assert arguments(read_config(str(file))) == {
        "envs": ["tiny:*"],
        "policies": ["solver", "random"],
        "episodes": "all",
        "tasks": [3, 5],
        "seed_range": [0, 50],
        "max_turns": 5,
        "step_timeout_s": 2,
        "wrappers": ["concat", {"id": "time_limit", "max_turns": 3}],
        "env_kwargs": {"highest": 9},
        "backend": "process",
        "num_workers": 2,
        "backend_options": {"start_method": "spawn"},
        "cache": "answers",
        "track": ["mlflow"],
        "max_requests": 100,
        "max_total_tokens": 200,
        "max_cost": 5,
        "prices": {"my-model": {"prompt": 1, "completion": 2}},
        "policy_kwargs": {"openai": {"temperature": 0.5}},
    }


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("envs = ", "not TOML"),
        ("episode = 5", "'episode'"),
        ("resume = 'x'", "'resume'"),
        ("repeats = '5'", "'repeats'"),
        ("repeats = true", "'repeats'"),
        ("envs = [1]", "'envs'"),
        ("task = ['x']", "'task'"),
        ("env-kwargs = '{}'", "'env-kwargs'"),
    ],
)
def test_a_file_that_holds_no_options_is_told(file: Path, text: str, what: str) -> None:
    file.write_text(text)

    with pytest.raises(SettingsError, match=what) as caught:
        read_config(str(file))

    assert str(file) in str(caught.value)


def test_a_file_that_is_not_text_is_told(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match="not TOML"):
        read_config(str(file))


def test_a_file_that_is_not_there_is_told(file: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        read_config(str(file))


@pytest.mark.parametrize("text", ["{highest: 3}", "", "[1]", "3", '{"a": 1', "[" * 100_000])
def test_arguments_that_are_no_json_object_are_told(text: str) -> None:
    with pytest.raises(SettingsError, match="JSON"):
        arguments({"env_kwargs": text})


def test_wrappers_with_arguments_are_a_json_list() -> None:
    layers = '["concat", {"id": "time_limit", "max_turns": 3}]'
    expected = ["concat", {"id": "time_limit", "max_turns": 3}]
    assert arguments({"wrappers": layers}) == {"wrappers": expected}


def test_wrappers_are_split_at_commas() -> None:
    assert arguments({"wrappers": "concat, time_limit,"}) == {"wrappers": ["concat", "time_limit"]}
