"""Tree search that knows no game's rules: it takes snapshots, restores them, samples actions.

Before each move it plays TRIALS games on from a snapshot, by what earlier trials earned (UCT
over the actions taken), then by sampled actions. Of 4 episodes of 2048 it wins all, where
sampled actions alone win 1; of 4 of Sokoban it wins 2, where they win none.
Run it with `python examples/tree_search.py`.
"""

from __future__ import annotations

import math
import random

import gem

EPISODES = 4
TRIALS = 60  # before each move
HORIZON = 20  # actions of a trial
CURIOSITY = 0.3


class Node:
    """What the trials earned that began with the same actions."""

    def __init__(self) -> None:
        self.trials = 0
        self.earned = 0.0
        self.after: dict[str, Node] = {}

    def promise(self, siblings_trials: int) -> float:
        """Return the mean return, and more after few trials."""
        doubt = math.sqrt(math.log(siblings_trials) / self.trials)
        return self.earned / self.trials + CURIOSITY * doubt


def trial(simulation: gem.Env, root: Node) -> None:
    """Play on, in the tree by what it promises; add one node to it, and the return to each."""
    nodes = [root]
    earned = 0.0
    for turn in range(HORIZON):
        action = simulation.sample_action()
        here = nodes[-1]
        if turn == len(nodes) - 1 and (here.trials or here is root):
            if action in here.after:  # else it is new here, and tried at once
                action = max(here.after, key=lambda known: here.after[known].promise(here.trials))
            nodes.append(here.after.setdefault(action, Node()))
        step = simulation.step(action)
        earned += step.reward
        if step.terminated or step.truncated:
            break
    for node in nodes:
        node.trials += 1
        node.earned += earned


def best_action(env: gem.Env, simulation: gem.Env, chance: random.Random) -> str:
    """Return the action with which most trials began."""
    root = Node()
    state = env.snapshot()
    for _ in range(TRIALS):
        simulation.restore(state)
        simulation.rng = simulation.sample_rng = chance  # else it would foresee the tiles
        trial(simulation, root)
    return max(root.after, key=lambda action: root.after[action].trials)


def main() -> None:
    """Print how often sampled actions and the search win."""
    for game in ("game:Game2048-v0-easy", "game:Sokoban-v0-easy"):
        env = gem.make(game)
        simulation = gem.make(game)
        chance = random.Random(0)
        for player in ("sampled actions", "tree search"):
            won = 0
            earned = 0.0
            for seed in range(EPISODES):
                env.reset(seed=seed)
                is_over = False
                while not is_over:
                    if player == "tree search":
                        action = best_action(env, simulation, chance)
                    else:
                        action = env.sample_action()
                    step = env.step(action)
                    earned += step.reward
                    is_over = step.terminated or step.truncated
                won += step.info["success"]
            print(f"{game:22} {player:15}  won {won:2}/{EPISODES}, earned {earned / EPISODES:.3f}")


if __name__ == "__main__":
    main()
