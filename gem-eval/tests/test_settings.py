from __future__ import annotations

from typing import Any

import pytest

from gem import Request, RolloutOptions
from gem.errors import GemError, UnknownEnv
from gem.registry import spec
from gem.rollouts import RunKeywords
from gem_eval import SettingsError
from gem_eval.settings import Settings, differences, resumed, settings_from


class Mine:
    name = "mine"

    def __call__(self, request: Request) -> str:
        return ""


def settings(**given: Any) -> Settings:
    return settings_from({"envs": "tiny:Guess", "policies": "noop", **given})


def test_a_pattern_stands_for_what_it_matches() -> None:
    assert [env_spec.id for env_spec in settings(envs="tiny:[EG]*").envs] == [
        "tiny:Echo",
        "tiny:Guess",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"envs": ["tiny:Guess", "tiny:Echo", "tiny:Guess"]}, "'tiny:Guess' was given 2 times"),
        ({"policies": ["noop", "random", "noop"]}, "The policy 'noop' was given twice"),
        ({"policies": [("noop", "random")] * 2}, r"The policy 'noop \+ random' was given twice"),
    ],
)
def test_what_is_given_twice_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=f"{message}.* Give it once"):
        settings(**given)


def test_an_environment_that_several_name_is_evaluated_once() -> None:
    found = settings(envs=["tiny:Guess", "tiny:*ess", spec("tiny:Guess")])

    assert [env_spec.id for env_spec in found.envs] == ["tiny:Guess"]


def test_a_pattern_that_matches_nothing_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"nope:\*"):
        settings(envs="nope:*")


def test_an_unknown_id_is_answered_by_the_nearest() -> None:
    with pytest.raises(UnknownEnv, match="tiny:Guess"):
        settings(envs="tiny:Gess")


@pytest.mark.parametrize(
    "given",
    [
        {"episodes": 0},
        {"episodes": -3},
        {"episodes": "some"},
        {"episodes": True},
        {"repeats": 0},
        {"concurrency": -1},
        {"max_turns": 0},
        {"step_timeout_s": 0.0},
        {"step_timeout_s": float("nan")},
        {"seed": 1.5},
        {"num_workers": 0},
        {"policy_timeout_s": 0},
        {"episode_timeout_s": -1.0},
        {"policy_retries": -1},
        {"retry_wait_s": float("inf")},
        {"policy_kwargs": {"openai": {}}},
        {"policy_kwargs": {"noop": 3}},
        {"policy_kwargs": [3]},
        {"tasks": []},
        {"tasks": [-1]},
        {"seed_range": (3, 3)},
        {"envs": []},
        {"policies": []},
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(given: dict[str, Any]) -> None:
    [name] = given

    with pytest.raises(SettingsError) as caught:
        settings(**given)

    assert caught.value.option == name
    assert "\n" not in str(caught.value)


def test_an_option_of_another_name_is_answered_by_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"'repeat', .*Did you mean 'repeats'") as caught:
        settings(repeat=3)

    assert caught.value.option == "repeat"


@pytest.mark.parametrize("name", sorted(RunKeywords.__annotations__))
def test_an_option_that_a_rollout_has_too_is_what_it_is_there_where_nobody_gives_it(
    name: str,
) -> None:
    assert getattr(settings(), name) == getattr(RolloutOptions(), name)


def test_two_policies_of_one_name_are_refused() -> None:
    with pytest.raises(SettingsError, match="'mine'"):
        settings(policies=[Mine(), "mine"])


def test_arguments_for_an_object_are_refused() -> None:
    with pytest.raises(SettingsError, match="'mine'"):
        settings(policies=[Mine(), "noop"], policy_kwargs={"mine": {"depth": 3}})


def test_settings_survive_json() -> None:
    found = settings(policies=["noop", Mine()], wrappers=["concat"], env_kwargs={"highest": 9})

    assert Settings.model_validate_json(found.model_dump_json()) == found


def test_a_live_policy_is_recorded_by_name_and_type() -> None:
    [ref] = settings(policies=Mine()).policies

    assert (ref.name, str(ref.live).rpartition(".")[2]) == ("mine", "Mine")


def test_wrappers_are_recorded_as_data() -> None:
    found = settings(wrappers=["concat", {"id": "time_limit", "max_turns": 3}])

    assert [(ref.id, dict(ref.kwargs)) for ref in found.wrappers] == [
        ("concat", {}),
        ("time_limit", {"max_turns": 3}),
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"envs": ["tiny:Guess", "tiny:Echo"]},
        {"policies": ["noop", "random"]},
        {"tasks": [1]},
        {"seed_range": (0, 5)},
        {"seed": 1},
        {"wrappers": ["concat"]},
        {"env_kwargs": {"highest": 3}},
        {"max_turns": 3},
        {"step_timeout_s": 5},
    ],
)
def test_a_setting_that_differs_is_named(given: dict[str, Any]) -> None:
    [name] = given

    [line] = differences(settings(), given)

    assert line.startswith(f"{name} is ")


def test_equal_settings_differ_in_nothing() -> None:
    given = {"envs": ["tiny:*ess"], "policies": "noop", "seed": 0, "env_kwargs": {}}

    assert differences(settings(), given) == []


def test_concurrency_may_differ() -> None:
    assert differences(settings(), {"concurrency": 1}) == []


def test_deadlines_and_retries_of_the_policy_may_differ() -> None:
    given = {"policy_timeout_s": 9.0, "episode_timeout_s": 99.0, "policy_retries": 2}

    assert differences(settings(), given) == []
    assert resumed(settings(), given) == settings(**given)


def test_where_environments_run_may_differ() -> None:
    given = {"backend": "process", "num_workers": 2, "backend_options": {"start_method": "fork"}}

    assert differences(settings(), given) == []
    assert resumed(settings(), given) == settings(**given)


def test_the_options_of_one_backend_do_not_go_with_another() -> None:
    there = settings(backend="process", num_workers=2, backend_options={"start_method": "fork"})

    assert resumed(there, {"backend": "inline", "concurrency": 8}) == settings(concurrency=8)


def test_the_options_of_a_backend_stay_with_it() -> None:
    there = settings(backend="process", num_workers=2, backend_options={"start_method": "fork"})

    assert resumed(there, {"backend": "process", "num_workers": 3}) == there.model_copy(
        update={"num_workers": 3}
    )


def test_what_is_given_to_go_on_is_checked_too() -> None:
    with pytest.raises(GemError, match="concurrency"):
        differences(settings(), {"concurrency": 0})


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (
            {"episodes": 0},
            "episodes=0 was asked for, and it has to be greater than or equal to 1, or it has to "
            "be 'all'. Change it.",
        ),
        ({"step_timeout_s": -1.0}, "step_timeout_s=-1.0 was asked for, and it has to be greater"),
        (
            {"tasks": [-1]},
            "tasks=[-1] was asked for, and it has to be greater than or equal to 0. Change it.",
        ),
        ({"tasks": []}, "tasks=[] cannot be evaluated: Tuple should have at least 1 item"),
        ({"seed_range": [1]}, "seed_range=[1] cannot be evaluated: Field required. Change it."),
    ],
)
def test_an_option_out_of_its_range_is_told_the_range(given: dict[str, Any], rule: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(**given)

    assert str(caught.value).startswith(rule)
    assert "Input" not in str(caught.value)


def test_more_episodes_are_no_difference() -> None:
    assert differences(settings(), {"episodes": 200, "repeats": 2}) == []
    assert resumed(settings(), {"episodes": 200}) == settings(episodes=200)


def test_arguments_of_an_only_policy_may_stand_alone() -> None:
    policy = "openai:m@http://localhost/v1"
    by_name = {policy: {"temperature": 0, "extra": {"top_k": 1}}}

    found = settings(policies=policy, policy_kwargs=by_name[policy])

    assert found.policy_kwargs == by_name


@pytest.mark.parametrize(
    ("policies", "given"),
    [
        (["noop", "random"], {"temperature": 0}),
        (["noop"], {"noop": {}, "temperature": 0}),
        ([Mine()], {"temperature": 0}),
        (["noop"], {"noop": 0}),
    ],
)
def test_arguments_of_nobody_are_answered_by_the_form(
    policies: list[Any], given: dict[str, Any]
) -> None:
    with pytest.raises(SettingsError, match=r'\{"ARGUMENT": VALUE\}'):
        settings(policies=policies, policy_kwargs=given)


@pytest.mark.parametrize(
    "given",
    [
        {"episodes": 5, "tasks": [1]},
        {"episodes": "all", "seed_range": (0, 5)},
        {"tasks": [1], "seed_range": (0, 5)},
    ],
)
def test_episodes_are_chosen_in_one_way(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=" and ".join(given)):
        settings(**given)


def test_seeds_may_be_a_range() -> None:
    assert settings(seed_range=range(3, 9)).seed_range == (3, 9)
