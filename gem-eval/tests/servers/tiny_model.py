"""Make a language model that knows nothing: random weights, a tokenizer of bytes, a chat template.

`python tiny_model.py FOLDER` writes it as transformers keeps models, 0.1 MB, without a network.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["make_model"]

_TEMPLATE = (
    "{% for message in messages %}<s>{{ message['role'] }}: {{ message['content'] }}</s>"
    "{% endfor %}{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def make_model(folder: Path, *, learned_positions: int | None = None) -> None:
    """Write a model with fixed random weights and its tokenizer into a folder.

    One with so many learned positions, as GPT-2 has, cannot read a token beyond them.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import (
        GPT2Config,
        GPT2LMHeadModel,
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    words = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "<s>", "</s>"]
    ids = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    fast.chat_template = _TEMPLATE
    torch.manual_seed(0)
    fast.save_pretrained(folder)
    ends = {"bos_token_id": ids["<s>"], "eos_token_id": ids["</s>"]}
    if learned_positions is not None:
        small = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": learned_positions}
        GPT2LMHeadModel(GPT2Config(vocab_size=len(words), **small, **ends)).save_pretrained(folder)
        return
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=4096,
        **ends,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


if __name__ == "__main__":
    make_model(Path(sys.argv[1]))
