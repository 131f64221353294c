"""The filters beside a list, and those in use: what they are called and where they lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gem_eval.variants import varied
from gem_eval.viewing.runs import Run

from .conftest import episode
from .reading import page

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

MakeRun = Callable[..., Run]


def run_of_values(make_run: MakeRun, count: int, **options: Any) -> Run:
    """Return a run of one environment with so many values of an argument, one episode of each."""
    settings = varied({"envs": ["tiny:Guess"], "vary": {"max_turns": [*range(1, count + 1)]}})
    return make_run(*(episode(env_index=env) for env in range(count)), **settings, **options)


def test_a_page_lists_the_ids_of_many_environments_no_more_often_than_those_of_few(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = run_of_values(make_run, 2, name="few")
    many = run_of_values(make_run, 50, name="many")
    times = Counter[str]()
    env_ids: Callable[[Run], list[str]] = vars(Run)["env_ids"].fget

    def counted_ids(run: Run) -> list[str]:
        times[run.name] += 1
        return env_ids(run)

    monkeypatch.setattr(Run, "env_ids", property(counted_ids))
    page(few, "?env=0&env=1")
    page(many, "?" + "&".join(f"env={env}" for env in range(50)))

    assert times["many"] == times["few"]
