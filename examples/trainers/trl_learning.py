r"""Train a tiny model from nothing by TRL on a CPU, three times; and as often on shuffled rewards.

    python examples/trainers/trl_learning.py --out learning.json --plot learning.svg

The game is `game:GuessTheNumber-v0-easy` with five numbers and two guesses. The model is a Llama
of two layers with random weights, and its vocabulary is that of the game: pieces of its sentences,
and each guess, such as `\boxed{3}`, as one token; an answer is at most eight. The control differs
in one thing: the rewards are shuffled across the batch before the trainer sees them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gem

ENV = "game:GuessTheNumber-v0-easy"
NUMBERS = 5
OPTIONS: dict[str, Any] = {"min_number": 1, "max_number": NUMBERS, "max_turns": 2}
GUESSES = [rf"\boxed{{{number}}}" for number in range(1, NUMBERS + 1)]
PIECES = r"\\boxed\{\d\}|<end>|higher\.|lower\.|\d+|\n|[^\n\d]+?(?=higher\.|lower\.|\d|\n|$)"
SEEDS = (0, 1, 2)
TOKENS = 8  # of an answer, of which the last guess counts
MAXIMUM = 1.0


def random_returns(episodes: int = 2000) -> Iterator[float]:
    """Yield what guesses drawn from those not made yet earn."""
    env = gem.make(ENV, **OPTIONS)
    for seed in range(episodes):
        env.reset(seed=seed)
        earned = 0.0
        is_over = False
        while not is_over:
            step = env.step(env.sample_action())
            earned += step.reward
            is_over = step.terminated or step.truncated
        yield earned


def texts(episodes: int = 100) -> Iterator[str]:
    """Yield what the game says."""
    env = gem.make(ENV, **OPTIONS)
    for seed in range(episodes):
        observation, info = env.reset(seed=seed)
        yield f"{observation}\n{info['suffix']}"
        is_over = False
        while not is_over:
            step = env.step(env.sample_action())
            yield f"{step.observation}\n{step.info.get('suffix', '')}"
            is_over = step.terminated or step.truncated


def tokenizer() -> Any:
    """Return a tokenizer of the game's own pieces."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = {piece for text in texts() for piece in re.findall(PIECES, text)}
    words = ["<pad>", "<end>", "<unk>", *GUESSES, *sorted(pieces.difference(GUESSES))]
    vocabulary = {word: number for number, word in enumerate(words)}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "isolated")
    inner.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<end>", pad_token="<pad>", unk_token="<unk>"
    )
    made.chat_template = "{% for m in messages %}{{ m['content'] }}<end>{% endfor %}"
    return made


def curve(seed: int, *, is_control: bool, steps: int, folder: str) -> list[float]:
    """Train once, and return the mean return of each step's episodes."""
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    import torch
    from datasets import Dataset
    from transformers import LlamaConfig, LlamaForCausalLM, set_seed
    from trl import GRPOConfig, GRPOTrainer

    from gem_integrations.trl import reward_func, rollout_func

    torch.set_num_threads(1)
    set_seed(seed)
    words = tokenizer()
    means = []
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), num_hidden_layers=2, **sizes))

    def rewards(**given: Any) -> list[float | None]:
        earned = reward_func(**given)
        means.append(sum(reward or 0.0 for reward in earned) / len(earned))
        if is_control:
            random.Random(f"{seed} {len(means)}").shuffle(earned)
        return earned

    GRPOTrainer(
        model=model,
        reward_funcs=rewards,
        rollout_func=rollout_func(ENV, env_kwargs=OPTIONS, max_turn_tokens=TOKENS),
        processing_class=words,
        train_dataset=Dataset.from_list([{"prompt": ""}] * 64),
        args=GRPOConfig(
            output_dir=folder,
            seed=seed,
            max_steps=steps,
            learning_rate=3e-3,
            per_device_train_batch_size=64,
            num_generations=16,
            beta=0.0,
            top_k=0,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            logging_steps=steps,
        ),
    ).train()
    return means


def gain(means: Sequence[float]) -> float:
    """Return how far the mean return rose from the first to the last tenth of training."""
    tenth = max(1, len(means) // 10)
    return (sum(means[-tenth:]) - sum(means[:tenth])) / tenth


def plot(figures: dict[str, Any]) -> str:
    """Draw the curves, each the mean of five steps, as SVG."""
    width = 640
    height = 320
    left = 60
    top = 40
    names = {"trained": "#2a6fbb", "shuffled": "#bb6a2a"}
    steps = figures["steps"]

    def place(step: float, value: float) -> str:
        return f"{left + 440 * step / steps:.1f},{top + 240 * (1.0 - value) / 1.2:.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{left}" y="22" font-weight="bold">Mean return of a step of GRPO on a CPU</text>',
    ]
    levels = {"maximum": MAXIMUM, "random policy": figures["random"], "0": 0.0}
    for name, value in levels.items():
        at = place(0, value)
        y = place(0, value).split(",")[1]
        lines += [
            f'<polyline points="{at} {place(steps, value)}" stroke="#999999" '
            'stroke-dasharray="4" fill="none"/>',
            f'<text x="508" y="{float(y) + 4:.1f}">{name}</text>',
        ]
    for row, (name, colour) in enumerate(names.items()):
        for means in figures[name]:
            parts = [means[at : at + 5] for at in range(0, len(means), 5)]
            points = " ".join(
                place(5 * number + len(part) / 2, sum(part) / len(part))
                for number, part in enumerate(parts)
            )
            lines.append(f'<polyline points="{points}" stroke="{colour}" fill="none"/>')
        lines.append(f'<text x="508" y="{150 + 20 * row}" fill="{colour}">{name}, 3 seeds</text>')
    lines.append(f'<text x="{left}" y="306">{steps} steps of 64 episodes</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    """Train six times, print what became of it, and write the curves and their picture."""
    parser = argparse.ArgumentParser(description="Train a tiny model by TRL on a CPU.")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once")
    parser.add_argument("--folder", default="runs/trl_learning", help="where TRL keeps its files")
    parser.add_argument("--out", type=Path, default=Path("trl_learning.json"))
    parser.add_argument("--plot", type=Path, help="the picture's file, .svg")
    asked = parser.parse_args()
    returns = list(random_returns())
    figures: dict[str, Any] = {"steps": asked.steps, "random": sum(returns) / len(returns)}
    third = (MAXIMUM - figures["random"]) / 3
    figures["third_of_the_gap"] = third
    for name in ("trained", "shuffled"):
        run = {"is_control": name == "shuffled", "steps": asked.steps, "folder": asked.folder}
        with ProcessPoolExecutor(asked.jobs, get_context("spawn")) as processes:
            figures[name] = list(processes.map(partial(curve, **run), SEEDS))
        figures[f"{name}_gains"] = list(map(gain, figures[name]))
        print(name, "gained", *(f"{points:+.3f}" for points in figures[f"{name}_gains"]))
    print(f"random policy {figures['random']:.3f}, a third of the gap {third:.3f}")
    asked.out.write_text(json.dumps(figures) + "\n", encoding="utf-8")
    if asked.plot:
        asked.plot.write_text(plot(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
