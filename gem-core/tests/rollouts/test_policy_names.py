"""Policies that are asked for by a name: made, recorded under it, and closed by the run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, UnknownEnv, UnknownPolicy
from gem.testing.envs import Guess

MANIFEST = """
    from gem.specs import PluginManifest, PolicySpec

    plugin = PluginManifest(
        name="acme-words",
        policies=(
            PolicySpec(id="always", target="acme_words.one:Always", takes_argument="WORD"),
            PolicySpec(id="yes", target="acme_words.one:say_yes"),
        ),
    )
    """
POLICIES = """
    closed = []

    class Always:
        def __init__(self, word):
            self.word = word

        async def __call__(self, request):
            assert not closed
            return rf"\\boxed{{{self.word}}}"

        async def aclose(self):
            closed.append(self.word)

    def say_yes():
        return lambda request: "yes"
    """


@pytest.fixture(autouse=True)
def _policies_are_installed(install: Callable[..., Path]) -> None:
    install("acme-words", manifest=MANIFEST, files={"one.py": POLICIES})


def closed() -> Any:
    return sys.modules["acme_words.one"].closed


def test_a_policy_by_its_name_plays_is_recorded_so_and_closed() -> None:
    episodes = gem.run("always:3", Guess, episodes=4)

    assert {episode.policy for episode in episodes} == {"always:3"}
    assert {turn.action for episode in episodes for turn in episode.turns} == {r"\boxed{3}"}
    assert closed() == ["3"]


def test_a_policy_is_closed_where_the_run_is_left_early() -> None:
    async def take_one() -> None:
        run = gem.rollout("always:3", Guess, episodes=4, concurrency=1)
        await anext(run)
        assert not closed()
        await run.aclose()

    asyncio.run(take_one())

    assert closed() == ["3"]


def test_a_policy_is_closed_where_nothing_was_taken() -> None:
    asyncio.run(gem.rollout("always:3", Guess).aclose())

    assert closed() == ["3"]


def test_where_no_run_comes_of_it_no_policy_is_made() -> None:
    with pytest.raises(UnknownEnv):
        gem.rollout("always:3", "nope:Env")

    assert "acme_words.one" not in sys.modules


def test_a_policy_of_the_callers_stays_open() -> None:
    gem.run("yes", Guess)
    mine = sys.modules["acme_words.one"].Always("7")

    gem.run(mine, Guess)

    assert not closed()


def test_a_name_that_nobody_provides_is_refused_before_anything_runs() -> None:
    with pytest.raises(UnknownPolicy, match="'always'"):
        gem.rollout("alway:3", Guess)
    with pytest.raises(BadArguments, match="Write always:WORD"):
        gem.rollout("always", Guess)
