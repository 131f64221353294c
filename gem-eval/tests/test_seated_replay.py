"""The run folder of an evaluation by line-up replays clean, and a changed byte in it is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem.cli._main import main
from gem_eval import Evaluation

Output = pytest.CaptureFixture[str]

KUHN = "gem.testing.envs:Kuhn"
SIGNS = "gem.testing.envs:Signs"


@pytest.mark.parametrize("line_up", [("random", "noop"), {"second": "noop", "first": "random"}])
def test_a_run_by_line_up_is_verified(
    line_up: Any, run: Callable[..., Evaluation], tmp_path: Path, capsys: Output
) -> None:
    rotates = isinstance(line_up, tuple)
    run("run", envs=KUHN, policies=[line_up], episodes=3, every_rotation=rotates)
    number = 6 if rotates else 3
    capsys.readouterr()

    assert main(["replay", str(tmp_path / "run"), "--verify"]) == 0
    found = capsys.readouterr().out
    assert found == f"{number} episodes: {number} the same, 0 different, 0 partial\n"


@pytest.mark.parametrize(
    ("envs", "before", "after", "where"),
    [
        (KUHN, b"You are second.", b"You are secund.", " (second), observation:"),
        (SIGNS, b"right no sign.", b"right no sigh.", " (left), observation:"),
        (SIGNS, b'"action":"rock"', b'"action":"r0ck"', "), "),
    ],
)
def test_a_byte_that_changed_at_one_seat_of_a_run_is_found(
    envs: str,
    before: bytes,
    after: bytes,
    where: str,
    run: Callable[..., Evaluation],
    tmp_path: Path,
    capsys: Output,
) -> None:
    run("run", envs=envs, policies=[("random", "noop")], episodes=2)
    log = tmp_path / "run" / "episodes.jsonl"
    whole = log.read_bytes()
    assert before in whole
    log.write_bytes(whole.replace(before, after, 1))
    capsys.readouterr()

    assert main(["replay", str(tmp_path / "run"), "--verify"]) == 1
    found = capsys.readouterr().out
    assert "2 episodes: 1 the same, 1 different, 0 partial" in found
    assert where in found
