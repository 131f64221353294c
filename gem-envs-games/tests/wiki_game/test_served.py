"""Episodes on servers that speak MediaWiki's action API and kiwix-serve's, on loopback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem.content import observation_text
from gem.errors import BadArguments, DataError
from gem.testing import check_env
from gem_envs_games.wiki_game import bundled

from .conftest import KIWIX, MEDIAWIKI, Served
from .loopback import links_of

pytest.importorskip("httpx", reason="the extra `wiki` is not installed")


def at_the_nile(served: Served, **kwargs: Any) -> gem.Env:
    """Return a game on the page Nile, which has odd links."""
    _, env_id, given = served
    env = gem.make(env_id, **given, variant="eidetic", max_turns=100, **kwargs)
    env.reset(seed=0)
    for title in way_to_the_nile(env.reset(seed=0)[1]["suffix"].splitlines()[0][12:]):
        env.step(f"\\boxed{{{title}}}")
    return env


def way_to_the_nile(here: str) -> Iterator[str]:
    distances = bundled().distances_to("Nile")
    while here != "Nile":
        here = min(links_of(here), key=lambda title: distances.get(title, 99))
        yield here


def test_an_episode_reproduces_while_the_pages_stay(served: Served) -> None:
    _, env_id, kwargs = served

    with gem.make(env_id, **kwargs) as one, gem.make(env_id, **kwargs) as other:
        assert one.reset(seed=3) == other.reset(seed=3)
        assert one.reset(seed=4) != other.reset(seed=5)
        one.reset(seed=3)
        other.reset(seed=3)
        for _ in range(5):
            action = one.sample_action()
            assert other.sample_action() == action
            assert one.step(action) == other.step(action)


def test_the_game_is_won_by_links(served: Served) -> None:
    _, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env:
        _, info = env.reset(seed=0)
        lines = info["suffix"].splitlines()
        start = lines[0].removeprefix("You are on: ")
        target = lines[-2].removeprefix("Target: ")
        distances = bundled().distances_to(target)
        here = start
        while here != target:
            here = min(links_of(here), key=lambda title: distances.get(title, 99))
            step = env.step(f"\\boxed{{{here.upper()}}}")

    assert distances[start] > 1
    assert (step.terminated, step.reward, step.info["success"]) == (True, 1.0, True)


def test_a_link_that_is_a_redirect_leads_to_its_page(served: Served) -> None:
    with at_the_nile(served) as env:
        step = env.step("\\boxed{USA}")

    assert step.info["suffix"].startswith("You are on: United States\n")


def test_a_link_to_a_page_never_written_is_refused(served: Served) -> None:
    with at_the_nile(served) as env:
        step = env.step("\\boxed{Never written}")

    assert step.info["action_error"] == "invalid"
    assert "was never written" in observation_text(step.observation)


def test_a_restored_snapshot_asks_for_its_page_again(served: Served) -> None:
    _, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env, gem.make(env_id, **kwargs) as copy:
        env.reset(seed=1)
        env.step(env.sample_action())
        copy.restore(env.snapshot())
        action = copy.sample_action()

        assert env.step(action) == copy.step(action)


def test_closing_a_fork_leaves_the_other_playing(served: Served) -> None:
    _, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env:
        env.reset(seed=1)
        env.fork().close()

        assert env.step(env.sample_action()).reward == -0.05


def test_a_page_is_asked_for_once(served: Served) -> None:
    wiki, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env:
        env.reset(seed=1)
        asked = len(wiki.requests)
        for _ in range(10):
            env.step("\\boxed{Nowhere}")

    assert len(wiki.requests) == asked


@pytest.mark.parametrize("env_id", [MEDIAWIKI, KIWIX])
def test_without_an_address_the_data_is_absent(env_id: str) -> None:
    with pytest.raises(DataError, match="Pass url="):
        gem.make(env_id)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"url": "127.0.0.1"},
        {"url": "file:///etc/passwd"},
        {"timeout_s": 0.0},
        {"timeout_s": 1e9},
        {"retries": -1},
        {"retries": 11},
        {"max_turns": 0},
        {"variant": "wander"},
    ],
)
def test_arguments_out_of_bounds_are_refused(served: Served, kwargs: dict[str, Any]) -> None:
    _, env_id, given = served

    with pytest.raises(BadArguments):
        gem.make(env_id, **{**given, **kwargs})


def test_the_ids_wait_and_need_the_extra() -> None:
    for spec in gem.list_envs("wiki:*"):
        assert spec.blocking
        assert spec.requires == ("httpx>=0.27",)


@pytest.mark.slow
def test_the_contract_holds_on_a_server(served: Served) -> None:
    _, env_id, kwargs = served

    report = check_env(
        env_id, seeds=range(2), backends=("sync", "thread", "process"), max_turns=3, **kwargs
    )

    assert report.failures == ()


def test_what_draws_chance_as_it_is_imported_is_imported_before_an_episode(served: Served) -> None:
    _, env_id, kwargs = served
    code = (
        "import sys, gem\n"
        f"env = gem.make({env_id!r}, **{kwargs!r})\n"
        "is_there = 'httpx' in sys.modules\n"
        "env.reset(seed=0)\n"
        "print(is_there)"
    )
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"
