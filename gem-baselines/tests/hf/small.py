"""What the tests of models of transformers share: a folder of a tiny one, an environment, a run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import gem
from gem_baselines.hf.policy import HFPolicy

WORDS = ["a", "b", "c", "d"]
TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}> {{ message.content }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)
CONTEXT = 64


class Words(gem.Env):
    """Tells some words each turn, for one to three turns. An answer earns its number of `a`."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self._num_turns = self.rng.randint(1, 3)
        return self._words(), {}

    def step(self, action: str) -> gem.Step:
        reward = float(action.count("a"))
        return gem.Step(self._words(), reward, self.turn + 1 == self._num_turns, False, {})

    def _words(self) -> str:
        return " ".join(self.rng.choices(WORDS, k=self.rng.randint(1, 5)))


def write_model(folder: Path) -> None:
    """Write the configuration of a tiny Llama, without weights, and a tokenizer of words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, PreTrainedTokenizerFast

    special = ["<pad>", "<end>", "<unk>", "<user>", "<assistant>"]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<end>",
        pad_token="<pad>",
        unk_token="<unk>",
        additional_special_tokens=["<user>", "<assistant>"],
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    LlamaConfig(
        architectures=["LlamaForCausalLM"],
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=CONTEXT,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=0,
        # Far from even: what is drawn then depends on what was read.
        initializer_range=0.5,
    ).save_pretrained(folder)


def make_policy(folder: Path, **options: Any) -> HFPolicy:
    """Make a policy whose answers have one to three tokens, so that rows end at their own times."""
    chosen: dict[str, Any] = {"max_turn_tokens": 3, "threads": 1, **options}
    return HFPolicy(str(folder), **chosen)


def play(policy: HFPolicy, *, episodes: int = 8, seed: int = 0) -> list[gem.Episode]:
    """Play episodes, and return them in the order of their numbers."""

    async def run() -> list[gem.Episode]:
        rollout = gem.rollout(policy, Words, episodes=episodes, seed=seed)
        return [episode async for episode in rollout]

    played = asyncio.run(run())
    assert [episode.error for episode in played] == [None] * episodes
    return sorted(played, key=lambda episode: episode.episode_index)
