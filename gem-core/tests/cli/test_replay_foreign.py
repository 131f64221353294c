"""Replays of a log that a pack reads: here one of lines, an action each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.cli._main import main
from gem.testing.envs import Lamps

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]

READER = """
import json
from gem.content import Action, ToolCall
from gem.episode import ForeignEpisode, ForeignTurn
from gem.errors import LogError
from gem.hooks import hookimpl
from gem.specs import WrapperRef

def read(path):
    if path.suffix != ".acme":
        return None
    text = path.read_text()
    if text == "refused":
        raise LogError(f"{path} is malformed.", path=str(path))
    plain = json.loads(text)
    turns = []
    for step, (action, reward, observation) in enumerate(plain.pop("turns"), start=2):
        calls = [ToolCall("c", "bash")] if action == "call" else []
        turn = ForeignTurn(step, Action(action, tool_calls=calls), observation, reward)
        turns.append(turn)
    wrappers = tuple(WrapperRef.model_validate(ref) for ref in plain.pop("wrappers", ()))
    return ForeignEpisode("some\\none", tuple(turns), wrappers=wrappers, **plain)

@hookimpl
def gem_log_readers(readers):
    readers.append(read)
"""
ENVS = """
import gem
from gem.testing.envs import Lamps

class Unmade(Lamps):
    def __init__(self):
        raise RuntimeError("no hands")
"""


@pytest.fixture(autouse=True)
def _pack(install: Install) -> None:
    install(
        "acme-foreign",
        envs={
            "foreign:Lamps": "gem.testing.envs:Lamps",
            "foreign:Coin": "gem.testing.envs:Coin",
            "foreign:Unmade": "acme_foreign.envs:Unmade",
        },
        hooks=("acme_foreign.reading",),
        files={"reading.py": READER, "envs.py": ENVS},
        version="1.5",
    )


def solved(seed: int = 3) -> list[list[Any]]:
    """What a solver of foreign:Lamps does, with the rewards that it gets."""
    env = Lamps()
    env.reset(seed=seed)
    turns: list[list[Any]] = []
    is_over = False
    while not is_over:
        action = env.solve()
        step = env.step(action)
        turns.append([action, step.reward, step.observation])
        is_over = step.terminated
    return turns


def written(folder: Path, turns: list[list[Any]], **facts: Any) -> str:
    path = folder / "log.acme"
    path.write_text(json.dumps({"turns": turns, **facts}))
    return str(path)


PLACED = ("--env", "foreign:Lamps", "--seed", "3")


def test_a_foreign_log_is_taken_again(tmp_path: Path, capsys: Output) -> None:
    turns = solved()

    assert main(["replay", written(tmp_path, turns), *PLACED]) == 0
    assert capsys.readouterr().out == (
        f"same      foreign:Lamps some one seed 3: {len(turns)} turns, return 1, success\n"
    )


def test_a_log_that_says_where_it_was_played_needs_no_options(
    tmp_path: Path, capsys: Output
) -> None:
    facts = {"env_id": "foreign:Lamps", "seed": 3, "wrappers": [{"id": "episode_tracking"}]}
    path = written(tmp_path, solved(), **facts, versions={"acme-foreign": "1.0"})

    assert main(["replay", path]) == 0
    assert "acme-foreign was 1.0, and is 1.5." in capsys.readouterr().out


def test_a_difference_is_shown_and_is_status_1(tmp_path: Path, capsys: Output) -> None:
    turns = solved()
    turns[0][1] = 0.5

    assert main(["replay", written(tmp_path, turns), *PLACED]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "First difference: step 2, reward:",
        "  recorded  0.5",
        "  replayed  0.0",
    ]


def test_of_long_texts_the_part_that_differs_is_shown(tmp_path: Path, capsys: Output) -> None:
    start = gem.make("foreign:Lamps").reset(seed=3)[0]
    path = written(tmp_path, solved(), observation=f"{start}{'x' * 400}")

    assert main(["replay", path, *PLACED]) == 1
    shown = capsys.readouterr().out
    assert "First difference: before the first action, observation:" in shown
    assert '  recorded  "...' in shown


def test_what_is_left_over_is_told(tmp_path: Path, capsys: Output) -> None:
    turns = solved()

    assert main(["replay", written(tmp_path, [*turns, ["Bye.", None, None]]), *PLACED]) == 0
    assert f"Left over: 1 action from step {len(turns) + 2} on." in capsys.readouterr().out


def test_too_few_actions_are_partial(tmp_path: Path, capsys: Output) -> None:
    path = written(tmp_path, solved()[:1])

    assert main(["replay", path, *PLACED]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("partial ")
    assert "not over\nPartial: its actions end before the episode does." in shown


def test_a_log_that_says_nothing_is_played(tmp_path: Path, capsys: Output) -> None:
    path = written(tmp_path, [[action, None, None] for action, *_ in solved()])

    assert main(["replay", path, *PLACED]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("played ")
    assert "says nothing" in shown


def test_actions_that_cannot_be_read_are_told(tmp_path: Path, capsys: Output) -> None:
    class Strict(Lamps):
        def step(self, action: str) -> gem.Step:
            if action == "?":
                return gem.Step("What?", 0.0, info={"action_error": "format"})
            return super().step(action)

    gem.register("foreign:Strict", Strict)
    path = written(tmp_path, [["?", None, None], *solved()], env_id="foreign:Strict", seed=3)

    assert main(["replay", path]) == 0
    assert "1 action could not be read by the environment." in capsys.readouterr().out


def test_a_task_is_named(tmp_path: Path, capsys: Output) -> None:
    path = written(tmp_path, [["heads", None, None]])

    assert main(["replay", path, "--env", "foreign:Coin", "--seed", "3", "--task", "1"]) == 0
    assert "seed 3 task 1: 1 turn," in capsys.readouterr().out


def test_json_has_the_same_facts(tmp_path: Path, capsys: Output) -> None:
    turns = solved()
    turns[0][1] = 0.5
    path = written(tmp_path, turns, env_id="foreign:Lamps", versions={"acme-foreign": "1.0"})

    assert main(["replay", path, "--seed", "3", "--json"]) == 1

    facts = json.loads(capsys.readouterr().out)
    assert facts["first_difference"] == {
        "step": 2,
        "field": "reward",
        "recorded": 0.5,
        "replayed": 0.0,
    }
    assert facts["changed_versions"]["acme-foreign"] == ["1.0", "1.5"]
    assert (facts["state"], facts["turns"], facts["success"]) == ("different", len(turns), True)


def test_json_says_where_nothing_differs(tmp_path: Path, capsys: Output) -> None:
    assert main(["replay", written(tmp_path, solved()), *PLACED, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["first_difference"] is None


def refused(capsys: Output, *arguments: str) -> str:
    """The one line that a command line is refused with."""
    assert main(["replay", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("facts", "options", "line"),
    [
        ({"turns": []}, PLACED, "has no action to take"),
        ({}, (), "does not say what it was played in. Give --env ID."),
        ({}, ("--env", "foreign:Lamps"), "does not say what it was played in. Give --seed N."),
        ({"env_id": "foreign:Lamps", "seed": 3}, ("--wrappers", "concat"), "--env, too"),
        ({"env_id": "foreign:Lump", "seed": 3}, (), "foreign:Lump"),
        ({"env_id": "gem.testing.envs:Lamps", "seed": 3}, (), "name it yourself with --env"),
        (
            {"env_id": "foreign:Lamps", "seed": 3, "wrappers": [{"id": "os:system"}]},
            (),
            "os:system, which no installed pack provides",
        ),
        ({"env_id": "foreign:Unmade", "seed": 3}, (), "cannot be made for"),
        ({"turns": [["call", None, None]]}, PLACED, "call 'bash', and this environment has no"),
    ],
)
def test_what_cannot_be_taken_again_is_wrong_use(
    facts: dict[str, Any], options: tuple[str, ...], line: str, tmp_path: Path, capsys: Output
) -> None:
    path = written(tmp_path, **{"turns": solved(), **facts})

    assert line in refused(capsys, path, *options)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("log.acme", "refused", "log.acme is malformed."),
        ("log.acme", "{", "raised by the reader acme_foreign.reading. Tell its author."),
        ("log.other", "{", "no installed pack reads logs of its format"),
    ],
)
def test_a_file_that_cannot_be_read_is_wrong_use(
    name: str, content: str, line: str, tmp_path: Path, capsys: Output
) -> None:
    (tmp_path / name).write_text(content)

    assert line in refused(capsys, str(tmp_path / name), *PLACED)


@pytest.mark.parametrize("option", ["--env", "--seed", "--task"])
def test_a_log_of_ours_says_itself_what_was_played(
    option: str, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "episodes.jsonl"

    assert f"{option} 3 was given with {path}, a run" in refused(capsys, str(path), option, "3")


def test_a_log_of_ours_may_have_any_name(tmp_path: Path, capsys: Output) -> None:
    [episode] = gem.run(lambda request: "1", "foreign:Lamps", episodes=1)
    path = tmp_path / "kept.txt"
    path.write_text(f"{episode.to_json()}\n")

    assert main(["replay", str(path)]) == 0
    assert "1 episodes: 1 the same" in capsys.readouterr().out


def test_a_file_that_nobody_may_read_is_said_so(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.acme"
    path.write_text("{}")

    def refuse(self: Path, *_: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything

    assert "Permission denied" in refused(capsys, str(path))
