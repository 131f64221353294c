"""Measure what a trajectory in tokens costs, next to rendering the whole conversation each turn.

Run it with `python benchmarks/tokens.py [--rounds N] [--quick]` where transformers is installed.
Every round builds a trajectory of each length in each way, in an order that changes. A figure is
the first decile over rounds of this process's CPU time, to which other work on the same cores only
ever adds; medians stand beside it in the results. Each turn adds 400 tokens: 190 bytes of the
environment, 189 of the model, and ChatML. The results go to benchmarks/results/tokens.json, and a
plot to docs/tokens.svg.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gem
from gem.content import Message
from gem.conversation import Reply
from gem.tokens import (
    ChatCodec,
    Sampled,
    TokenContext,
    TokenPolicy,
    TokenTerms,
    Trajectory,
)

# The parts are modules.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.execution_parts.cpu import Machine
from benchmarks.tokens_parts.plot import lines_plotted

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would count, waiting too

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "tokens.json"
PLOT = ROOT / "docs" / "tokens.svg"
TURNS = (5, 10, 20, 40, 80)
TOLD = 190
SAID = 189
MARKUP = 21
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
Way = Callable[[], None]


class Telling(gem.Env):
    """Tells something of the same length each turn, and ends after `length` turns."""

    def __init__(self, length: int) -> None:
        self.length = length

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return told(0), {}

    def step(self, action: str) -> gem.Step:
        now = self.turn + 1
        return gem.Step(told(now), 1.0, now >= self.length, False, {})


def told(turn: int) -> str:
    """Return what the environment says at a turn."""
    return (f"{turn:04} " + "north of the river, " * TOLD)[:TOLD]


def tokenizer_of_bytes() -> Any:
    """Return a fast tokenizer of bytes with ChatML's template, as `transformers` has them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(
        models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[])
    )
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>"],
    )
    tokenizer.chat_template = CHATML
    return tokenizer


class Ways:
    """The ways to come by the tokens of one and the same episode."""

    def __init__(self) -> None:
        self.tokenizer = tokenizer_of_bytes()
        self.codec = ChatCodec(self.tokenizer)
        self.text = ("I go on, and look around. " * SAID)[:SAID]
        self.ids = (*self.encoded(self.text), int(self.tokenizer.eos_token_id))
        self.sampled = Sampled(self.ids, (-0.5,) * len(self.ids), "stop")
        self.prompts: dict[str, list[tuple[int, ...]]] | None = {}

    def supervise(self, name: str, prompt: tuple[int, ...]) -> None:
        """Keep a prompt for the comparison, before anything is timed."""
        if self.prompts is not None:
            self.prompts.setdefault(name, []).append(prompt)

    def encoded(self, text: str) -> list[int]:
        """Tokenise a text."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return ids

    def of(self, turns: int) -> dict[str, Way]:
        """Return what is timed for episodes of so many turns."""
        return {
            "built": lambda: self.built(turns),
            "tokenising": lambda: self.tokenising(turns),
            "rendered": lambda: self.rendered(turns),
            "rollout": lambda: self.rollout(turns),
            "text": lambda: self.text_rollout(turns),
        }

    def built(self, turns: int) -> None:
        """Build a trajectory by `gem.tokens`: the model's own tokens stay what they are."""
        context = TokenContext(TokenTerms(self.codec))
        messages = [Message("user", told(0))]
        played = []
        for turn in range(turns):
            prompt_ids = context.ask(messages, None, (), is_rewritten=False)
            assert prompt_ids is not None
            self.supervise("built", prompt_ids[0])
            message = Message("assistant", self.codec.text(self.sampled.ids))
            fields = context.answered(Reply(message, self.ids, tuple(self.sampled.logprobs or ())))
            played.append(gem.Turn(messages[-1].text, message.text, 1.0, False, False, **fields))
            messages = [*messages, message, Message("user", told(turn + 1))]
        self.check(Trajectory.of(record(played)))

    def tokenising(self, turns: int) -> None:
        """Tokenise what the environment tells, and nothing else."""
        for turn in range(turns):
            self.encoded(told(turn))

    def rendered(self, turns: int) -> None:
        """Render the whole conversation each turn, and tokenise it."""
        chat = [{"role": "user", "content": told(0)}]
        for turn in range(turns):
            prompt = self.tokenizer.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=True
            )
            self.supervise("rendered", tuple(self.encoded(prompt)))
            text = self.tokenizer.decode(list(self.ids[:-1]))
            chat += [{"role": "assistant", "content": text}]
            chat += [{"role": "user", "content": told(turn + 1)}]

    def rollout(self, turns: int) -> None:
        """Play the episode under `gem.rollout` by tokens."""
        policy = TokenPolicy(lambda request: self.sampled, self.codec)
        self.check(Trajectory.of(played(turns, policy)))

    def text_rollout(self, turns: int) -> None:
        """Play the episode under `gem.rollout` by texts."""
        played(turns, lambda request: self.text)

    @staticmethod
    def check(trajectory: Trajectory) -> None:
        """Take what a trainer takes."""
        sequence = trajectory.sequence
        assert sequence.logprobs is not None
        assert len(sequence.response_ids) == len(sequence.response_mask)
        assert len(sequence.ids) == len(sequence.token_rewards) == len(sequence.logprobs)


def played(turns: int, policy: Any) -> gem.Episode:
    """Play an episode under `gem.rollout`."""
    episodes: list[gem.Episode] = []

    async def run() -> None:  # returns nothing: asyncio spells out what a main task returns
        run = gem.rollout(policy, "bench:Telling", env_kwargs={"length": turns})
        episodes.extend([episode async for episode in run])

    asyncio.run(run())
    return episodes[0]


def record(turns: list[gem.Turn]) -> gem.Episode:
    """Return the record of an episode that ended as it should."""
    return gem.Episode(
        env_id="bench:Telling",
        env_kwargs={},
        wrappers=(),
        env_index=0,
        episode_index=0,
        repeat=0,
        seed=0,
        task=None,
        policy="",
        turns=tuple(turns),
        final_observation=None,
        total_reward=float(len(turns)),
        terminated=True,
        truncated=False,
        stop_reason="terminated",
        error=None,
        success=None,
        versions={},
        duration_s=0.0,
    )


def measure(rounds: int) -> dict[int, dict[str, list[float]]]:
    """Return CPU seconds an episode, by turns and way, one figure a round."""
    spec = gem.EnvSpec(id="bench:Telling", target="bench:Telling", blocking=False)
    gem.register(spec, Telling)
    every = Ways()
    timed = {(turns, name): way for turns in TURNS for name, way in every.of(turns).items()}
    for way in timed.values():
        way()  # imports and caches are paid for before the first round
    assert every.prompts is not None
    assert every.prompts["built"] == every.prompts["rendered"]
    every.prompts = None
    seconds: dict[int, dict[str, list[float]]] = {turns: {} for turns in TURNS}
    order = random.Random(0)
    for _ in range(rounds):
        for turns, name in order.sample(list(timed), len(timed)):
            before = time.process_time()
            timed[turns, name]()
            spent = time.process_time() - before
            seconds[turns].setdefault(name, []).append(spent)
    return seconds


def report(seconds: dict[int, dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Return a row for each number of turns: CPU milliseconds, and how they compare."""
    return [
        {
            "turns": turns,
            "tokens": turns * (TOLD + SAID + MARKUP),
            **compared({name: undisturbed(figures) * 1e3 for name, figures in by.items()}),
            "medians": compared(
                {name: statistics.median(seconds) * 1e3 for name, seconds in by.items()}
            ),
        }
        for turns, by in seconds.items()
    ]


def undisturbed(figures: list[float]) -> float:
    """Return the first decile."""
    return statistics.quantiles(figures, n=10, method="inclusive")[0]


def compared(ms: dict[str, float]) -> dict[str, float]:
    """Return the milliseconds of each way, with differences and the ratio."""
    beyond = ms["built"] - ms["tokenising"]
    added = ms["rollout"] - ms["text"] - ms["tokenising"]
    every = {**ms, "beyond": beyond, "added_to_rollout": added}
    figures = {f"{name}_ms": round(milliseconds, 3) for name, milliseconds in every.items()}
    return {**figures, "ratio": round(ms["rendered"] / ms["built"], 2)}


def growth(rows: list[dict[str, Any]], name: str) -> float:
    """Return the power of the turns by which a figure grows, from the first row to the last."""
    first = rows[0]
    last = rows[-1]
    return round(math.log(last[name] / first[name]) / math.log(last["turns"] / first["turns"]), 2)


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield (
        "| turns | tokens | a trajectory, CPU ms | of it tokenising what was told | beyond that "
        "| added to a rollout | rendering all each turn | times a trajectory |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row['turns']} | {row['tokens']:,} | {row['built_ms']:.1f} "
            f"| {row['tokenising_ms']:.1f} | {row['beyond_ms']:.1f} "
            f"| {row['added_to_rollout_ms']:.1f} | {row['rendered_ms']:.1f} | {row['ratio']:.1f} |"
        )


def main() -> None:
    """Measure, print the table, and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="two rounds, of which nothing is kept")
    options = parser.parse_args()
    machine = Machine()
    rounds = 2 if options.quick else options.rounds
    rows = report(measure(rounds))
    facts = {
        "command": "python benchmarks/tokens.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "meanwhile": machine.shares(),
        "rounds": rounds,
        "rows": rows,
        "growth": {name: growth(rows, f"{name}_ms") for name in ("beyond", "built", "rendered")},
    }
    print("\n".join(table(rows)))
    print(f"CPU time grows by these powers of the turns: {facts['growth']}")
    print(f"Meanwhile the cores' time went like this: {facts['meanwhile']}")
    if options.quick:
        return
    RESULTS.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    curves = {
        "rendering the whole conversation each turn": "rendered_ms",
        "gem.tokens": "built_ms",
        "of it tokenising what the environment says": "tokenising_ms",
    }
    plotted = {label: [(row["turns"], row[name]) for row in rows] for label, name in curves.items()}
    PLOT.write_text(lines_plotted("CPU ms a trajectory, by turns", plotted), encoding="utf-8")


if __name__ == "__main__":
    main()
