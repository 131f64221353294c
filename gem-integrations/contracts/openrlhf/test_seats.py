"""OpenRLHF: episodes of several seats through its rollout actor, a sample for each seat."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for test_contract.py

from seats import BIDS, GAME, expected_parts
from test_contract import MakeRig, check, rig  # noqa: F401 - a fixture

from gem.errors import BadArguments
from gem_integrations.rows import rows


@pytest.mark.parametrize("env_id", [GAME, BIDS])
def test_each_seat_is_a_sample_whose_ranges_have_its_own_answers_alone(
    rig: MakeRig,  # noqa: F811
    tokenizer: Any,
    shown: Counter[str],
    env_id: str,
) -> None:
    made = rig({"env_id": env_id})
    given = [*rows(env_id, count=2, seed=5)]

    experiences = made.generate(*(row["label"] for row in given), n=2, length=4000)

    wanted = []
    for row in given[::2]:
        left, right = expected_parts(tokenizer, env_id, row["seed"])
        wanted += [left, left, right, right]
    for got, part in zip(experiences, wanted, strict=True):
        check(got, part, shown)
    # Four episodes, each asked once a turn of each seat: the samples of two seats are of one.
    assert len(made.engine.asked) == sum(len(part.actions) for part in wanted)


def test_a_label_that_names_no_seat_is_refused(rig: MakeRig) -> None:  # noqa: F811
    made = rig({"env_id": GAME})

    with pytest.raises(BadArguments, match="names no seat, and 'game:TicTacToe-v0' has the seats"):
        made.generate(json.dumps({"seed": 3}))
