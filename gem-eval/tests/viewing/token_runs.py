"""Episodes with tokens for tests of the token page, and a tokenizer that is made here."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from gem import Episode, Turn

from .conftest import episode, turn

HOSTILE_TOKENS = (
    "</span><script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 1">',
    "\u202e",
)
_TALK = (
    ("I have a number from 1 to 50 in mind. Guess it.\n", "Half of 50 is 25.\nI say \\boxed{25}"),
    ("25 is too high.\nGuess again.\n", "Then it is between 1 and 24: \\boxed{12}"),
    ("12 is too low.\nGuess again.\n", "Between 13 and 24 the middle is 18, so \\boxed{18}"),
)


def make_tokenizer(folder: Path) -> Any:
    """Train a tokenizer of bytes on what is said here, write it, and return it."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator([text for turn in _TALK for text in turn] * 3, trainer)
    made.add_tokens([AddedToken(text, normalized=False) for text in HOSTILE_TOKENS])
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    return made


def talk(tokenizer: Any, *, success: bool = True, **facts: Any) -> Episode:
    """Return an episode of three turns, all of whose tokens are on record."""
    rng = random.Random(f"{facts}")
    turns = [
        token_turn(
            tokenizer.encode(heard).ids,
            tokenizer.encode(said).ids,
            rng,
            observation=heard,
            action=said,
        )
        for heard, said in _TALK
    ]
    turns[-1] = replace(turns[-1], reward=1.0 if success else 0.0, terminated=True)
    return episode(turns=tuple(turns), total_reward=turns[-1].reward, success=success, **facts)


def token_turn(
    given: list[int], said: list[int], rng: random.Random, *, learner: bool = False, **facts: Any
) -> Turn:
    """Return a turn with logprobs as a model has them: most near 0, few far below."""
    logprobs = [-(rng.random() ** 4) * 5 for _ in said]
    info = {}
    if learner:
        apart = [logprob + rng.gauss(0, 0.1) for logprob in logprobs]
        info["learner_logprobs"] = [0.0] * len(given) + apart
        info["entropies"] = [0.0] * len(given) + [rng.random() * 2 for _ in said]
    return turn(
        token_ids=(*given, *said),
        mask=(0,) * len(given) + (1,) * len(said),
        logprobs=(0.0,) * len(given) + tuple(logprobs),
        info=info,
        **facts,
    )


def long_episode(tokens: int, turns: int = 4) -> Episode:
    """Return an episode of so many tokens, none of which has a text."""
    rng = random.Random(1)
    each = tokens // turns // 2
    played = [
        token_turn(
            [rng.randrange(256) for _ in range(each)],
            [rng.randrange(256) for _ in range(each)],
            rng,
        )
        for _ in range(turns)
    ]
    return episode(turns=tuple(played))
