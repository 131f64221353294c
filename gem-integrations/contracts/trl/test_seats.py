"""TRL: episodes of several seats through GRPOTrainer, a group for each seat of a start."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for trl_rig.py

from seats import BIDS, GAME, expected_parts
from trl_rig import Scripted, Watched, tiny, trainer_of

from gem.errors import BadArguments
from gem_integrations.rows import rows
from gem_integrations.trl import environment, reward_func, rollout_func

MakeTrainer = Callable[..., Watched]


@pytest.fixture
def seated_trainer(tokenizer: Any, tmp_path: Path) -> MakeTrainer:
    """Make trainers whose model follows the script at every seat, over the prompts given."""

    def make(env_id: str, prompts: list[str]) -> Watched:
        return trainer_of(
            tokenizer,
            tiny(tokenizer, Scripted),
            prompts,
            tmp_path,
            reward_funcs=reward_func,
            rollout_func=rollout_func(env_id),
            per_device_train_batch_size=8,
        )

    return make


@pytest.mark.parametrize("env_id", [GAME, BIDS])
def test_each_seat_of_a_start_is_a_group_whose_masks_have_its_own_answers_alone(
    seated_trainer: MakeTrainer, tokenizer: Any, shown: Counter[str], env_id: str
) -> None:
    given = [*rows(env_id, count=2, seed=5)]
    trainer = seated_trainer(env_id, [row["label"] for row in given])

    trainer.train()

    [batch] = trainer.batches
    [told] = trainer.given
    for at, got in enumerate(batch):
        row = given[at // 2]  # two generations each
        parts = expected_parts(tokenizer, env_id, row["seed"])
        part = parts[at // 2 % 2]
        assert got.prompt_ids == part.prompt_ids
        assert got.response_ids == part.response_ids
        assert got.response_mask == part.response_mask
        assert got.logprobs == pytest.approx(part.response_logprobs, abs=1e-5)
        assert told["turn_rewards"][at] == part.rewards
        assert told["env_reward"][at] == pytest.approx(sum(part.rewards))
        assert [turn.action for turn in told["episode"][at].turns] == part.actions
        assert told["episode"][at].seats[0].name == row["seat"]
        shown["tokens"] += len(got.prompt_ids + got.response_ids)
        shown["rewards"] += len(part.rewards)
        shown["episodes"] += 1
    # Four episodes, each asked once a turn of each seat: no seat's row plays one of its own.
    each_turn = [turn for row in given for turn in _turns(tokenizer, env_id, row["seed"])]
    assert len(trainer.model.asked) == len(each_turn)


def _turns(tokenizer: Any, env_id: str, seed: int) -> list[str]:
    """Return what was said in an episode. Its two seats have a row each, of two generations."""
    return [action for part in expected_parts(tokenizer, env_id, seed) for action in part.actions]


def test_prompts_that_name_nothing_are_of_the_seats_in_turn_and_share_their_start(
    seated_trainer: MakeTrainer,
) -> None:
    trainer = seated_trainer(GAME, ["", "", "", ""])

    trainer.train()

    [told] = trainer.given
    seats = [episode.seats[0].name for episode in told["episode"]]
    seeds = [episode.seed for episode in told["episode"]]
    assert seats == ["X", "X", "O", "O"] * 2
    assert len(set(seeds)) == 2
    assert seeds[:4] == [seeds[0]] * 4


def test_a_row_that_names_no_seat_is_refused(seated_trainer: MakeTrainer) -> None:
    trainer = seated_trainer(GAME, [json.dumps({"seed": seed}) for seed in range(4)])

    with pytest.raises(BadArguments, match="names no seat, and 'game:TicTacToe-v0' has the seats"):
        trainer.train()


def test_an_environment_of_several_seats_as_tools_is_refused_and_a_view_of_one_is_not() -> None:
    with pytest.raises(BadArguments, match=r"Train one of them with gem\.SeatView"):
        environment(GAME)

    view = {"id": "seat_view", "seat": "X", "opponents": "seats:first_free"}
    assert environment(GAME, wrappers=[view]).__name__ == GAME
