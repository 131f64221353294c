"""The tape of an episode: small while it is played, and every Turn whole at its end."""

from __future__ import annotations

from gem.content import TextPart
from gem.episode import Turn
from gem.tape import Tape


def test_turns_come_back_in_order_with_what_only_some_have() -> None:
    tape = Tape()
    tape.add("Guess.", "7", (0.5, 0.1, 0.2), {})
    tape.add((TextPart("Lower."),), "3", (1.0, 0.3, 0.4), {"terminated": True, "suffix": "Last."})
    assert list(tape.turns()) == [
        Turn("Guess.", "7", 0.5, False, False, step_s=0.1, policy_s=0.2),
        Turn((TextPart("Lower."),), "3", 1.0, True, False, "Last.", step_s=0.3, policy_s=0.4),
    ]


def test_turns_share_no_info() -> None:
    tape = Tape()
    tape.add("Guess.", "7", (0.0, 0.0, 0.0), {})
    tape.add("Guess.", "8", (0.0, 0.0, 0.0), {})
    first, second = tape.turns()
    assert first.info is not second.info


def test_the_sum_of_rewards_is_exact() -> None:
    tape = Tape()
    for reward in (1e16, 1.0, -1e16):
        tape.add("", "", (reward, 0.0, 0.0), {})
    assert (len(tape), tape.total) == (3, 1.0)
