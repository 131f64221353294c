"""What every contract shares: a tokenizer of bytes, a model that follows a script, one game.

The script is a function of the prompt alone, so every framework's loop meets the same model.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import gem
from gem.tokens import Sampled
from gem_integrations.episodes import EnvOptions, Row, one_row, play

OPENER = "<|im_start|>assistant\n"
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}" + OPENER + "{% endif %}"
)
GAME = {
    "env_id": "game:GuessTheNumber-v0-hard",
    "system_prompt": "Play to win.",
    "max_turns": 4,
}
"""Options of the episodes that all adapters play alike."""

SEEDS = (29, 194, 13, 3)
"""They are won at the first turn, the second and the last, and lost."""

GUESSES = (25, 12, 37, 44, 6)

CALL = "<lookup>the number</lookup>"
"""What calls the tool of `TOOLS`; give it to the script as what it says first."""

TOOLS = {"wrappers": [{"id": "tools", "tools": ["harness:lookup"], "format": "tags"}]}
"""Options that add a tool."""


@gem.tool
def lookup(text: str) -> str:
    """Look something up."""
    return f"Nothing is known of {text}."


class Paying(gem.Env):
    """Pays 1, 2, 3, ... for whatever is said, until `length` turns are over; may raise at one."""

    def __init__(self, length: int = 3, fails_at: int | None = None) -> None:
        self.length = length
        self.fails_at = fails_at

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        if self.fails_at == 0:
            raise OSError("the board is lost")
        return f"start {self.rng.randrange(10**6)}", {}

    def step(self, action: str) -> gem.Step:
        now = self.turn + 1
        if now == self.fails_at:
            raise OSError("the board is lost")
        return gem.Step(f"{len(action)} said", float(now), now >= self.length, False, {})


PAYING = gem.register("contract:Paying", "harness:Paying").id
"""An environment with a reward each turn, and with faults."""


def chat_tokenizer() -> Any:
    """Return a tokenizer of bytes with ChatML's template, as `transformers` has them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={each: at for at, each in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<|bos|>",
        eos_token="<|im_end|>",
        pad_token="<|pad|>",
        additional_special_tokens=["<|im_start|>"],
        padding_side="left",
    )
    tokenizer.chat_template = CHATML
    return tokenizer


def scripted(
    tokenizer: Any, prompt_ids: Sequence[int], budget: int | None = None, *, first: str = ""
) -> Sampled:
    """Answer as the script says for this prompt: a guess in a box, cut where the budget ends.

    `first` is said at the first turn instead.
    """
    turn = tokenizer.decode(list(prompt_ids)).count(OPENER) - 1
    text = rf"Turn {turn}: \boxed{{{GUESSES[turn % len(GUESSES)]}}}"
    text = first if turn == 0 and first else text
    ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    kept = ids if budget is None else ids[:budget]
    logprobs = [-0.125 * (turn + 1) - at / 64 for at in range(len(kept))]  # exact in float32
    return Sampled(kept, logprobs, "stop" if kept == ids else "length")


def expected(
    tokenizer: Any, seed: int, *, limit: int | None = None, first: str = "", **changes: Any
) -> Row:
    """Play the game without any framework. `limit` is of all that follows the prompt."""
    options = EnvOptions.of({**GAME, **changes})
    codec = options.codec(tokenizer)

    async def engine(request: gem.Request) -> Sampled:
        assert request.prompt_ids is not None
        return scripted(tokenizer, request.prompt_ids, request.token_budget, first=first)

    episode = asyncio.run(play(options, engine, codec, seed=seed, max_response_tokens=limit))
    return one_row(episode, codec)


def digest(rows: Iterable[tuple[Sequence[int], Sequence[int], Sequence[float]]]) -> str:
    """Return what stands for trajectories: their ids, masks and rewards by turn."""
    plain = [[[*map(int, ids)], [*map(int, mask)], [*map(float, r)]] for ids, mask, r in rows]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def whole(row: Row) -> tuple[list[int], list[int], list[float]]:
    """Return a row's ids, the mask of all of them, and its rewards, for `digest`."""
    return row.ids, [0] * len(row.prompt_ids) + row.response_mask, row.rewards
