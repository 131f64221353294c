"""Reference policies: the floor, chance and the solution on the episodes of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import read_episodes, registry, replay
from gem.cli._main import main
from gem.testing import fake_plugin
from gem_eval.opening import started
from gem_eval.references import declared_references
from gem_eval.summary import Result

FLOORS = """
    from gem.specs import PluginManifest, PolicySpec

    plugin = PluginManifest(
        name="floors",
        policies=(
            PolicySpec(
                id="floor",
                target="gem_eval.policies.noop:Noop",
                reference_for=("tiny:Numbered", "tiny:Gu*"),
            ),
        ),
    )
"""


@pytest.fixture
def _floors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have a pack installed whose policy is a reference of two environments."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("floors")
        patch.syspath_prepend(fake_plugin(folder, "acme-floors", manifest=FLOORS))
        registry.refresh()
        yield
    registry.refresh()


def figures(results: tuple[Result, ...]) -> dict[tuple[str, str], tuple[int, float | None]]:
    return {(each.env_id, each.policy): (each.episodes, each.success_rate) for each in results}


@pytest.mark.usefixtures("_floors")
def test_a_pack_declares_of_which_environments_its_policy_is_a_reference() -> None:
    names = [each.name for each in declared_references("tiny:Guess")]
    assert names == ["floor", "random", "solver"]
    assert declared_references("tiny:Silent") == ()


@pytest.mark.usefixtures("_floors")
def test_declared_references_are_played_on_the_episodes_of_the_run(tmp_path: Path) -> None:
    run = gem_eval.evaluate(
        ["tiny:Silent", "tiny:Numbered"],
        "noop",
        out=tmp_path / "run",
        episodes=4,
        repeats=2,
    )
    assert figures(run.summary.references) == {
        ("tiny:Numbered", "floor"): (4, 0.0),
        ("tiny:Numbered", "random"): (4, None),
        ("tiny:Numbered", "solver"): (4, 1.0),
    }
    own = {(e.env_index, e.seed, e.task) for e in run.episodes() if e.env_index == 1}
    log = run.folder.references_path
    assert {(e.env_index, e.seed, e.task) for e in read_episodes(log)} == own
    assert all(replay(e).state == "same" for e in read_episodes(log) if e.policy == "solver")


@pytest.mark.usefixtures("_floors")
def test_a_run_says_how_far_its_references_are_while_they_play(tmp_path: Path) -> None:
    given = {"envs": ["tiny:Numbered"], "policies": ["noop"], "episodes": 4}
    job = started(given, out=tmp_path / "run", command=["eval"])

    async def states() -> list[str]:
        found = []
        running = asyncio.create_task(job.run())
        while not running.done():
            found.append(job.state)
            await asyncio.sleep(0)
        await running
        return found

    seen = asyncio.run(states())
    job.close()

    told = [state for state in seen if state]
    counts = [int(state.removeprefix("references: ").removesuffix(" of 12")) for state in told]
    assert counts == sorted(counts)
    assert any(count > 4 for count in counts)  # of three references with four episodes each
    assert seen[0] == job.state == ""


@pytest.mark.usefixtures("_floors")
def test_references_are_played_once_and_again_the_same(tmp_path: Path) -> None:
    logs = []
    for name in ("one", "two"):
        run = gem_eval.evaluate("tiny:Guess", "noop", out=tmp_path / name, episodes=5)
        before = run.folder.references_path.read_bytes()
        gem_eval.resume(run.path)
        assert run.folder.references_path.read_bytes() == before
        more = gem_eval.resume(run.path, episodes=7)
        assert {each.episodes for each in more.summary.references} == {7}
        logs.append([e.fingerprint() for e in read_episodes(run.folder.references_path)])
    assert sorted(logs[0]) == sorted(logs[1])


@pytest.mark.usefixtures("_floors")
def test_a_policy_of_the_run_has_its_row_already(tmp_path: Path) -> None:
    run = gem_eval.evaluate("tiny:Guess", ["random", "floor"], out=tmp_path / "r", episodes=2)
    assert [each.policy for each in run.summary.references] == ["solver"]


@pytest.mark.usefixtures("_floors")
def test_a_run_that_was_killed_before_its_references_has_them_when_it_goes_on(
    tmp_path: Path,
) -> None:
    run = gem_eval.evaluate("tiny:Guess", "noop", out=tmp_path / "run", episodes=3)
    whole = run.folder.references_path.read_bytes()
    run.folder.references_path.write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    again = gem_eval.resume(run.path)
    assert figures(again.summary.references) == figures(run.summary.references)
    assert len(run.folder.references_path.read_bytes().splitlines()) == 9


def test_no_environment_without_a_declaration_has_any(tmp_path: Path) -> None:
    run = gem_eval.evaluate("tiny:Guess", "noop", out=tmp_path / "run", episodes=2)
    assert run.summary.references == ()
    assert not run.folder.references_path.exists()


def reported(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["report", *arguments]) == 0
    return capsys.readouterr().out


def test_a_report_plays_them_where_it_is_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    gem_eval.evaluate("tiny:Guess", "noop", out="run", episodes=3)
    assert "reference" not in reported(capsys, "run")

    shown = reported(capsys, "run", "--references")
    rows = [line.split() for line in shown.splitlines() if "(reference)" in line]
    assert [row[1] for row in rows] == ["random", "solver"]  # noop is the run's own
    assert "on the same episodes" in shown
    # They are kept: a report that does not ask for them shows them too.
    assert reported(capsys, "run") == shown
    [summary] = json.loads(reported(capsys, "run", "--json"))
    found: list[Any] = summary["references"]
    assert [each["policy"] for each in found] == ["random", "solver"]


def test_a_report_of_a_run_with_a_live_policy_plays_them_all_the_same(tmp_path: Path) -> None:
    run = gem_eval.evaluate("tiny:Guess", lambda request: "1", out=tmp_path / "run", episodes=2)
    assert main(["report", str(run.path), "--references"]) == 0
    assert {each.policy for each in read_episodes(run.folder.references_path)} == {
        "noop",
        "random",
        "solver",
    }
