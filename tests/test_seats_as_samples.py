"""A sample a seat, of a native game and of a service desk: its own answers, and its reward."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import pytest

import gem
from gem.tokens import Sampled
from gem_integrations.episodes import EnvOptions, one_row, play

END = 1


class Letters:
    """Letters as tokens, and a template that writes each message with its role."""

    eos_token_id = END
    all_special_ids = (END,)

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return list(text.replace("<end>", "\x01").encode())

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        return bytes(ids).decode()

    def apply_chat_template(
        self, chat: list[dict[str, str]], *, add_generation_prompt: bool, **options: object
    ) -> str:
        shown = "".join(f"{each['role']}:{each['content']}<end>" for each in chat)
        return shown + "assistant:" if add_generation_prompt else shown


def moves(request: gem.Request) -> str:
    """Win as X at the third turn."""
    cell = ((0, 1, 2), (4, 8, 6))[request.seat][request.turn]
    return rf"I am {request.seat}. \boxed{{{cell}}}"


def talks(request: gem.Request) -> str:
    """Say something, and leave as the customer at the third turn."""
    bye = " ###STOP###" if request.seat == 1 and request.turn == 2 else ""
    return f"I am {request.seat}, for the {request.turn + 1}. time.{bye}"


@pytest.mark.parametrize(
    ("env_id", "answer", "turns"),
    [("game:TicTacToe-v0", moves, [3, 2]), ("agents:ServiceOfTwo-v0", talks, [2, 3])],
)
def test_a_sample_has_the_answers_of_its_own_seat_and_what_that_earned(
    env_id: str, answer: object, turns: list[int]
) -> None:
    options = EnvOptions(env_id=env_id)
    codec = options.codec(Letters())  # type: ignore[arg-type]

    async def engine(request: gem.Request) -> Sampled:
        return Sampled([*answer(request).encode(), END], None, "stop")  # type: ignore[operator]

    episode = asyncio.run(play(options, engine, codec, seed=3))

    assert episode.stop_reason == "terminated"
    for seat, part in enumerate(episode.parts()):
        row = one_row(part, codec)
        own = [turn.action for turn in episode.turns if turn.seat == seat]
        said = [bytes(row.ids[start : stop - 1]).decode() for start, stop in row.spans]
        assert len(own) == turns[seat]
        assert said == own
        assert sum(row.response_mask) == sum(len(text) + 1 for text in own)
        assert math.fsum(row.rewards) == episode.seats[seat].total_reward
        # What the others said is in the sample, if at all, as what it was shown.
        masked = zip(row.ids, [0] * len(row.prompt_ids) + row.response_mask, strict=True)
        assert f"I am {1 - seat}".encode() not in bytes(id for id, bit in masked if bit)
