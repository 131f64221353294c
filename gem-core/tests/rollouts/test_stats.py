"""Figures of a run: plain data, in constant memory, at any time."""

from __future__ import annotations

import json

import pytest

from gem.rollouts._stats import RolloutStats


@pytest.mark.parametrize("seconds", [2e-9, 3.3e-6, 0.001, 0.5, 0.999, 1.0, 7.0, 3600.0])
def test_a_latency_is_kept_to_seven_percent(seconds: float) -> None:
    stats = RolloutStats()
    stats.count_step(seconds)
    assert stats.step_s(0.5) == pytest.approx(seconds + 1e-9, rel=0.07)


def test_quantiles_tell_the_slow_from_the_fast() -> None:
    stats = RolloutStats()
    for seconds in [0.001] * 98 + [2.0] * 2:
        stats.count_step(seconds)
    assert stats.step_s(0.5) == pytest.approx(0.001, rel=0.07)
    assert stats.step_s(0.98) == pytest.approx(0.001, rel=0.07)
    assert stats.step_s(0.99) == pytest.approx(2.0, rel=0.07)


@pytest.mark.parametrize("seconds", [0.0, 1e12])
def test_what_no_clock_measures_is_counted_all_the_same(seconds: float) -> None:
    stats = RolloutStats()
    stats.count_step(seconds)
    assert stats.steps == 1
    assert stats.step_s(1.0) is not None


def test_before_any_run_there_is_nothing_to_tell() -> None:
    told = RolloutStats().as_dict()
    assert {name for name, figure in told.items() if figure is None} == {
        "steps_per_s",
        "episodes_per_s",
        "step_p50_s",
        "step_p99_s",
        "call_p50_s",
        "call_p99_s",
        "lag_p50_s",
        "lag_p99_s",
    }
    assert not any(told.values())


def test_calls_are_counted_when_they_end_and_the_oldest_is_known_before() -> None:
    stats = RolloutStats()
    assert (stats.calls_in_flight, stats.oldest_call_s) == (0, 0.0)

    stats.begin_call("first")
    stats.begin_call("second")
    of_two = stats.oldest_call_s
    stats.end_call("first")

    assert stats.calls_in_flight == stats.calls == 1
    assert stats.oldest_call_s > 0
    assert (stats.call_s(0.5) or 0) > 0.9 * of_two
    assert stats.steps == 0


def test_lags_are_kept_with_the_longest() -> None:
    stats = RolloutStats()
    for seconds in [0.001] * 99 + [2.0]:
        stats.count_lag(seconds)

    figures = stats.as_dict()

    assert figures["lag_p50_s"] == pytest.approx(0.001, rel=0.07)
    assert figures["lag_p99_s"] == pytest.approx(0.001, rel=0.07)
    assert stats.lag_s(1.0) == pytest.approx(2.0, rel=0.07)
    assert figures["longest_lag_s"] == 2.0


def test_time_runs_while_any_run_goes_on() -> None:
    stats = RolloutStats()
    assert stats.elapsed_s == 0
    stats.begin_run()
    stats.begin_run()
    stats.end_run()
    still = stats.elapsed_s
    assert 0 < still < stats.elapsed_s
    stats.end_run()
    assert stats.elapsed_s == stats.elapsed_s


def test_the_figures_are_json() -> None:
    stats = RolloutStats()
    stats.begin_run()
    stats.count_step(0.25)
    stats.count_episode(is_error=False)
    stats.count_episode(is_error=True)
    stats.end_run()
    told = json.loads(json.dumps(stats.as_dict()))
    assert (told["steps"], told["episodes"], told["errors"]) == (1, 2, 1)
    assert told["episodes_per_s"] == pytest.approx(2 / told["elapsed_s"])
    assert told["step_p50_s"] == told["step_p99_s"]
