"""The format hf, opened by `datasets.load_from_disk`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem_eval

from . import runs

datasets = pytest.importorskip("datasets")

MakeRun = Callable[..., Path]


def test_a_folder_is_opened_with_every_row(run: Callable[..., Any]) -> None:
    played = run("run")

    gem_eval.export(played.path, to="hf", out=played.path / "rows")

    rows = datasets.load_from_disk(played.path / "rows")
    assert len(rows) == 40
    assert set(rows.unique("policy")) == {"solver", "random"}
    solved = rows.filter(lambda row: row["success"], load_from_cache_file=False)
    assert {len(row["turns"]) == row["num_turns"] for row in solved} == {True}


def test_hostile_text_and_images_survive(make_run: MakeRun) -> None:
    image = runs.episode(runs.with_image(), seed=2, episode_index=1)
    run = make_run(runs.hostile(), image, runs.broken(seed=3, episode_index=2))

    gem_eval.export(run, to="hf", out=run / "rows")

    rows = datasets.load_from_disk(run / "rows")
    assert rows[0]["turns"][0]["action"] == runs.READABLE
    assert len(rows[0]["turns"][1]["action"]) == 10_000_000
    assert rows[1]["turns"][0]["images"][0]["bytes"] == runs.PNG
    assert rows[2]["success"] is None


def test_nothing_but_the_data_set_is_left(make_run: MakeRun) -> None:
    run = make_run(runs.episode())

    gem_eval.export(run, to="hf", out=run / "rows")

    assert {path.name for path in (run / "rows").iterdir()} == {
        "data-00000-of-00001.arrow",
        "dataset_info.json",
        "state.json",
    }


@pytest.mark.parametrize("is_hidden", [True, False])
def test_the_setting_of_progress_bars_is_left_as_it_was(make_run: MakeRun, is_hidden: bool) -> None:
    before = datasets.utils.are_progress_bars_disabled()
    set_bars = {
        True: datasets.utils.disable_progress_bars,
        False: datasets.utils.enable_progress_bars,
    }
    run = make_run(runs.episode())
    set_bars[is_hidden]()
    try:
        gem_eval.export(run, to="hf", out=run / "rows")

        assert datasets.utils.are_progress_bars_disabled() == is_hidden
    finally:
        set_bars[before]()


def test_a_run_without_episodes_is_refused(make_run: MakeRun) -> None:
    run = make_run()

    with pytest.raises(gem_eval.ExportError, match="no episode has finished"):
        gem_eval.export(run, to="hf", out=run / "rows")

    assert not (run / "rows").exists()
