"""A committed training of the benchmark of baselines comes out again as it is on record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from benchmarks.baselines.arms import TUNING, arms_of
from benchmarks.baselines.records import Results

ARM = ("gcd", "rebn, 0.003")
"""One that takes few seconds, and in which the policy learns."""


@pytest.mark.slow
def test_an_arm_that_is_trained_again_has_the_figures_on_record() -> None:
    pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")
    pytest.importorskip("gem_envs_reasoning", reason="gem-envs-reasoning is not installed")
    pytest.importorskip("reasoning_gym", reason="its extra `tasks` is not installed")
    from benchmarks.baselines.training_arm import made_by, trained

    [arm] = [arm for arm in arms_of(TUNING) if (arm.task, arm.name) == ARM]
    on_record = Results(TUNING).lines()[arm.digest]
    here = made_by(arm)
    for name in ("machine", "torch"):
        if on_record[name] != here[name]:
            pytest.skip(f"it was made with {name} {on_record[name]}, and here it is {here[name]}")

    again = trained(arm)

    assert len(on_record["curve"]) > 1
    assert _figures(again) == _figures(on_record)


def _figures(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return all of a line that a training decides, and neither its time nor its code."""
    decided = {name: line[name] for name in ("final", "also_on", "errors", "entropy", "doctor")}
    curve = [{**point, "cpu_s": None} for point in line["curve"]]
    return {**decided, "curve": curve}
