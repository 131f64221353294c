"""Tokenizers of bytes, with the chat templates of models in wide use."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

END = {
    "cohere": "<|END_OF_TURN_TOKEN|>",
    "deepseek_r1_distill": "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "deepseekv3": "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "gemma": "<end_of_turn>",
    "gemma3": "<end_of_turn>",
    "glm4moe": "<|user|>",
    "gptoss": "<|end|>",
    "lfm2": "<|im_end|>",
    "llama3": "<|eot_id|>",
    "llama3_1": "<|eot_id|>",
    "phi3": "<|end|>",
    "qwen2_5": "<|im_end|>",
    "qwen3": "<|im_end|>",
    "qwen3_5_think": "<|im_end|>",
    "qwen3_instruct_2507": "<|im_end|>",
    "qwen3_training": "<|im_end|>",
}
"""What ends a turn, by the name of the template."""

APPENDING = [
    "cohere",
    "gemma",
    "gemma3",
    "lfm2",
    "llama3",
    "llama3_1",
    "phi3",
    "qwen2_5",
    "qwen3",
    "qwen3_instruct_2507",
]
"""Those that show what was said as it was said, where it holds no reasoning."""

MISTRAL = {
    "mistral_v1": ("v1", True),  # Mistral 7B v0.1 and v0.2, Mixtral 8x7B
    "mistral_v3": ("v3", True),  # Mistral 7B v0.3
    "mistral_nemo": ("v3", False),  # Mistral Nemo: the same with Tekken, without spaces
    "mistral_v13": ("v13", False),  # Magistral and Devstral of 2507
}
"""Those of `mistral-common`: the version of its tokenizer, and whether that is SentencePiece."""

LLAMA2 = """
{%- set ns = namespace(system='') -%}
{%- for m in messages -%}
{%- if m.role == 'system' -%}
{%- set ns.system = '<<SYS>>\n' + m.content + '\n<</SYS>>\n\n' -%}
{%- elif m.role == 'user' -%}
{{- bos_token + '[INST] ' + ns.system + m.content.strip() + ' [/INST]' -}}
{%- set ns.system = '' -%}
{%- elif m.role == 'assistant' -%}
{{- ' ' + m.content.strip() + ' ' + eos_token -}}
{%- else -%}
{{- raise_exception('Only system, user and assistant may speak.') -}}
{%- endif -%}
{%- endfor -%}
"""
"""Llama 2's, from the format that its card describes: no package that we know carries it."""

LEADING = ["llama2", "mistral_v1", "mistral_v3"]
"""Those that put a space before what was said, and none where the model is to speak."""

REWRITING = sorted({*END} - {*APPENDING})
"""Those that always show it otherwise: they open with reasoning, and drop it later, or add some."""

OTHERS = [
    "<|observation|>",
    "<|im_start|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<start_of_turn>",
    "<s>",
]


NAMES = {
    "appending": APPENDING,
    "with_system": [name for name in APPENDING if name != "gemma"],  # which takes no system
    "rewriting": REWRITING,
    "leading": LEADING,
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes a kind of template with each of that kind."""
    for kind, names in NAMES.items():
        if kind in metafunc.fixturenames:
            metafunc.parametrize(kind, names)


@pytest.fixture(scope="session")
def tokenizer_of() -> Callable[..., Any]:
    """Return a function that gives the tokenizer with a template, of a model or of the test."""
    pytest.importorskip("transformers")
    return cache(tokenizer_with)


def tokenizer_with(name: str, template: str | None = None) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={each: at for at, each in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    make: Any = PreTrainedTokenizerFast  # untyped
    tokenizer = make(
        tokenizer_object=inner,
        bos_token="<s>",
        eos_token=END.get(name, "</s>"),
        additional_special_tokens=OTHERS,
    )
    tokenizer.chat_template = template or _template(name)
    return tokenizer


def _template(name: str) -> str:
    """Read a template as TRL carries it. TRL itself, which needs torch, is not imported."""
    if name == "llama2":
        return LLAMA2
    if name in MISTRAL:
        return _mistral_template(*MISTRAL[name])
    try:
        files = importlib.metadata.files("trl") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("TRL, which carries the templates, is not installed")
    place = next(each for each in files if each.match(f"chat_templates/{name}.jinja"))
    return str(place.read_text())


def _mistral_template(version: str, is_sentencepiece: bool) -> str:
    generator = pytest.importorskip("mistral_common.integrations.chat_templates.template_generator")
    config = generator.TemplateConfig(
        version=generator.TokenizerVersion(version),
        spm=is_sentencepiece,
        use_special_token_variables=True,
    )
    return str(generator.build_chat_template(config))
