"""Episodes are what they were when tools/fingerprints.json was stored; the tool plays all of them.

Here are the groups that need no package of others and no sandbox.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools import fingerprints

GROUPS = ["two seats", "tables", "wrapped", "mixtures", "scheduled"]


def test_episodes_are_those_that_are_stored(capsys: pytest.CaptureFixture[str]) -> None:
    status = fingerprints.main(GROUPS)

    shown = capsys.readouterr().out
    assert status == 0, shown
    assert shown.count(" 0 differ;") == len(GROUPS)


def test_a_seed_that_differs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = json.loads(fingerprints.STORE.read_text("utf-8"))
    digits = stored["groups"]["wrapped"]["concat"].split()
    digits[0] = digits[8] = "0" * 8  # the digest of all, and seed 7
    stored["groups"]["wrapped"]["concat"] = " ".join(digits)
    changed = tmp_path / "fingerprints.json"
    changed.write_text(json.dumps(stored), "utf-8")

    status = fingerprints.main(["wrapped", "--file", str(changed)])

    shown = capsys.readouterr().out.splitlines()
    assert status == 1
    assert [line.strip() for line in shown[1:3]] == [
        "concat: seeds [7]",
        "by make_vec, concat: seeds [7]",
    ]


def test_the_page_for_contributors_says_how_many_environments_are_stored() -> None:
    stored = json.loads(fingerprints.STORE.read_text("utf-8"))["groups"]
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")

    number = sum(len(group) for group in stored.values())
    assert f"plays {number} environments from {fingerprints.SEEDS} seeds each" in page


def test_at_least_100_environments_are_stored_with_20_seeds_each() -> None:
    stored = json.loads(fingerprints.STORE.read_text("utf-8"))["groups"]
    lines = [
        line for name, group in stored.items() if name != "scheduled" for line in group.values()
    ]

    assert len(lines) >= 100
    assert {len(line.split()) - 1 for line in lines} == {fingerprints.SEEDS}
