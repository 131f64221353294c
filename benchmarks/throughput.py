r"""Episodes for each CPU second of training, beside TRL's GRPOTrainer, in one process.

Run it with `python benchmarks/throughput.py` (about four minutes of one core) where TRL is
installed:

    pip install -c constraints.txt ./gem-core ./gem-train ./gem-envs-games ./gem-integrations \
        './gem-baselines[torch]' trl

Both train a causal transformer of two layers and width 32 from random weights, of as many
parameters to 5%, on GuessTheNumber from 1 to 10: 8 starts of 8 episodes an update, GRPO, one step
of Adam. Both are given the same tokens: one tokenizer makes them, and both write a conversation
alike. With "hints" the game tells these alone, and a guess is one token; with "sentences" it tells
all its text, and an answer has up to 8 tokens. TRL plays by `gem_integrations.trl` with its own
generation, the baseline with its own sampler, which keeps its cache for an episode. Rounds of
either alternate, each from new weights of another seed; the first updates of a round, in which
it learns to answer, are not counted. CPU time is all that the process uses, for play and learning;
torch has one thread. A third round plays as many episodes with drawn guesses, without a model and
without learning: no training by `gem.rollout` can be faster than that. It prints the figures and
writes benchmarks/results/throughput.json; the status is 1 where the bar is missed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import gem
from gem.returns import grpo
from gem_baselines.learning_policy import Batch

RESULTS = Path(__file__).parent / "results" / "throughput.json"
WANTED = 8.0
GAME = "game:GuessTheNumber-v0-easy"
HINTS = "bench:Hints-v0"
NUMBERS = 10
OPTIONS: dict[str, Any] = {"min_number": 1, "max_number": NUMBERS, "max_turns": 10}
GUESSES = [rf"\boxed{{{number}}}" for number in range(1, NUMBERS + 1)]
PIECES = r"\\boxed\{\d+\}|higher\.|lower\.|\d+|\n|[^\n\d]+?(?=higher\.|lower\.|\d|\n|$)"
SPECIAL = ["<pad>", "<unk>", "<begin>", "<answer>", "<end>"]
TEMPLATE = (
    "{% for message in messages %}{% if loop.first %}<begin>{% endif %}{{ message.content }}"
    "{% if message.role == 'assistant' %}<end>{% else %}<answer>{% endif %}{% endfor %}"
)
STARTS = 8
TRIES = 8
WIDTH = 32
LAYERS = 2
HEADS = 4
LEARNING_RATE = 1e-3


class Setting(NamedTuple):
    """What is played: an environment, the longest answer, and the longest sequence, in tokens."""

    env: str
    answer_tokens: int
    max_length: int


class Plan(NamedTuple):
    """How many updates a round has: those before the measured ones, which learn to answer."""

    uncounted: int
    counted: int


SETTINGS = {
    "hints": Setting(HINTS, 1, 64),
    "sentences": Setting(GAME, 8, 512),
}
PLANS = {"hints": Plan(20, 10), "sentences": Plan(3, 5)}


class Stopwatch:
    """Adds up the CPU seconds that calls of a function take."""

    def __init__(self) -> None:
        self.cpu_s = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, with its time added here."""

        def call(*arguments: Any, **options: Any) -> Any:
            began_s = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.cpu_s += time.process_time() - began_s

        return call


class GameTokens:
    """The tokenizer of both: pieces of what a game tells, and each guess, are a token each."""

    def __init__(self, setting: Setting) -> None:
        pieces = {piece for text in texts(setting) for piece in re.findall(PIECES, text)}
        words = [*SPECIAL, *GUESSES, *sorted(pieces.difference(GUESSES))]
        self.ids = {word: number for number, word in enumerate(words)}
        self.size = len(words)
        self.begin_id = self.ids["<begin>"]
        self.answer_id = self.ids["<answer>"]
        self.end_id = self.ids["<end>"]
        self._words = words

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return [self.ids.get(piece, 1) for piece in re.findall(PIECES, text)]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; special ones have none."""
        return "".join(self._words[id] for id in ids if id >= len(SPECIAL))

    def describe(self) -> Mapping[str, Any]:
        """Return nothing: no checkpoint is made here."""
        return {}


class Hints(gem.Env):
    """GuessTheNumber without its sentences: it tells `begin`, then `higher.` or `lower.`."""

    def __init__(self, **options: Any) -> None:
        self._game = gem.make(GAME, **options)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self._game.reset(seed=self.rng.getrandbits(32))
        return "begin", {}

    def step(self, action: str) -> gem.Step:
        step = self._game.step(action)
        hint = re.search(r"higher\.|lower\.", str(step.observation))
        return step._replace(observation=hint.group() if hint else "begin", info={})


def texts(setting: Setting, episodes: int = 100) -> list[str]:
    """Return what a game tells in random play."""
    env = gem.make(setting.env, **OPTIONS)
    told = []
    for seed in range(episodes):
        observation, info = env.reset(seed=seed)
        told.append(f"{observation}\n{info.get('suffix', '')}")
        is_over = False
        while not is_over:
            step = env.step(GUESSES[len(told) % NUMBERS])
            told.append(f"{step.observation}\n{step.info.get('suffix', '')}")
            is_over = step.terminated or step.truncated
    return told


def own_round(setting: Setting, seed: int, plan: Plan) -> dict[str, float]:
    """Train by the baseline, and return what the counted updates took."""
    from gem_baselines.transformer.policy import TransformerPolicy

    tokens = GameTokens(setting)
    policy = TransformerPolicy(
        tokens,
        max_answer_tokens=setting.answer_tokens,
        shape={
            "width": WIDTH,
            "layers": LAYERS,
            "heads": HEADS,
            "max_length": setting.max_length,
            "positions": "rotary",
        },
        learning={
            "lr": LEARNING_RATE,
            "epochs": 1,
            "constant": setting.answer_tokens,
            "rows_at_once": STARTS * TRIES // 4,
        },
        seed=seed,
    )
    sampler: Any = policy._sampler
    sampling = Stopwatch()
    sampler.sample = sampling.timed(sampler.sample)
    learning = Stopwatch()
    learn = learning.timed(policy.update)
    counted: list[gem.Episode] = []
    began_s = 0.0
    for update in range(plan.uncounted + plan.counted):
        if update == plan.uncounted:
            sampling.cpu_s = 0.0
            learning.cpu_s = 0.0
            began_s = time.process_time()
        episodes = _played(policy, setting, 1000 * seed + update)
        earned = [episode.total_reward for episode in episodes]
        by_episode = grpo(earned, [episode.episode_index for episode in episodes])
        advantages = [
            np.full(len(episode.turns), own)
            for episode, own in zip(episodes, by_episode, strict=True)
        ]
        learn(Batch(episodes, advantages))
        if update >= plan.uncounted:
            counted += episodes
    model: Any = policy._learner.model
    figures = _figures(counted, time.process_time() - began_s, model)
    return {
        **figures,
        "sampling_cpu_s": round(sampling.cpu_s, 3),
        "learning_cpu_s": round(learning.cpu_s, 3),
    }


def rollout_round(setting: Setting, seed: int, plan: Plan) -> dict[str, float]:
    """Play with drawn guesses and learn nothing, and return what that took."""
    rng = random.Random(seed)
    began_s = time.process_time()
    played: list[gem.Episode] = []
    for update in range(plan.counted):
        played += _played(lambda request: rng.choice(GUESSES), setting, 1000 * seed + update)
    return _figures(played, time.process_time() - began_s)


def _played(policy: gem.Policy, setting: Setting, seed: int) -> list[gem.Episode]:
    """Play the episodes of one update."""
    return gem.run(
        policy,
        setting.env,
        env_kwargs=OPTIONS,
        episodes=STARTS,
        repeats=TRIES,
        seed=seed,
        concurrency=STARTS * TRIES,
    )


def trl_round(setting: Setting, seed: int, plan: Plan) -> dict[str, float]:
    """Train by TRL, and return what the counted updates took."""
    import torch
    from datasets import Dataset
    from transformers import LlamaConfig, LlamaForCausalLM, TrainerCallback, set_seed
    from trl import GRPOConfig, GRPOTrainer

    from gem_integrations.trl import reward_func, rollout_func

    tokens = GameTokens(setting)
    set_seed(seed)
    config = LlamaConfig(
        vocab_size=tokens.size,
        hidden_size=WIDTH,
        intermediate_size=round(8 * WIDTH / 3),  # three matrices, where the baseline has two
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=setting.max_length,
        bos_token_id=tokens.begin_id,
        eos_token_id=tokens.end_id,
        pad_token_id=0,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    clock: list[float] = []  # at the end of each update

    class Clock(TrainerCallback):  # type: ignore[misc, unused-ignore]  # transformers is untyped
        def on_step_end(self, *_: Any, **__: Any) -> None:
            clock.append(time.process_time())

    play = rollout_func(
        setting.env,
        env_kwargs=OPTIONS,
        max_turn_tokens=setting.answer_tokens,
    )
    counted: list[gem.Episode] = []

    def counted_play(prompts: Sequence[Any], trainer: Any) -> dict[str, list[Any]]:
        rows = play(prompts, trainer)
        if len(clock) >= plan.uncounted:
            counted.extend(rows["episode"])
        return rows

    with tempfile.TemporaryDirectory() as folder:
        GRPOTrainer(
            model=model,
            reward_funcs=reward_func,
            rollout_func=counted_play,
            processing_class=_tokenizer_of_trl(tokens),
            train_dataset=Dataset.from_list([{"prompt": ""}] * STARTS * TRIES),
            callbacks=[Clock()],
            args=GRPOConfig(
                output_dir=folder,
                seed=seed,
                max_steps=plan.uncounted + plan.counted,
                learning_rate=LEARNING_RATE,
                per_device_train_batch_size=STARTS * TRIES,
                num_generations=TRIES,
                max_completion_length=setting.max_length,
                beta=0.0,
                top_k=0,
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                save_strategy="no",
                report_to=[],
                disable_tqdm=True,
                lr_scheduler_type="constant",
                logging_steps=plan.uncounted + plan.counted,
            ),
        ).train()
    torch.set_num_threads(1)
    return _figures(counted, clock[-1] - clock[plan.uncounted - 1], model)


def _tokenizer_of_trl(tokens: GameTokens) -> Any:
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel(dict(tokens.ids), unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "isolated")
    inner.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<end>",
        pad_token="<pad>",
        unk_token="<unk>",
        additional_special_tokens=["<begin>", "<answer>"],
    )
    made.chat_template = TEMPLATE
    return made


def _figures(counted: Sequence[gem.Episode], cpu_s: float, model: Any = None) -> dict[str, float]:
    turns = sum(len(episode.turns) for episode in counted)
    tokens = sum(len(turn.token_ids or ()) for episode in counted for turn in episode.turns)
    figures = {
        "episodes": len(counted),
        "cpu_s": round(cpu_s, 3),
        "episodes_per_cpu_s": round(len(counted) / cpu_s, 1),
        "turns_per_cpu_s": round(turns / cpu_s, 1),
        "turns": round(turns / len(counted), 2),
    }
    if model is not None:
        figures["tokens"] = round(tokens / len(counted), 1)
        figures["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    return figures


def main() -> int:
    """Measure, print and keep the figures; the status is 1 where the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    options = parser.parse_args()
    missing = [name for name in ("torch", "trl") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"Not measured: {' and '.join(missing)} is not installed. See {Path(__file__).name}.")
        return 0
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    # Beside this script lies a `requests.py`, which TRL would take for the package of that name.
    sys.path[:] = [path for path in sys.path if Path(path) != Path(__file__).parent]
    import torch

    torch.set_num_threads(1)
    gem.register(gem.EnvSpec(id=HINTS, target=f"{__file__}:Hints", blocking=False), Hints)
    sides = {"baseline": own_round, "trl": trl_round, "rollout": rollout_round}
    figures: dict[str, Any] = {"wanted": WANTED}
    for name, setting in SETTINGS.items():
        rounds = []
        for number in range(options.rounds):
            order = list(sides) if number % 2 else list(reversed(sides))
            found = {side: sides[side](setting, number, PLANS[name]) for side in order}
            rounds.append(found)
            for side in sides:
                print(f"{name}, round {number}, {side}: {found[side]}", flush=True)
        compared = {side: _compared(rounds, side) for side in ("baseline", "rollout")}
        figures[name] = {
            "rounds": rounds,
            **compared["baseline"],
            "bound": compared["rollout"],
            "learning_alone": _learning_alone(rounds),
        }
        print(f"{name}, times TRL's: {compared}", flush=True)
    RESULTS.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    reached = min(figures[name]["episodes"]["median"] for name in SETTINGS)
    print(f"At least {WANTED} times TRL's episodes for each CPU second are wanted: {reached}.")
    return 0 if reached >= WANTED else 1


def _learning_alone(rounds: Sequence[Mapping[str, Mapping[str, float]]]) -> float:
    """Return how many times TRL's episodes the baseline would have, if only learning took time."""
    ratios = [
        found["baseline"]["episodes"]
        / found["baseline"]["learning_cpu_s"]
        / found["trl"]["episodes_per_cpu_s"]
        for found in rounds
    ]
    return round(median(ratios), 2)


def _compared(
    rounds: Sequence[Mapping[str, Mapping[str, float]]], side: str
) -> dict[str, dict[str, float]]:
    """Return how many times TRL's episodes, and turns, one side plays in a CPU second."""
    compared = {}
    for unit in ("episodes", "turns"):
        key = f"{unit}_per_cpu_s"
        ratios = [found[side][key] / found["trl"][key] for found in rounds]
        compared[unit] = {
            "median": round(median(ratios), 2),
            "least": round(min(ratios), 2),
            "most": round(max(ratios), 2),
        }
    return compared


if __name__ == "__main__":
    sys.exit(main())
