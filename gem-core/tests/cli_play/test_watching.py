"""A recorded episode, or a policy, is watched turn by turn."""

from __future__ import annotations

import asyncio
import io
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import gem
from gem.cli.main import main

from .terminals import Install, Output, Play


@pytest.fixture
def run_folder(site: Path, tmp_path: Path) -> Path:
    """Return a run folder with three episodes: won, failed in its second step, replaced prompts."""

    async def record() -> None:
        sure = {"env": "play:Strict", "max_turns": 2}
        with gem.EpisodeLog(tmp_path / "episodes.jsonl") as log:
            for name, options in (
                ("plain", sure),
                ("raised", {"env": "play:Raises"}),
                ("rewritten", {**sure, "wrappers": ["concat"]}),
            ):
                async for episode in gem.rollout(lambda request: "1", **options):
                    log.append(replace(episode, policy=name))

    asyncio.run(record())
    return tmp_path


def test_the_episodes_of_a_run_are_listed(typed: Play, run_folder: Path) -> None:
    shown = typed(str(run_folder))

    assert "    1  play:Strict seed" in shown
    assert re.search(r"play:Raises seed \d+: 1 turn, ", shown)
    assert f"Watch one of these 3: gem-env play {run_folder} NUMBER" in shown


def test_a_recorded_episode_is_watched_turn_by_turn(typed: Play, run_folder: Path) -> None:
    shown = typed(str(run_folder), "1", lines="\n:b\n\n\n")

    assert "Four lamps" in shown
    assert shown.count("Lit: [1]") == 3  # the first turn twice
    assert "No success after 2 turns (max_turns), total reward" in shown


def test_watching_can_be_left(typed: Play, run_folder: Path) -> None:
    assert "Lit" not in typed(str(run_folder), "1", lines=":q\n")
    assert "Lit" not in typed(str(run_folder), "1", lines="")


def test_an_episode_that_an_error_ended_is_shown_up_to_there(
    play: Play, run_folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["play", str(run_folder / "episodes.jsonl"), "3"]) == 0
    assert "Ended by env_error: RuntimeError: out of" in capsys.readouterr().out
    assert main(["play", str(run_folder), "2"]) == 0
    assert "Lit: [1]" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["0", "4"])
def test_an_episode_that_a_run_does_not_have_is_refused(
    typed: Play, run_folder: Path, number: str
) -> None:
    assert "and it has 3, counted from 1" in typed(str(run_folder), number, status=2)


def test_an_episode_of_an_environment_is_refused(typed: Play) -> None:
    assert "and that is no run folder" in typed("play:Lamps", "3", status=2)


def test_an_episode_whose_environment_is_gone_is_watched_all_the_same(
    typed: Play, run_folder: Path
) -> None:
    path = run_folder / "episodes.jsonl"
    path.write_text(path.read_text().replace("play:Strict", "gone:Strict"))

    assert "Lit: [1]" in typed(str(run_folder), "1", lines="\n\n")


def test_a_policy_is_watched(typed: Play, install: Install) -> None:
    source = "def one():\n    return Policy()\nclass Policy:\n    closed = 0\n"
    source += "    def __call__(self, request):\n        return '1'\n"
    source += "    async def aclose(self):\n        Policy.closed += 1\n"
    plain = "\ndef two():\n    return lambda request: 'no number'\n"
    manifest = "from gem.specs import PluginManifest, PolicySpec\n"
    manifest += "plugin = PluginManifest(name='acme', policies=("
    manifest += "PolicySpec(id='one', target='acme_policy.one:one'),"
    manifest += "PolicySpec(id='two', target='acme_policy.one:two')))"
    install("acme-policy", manifest=manifest, files={"one.py": source + plain})

    shown = typed("play:Strict", "--policy", "one", "--seed", "3", lines="\n\n\n\n\n\n")
    assert "play:Strict seed 3" in shown
    assert "policy one\n" in shown
    assert "Lit: [1]" in shown
    assert sys.modules["acme_policy.one"].Policy.closed == 1
    assert "Not a number." in typed("play:Strict", "--policy", "two", lines="\n")
    raised = typed("play:Raises", "--policy", "one", status=1)
    assert "Ended by env_error" in raised


def test_a_policy_whose_server_is_away_is_told_at_once(typed: Play, install: Install) -> None:
    source = "from gem.errors import GemError\ndef away():\n    return Away()\nclass Away:\n"
    source += "    async def probe(self):\n        raise GemError('Nobody is there.')\n"
    source += "    async def __call__(self, request):\n        raise AssertionError\n"
    manifest = "from gem.specs import PluginManifest, PolicySpec\n"
    manifest += "plugin = PluginManifest(name='acme', policies=("
    manifest += "PolicySpec(id='away', target='acme_policy.away:away'),))"
    install("acme-policy", manifest=manifest, files={"away.py": source})

    shown = typed("play:Strict", "--policy", "away", status=2)
    assert shown == "gem-env: Nobody is there.\n"
