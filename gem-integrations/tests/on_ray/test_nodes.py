"""What is lost with a node of a cluster goes on at the others, episode by episode the same."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import gem
from gem_integrations.ray.placing import node_for

from .programs import Program

THREE_NODES = "import sys; from three_nodes import main; main(*sys.argv[1:])"


@pytest.fixture(scope="module")
def played() -> Iterator[tuple[Mapping[str, Any], list[gem.Episode]]]:
    """Play 1,000 episodes on three nodes, lose one, and return what was written and logged."""
    temp = Path(tempfile.mkdtemp(dir="/tmp"))  # Ray's sockets lie below: no room for a long path
    log = temp / "episodes.jsonl"
    result = temp / "result.json"
    program = Program(temp, temp)
    # Without a token, and not to be reached from elsewhere.
    program.env.update(RAY_AUTH_MODE="disabled", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")
    done = program.run(THREE_NODES, "./places.py:Places", str(log), str(result))
    assert done.returncode == 0, done.stderr
    yield json.loads(result.read_text(encoding="utf-8")), list(gem.read_episodes(log))
    shutil.rmtree(temp, ignore_errors=True)  # what that Ray started may write here to the end


def nodes_of(episode: gem.Episode, nodes: Mapping[str, str]) -> list[str]:
    """Return the ids of the nodes that an episode was played on, in order."""
    each_turn = [nodes[str(turn.info["raylet"])] for turn in episode.turns]
    return [node for node, _ in itertools.groupby(each_turn)]


@pytest.mark.slow
def test_every_episode_is_logged_once_and_as_it_is_here_though_a_node_is_lost(played: Any) -> None:
    written, episodes = played

    fingerprints = [(str(each.episode_index), each.fingerprint()) for each in episodes]

    assert len(fingerprints) == 1000
    assert dict(fingerprints) == written["inline"]


@pytest.mark.slow
def test_what_a_lost_node_held_is_opened_again_on_others(played: Any) -> None:
    written, episodes = played
    ways = [nodes_of(episode, written["nodes"]) for episode in episodes]

    moved = [way for way in ways if len(way) > 1]

    assert len(moved) > 4  # `three_nodes` says why
    assert all(way[0] == written["lost"] and len(way) == 2 for way in moved)


@pytest.mark.slow
def test_actors_are_spread_over_the_nodes_and_one_is_lost_with_its_node(played: Any) -> None:
    written, episodes = played

    used = {node for each in episodes for node in nodes_of(each, written["nodes"])}

    assert used == set(written["nodes"].values())
    assert written["restarts"] == 1


def test_a_node_without_processors_is_for_no_actor() -> None:
    assert (
        node_for({"head": 0.0, "large": 8.0}, actors={"large": 40}, losses={"large": 2}) == "large"
    )


def test_where_no_node_has_processors_any_will_do() -> None:
    assert node_for({"head": 0.0}, actors={}, losses={}) == "head"
