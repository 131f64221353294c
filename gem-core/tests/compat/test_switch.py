"""`compat=True`: flags, info and the order of tasks as the published gem-llm gave them."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.compat._constants import TERMINAL_STATE
from gem.compat._switch import as_published, wrapper_as_published
from gem.errors import BadArguments
from gem.specs import WrapperRef

HERE = __name__.rpartition(".")[0]


@pytest.fixture
def fake_pack(install: Callable[..., Path]) -> None:
    install("acme-compat", envs={"fake:Game": f"{HERE}.envs:Game"})


@pytest.fixture(autouse=True)
def _registered() -> None:
    gem.register("old:Questions", f"{HERE}.envs:Questions")
    gem.register("old:Game", f"{HERE}.envs:Game")
    gem.register(
        gem.EnvSpec(
            id="old:Named",
            target=f"{HERE}.envs:Game",
            kwargs={"name": "ours"},
            compat_kwargs={"name": "theirs"},
        )
    )


def flags(env: gem.Env, *actions: str) -> list[tuple[bool, bool]]:
    env.reset(seed=1)
    return [env.step(action)[2:4] for action in actions]


def test_a_limit_of_turns_truncates_and_terminates() -> None:
    actions = ["a", "b", "c"]

    assert flags(gem.make("old:Game"), *actions)[-1] == (False, True)
    assert flags(gem.make("old:Game", compat=True), *actions) == [(False, False)] * 2 + [
        (True, True)
    ]


def test_an_episode_that_ends_before_its_limit_is_only_terminated() -> None:
    env = gem.make("old:Game", compat=True)

    assert flags(env, "win") == [(True, False)]
    assert flags(env, "what?") == [(True, False)]


def test_in_the_last_turn_a_format_error_truncates_and_a_success_does_not() -> None:
    env = gem.make("old:Game", compat=True)

    assert flags(env, "a", "b", "what?")[-1] == (True, True)
    assert flags(env, "a", "b", "win")[-1] == (True, False)


def test_a_suffix_stays_to_the_end() -> None:
    env = gem.make("old:Game", compat=True)

    suffixes = [env.reset(seed=1)[1]["suffix"]]
    suffixes += [env.step(action).info["suffix"] for action in "abc"]
    assert suffixes == ["Your move.", "Move 2.", "Move 3.", "Move 3."]


def test_one_turn_ends_in_the_terminal_state_and_says_whether_it_was_right() -> None:
    env = gem.make("old:Questions", compat=True)

    for answer, is_right in (("3", True), ("x", False)):
        env.reset(task=3)
        observation, reward, terminated, truncated, info = env.step(answer)
        assert (observation, terminated, truncated) == (TERMINAL_STATE, True, True)
        assert (reward, info["correct"]) == (float(is_right), is_right)
    assert "suffix" not in info


def tasks(env: gem.Env, count: int) -> list[int]:
    return [env.reset()[1]["task"] for _ in range(count)]


def test_every_task_comes_once_before_any_comes_again() -> None:
    env = gem.make("old:Questions", compat=True, seed=7)

    first, second, third = (tasks(env, 5) for _ in range(3))
    assert sorted(first) == sorted(second) == sorted(third) == [0, 1, 2, 3, 4]
    assert len({tuple(first), tuple(second), tuple(third)}) > 1


def test_an_order_depends_on_the_seed_alone() -> None:
    one, other = (gem.make("old:Questions", compat=True, seed=7) for _ in range(2))
    order = tasks(one, 7)

    assert tasks(other, 7) == order
    assert [one.reset(seed=7)[1]["task"], *tasks(one, 6)] == order
    assert asyncio.run(other.areset(seed=7))[1]["task"] == order[0]
    assert {
        gem.make("old:Questions", compat=True, seed=s).reset()[1]["task"] for s in range(40)
    } == {
        0,
        1,
        2,
        3,
        4,
    }


def test_without_a_seed_there_is_an_order_too() -> None:
    env = gem.make("old:Questions", compat=True)

    assert sorted(tasks(env, 5)) == [0, 1, 2, 3, 4]


def test_a_task_that_is_asked_for_is_not_counted() -> None:
    env = gem.make("old:Questions", compat=True, seed=7)
    order = tasks(gem.make("old:Questions", compat=True, seed=7), 5)

    taken = [env.reset()[1]["task"]]
    assert env.reset(task=4)[1]["task"] == 4
    assert env.reset(options={"task": 3})[1]["task"] == 3
    assert taken + tasks(env, 4) == order


def test_a_task_may_be_asked_for_by_its_older_name() -> None:
    env = gem.make("old:Questions", compat=True)

    for reset in (env.reset, lambda **options: asyncio.run(env.areset(**options))):
        with pytest.warns(DeprecationWarning, match="Write task="):
            assert reset(idx=3)[1]["task"] == 3


def test_a_copy_goes_on_with_the_order() -> None:
    env = gem.make("old:Questions", compat=True, seed=7)
    tasks(env, 2)
    restored = gem.make("old:Questions", compat=True)
    restored.restore(env.snapshot())

    rest = tasks(env.fork(), 3)
    assert rest == tasks(restored, 3) == tasks(env, 3)


def test_arguments_of_the_pack_and_then_the_callers_count() -> None:
    assert gem.make("old:Named").reset()[0] == "Play ours."
    assert gem.make("old:Named", compat=True).reset()[0] == "Play theirs."
    assert gem.make("old:Named", compat=True, name="mine").reset()[0] == "Play mine."


def test_it_is_recorded_as_data_that_makes_the_same_without_the_switch() -> None:
    env = gem.make("old:Named", compat=True, wrappers=["episode_tracking"])
    assert env.spec is not None

    again = gem.make(env.spec.model_dump(mode="json"))
    assert again.spec == env.spec
    assert again.reset(seed=1) == env.reset(seed=1)
    assert as_published(env.spec) is env.spec


async def played(env: str) -> gem.Episode:
    run = gem.rollout(lambda request: "a", env, episodes=1, env_kwargs={"compat": True})
    [episode] = [episode async for episode in run]
    return episode


def test_it_is_rolled_out_and_replayed() -> None:
    episode = asyncio.run(played("old:Game"))

    assert (episode.turns[-1].terminated, episode.turns[-1].truncated) == (True, True)
    assert gem.replay(episode).state == "same"


@pytest.mark.parametrize(
    "like",
    ["episode_tracking", WrapperRef(id="episode_tracking"), {"id": "episode_tracking"}],
)
def test_a_wrapper_is_the_published_one_however_it_is_named(like: Any) -> None:
    _, info = gem.make("old:Game", compat=True, wrappers=[like]).reset()

    assert info["prev_ep_step_counter"] == 0
    assert "episode" not in info


def test_a_wrapper_that_was_no_other_stays_what_it_is() -> None:
    as_text = {"id": "time_limit", "max_turns": 2}
    as_data = WrapperRef(id="time_limit", kwargs={"max_turns": 2})

    assert wrapper_as_published(as_text) == as_data
    assert wrapper_as_published(gem.Wrapper) is gem.Wrapper
    assert gem.make("old:Game", compat=True, wrappers=[gem.Wrapper]).reset()[0] == "Play plain."


def test_wrappers_of_a_spec_are_published_ones_too() -> None:
    spec = gem.spec("old:Game").model_copy(
        update={"wrappers": (WrapperRef(id="episode_tracking"),)}
    )

    assert "step_counter" in gem.make(spec, compat=True).reset()[1]


def test_the_variable_is_for_ids_of_packs_alone(
    monkeypatch: pytest.MonkeyPatch, fake_pack: Any
) -> None:
    monkeypatch.setenv("GEM_COMPAT", "1")
    spec = gem.spec("fake:Game")

    assert gem.make("fake:Game").spec != spec
    assert gem.make("fake:Game", compat=False).spec == spec
    assert gem.make(spec).spec == spec
    assert flags(gem.make("old:Game"), "a", "b", "c")[-1] == (False, True)


@pytest.mark.vector
def test_the_variable_holds_for_vectors_and_wrapper_functions(
    monkeypatch: pytest.MonkeyPatch, fake_pack: Any
) -> None:
    from gem.compat import WRAPPER_FACTORY, get_wrapper_fns

    monkeypatch.setenv("GEM_COMPAT", "1")
    tracked = WRAPPER_FACTORY["episode_tracking"](gem.make("fake:Game"))
    assert "step_counter" in tracked.reset()[1]
    with gem.make_vec(
        ["fake:Game"] * 2, wrappers=get_wrapper_fns("episode_tracking,concat")
    ) as vec:
        _, infos = vec.reset()
        for _ in range(3):
            step = vec.step(["a", "b"])
    assert all("prev_ep_step_counter" in info for info in infos)
    assert step.terminated.all()
    assert step.truncated.all()


@pytest.mark.vector
def test_a_vector_takes_the_switch() -> None:
    with gem.make_vec(["old:Game"] * 2, compat=True) as vector:
        vector.reset(seed=1)
        for _ in range(3):
            step = vector.step(["a", "b"])
    assert step.terminated.all()


def test_the_environment_says_its_id() -> None:
    assert gem.make("old:Game", compat=True).env_id == "old:Game"  # type: ignore[attr-defined]
    from gem.compat._environment import AsPublished

    assert AsPublished(gem.make("old:Game").unwrapped).env_id == "old:Game"


def test_one_that_is_put_on_by_hand_may_have_a_seed() -> None:
    from gem.compat._environment import AsPublished

    one, other = (AsPublished(gem.make("old:Questions"), seed=7) for _ in range(2))
    assert tasks(one, 6) == tasks(other, 6)


def test_a_switch_that_is_neither_on_nor_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    make: Any = gem.make
    with pytest.raises(BadArguments, match="compat='yes' was asked for"):
        make("old:Game", compat="yes")
    monkeypatch.setenv("GEM_COMPAT", "true")
    with pytest.raises(BadArguments, match=r"GEM_COMPAT is 'true'.*0 or 1"):
        make("old:Game")


def test_the_older_paths_are_found_at_plain_places() -> None:
    module = importlib.import_module("gem.tools.base_tool")
    assert str(module.__file__).endswith("/gem/compat/gem_llm/tools/base_tool.py")
    assert ".." not in str(module.__file__)
