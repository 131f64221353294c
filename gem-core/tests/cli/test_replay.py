from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.cli._main import main
from gem.testing import ScriptedPolicy

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]


def lamplighter(request: gem.Request) -> str:
    return str(1 + request.turn % 4)


@pytest.fixture
def episodes(install: Install) -> list[gem.Episode]:
    install("acme-replay", envs={"replay:Lamps": "gem.testing.envs:Lamps"}, version="1.5")
    return played("replay:Lamps", ScriptedPolicy(lamplighter, name="lamplighter"))


def played(env_id: str, policy: ScriptedPolicy) -> list[gem.Episode]:
    async def run() -> list[gem.Episode]:
        return [episode async for episode in gem.rollout(policy, env_id, episodes=3)]

    return asyncio.run(run())


@pytest.fixture
def run_folder(episodes: list[gem.Episode], tmp_path: Path) -> Path:
    return logged(tmp_path, episodes)


def logged(tmp_path: Path, episodes: list[gem.Episode]) -> Path:
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    with gem.EpisodeLog(folder / "episodes.jsonl") as log:
        for episode in episodes:
            log.append(episode)
    return folder


class Asking(gem.Env):
    """Answers as it was told to, or with what has happened since."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "", {}

    def step(self, action: str) -> gem.Step:
        assert isinstance(action, gem.Action)
        results = action.tool_results or (gem.ToolResult("c", Asking.news),)
        return gem.Step("", 0.0, True, False, {"tool_results": results})

    news = "old"


@pytest.mark.parametrize(("flags", "status"), [((), 0), (("--live-tools",), 1)])
def test_tools_answer_as_recorded_unless_live(
    flags: tuple[str, ...], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gem.register("replay:Asking", Asking)
    folder = logged(tmp_path, played("replay:Asking", ScriptedPolicy(lamplighter)))
    monkeypatch.setattr(Asking, "news", "new")

    assert main(["replay", str(folder), *flags]) == status


def forged(episode: gem.Episode) -> gem.Episode:
    """An episode whose second turn says more than was paid."""
    first, second, *rest = episode.turns
    return replace(episode, turns=(first, replace(second, reward=0.5), *rest))


def test_a_run_folder_that_reproduces_is_verified(run_folder: Path, capsys: Output) -> None:
    assert main(["replay", str(run_folder), "--verify"]) == 0
    assert capsys.readouterr().out == "3 episodes: 3 the same, 0 different, 0 partial\n"


def test_a_log_is_a_run_too(run_folder: Path, capsys: Output) -> None:
    assert main(["replay", str(run_folder / "episodes.jsonl"), "--verify"]) == 0
    assert "3 the same" in capsys.readouterr().out


def test_without_verify_every_episode_has_its_line(run_folder: Path, capsys: Output) -> None:
    assert main(["replay", str(run_folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("same      replay:Lamps lamplighter seed ") for line in lines[:3])


@pytest.mark.parametrize("options", [[], ["--verify"], ["--json"]])
def test_a_difference_is_status_1(
    episodes: list[gem.Episode], tmp_path: Path, options: list[str]
) -> None:
    folder = logged(tmp_path, [episodes[0], forged(episodes[1])])

    assert main(["replay", str(folder), *options]) == 1


def test_the_first_difference_is_shown(
    episodes: list[gem.Episode], tmp_path: Path, capsys: Output
) -> None:
    main(["replay", str(logged(tmp_path, [episodes[0], *map(forged, episodes[1:])])), "--verify"])

    assert capsys.readouterr().out == (
        "3 episodes: 1 the same, 2 different, 0 partial\n"
        f"First difference: replay:Lamps, lamplighter, seed {episodes[1].seed}, turn 2, reward:\n"
        "  recorded  0.5\n"
        "  replayed  0.0\n"
    )


def test_a_long_difference_is_cut(
    episodes: list[gem.Episode], tmp_path: Path, capsys: Output
) -> None:
    odd = replace(episodes[0], final_observation="x" * 5000)

    main(["replay", str(logged(tmp_path, [odd])), "--verify"])

    assert max(map(len, capsys.readouterr().out.splitlines())) < 400


def test_versions_that_changed_are_told(
    episodes: list[gem.Episode], tmp_path: Path, capsys: Output
) -> None:
    old = replace(episodes[0], versions={"gem-core": gem.__version__, "acme-gone": "0.9"})

    main(["replay", str(logged(tmp_path, [old])), "--verify"])

    shown = capsys.readouterr().out
    assert "acme-gone was 0.9, and is not there." in shown
    assert "acme-replay was not there, and is 1.5." in shown


def test_an_episode_that_an_error_ended_is_counted_apart(
    install: Install, tmp_path: Path, capsys: Output
) -> None:
    install("acme-replay", envs={"replay:Lamps": "gem.testing.envs:Lamps"})
    short = played("replay:Lamps", ScriptedPolicy(["1"]))

    assert main(["replay", str(logged(tmp_path, short)), "--verify"]) == 0
    assert "0 the same, 0 different, 3 partial\nPartial: an error" in capsys.readouterr().out


def test_of_an_episode_that_was_tried_again_the_last_try_is_replayed(
    episodes: list[gem.Episode], tmp_path: Path, capsys: Output
) -> None:
    failed = replace(episodes[0], turns=(), stop_reason="policy_error", success=None, error="down")

    assert main(["replay", str(logged(tmp_path, [failed, *episodes])), "--verify"]) == 0
    assert capsys.readouterr().out == "3 episodes: 3 the same, 0 different, 0 partial\n"


def test_a_task_is_named(install: Install, tmp_path: Path, capsys: Output) -> None:
    install("acme-replay", envs={"replay:Coin": "gem.testing.envs:Coin"})
    episodes = played("replay:Coin", ScriptedPolicy(["heads"]))
    tasked = [replace(each, final_observation="odd") for each in episodes]

    main(["replay", str(logged(tmp_path, tasked))])

    shown = capsys.readouterr().out
    assert f"task {episodes[0].task}: 1 turns" in shown
    assert f", task {episodes[0].task}, turn" in shown


def test_json_has_the_same_facts(
    episodes: list[gem.Episode], tmp_path: Path, capsys: Output
) -> None:
    main(["replay", str(logged(tmp_path, [forged(episodes[0]), episodes[1]])), "--json"])

    assert json.loads(capsys.readouterr().out) == {
        "episodes": 2,
        "same": 1,
        "different": 1,
        "partial": 0,
        "first_difference": {
            "env_id": "replay:Lamps",
            "policy": "lamplighter",
            "seed": episodes[0].seed,
            "task": None,
            "turn": 1,
            "field": "reward",
            "recorded": 0.5,
            "replayed": 0.0,
        },
        "changed_versions": {},
    }


def test_json_says_where_nothing_differs(run_folder: Path, capsys: Output) -> None:
    assert main(["replay", str(run_folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["first_difference"] is None


@pytest.mark.parametrize("content", [None, "", "not an episode\n"])
def test_what_is_no_run_is_wrong_use(content: str | None, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "episodes.jsonl"
    if content is not None:
        path.write_text(content)

    assert main(["replay", str(path)]) == 2

    [line] = capsys.readouterr().err.splitlines()
    assert str(path) in line
