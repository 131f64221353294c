"""Training in self-play: parts a seat, games against copies, and a resume that changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.episode import Episode
from gem_baselines.doctor.diagnosis import diagnosed
from gem_baselines.doctor.reading import read_training
from gem_baselines.errors import ExperimentError
from gem_baselines.self_play import SelfPlaySettings
from gem_baselines.self_play.monitor import Check, Monitor
from gem_baselines.self_play.self_play import Seated, SelfPlay
from gem_baselines.tabular import TabularPolicy
from gem_baselines.training import train
from gem_baselines.training.checkpoints import Checkpoint
from gem_baselines.training.training import Training

from .small import small

POOL = {
    "opponents": "pool",
    "monitor": True,
    "monitor_games": 8,
    "slow_down": 0.5,
    "settle_half_life": 4,
}
COLLAPSED = Check(-1.0, 0.0, 1.0, -1.0, 0.2, is_flat=True, is_collapsed=True)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_both_seats_learn_from_every_game(tmp_path: Path) -> None:
    train(small(updates=1), tmp_path)

    [line] = lines(tmp_path)
    assert line["episodes"] == 8
    assert line["total_turns"] == 16
    assert {name: seat["games"] for name, seat in line["self_play"]["seats"].items()} == {
        "even": 8,
        "odd": 8,
    }


def test_what_one_seat_earns_the_other_loses(tmp_path: Path) -> None:
    train(small(), tmp_path)

    for line in lines(tmp_path):
        seats = line["self_play"]["seats"]
        assert seats["even"]["reward"] == -seats["odd"]["reward"]
        assert line["reward"] == 0.0


def test_against_copies_only_the_policy_itself_learns(tmp_path: Path) -> None:
    train(small({"opponents": "pool", "pool_share": 1.0}, updates=1), tmp_path)

    [line] = lines(tmp_path)
    against = line["self_play"]["against_copies"]
    assert line["self_play"]["seats"] == {}
    assert {name: seat["games"] for name, seat in against.items()} == {"even": 4, "odd": 4}
    assert line["total_turns"] == 8
    assert set(line["self_play"]["baselines"]) == {"even against copies", "odd against copies"}


def test_a_training_that_is_resumed_has_the_metrics_of_one_that_was_not(tmp_path: Path) -> None:
    train(small(POOL, updates=9), tmp_path / "whole")
    train(small(POOL, updates=5), tmp_path / "cut")

    Training.resumed(tmp_path / "cut", {"updates": 9}).run()

    metrics = [(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("whole", "cut")]
    assert metrics[0] == metrics[1]


def test_a_resume_after_a_collapse_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Monitor.check

    def check(self: Monitor, *series: Any) -> Check:
        seen = plain(self, *series)
        return seen._replace(is_collapsed=seen.fall >= 0)

    monkeypatch.setattr(Monitor, "check", check)
    train(small(POOL, updates=9), tmp_path / "whole")
    train(small(POOL, updates=5), tmp_path / "cut")

    resumed = Training.resumed(tmp_path / "cut", {"updates": 9})
    assert resumed.self_play is not None
    assert resumed.self_play.went_back
    resumed.run()

    metrics = [(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("whole", "cut")]
    assert metrics[0] == metrics[1]


def test_a_collapse_is_undone_and_the_copies_become_opponents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Monitor, "check", lambda self, *games: COLLAPSED)

    training = train(small({"monitor": True, "slow_down": 0.5}, updates=3), tmp_path)

    second, third = lines(tmp_path)[1:]
    assert second["self_play"]["monitor"]["went_back_to"] == 0
    # It is as before its first update: all that it knows is from the third.
    assert third["learning"]["entropy"] == pytest.approx(0.693, abs=1e-3)
    assert "against_copies" in third["self_play"]
    assert isinstance(training.policy, TabularPolicy)
    assert training.self_play is not None
    assert training.self_play.went_back == [2]


def test_after_a_collapse_it_settles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Monitor, "check", lambda self, *games: COLLAPSED)
    paces: list[tuple[float, float]] = []
    monkeypatch.setattr(TabularPolicy, "set_pace", lambda self, *paced: paces.append(paced))

    train(small({"monitor": True, "slow_down": 0.5, "settle_half_life": 2}, updates=6), tmp_path)

    # Each of the three looks saw one, and the weight halves between them.
    assert paces == [(0.5, 1.0), (0.25, 0.5), (0.125, 0.25)]


def test_the_best_policy_is_the_one_that_the_monitor_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    better = Check(0.0, 0.0, 0.0, 0.1, 0.2, is_flat=True, is_collapsed=False)
    worse = Check(-0.1, 0.0, 0.1, -0.1, 0.2, is_flat=True, is_collapsed=False)
    checks = iter([better, worse, worse])
    monkeypatch.setattr(Monitor, "check", lambda self, *games: next(checks))

    training = train(small({"monitor": True}, eval_every=3, eval_episodes=2), tmp_path)

    assert training.progress.best_update == 2
    found = [Checkpoint.read(tmp_path / "checkpoints" / name) for name in ("best", "last")]
    assert [checkpoint.progress.update for checkpoint in found] == [2, 6]


def test_before_the_monitor_has_seen_a_better_one_the_first_policy_is_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Monitor, "check", lambda self, *games: COLLAPSED)

    train(small({"monitor": True}), tmp_path)

    assert Checkpoint.read(tmp_path / "checkpoints" / "best").progress.update == 0


def test_a_copy_that_beats_the_policy_is_met_more_often() -> None:
    settings = SelfPlaySettings(opponents="pool", pool_share=1.0, monitor=True)
    self_play = SelfPlay(settings, "tabular", num_seats=2)
    learner = TabularPolicy("whole", ["a", "b"])
    self_play.begin(learner)
    met: list[tuple[str, int]] = []

    def play(seated: Seated, games: int, purpose: str) -> list[Episode]:
        met.append((purpose, games))
        copy = seated[1].name if isinstance(seated, list) else ""
        return [lost_to(copy)] * games if copy.endswith("@20") else []

    # At the second look it loses to the copy of the first.
    self_play.look(learner, 20, play)
    self_play.look(learner, 40, play)
    met.clear()
    self_play.play(learner, 24, 41, play)

    assert dict(met) == {"update/0": 4, "update/20": 16, "update/40": 4}


def lost_to(copy: str) -> Episode:
    """Return a game that a policy at the first seat lost."""
    [game] = gem.run([lambda request: "a", lambda request: "b"], small().env, episodes=1)
    assert game.parts()[0].total_reward == -1.0, copy
    return game


def test_falls_that_luck_hides_do_not_add_up_unseen() -> None:
    settings = SelfPlaySettings(monitor=True, monitor_games=200, margin=0.3)
    self_play = SelfPlay(settings, "tabular", num_seats=2)
    learner = TabularPolicy("whole", ["a", "b"])
    self_play.begin(learner)
    [won] = gem.run([lambda request: "a", lambda request: "a"], small().env, episodes=1)
    # Each copy wins a tenth less than the one before; while it learnt, luck hid just that.
    share_won = {"tabular@0": 0.0, "tabular@20": 1.0, "tabular@40": 0.9, "tabular@60": 0.8}
    lucky = {20: 1.0, 40: 1.0, 60: 0.9, 80: 0.8}

    for update, share in lucky.items():

        def play(seated: Seated, games: int, purpose: str, own: float = share) -> list[Episode]:
            assert isinstance(seated, list)
            wins = round(games * share_won.get(seated[0].name, own))
            return [won] * wins + [lost_to(seated[1].name)] * (games - wins)

        figures = self_play.look(learner, update, play)

    assert self_play.went_back == [80]
    assert figures["monitor"]["fall"] == pytest.approx(0.4)
    assert figures["monitor"]["went_back_to"] == 40


def test_a_restored_training_compares_with_the_same_copy(tmp_path: Path) -> None:
    settings = SelfPlaySettings(monitor=True)
    self_play = SelfPlay(settings, "tabular", num_seats=2)
    learner = TabularPolicy("whole", ["a", "b"])
    self_play.begin(learner)
    # Where no game is won or lost, each copy is as good, and none is better than the first.
    self_play.look(learner, 20, lambda seated, games, purpose: [])
    self_play.save(tmp_path)

    again = SelfPlay(settings, "tabular", num_seats=2)
    again.restore(tmp_path, learner.describe())
    played: list[str] = []

    def play(seated: Seated, games: int, purpose: str) -> list[Episode]:
        assert isinstance(seated, list)
        played.append(seated[0].name)
        return []

    again.look(learner, 40, play)
    assert again.best_update == 40
    assert sorted(set(played)) == ["tabular", "tabular@0"]


def test_the_doctor_names_a_collapse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Monitor, "check", lambda self, *games: COLLAPSED)
    train(small({"monitor": True}, updates=3), tmp_path)

    found = diagnosed(read_training(tmp_path)).findings

    [collapse] = [finding for finding in found if finding.check == "collapse"]
    assert collapse.updates == [2]


def test_the_doctor_does_not_alarm_on_healthy_self_play(tmp_path: Path) -> None:
    train(small(POOL, updates=12, eval_every=6, eval_episodes=4), tmp_path)

    assert [finding.check for finding in diagnosed(read_training(tmp_path)).findings] == []


def test_several_seats_need_self_play() -> None:
    with pytest.raises(ExperimentError, match=r"has 2 seats.*Add a table \[self_play\]"):
        small(self_play=None).model_copy(update={"self_play": None}).beginner()


def test_self_play_needs_several_seats() -> None:
    with pytest.raises(ExperimentError, match=r"has one seat\. Leave self_play out"):
        small(env="gem.testing.envs:Guess").beginner()


def test_self_play_compares_no_repeats() -> None:
    with pytest.raises(ExperimentError, match="Set repeats to 1"):
        small(repeats=2).beginner()


def test_a_monitor_needs_a_pool_that_has_room_for_what_it_keeps() -> None:
    with pytest.raises(ExperimentError, match=r"pool_size of 3.*Set pool_size to 4 or more"):
        small({"monitor": True, "pool_size": 3})


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(ExperimentError, match="'opponent' in self_play"):
        small({"opponent": "pool"})
