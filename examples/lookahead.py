"""Best of n by looking ahead: try sampled actions on forks, then take the best for real.

A fork is an independent twin in the same state. What happens to it does not happen here.
Run it with `python examples/lookahead.py`.
"""

from __future__ import annotations

import gem

EPISODES = 100


def best_action(env: gem.Env, tries: int) -> str:
    """Sample some actions and return the one that earns most on a fork."""
    actions = [env.sample_action() for _ in range(tries)]
    return max(actions, key=lambda action: env.fork().step(action).reward)


def play(env: gem.Env, seed: int, tries: int) -> tuple[bool, int]:
    """Play one episode; return whether it was won, and its turns."""
    env.reset(seed=seed)
    while True:
        step = env.step(best_action(env, tries))
        if step.terminated or step.truncated:
            return bool(step.info["success"]), env.turn


def main() -> None:
    """Compare guessing with looking one turn ahead."""
    env = gem.make("game:Mastermind-v0-easy")
    print("tries  won  mean turns")
    for tries in (1, 2, 4, 8):
        results = [play(env, seed, tries) for seed in range(EPISODES)]
        won = sum(success for success, _ in results)
        turns = sum(turns for _, turns in results) / EPISODES
        print(f"{tries:5}  {won:3}  {turns:10.2f}")


if __name__ == "__main__":
    main()
