"""What the page of a run says below its results: of repeats, and of an argument that was varied."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

from gem_eval.variants import varied
from gem_eval.viewing.runs import Run

from .conftest import episode
from .reading import page, words

MakeRun = Callable[..., Run]


def table_of(text: str, name: str) -> str:
    return words(text.partition(f'aria-label="{name}"')[2].partition("</table>")[0])


def test_repeats_have_the_chances_of_one_and_of_all_attempts(make_run: MakeRun) -> None:
    run = make_run(
        *(
            episode(episode_index=number, repeat=repeat, success=repeat < number)
            for number in range(4)
            for repeat in range(3)
        ),
        total=12,
        repeats=3,
        policies=["solver"],
    )

    text = page(run)

    # Of three attempts 0, 1, 2 and 3 succeed: 1 of 3 pairs of two successes, and then all 3.
    found = table_of(text, "Table of repeats")
    assert re.findall(r"pass\S\d", found) == ["pass@3", "pass^2", "pass^3"]
    assert re.findall(r"(\d\.\d{3}) \[", found) == ["0.750", "0.333", "0.250"]
    assert "its height is the share that succeeded" in text


def test_a_run_without_repeats_or_values_has_no_table_of_them(
    make_run: MakeRun,
) -> None:
    text = page(make_run(episode()))

    assert "Under repeats" not in text
    assert "Sensitivity" not in text
    assert "Full bars succeeded" in text


def test_what_was_varied_has_its_returns_by_value(make_run: MakeRun) -> None:
    settings = varied({"envs": ["tiny:Guess"], "vary": {"max_turns": [1, 20]}})
    run = make_run(
        *(
            episode(env_index=env, episode_index=number, total_reward=float(env * number))
            for env in range(2)
            for number in range(3)
        ),
        total=6,
        **{**settings, "policies": ["solver"]},
    )

    text = page(run)

    # Tasks differ by 0, 1 and 2 between the values: deviations of 0, 0.5 and 1.
    row = table_of(text, "Table of sensitivities").partition("Best value Return ")[2]
    assert re.match(r"Guess solver 3 0 0\.500 \[.*\] 1 0\.000 \[.*\] 20 1\.000 \[", row)
    by_value = table_of(text, "Table of returns by value").partition("max_turns Return ")[2]
    assert re.findall(r"solver (\d+) (\d\.\d{3})", by_value) == [("1", "0.000"), ("20", "1.000")]
