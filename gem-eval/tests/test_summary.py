from __future__ import annotations

from typing import Any

import pytest

from gem import Usage
from gem_eval.intervals import pass_at_k, pass_at_k_bootstrap, rate, wilson
from gem_eval.settings import Settings, settings_from
from gem_eval.summary import Outcome, Result, summarise


def settings(**given: Any) -> Settings:
    return settings_from({"envs": "tiny:Guess", "policies": "noop", **given})


def outcome(episode_index: int, *, repeat: int = 0, **facts: Any) -> Outcome:
    plain = Outcome(
        0, "noop", episode_index, repeat, False, 0.0, 1, "terminated", None, None, 0.0, 0.0
    )
    return plain._replace(**facts)


def result(outcomes: list[Outcome], **given: Any) -> Result:
    return summarise(settings(**given), outcomes, run="runs/x").results[0]


def test_figures_come_with_their_intervals() -> None:
    found = result([outcome(n, success=n < 8, total_return=n < 8, turns=3) for n in range(10)])

    assert (found.success_rate, found.success_rate_ci95) == (0.8, wilson(0.8, 10))
    assert (found.mean_turns, found.mean_turns_ci95) == (3.0, (3.0, 3.0))
    assert found.mean_return == 0.8
    assert found.mean_return_ci95 is not None
    assert found.mean_return_ci95[0] < 0.8 < found.mean_return_ci95[1]


def test_an_error_is_counted_apart_and_is_no_wrong_answer() -> None:
    failed: dict[str, Any] = {
        "stop_reason": "env_error",
        "error": "RuntimeError: no",
        "total_return": -9.0,
    }

    found = result([outcome(0, success=True, total_return=1.0), outcome(1, **failed)])

    assert (found.episodes, found.errors, found.first_error) == (2, 1, "RuntimeError: no")
    assert (found.success_rate, found.mean_return) == (1.0, 1.0)
    assert found.stop_reasons == {"env_error": 1, "terminated": 1}


def test_beside_success_stands_success_with_errors_counted_as_failures() -> None:
    won = [outcome(n, success=True) for n in range(9)]
    lost = [outcome(n, stop_reason="policy_error", error="down") for n in range(9, 60)]

    found = result(won + lost)

    assert (found.success_rate, found.success_rate_with_errors) == (1.0, 9 / 60)
    assert found.success_rate_with_errors_ci95 == wilson(9 / 60, 60)


def test_a_prompt_beyond_the_context_of_a_model_is_no_error() -> None:
    found = result([outcome(0, success=True), outcome(1, stop_reason="model_length")])

    assert (found.success_rate, found.errors) == (0.5, 0)
    assert found.stop_reasons == {"model_length": 1, "terminated": 1}


def test_what_is_played_on_one_task_belongs_together() -> None:
    found = result([outcome(n, task=n % 2, success=n % 2 == 0) for n in range(100)])

    assert (found.tasks, found.episodes) == (2, 100)
    assert found.success_rate_ci95 == pytest.approx(wilson(0.5, 2))


def test_answers_that_a_limit_of_tokens_cut_are_counted() -> None:
    found = result([outcome(0, answers=3, cut_answers=2), outcome(1, answers=1), outcome(2)])

    assert (found.answers, found.cut_answers) == (4, 2)


def test_nothing_but_errors_has_no_rate() -> None:
    found = result([outcome(0, stop_reason="policy_error", error="down")])

    assert (found.success_rate, found.success_rate_ci95, found.mean_turns) == (None, None, None)


def test_repeats_of_a_seed_belong_together() -> None:
    outcomes = [outcome(n, repeat=k, success=n < 5) for k in range(4) for n in range(10)]

    found = result(outcomes, repeats=4)

    assert found.success_rate_ci95 == rate([[n < 5] * 4 for n in range(10)]).ci95


def test_pass_at_k_is_given_for_powers_of_two_and_the_repeats() -> None:
    outcomes = [outcome(n, repeat=k, success=k == n) for k in range(5) for n in range(3)]

    found = result(outcomes, repeats=5)

    groups = [[k == n for k in range(5)] for n in range(3)]
    assert found.pass_at_k == {str(k): pass_at_k(groups, k).value for k in (1, 2, 4, 5)}
    assert found.pass_at_k_bootstrap_ci95 == {
        str(k): pass_at_k_bootstrap(groups, k) for k in (1, 2, 4, 5)
    }


def test_pass_at_1_without_repeats_has_one_interval() -> None:
    found = result([outcome(n, success=n < 5) for n in range(10)])

    assert found.pass_at_k_ci95["1"] == found.success_rate_ci95
    assert found.pass_at_k_bootstrap_ci95 == {}


def test_tokens_are_summed_where_servers_count_them() -> None:
    outcomes = [outcome(0, usage=Usage(10, 2)), outcome(1, usage=Usage(5, 1)), outcome(2)]

    tokens = result(outcomes).tokens

    assert tokens is not None
    assert (tokens.prompt, tokens.completion) == (15, 3)


def test_no_tokens_are_not_zero_tokens() -> None:
    assert result([outcome(0)]).tokens is None


def test_seconds_are_summed_by_who_took_them() -> None:
    seconds = result([outcome(n, policy_s=1.0, environment_s=0.25) for n in range(4)]).seconds

    assert (seconds.policy, seconds.environment) == (4.0, 1.0)


def test_the_order_of_finishing_changes_no_figure() -> None:
    outcomes = [outcome(n, total_return=float(n % 7), turns=n % 5) for n in range(100)]

    assert result(outcomes[::-1]) == result(outcomes)


def test_results_stand_in_the_order_of_the_settings() -> None:
    found = summarise(settings(envs=["tiny:Lamps", "tiny:Echo"]), [], run="runs/x")

    assert [row.env_id for row in found.results] == ["tiny:Lamps", "tiny:Echo"]


def test_a_return_that_is_not_finite_leaves_json_valid() -> None:
    found = result([outcome(0, total_return=1e308), outcome(1, total_return=1e308)])

    assert found.model_dump(mode="json")["mean_return"] is None


def test_a_summary_becomes_a_table() -> None:
    pytest.importorskip("pandas", reason="pandas is optional")

    frame = summarise(settings(), [outcome(0, success=True)], run="runs/x").to_pandas()

    assert frame["success_rate"].tolist() == [1.0]


def test_under_repeats_pass_hat_k_stands_beside_pass_at_k() -> None:
    tries = [outcome(n, repeat=r, success=r < 2 + n) for n in range(2) for r in range(3)]

    found = result(tries, repeats=3)

    assert found.pass_hat_k == pytest.approx({"1": 5 / 6, "2": (1 / 3 + 1) / 2, "3": 0.5})
    assert found.pass_hat_k_ci95["3"] == wilson(0.5, 2)
    assert found.pass_hat_k_bootstrap_ci95["3"] == (0.0, 1.0)
    assert result(tries[:1]).pass_hat_k == {}
