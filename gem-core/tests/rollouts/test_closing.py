"""Environments are closed, and no close costs an episode."""

from __future__ import annotations

import pytest

from gem.env import Env
from gem.rollouts._planning import PlannedEpisode

from .envs import Counted, Hanging, Stuck
from .running import HANGS_S, Solve, run


def test_a_close_that_fails_is_warned_of() -> None:
    plan = [PlannedEpisode(0, 0, 0, 1, None)]
    with pytest.warns(RuntimeWarning, match="stuck"):
        run(Solve(), "demo:Unclosable", plan=plan)


def test_an_environment_that_raised_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, closed = list[Env](), list[Env]()
    monkeypatch.setattr(Counted, "made", made)
    monkeypatch.setattr(Counted, "closed", closed)
    plan = [PlannedEpisode(0, index, 0, index, None) for index in range(3)]
    run(lambda request: "raise", "demo:Counted", plan=plan)
    assert len(made) == 3
    assert set(map(id, closed)) == set(map(id, made))


def test_a_close_that_exits_costs_nothing_but_a_warning() -> None:
    plan = [PlannedEpisode(0, 0, 0, 1, None)]
    with pytest.warns(RuntimeWarning, match="SystemExit"):
        assert run(Solve(), "demo:Exiting", plan=plan)[0].success


def test_a_close_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stuck, "hangs_in", "close")
    plan = [PlannedEpisode(0, 0, 0, 1, None)]
    with pytest.warns(RuntimeWarning, match="step_timeout"):
        run(Solve(), "demo:Stuck", plan=plan, step_timeout_s=HANGS_S)
    assert not Hanging.release.is_set()
