"""The commands of docs/trainers for TRL: they are parsed by TRL, and run on a CPU as they say."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for trl_rig.py

from pages import EXAMPLES, ROOT, arguments_of
from trl import GRPOConfig, ModelConfig, TrlParser
from trl_rig import tiny

EXAMPLE = EXAMPLES / "trl_grpo.py"
SMALL = {
    "max_steps": 1,
    "episodes": 4,
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 1,
    "num_generations": 2,
    "max_completion_length": 8,
}


@pytest.mark.parametrize("page", ["trl.md", "one-gpu.md"])
def test_the_commands_of_the_pages_are_parsed(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    parser = TrlParser((runpy.run_path(str(EXAMPLE))["Chosen"], GRPOConfig, ModelConfig))

    read = [
        parser.parse_args_and_config([*each, "--use_cpu", "True", "--bf16", "False"])
        for each in arguments_of("trl_grpo.py", page)
    ]

    assert {chosen.env for chosen, _, _ in read} <= {"guess", "arithmetic", "tool", "methods"}
    assert len(read) > 0


@pytest.mark.parametrize("name", ["guess", "arithmetic", "tool"])
def test_the_example_trains_on_a_cpu_as_the_page_says(
    name: str, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """A model of two layers with random weights takes the place of the one that is named."""
    monkeypatch.chdir(ROOT)
    tiny(tokenizer).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    [command] = [each for each in arguments_of("trl_grpo.py", "trl.md") if "--use_cpu" in each]
    command[command.index("--env") + 1] = name
    smaller = SMALL | {"model_name_or_path": tmp_path / "model", "output_dir": tmp_path / "out"}
    told = [str(word) for key, value in smaller.items() for word in (f"--{key}", value)]
    monkeypatch.setattr(sys, "argv", ["trl_grpo.py", *command, *told])

    runpy.run_path(str(EXAMPLE), run_name="__main__")

    assert '"train_loss"' in capsys.readouterr().out
