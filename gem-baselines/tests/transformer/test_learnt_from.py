"""What a transformer shows of its learning: the rows of an update; and asking changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from gem_baselines.learning import rows_of

pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")

from .small import a_batch, make_policy, play


def test_it_shows_the_rows_of_an_update_with_the_learners_own_logprobs() -> None:
    policy = make_policy(learning={"rows_at_once": 2})
    batch = a_batch(play(policy, episodes=5))

    shown = policy.learnt_from(batch, [1, 3])

    rows = [row for row in rows_of(batch) if row.episode in (1, 3)]
    assert [row.episode for row in shown] == [1, 3]
    for row, own in zip(shown, rows, strict=True):
        assert row.ids == own.ids.tolist()
        assert list(row.places) == own.places.tolist()
        assert row.advantages.tolist() == own.advantages.tolist()
        assert row.sampler is not None
        assert row.entropies is not None
        assert np.allclose(row.learner, row.sampler, atol=1e-5)
        assert ((row.entropies > 0) & (row.entropies <= np.log(10))).all()


def test_asking_changes_no_update() -> None:
    first, second = (make_policy(seed=3) for _ in range(2))
    batch = a_batch(play(first, episodes=6))
    play(second, episodes=6)

    before = first.learnt_from(batch, range(6))
    figures = [policy.update(batch) for policy in (first, second)]
    after = first.learnt_from(batch, range(6))

    assert figures[0] == figures[1]
    assert not np.allclose(before[0].learner, after[0].learner)
    actions = [
        [turn.action for episode in play(policy) for turn in episode.turns]
        for policy in (first, second)
    ]
    assert actions[0] == actions[1]
