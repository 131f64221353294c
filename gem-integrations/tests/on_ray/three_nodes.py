"""A program that plays 1,000 episodes on a Ray of three nodes, and loses one in the middle.

Knows nothing about what is expected of them: `test_nodes` does. The
infos of the environment's steps hold the process id of the raylet above it, another on each node.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

import gem
from gem.rollouts import RolloutStats
from gem_integrations.ray.guard import alone_in_starting

EPISODES = 1000
AT_ONCE = 64
BEGUN = 400  # so many episodes have begun before the node is lost
WAITING = 48  # of 64 episodes, 22 at most are on one node: some of these 48 are on the lost one


def act(request: gem.Request) -> str:
    """Answer by the turn alone."""
    return f"step {request.turn}"


class Loss:
    """A policy as `act` that loses a node at one moment, while its episodes are being played."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.begun = 0
        self.waiting = 0
        self.is_over = asyncio.Event()

    async def __call__(self, request: gem.Request) -> str:
        """Keep episodes waiting until enough of them do, and the node is gone."""
        if request.turn == 0:
            self.begun += 1
        elif self.begun >= BEGUN:
            self.waiting += 1
            if self.waiting == WAITING:
                kill(self.node)
                self.is_over.set()
            await self.is_over.wait()
        return act(request)


def kill(node: Any) -> None:
    """End every process of a node at once, as where its machine loses power."""
    raylet = raylet_of(node)
    for process in [raylet, *below(raylet)]:
        os.kill(process, signal.SIGKILL)


def below(parent: int) -> Iterator[int]:
    """Yield the processes that a process started, and those that they did."""
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield child
            yield from below(child)


def raylet_of(node: Any) -> int:
    """Return the process id of a node's raylet, which the environments there can read."""
    return int(node.all_processes["raylet"][0].process.pid)


async def play(env: str, address: str, node: Any, log: Path) -> RolloutStats:
    """Play all episodes on the cluster, and write each to the log."""
    stats = RolloutStats()
    run = gem.rollout(
        Loss(node),
        env,
        episodes=EPISODES,
        seed=3,
        concurrency=AT_ONCE,
        backend="ray",
        num_workers=3,
        backend_options={"address": address},
        stats=stats,
    )
    with gem.EpisodeLog(log) as episodes:
        async for episode in run:
            episodes.append(episode)
    return stats


def started() -> tuple[Cluster, Any]:
    """Return a cluster of three nodes and the one that is to be lost: not that of this program."""
    small = {"num_cpus": 1, "object_store_memory": 80 * 1024 * 1024}
    with alone_in_starting():
        cluster = Cluster(
            initialize_head=True, head_node_args={**small, "include_dashboard": False}
        )
        nodes = [cluster.add_node(**small) for _ in range(2)]
    return cluster, nodes[0]


def main(env: str, log: str, result: str) -> None:
    """Play the episodes here and on the cluster, and write what is compared as JSON."""
    here = gem.run(act, env, episodes=EPISODES, seed=3, concurrency=AT_ONCE)
    cluster, lost = started()
    nodes = {str(raylet_of(node)): node.node_id for node in cluster.list_all_nodes()}
    stats = asyncio.run(play(env, cluster.address, lost, Path(log)))
    ray.shutdown()
    cluster.shutdown()
    compared = {
        "inline": {episode.episode_index: episode.fingerprint() for episode in here},
        "nodes": nodes,
        "lost": lost.node_id,
        "restarts": stats.restarts,
    }
    Path(result).write_text(json.dumps(compared), encoding="utf-8")
