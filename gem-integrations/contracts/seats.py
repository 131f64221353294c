"""What contracts expect of several seats: a row for each, by `reset` and `step` alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import harness
from harness import Row, scripted

import gem

GAME = "game:TicTacToe-v0"
"""A native game of two seats, which take turns."""


class Bids(gem.SeatedEnv):
    """Two rounds in which both seats answer at once; each is paid by the lengths of the answers."""

    seats = ("left", "right")

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self.rounds = 0
        self.tell(0, f"You are left. The lot is {self.rng.randrange(10**6)}.")
        self.tell(1, "You are right. You do not know the lot.")
        return self.begin(0, 1)

    def step_all(self, actions: Mapping[int, str]) -> gem.Step:
        self.rounds += 1
        earned = {seat: float(len(text) + 10 * seat) for seat, text in actions.items()}
        self.tell_all(f"Round {self.rounds} is over.")
        if self.rounds == 2:
            return self.end(earned)
        return self.ask(0, 1, rewards=earned)


BIDS = gem.register("contract:Bids", "seats:Bids").id
"""An environment whose seats answer at the same time."""


def first_free(request: gem.Request) -> str:
    """Play the first free cell: an opponent for a view of one seat."""
    board = request.messages[-1].text
    return f"\\boxed{{{next(word for word in board.split() if word.isdigit())}}}"


def expected_parts(tokenizer: Any, env_id: str, seed: int) -> list[Row]:
    """Play an episode in which the script is at every seat, and return the row of each.

    What a seat earns counts for its last turn by then, and before its first for that.
    """
    env = gem.make(env_id)
    count = len(env.seats)
    rows = [Row([], [], [], [], [], [], [], truncated=False) for _ in range(count)]
    owed = [0.0] * count
    _, info = env.reset(seed=seed)
    shown = dict(info["observations"])
    while True:
        seat = env.seat
        row = rows[seat] = _answered(tokenizer, rows[seat], shown.pop(seat))
        step = env.step(row.actions[-1])
        row.rewards.append(owed[seat])
        owed[seat] = 0.0
        for each, reward in enumerate(step.rewards):
            if rows[each].rewards:
                rows[each].rewards[-1] += reward
            else:
                owed[each] += reward
        if step.terminated or step.truncated:
            return rows
        shown.update(step.observations)


def _answered(tokenizer: Any, row: Row, shown: str) -> Row:
    """Return a seat's row with what it was shown and what the script said to that."""
    text = harness._following(shown, is_closed=True) if row.ids else harness._opening(None, shown)
    added = list(tokenizer.encode(text, add_special_tokens=False))
    said = scripted(tokenizer, row.ids + added)
    if row.ids:
        row.response_ids.extend(added)
        row.response_mask.extend([0] * len(added))
        row.response_logprobs.extend([0.0] * len(added))
    else:
        row.prompt_ids.extend(added)
    start = len(row.ids)
    row.spans.append((start, start + len(said.ids)))
    row.response_ids.extend(said.ids)
    row.response_mask.extend([1] * len(said.ids))
    row.response_logprobs.extend(said.logprobs)
    row.actions.append(tokenizer.decode(said.ids[:-1]))
    return row
