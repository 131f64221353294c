"""What every contract shares: a tokenizer, a model that follows a script, and what is expected.

The script is a function of the prompt alone, so every framework's loop meets the same model. What
is expected of an episode is worked out here, from the environment's `reset` and `step` and this
file's own rendering of the chat template: nothing of `gem.tokens` or of our adapters is imported,
which are what the contracts test.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import gem
from gem.content import ImagePart

OPENER = "<|im_start|>assistant\n"
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}" + OPENER + "{% endif %}"
)
CLOSER = "<|im_end|>"
IMAGE = "<|image_pad|>"
"""What stands for a part of an image; `vision.py` has a tokenizer that knows it."""
GAME: dict[str, Any] = {
    "env_id": "game:GuessTheNumber-v0-hard",
    "system_prompt": "Play to win.",
    "max_turns": 4,
}
"""Options of the episodes that all adapters play alike."""

SEEDS = (29, 194, 13, 3)
"""They are won at the first turn, the second and the last, and lost."""

GUESSES = (25, 12, 37, 44, 6)

MOVES = {"TicTacToe as X": (0, 1, 2), "TicTacToe as O": (4, 8, 6)}
"""What is said instead where the prompt has these words: X wins at its third turn."""

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


WORDS = (
    "assistant\n",
    "system\nPlay to win.",
    "user\nYou",
    "user\nAt turn ",
    ".\nFind",
    ".\nAfter",
    " the target number is ",
    " you guessed ",
    "higher",
    "lower",
    "Turn ",
    ": \\boxed{",
    "Nothing is known",
    " said",
)
"""The words of the tokenizer's vocabulary. They go over the ends of lines, so that text which is
tokenised in pieces is other tokens than the same text as a whole."""


def merges() -> list[tuple[str, str]]:
    """Return the merges that make each word of its letters, from the left."""
    written = [word.replace(" ", "\u0120").replace("\n", "\u010a") for word in WORDS]
    pairs = ((word[:end], word[end]) for word in written for end in range(1, len(word)))
    return list(dict.fromkeys(pairs))


def chat_tokenizer() -> Any:
    """Return a tokenizer of bytes and `WORDS` with ChatML's template, as `transformers` has them.

    It is the same in every version of `tokenizers`: nothing is trained.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = dict.fromkeys([*letters, *("".join(pair) for pair in merges())])
    vocabulary = {each: at for at, each in enumerate(pieces)}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=merges()))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<|bos|>",
        eos_token=CLOSER,
        pad_token="<|pad|>",
        additional_special_tokens=["<|im_start|>"],
        padding_side="left",
    )
    tokenizer.chat_template = CHATML
    return tokenizer


class Said(NamedTuple):
    """What the model said: tokens, their logprobs, and why it stopped ("stop", "length")."""

    ids: list[int]
    logprobs: list[float]
    finish_reason: str


def scripted(
    tokenizer: Any, prompt_ids: Sequence[int], budget: int | None = None, *, first: str = ""
) -> Said:
    """Answer as the script says for this prompt: a guess in a box, cut where the budget ends.

    `first` is said at the first turn instead. Each letter is a token of its own, as a model may
    well sample them and a tokenizer would not: what is tokenised again is other tokens.
    """
    prompt = tokenizer.decode(list(prompt_ids))
    turn = prompt.count(OPENER) - 1
    guesses = next((moves for words, moves in MOVES.items() if words in prompt), GUESSES)
    text = rf"Turn {turn}: \boxed{{{guesses[turn % len(guesses)]}}}"
    text = first if turn == 0 and first else text
    letters = [tokenizer.encode(letter, add_special_tokens=False) for letter in text]
    ids = [*(id for letter in letters for id in letter), tokenizer.eos_token_id]
    kept = ids if budget is None else ids[:budget]
    logprobs = [-0.125 * (turn + 1) - at / 64 for at in range(len(kept))]  # exact in float32
    return Said(kept, logprobs, "stop" if kept == ids else "length")


class Row(NamedTuple):
    """An episode as one prompt and one response, as trainers that take whole conversations do.

    The response begins with the model's first token and ends with its last. `response_mask` is 1
    where the model said it, and `response_logprobs` 0.0 where it did not. `spans` are the first
    position of each answer in `ids` and one past its last. `actions` are what `step` was given.
    """

    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]
    response_logprobs: list[float]
    rewards: list[float]
    spans: list[tuple[int, int]]
    actions: list[str]
    truncated: bool

    @property
    def ids(self) -> list[int]:
        """All tokens."""
        return self.prompt_ids + self.response_ids

    @property
    def logprobs(self) -> list[float]:
        """The logprobs of all tokens, 0.0 where the model did not say them."""
        return [0.0] * len(self.prompt_ids) + self.response_logprobs


def expected(
    tokenizer: Any, seed: int, *, limit: int | None = None, first: str = "", **changes: Any
) -> Row:
    """Play the game by `reset` and `step` alone. `limit` is of all that follows the prompt.

    `changes` are to the options of `GAME`. A step that raises ends the episode with a reward of 0.
    """
    options = {**GAME, **changes}
    env = gem.make(
        options["env_id"], wrappers=options.get("wrappers", ()), **options.get("env_kwargs", {})
    )
    observation, info = env.reset(seed=seed)
    added = _encode(tokenizer, _opening(options["system_prompt"], _shown(observation, info)))
    row = Row(added, [], [], [], [], [], [], truncated=False)
    added = []
    while True:
        budget = _budget(len(row.response_ids) + len(added), limit, options.get("max_turn_tokens"))
        if budget is not None and budget <= 0:
            return row._replace(truncated=True)
        said = scripted(tokenizer, row.ids + added, budget, first=first)
        start = len(row.ids) + len(added)
        row.spans.append((start, start + len(said.ids)))
        row.response_ids.extend(added + said.ids)
        row.response_mask.extend([0] * len(added) + [1] * len(said.ids))
        row.response_logprobs.extend([0.0] * len(added) + said.logprobs)
        is_closed = said.ids[-1] == tokenizer.eos_token_id
        row.actions.append(tokenizer.decode(said.ids[:-1] if is_closed else said.ids))
        try:
            observation, reward, terminated, truncated, info = env.step(row.actions[-1])
        except OSError:  # of `Paying`
            row.rewards.append(0.0)
            return row._replace(truncated=True)
        row.rewards.append(float(reward))
        if terminated or truncated or len(row.actions) == options["max_turns"]:
            return row._replace(truncated=not terminated)
        added = _encode(tokenizer, _following(_shown(observation, info), is_closed=is_closed))


def _budget(used: int, limit: int | None, most: int | None) -> int | None:
    rooms = [None if limit is None else limit - used, most]
    return min((room for room in rooms if room is not None), default=None)


def _shown(observation: Any, info: Mapping[str, Any]) -> str:
    """Return what the model reads of a turn: the state follows what is new."""
    if not isinstance(observation, str):
        return "".join(map(_part, observation))
    suffix = info.get("suffix")
    return f"{observation}\n{suffix}" if suffix else observation


def _part(part: Any) -> str:
    """Write a part of text, or an image as Qwen2-VL's template and processor do.

    A token is 28 by 28 pixels, of an image whose sides are so many times 28; a PNG says them in
    bytes 16 to 24.
    """
    if not isinstance(part, ImagePart):
        return str(part.text)
    width, height = (int.from_bytes(part.image[at : at + 4], "big") for at in (16, 20))
    return f"<|vision_start|>{IMAGE * (width // 28 * (height // 28))}<|vision_end|>"


def _opening(system_prompt: str | None, shown: str) -> str:
    """Write the beginning of a conversation as `CHATML` would."""
    system = "" if system_prompt is None else f"<|im_start|>system\n{system_prompt}{CLOSER}\n"
    return f"{system}<|im_start|>user\n{shown}{CLOSER}\n{OPENER}"


def _following(shown: str, *, is_closed: bool) -> str:
    """Write what `CHATML` would write between two answers; one that was cut is closed here."""
    return f"{'' if is_closed else CLOSER}\n<|im_start|>user\n{shown}{CLOSER}\n{OPENER}"


def _encode(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False))


def digest(rows: Iterable[tuple[Sequence[int], Sequence[int], Sequence[float]]]) -> str:
    """Return what stands for trajectories: their ids, masks and rewards by turn."""
    plain = [[[*map(int, ids)], [*map(int, mask)], [*map(float, r)]] for ids, mask, r in rows]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def whole(row: Row) -> tuple[list[int], list[int], list[float]]:
    """Return a row's ids, the mask of all of them, and its rewards, for `digest`."""
    return row.ids, [0] * len(row.prompt_ids) + row.response_mask, row.rewards
