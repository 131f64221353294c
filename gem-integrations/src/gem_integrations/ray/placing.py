"""Choose the node of an actor. Knows nothing about what an actor does."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["living_nodes", "node_for"]


def living_nodes() -> dict[str, float]:
    """Return the processors of each node that Ray takes for alive, by the node's id.

    Ray finds a node that fell silent by its health checks, some 15 s later.
    """
    import ray

    return {
        node["NodeID"]: node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]
    }


def node_for(
    processors: Mapping[str, float], *, actors: Mapping[str, int], losses: Mapping[str, int]
) -> str:
    """Return where the next actor should be: the node with the fewest for each processor.

    Nodes where an actor was lost come last, by how many: of a node that has just died Ray may
    still believe that it lives, and an actor that is put there waits until Ray knows better. A
    node without processors is for none, unless there is no other.

    >>> node_for({"a": 4.0, "b": 8.0}, actors={"a": 1, "b": 1}, losses={})
    'b'
    >>> node_for({"a": 4.0, "b": 8.0}, actors={"a": 1, "b": 1}, losses={"b": 1})
    'a'
    """

    def load(node: str) -> tuple[int, float]:
        return losses.get(node, 0), (actors.get(node, 0) + 1) / processors[node]

    able = [node for node, number in processors.items() if number > 0]
    return min(able, key=load) if able else next(iter(processors))
