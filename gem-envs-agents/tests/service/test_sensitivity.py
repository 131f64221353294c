from __future__ import annotations

import pytest

import gem
from gem.errors import BadArguments
from gem_envs_agents.service.first_reading import FirstReading, next_reading
from gem_envs_agents.service.sensitivity import phrase_sensitivity

from .playing import acted, make, solved

WORDINGS = (0, 7, 13)  # by the order's number, by the color, and by the name alone
SEEDS = range(14)


def test_who_takes_the_first_reading_depends_on_the_wording() -> None:
    scores = {}
    for wording in WORDINGS:
        env = make(difficulty="hard", wording=wording)
        scores[wording] = [acted(env, seed, next_reading).reward for seed in SEEDS]
    figures = phrase_sensitivity(scores)
    assert sum(scores[0]) == len(SEEDS)
    assert figures.best == 1.0
    assert figures.worst < 0.7
    assert figures.sensitivity > 0.1


def test_who_asks_does_not() -> None:
    scores = {}
    for wording in WORDINGS:
        env = make(difficulty="hard", wording=wording)
        scores[wording] = [solved(env, seed).reward for seed in SEEDS]
    assert phrase_sensitivity(scores).sensitivity == 0.0


def test_the_policy_reads_what_a_rollout_shows_it() -> None:
    kwargs = {"difficulty": "easy", "wording": 0}
    episodes = gem.run(FirstReading(), "agents:Service-v0", env_kwargs=kwargs, episodes=2, seed=1)
    assert [episode.success for episode in episodes] == [True, True]


@pytest.mark.parametrize("scores", [{}, {0: []}, {0: [1.0], 1: [1.0, 0.0]}])
def test_scores_of_other_tasks_are_refused(scores: dict[int, list[float]]) -> None:
    with pytest.raises(BadArguments, match="over the same tasks"):
        phrase_sensitivity(scores)
