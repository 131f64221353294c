"""A pool of frozen copies: what stays, and that copies learn no more."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from gem.content import Message
from gem.conversation import Request
from gem.episode import Episode
from gem_baselines.learning_policy import Batch
from gem_baselines.self_play.pool import Pool, copy_of
from gem_baselines.tabular import TabularPolicy

ASKED = Request((Message("user", "state"),), seed=3)


def policy() -> TabularPolicy:
    return TabularPolicy("last", ["act", "other"], learning_rate=5.0)


def pool_of(size: int, updates: range, keep: Collection[int] = ()) -> list[int]:
    pool = Pool(size)
    for update in updates:
        pool.add(copy_of(policy(), "tabular", update), keep=keep)
    return [copy.update for copy in pool.copies]


def test_the_first_and_the_newest_copy_stay() -> None:
    updates = pool_of(4, range(20))

    assert len(updates) == 4
    assert (updates[0], updates[-1]) == (0, 19)


def test_what_stays_covers_the_whole_training() -> None:
    gaps = np.diff(pool_of(5, range(0, 170, 10)))

    assert gaps.max() <= 80


def test_copies_that_are_asked_for_stay_and_the_pool_is_no_larger() -> None:
    assert pool_of(4, range(20), keep={1, 2}) == [0, 1, 2, 19]


def test_a_pool_of_two_has_the_first_and_the_newest() -> None:
    assert pool_of(2, range(20)) == [0, 19]


def test_a_copy_does_not_learn_with_the_policy(episode: object) -> None:
    learner = policy()
    frozen = copy_of(learner, "tabular", 0).policy
    assert callable(episode)
    played: Episode = episode([1.0])

    learner.update(Batch([played], [np.array([1.0])]))

    assert isinstance(frozen, TabularPolicy)
    assert frozen.probabilities(ASKED) == {"act": 0.5, "other": 0.5}
    assert learner.probabilities(ASKED)["act"] > 0.9
    assert frozen.name == "tabular@0"


def test_a_pool_is_restored_as_it_was(tmp_path: Path) -> None:
    pool = Pool(3)
    for update in (0, 5, 7):
        pool.add(copy_of(policy(), "tabular", update))

    pool.save(tmp_path)

    again = Pool.restored(3, tmp_path, "tabular", policy().describe())
    assert [copy.update for copy in again.copies] == [0, 5, 7]
    assert again.newest.policy.name == "tabular@7"
