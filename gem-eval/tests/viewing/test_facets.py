"""The filters beside a list, and those in use: what they are called and where they lead."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gem_eval.variants import varied
from gem_eval.viewing.runs import Run

from .conftest import episode
from .reading import listed, page

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

MakeRun = Callable[..., Run]


@pytest.fixture
def mixed(make_run: MakeRun) -> Run:
    """Return a run of two policies in two environments, an episode of each."""
    return make_run(
        episode(),
        episode(policy="random", stop_reason="max_turns"),
        episode(env_index=1, env_id="tiny:Echo"),
        episode(env_index=1, env_id="tiny:Echo", policy="random"),
        envs=["tiny:Guess", "tiny:Echo"],
    )


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


def chips(text: str) -> list[str]:
    """Return what the filters in use are called."""
    found = re.findall(r'class="chip sel" [^>]*aria-label="Remove the filter ([^"]*)"', text)
    return [html.unescape(label) for label in found]


def test_values_that_a_run_does_not_have_are_in_no_link(mixed: Run) -> None:
    unknown = "".join(f"&env={n}&policy=p{n}&stop=s{n}&finder=f{n}" for n in range(2, 100))
    query = "?env=0&policy=random&stop=max_turns&finder=f1"

    text = page(mixed, f"{query}{unknown}")

    assert chips(text) == ["Guess", "random", "max turns", "f1"]
    assert not re.findall(r"env=2|policy=p\d|stop=s\d|finder=f[2-9]", text)


@pytest.mark.parametrize(
    ("unknown", "lines"),
    [
        ("env=1&env=7&env=8", [3, 4]),
        ("policy=nobody&policy=random&env=0", [2]),
        ("stop=never&stop=max_turns", [2]),
        ("env=7&env=8", []),
        ("policy=nobody&policy=noone&env=0", []),
        ("stop=never&stop=seldom", []),
        ("finder=none&finder=other", []),
    ],
)
def test_values_that_a_run_does_not_have_choose_nothing(
    mixed: Run, unknown: str, lines: list[int]
) -> None:
    assert listed(mixed, f"?{unknown}") == lines


def test_of_a_filter_with_unknown_values_alone_one_stays(mixed: Run) -> None:
    assert chips(page(mixed, "?env=7&env=8&env=9")) == ["environment 7"]


def test_values_that_the_log_alone_has_can_be_chosen(make_run: MakeRun) -> None:
    run = make_run(episode(), episode(env_index=7), episode(policy="guest"))

    assert listed(run, "?env=7&env=8") == [2]
    assert chips(page(run, "?env=0&env=7&env=8")) == ["Guess", "environment 7"]
    assert chips(page(run, "?policy=solver&policy=guest&policy=p")) == ["solver", "guest"]


def test_values_that_a_run_will_come_to_can_be_chosen(make_run: MakeRun) -> None:
    run = make_run(episode(), total=10)

    text = page(run, "?policy=solver&policy=random&policy=p&stop=env_error&stop=worker_lost")

    assert chips(text) == ["solver", "random", "env error", "worker lost"]


def test_more_than_a_hundred_values_of_a_filter_are_removed_at_once(make_run: MakeRun) -> None:
    run = run_of_values(make_run, 101)
    query = "?policy=solver&" + "&".join(f"env={env}" for env in range(101))

    text = page(run, query)

    assert chips(text) == ["101 environments", "solver"]
    assert 'class="chip sel" href="?policy=solver' in text
    assert listed(run, query) == [*range(1, 51)]
