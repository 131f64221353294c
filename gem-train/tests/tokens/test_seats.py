"""Episodes of several seats as tokens: a trajectory a seat, and none of the whole."""

from __future__ import annotations

import math

import pytest

import gem
from gem.errors import BadArguments
from gem.testing.envs import Kuhn
from gem.tokens import ChatCodec, Sampled, TokenPolicy, Trajectory

END = 1


class Letters:
    """Letters as tokens, and a template that writes each message with its role."""

    eos_token_id = END
    all_special_ids = (END,)

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return list(text.replace("<end>", "\x01").encode())

    def decode(self, ids: list[int], *, skip_special_tokens: bool) -> str:
        return bytes(ids).decode()

    def apply_chat_template(
        self, chat: list[dict[str, str]], *, add_generation_prompt: bool, **options: object
    ) -> str:
        shown = "".join(f"{each['role']}:{each['content']}<end>" for each in chat)
        return shown + "assistant:" if add_generation_prompt else shown


def passes(request: gem.Request) -> Sampled:
    """Say who one is, and pass; the seat that opens bets at its second turn."""
    move = "bet" if request.turn else "pass"
    text = rf"I am {request.seat}, turn {request.turn}: \boxed{{{move}}}"
    return Sampled([*text.encode(), END], None, "stop")


@pytest.fixture
def episode() -> gem.Episode:
    policy = TokenPolicy(passes, ChatCodec(Letters()))  # type: ignore[arg-type]
    [played] = gem.run(policy, Kuhn, episodes=1, seed=2)
    return played


def test_the_mask_of_a_part_has_what_its_own_seat_said_and_nothing_else(
    episode: gem.Episode,
) -> None:
    for seat, part in enumerate(episode.parts()):
        sequence = Trajectory.of(part).sequence
        own_turns = [turn for turn in episode.turns if turn.seat == seat]
        said = [bytes(sequence.ids[start : stop - 1]).decode() for start, stop in sequence.spans]

        assert said == [turn.action for turn in own_turns]
        assert sum(sequence.mask) == sum(len(turn.action) + 1 for turn in own_turns)
        assert f"I am {1 - seat}".encode() not in bytes(sequence.ids)


def test_the_rewards_of_a_part_are_those_of_its_seat(episode: gem.Episode) -> None:
    totals = [Trajectory.of(part).total_reward for part in episode.parts()]

    assert totals == [outcome.total_reward for outcome in episode.seats]
    assert math.fsum(totals) == 0.0


def test_the_tokens_of_all_seats_together_are_refused(episode: gem.Episode) -> None:
    with pytest.raises(BadArguments, match=r"\(first, second\).*Take them of each of"):
        Trajectory.of(episode)
