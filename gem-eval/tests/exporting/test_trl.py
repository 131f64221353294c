"""The formats sft and dpo, trained on for one step by TRL's own trainers.

The model is made on the spot, with random weights. Where torch or TRL is not installed this is left
out: `nox -s others` installs both.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gem_eval

from . import runs

pytest.importorskip("torch")
pytest.importorskip("accelerate")  # its trainers take no step without
trl = pytest.importorskip("trl")

MakeRun = Callable[..., Path]

pytestmark = pytest.mark.slow

TEMPLATE = """\
{%- for message in messages -%}
<{{ message.role }}>
{%- for call in message.tool_calls or [] -%}
{{ call.function.name }}{{ call.function.arguments | tojson }}
{%- endfor -%}
{{ message.content }}</s>
{%- endfor -%}
{%- if add_generation_prompt %}<assistant>{% endif -%}
"""
QUIET = {
    "use_cpu": True,
    "bf16": False,
    "max_steps": 1,
    "per_device_train_batch_size": 2,
    "report_to": [],
    "save_strategy": "no",
    "disable_tqdm": True,
    "logging_steps": 1,
    "gradient_checkpointing": False,
}


@pytest.fixture(autouse=True)
def _frameworks_warn_as_they_like(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tiny_model() -> tuple[Any, Any]:
    """Return a tokenizer of bytes, and a model of two layers."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["<pad>", "</s>", *letters]
    inner = Tokenizer(models.BPE({word: id for id, word in enumerate(words)}, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", chat_template=TEMPLATE
    )
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    return tokenizer, LlamaForCausalLM(config)


def load(path: str, folder: Path) -> Any:
    from datasets import load_dataset

    return load_dataset("json", data_files=path, split="train", cache_dir=str(folder / "cache"))


def test_the_sft_trainer_takes_a_step(
    run: Callable[..., Any], make_run: MakeRun, tmp_path: Path
) -> None:
    played = run("played")
    path = gem_eval.export(played.path, to="sft", out=tmp_path / "solved.jsonl").path
    tools = make_run(runs.episode(*runs.with_tools()), runs.episode(seed=2))
    tools_path = gem_eval.export(tools, to="sft", out=tmp_path / "tools.jsonl").path

    for each in (path, tools_path):
        tokenizer, model = tiny_model()
        trainer = trl.SFTTrainer(
            model=model,
            args=trl.SFTConfig(output_dir=str(tmp_path / "sft"), **QUIET),
            train_dataset=load(each, tmp_path),
            processing_class=tokenizer,
        )
        loss = trainer.train().training_loss
        assert 0 < loss < 20

    shown = tokenizer.decode(trainer.train_dataset[0]["input_ids"])
    assert 'add{"a": 2, "b": [3]}' in shown
    assert "It is 5." in shown


def test_the_dpo_trainer_takes_a_step(run: Callable[..., Any], tmp_path: Path) -> None:
    played = run("played")
    path = gem_eval.export(played.path, to="dpo", out=tmp_path / "pairs.jsonl").path
    tokenizer, model = tiny_model()

    trainer = trl.DPOTrainer(
        model=model,
        ref_model=copy.deepcopy(model),
        args=trl.DPOConfig(output_dir=str(tmp_path / "dpo"), **QUIET),
        train_dataset=load(path, tmp_path),
        processing_class=tokenizer,
    )
    loss = trainer.train().training_loss

    assert loss == pytest.approx(0.6931, abs=0.01)  # ln 2: nothing was learned before
