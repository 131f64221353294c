"""verl: episodes of several seats through its data set and worker, a row for each seat."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for test_contract.py

from harness import Row
from seats import BIDS, GAME, expected_parts
from test_contract import MakeRig, received, rig  # noqa: F401 - a fixture

from gem.errors import BadArguments
from gem_integrations.rows import rows


def answers(tokenizer: Any, ids: list[int], mask: list[int]) -> list[str]:
    """Return the texts that the mask has of the tokens."""
    texts: list[list[int]] = [[]]
    for id, is_own in zip(ids, mask, strict=True):
        if is_own:
            texts[-1].append(id)
        elif texts[-1]:
            texts.append([])
    return [tokenizer.decode(text[:-1]) for text in texts if text]


@pytest.mark.parametrize("env_id", [GAME, BIDS])
def test_each_seat_is_a_row_whose_mask_has_its_own_answers_alone(
    rig: MakeRig,  # noqa: F811
    tokenizer: Any,
    shown: Counter[str],
    env_id: str,
) -> None:
    made = rig(game={"env_id": env_id}, prompt=1200)
    given = [*rows(env_id, count=2, seed=5)]

    out = made.generate(given, n=2)

    wanted: list[Row] = []
    for row in given[::2]:
        left, right = expected_parts(tokenizer, env_id, row["seed"])
        wanted += [left, left, right, right]
    for at, part in enumerate(wanted):
        got = received(out, at)
        assert got.ids == part.ids
        assert got.mask == [0] * len(part.prompt_ids) + part.response_mask
        assert got.logprobs == pytest.approx(part.response_logprobs)
        assert answers(tokenizer, got.ids, got.mask) == part.actions
        assert got.rewards == part.rewards
        assert sum(got.rm_scores) == pytest.approx(sum(part.rewards))
        shown["tokens"] += len(got.ids)
        shown["rewards"] += len(got.rewards)
        shown["episodes"] += 1
    # A conversation a seat of four episodes: the rows of two seats are of one.
    assert len(made.servers.asked) == 8


def test_a_row_that_names_no_seat_is_refused_and_so_is_one_of_a_seat_that_there_is_not(
    rig: MakeRig,  # noqa: F811
) -> None:
    made = rig(game={"env_id": GAME}, prompt=1200)
    [row, _] = rows(GAME, count=1)

    with pytest.raises(BadArguments, match=r"names the seat 'Z'.*the seats X, O"):
        made.generate([row | {"seat": "Z"}])
    with pytest.raises(BadArguments, match="names no seat"):
        made.generate([{name: value for name, value in row.items() if name != "seat"}])


def test_an_engine_that_raises_is_seen_by_the_rows_of_every_seat(rig: MakeRig) -> None:  # noqa: F811
    made = rig(game={"env_id": GAME}, prompt=1200)
    made.servers.error = ConnectionResetError("the engine is gone")

    with pytest.raises(ConnectionResetError, match="the engine is gone"):
        made.generate([*rows(GAME, count=1)])
