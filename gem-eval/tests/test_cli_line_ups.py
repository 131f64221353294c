"""Line-ups as the command line and files of options have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gem_eval import SettingsError
from gem_eval.cli.line_ups import policies_from


@pytest.mark.parametrize(
    ("given", "rotates", "expected"),
    [
        (["a", "b"], False, ["a", "b"]),
        (["a", "b"], True, [("a", "b")]),
        (["first=a", "second=openai:m@http://h/v1?x=1"], False, "pinned"),
        (["openai:m@http://h/v1?first=1", "./x=1.py"], False, None),
        (["scripted:./a=b.py:Guess"], False, ["scripted:./a=b.py:Guess"]),
        ([["a", "b"], {"first": "a"}], False, [("a", "b"), {"first": "a"}]),
    ],
)
def test_a_seat_stands_before_the_first_equals_sign(
    given: list[Any], rotates: bool, expected: Any
) -> None:
    if expected is None:
        with pytest.raises(SettingsError, match="names a seat, and --policy openai"):
            policies_from(given, rotates=rotates)
        return
    if expected == "pinned":
        expected = [{"first": "a", "second": "openai:m@http://h/v1?x=1"}]
    assert policies_from(given, rotates=rotates) == expected


@pytest.mark.parametrize(
    ("given", "rotates", "complaint"),
    [
        (["first=a", "first=b"], False, "'first' was given two policies, a and b"),
        (["first=a", "b"], False, "--policy first=a names a seat, and --policy b none"),
        (["first="], False, "has no policy behind the seat"),
        (["first=a", "b"], True, "--policy first=a stays at its own"),
        (["a"], True, "Give one for each seat"),
    ],
)
def test_policies_of_a_command_that_make_no_line_up_are_refused(
    given: list[str], rotates: bool, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        policies_from(given, rotates=rotates)


@pytest.mark.parametrize(
    "config",
    [
        'policy = ["random", "noop"]\nrotate = true\nevery-rotation = true\n',
        'policy = [["random", "noop"]]\nevery-rotation = true\n',
        'policy = {first = "random", second = "noop"}\n',
        'policy = ["first=random", "second=noop"]\n',
    ],
)
def test_a_file_of_options_may_have_line_ups(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from gem.cli._main import main

    path = tmp_path / "evaluation.toml"
    path.write_text(f'envs = "gem.testing.envs:Kuhn"\nepisodes = 2\n{config}')

    assert main(["eval", "--config", str(path), "--json", "--out", str(tmp_path / "run")]) == 0

    summary = json.loads(capsys.readouterr().out)
    assert summary["results"][0]["policy"] in ("random + noop", "first=random + second=noop")
    assert {result["policy"] for result in summary["seats"]} == {"random", "noop"}
