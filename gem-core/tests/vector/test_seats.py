"""A vector over environments of several seats: what each seat was given is in the infos."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gem
from gem.env import episode_seed
from gem.testing.envs import Kuhn, LastOne, Signs
from gem.vector import make_vec

BACKENDS = ["sync", "thread", pytest.param("process", marks=pytest.mark.slow)]
SEED = 5
NUM_ENVS = 3
OF_SEATS = ("seat", "rewards", "ends", "observations", "successes", "waiting_seats")

Act = Callable[[int], str]
"""The action of a turn."""


def bet_or_pass(turn: int) -> str:
    return ("\\boxed{pass}", "\\boxed{bet}", "\\boxed{bet}")[turn % 3]


def sign(turn: int) -> str:
    return ("rock", "paper", "scissors", "rock")[turn % 4]


def number(turn: int) -> str:
    return str(1 + turn % 3)


def of_seats(info: Any) -> dict[str, Any]:
    """Return what an info says of seats, and of nothing else."""
    return {name: info[name] for name in OF_SEATS if name in info}


def alone(env: gem.Env, act: Act, seed: int) -> list[dict[str, Any]]:
    """Return what the infos of an episode say of seats, from the reset to the end."""
    _, info = env.reset(seed=seed)
    infos = [of_seats(info)]
    turn = 0
    is_over = False
    while not is_over:
        step = env.step(act(turn))
        infos.append(of_seats(step.info))
        is_over = step.terminated or step.truncated
        turn += 1
    return infos


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("kind", "act"), [(Kuhn, bet_or_pass), (Signs, sign), (LastOne, number)])
def test_what_the_last_step_gave_the_seats_is_in_the_final_info(
    kind: type[gem.SeatedEnv], act: Act, backend: str
) -> None:
    episodes = [[alone(kind(), act, episode_seed(SEED, i, n)) for n in (0, 1)] for i in range(3)]
    options: dict[str, Any] = {"num_workers": 2} if backend == "process" else {}
    target = f"gem.testing.envs:{kind.__name__}"
    seen: list[list[list[dict[str, Any]]]] = [[] for _ in range(NUM_ENVS)]

    with make_vec(target, num_envs=NUM_ENVS, seed=SEED, backend=backend, **options) as vector:
        _, infos = vector.reset()
        for index, info in enumerate(infos):
            seen[index].append([of_seats(info)])
        while any(len(each) < 3 for each in seen):
            step = vector.step([act(len(each[-1]) - 1) for each in seen])
            for index, info in enumerate(step.infos):
                if "final_info" not in info:
                    seen[index][-1].append(of_seats(info))
                    continue
                final_info = info["final_info"]
                seen[index][-1].append(of_seats(final_info))
                # Its own: the observation of the episode that ended is the last mover's.
                shown = final_info["observations"][final_info["seat"]]
                assert info["final_observation"] == shown
                seen[index].append([of_seats(info)])

    assert [each[:2] for each in seen] == episodes
    ends = [episode[-1] for episode in episodes[0]]
    assert all(set(end["observations"]) == set(range(len(kind.seats))) for end in ends)
    assert all(len(end["rewards"]) == len(kind.seats) for end in ends)


@pytest.mark.parametrize("backend", BACKENDS)
def test_where_the_next_step_begins_anew_the_end_is_in_its_own_info(backend: str) -> None:
    options: dict[str, Any] = {"num_workers": 1} if backend == "process" else {}
    ended = alone(Kuhn(), lambda _: "\\boxed{bet}", episode_seed(SEED, 0, 0))[-1]

    with make_vec(
        "gem.testing.envs:Kuhn",
        num_envs=1,
        seed=SEED,
        backend=backend,
        autoreset="next_step",
        **options,
    ) as vector:
        vector.reset()
        steps = [vector.step(["\\boxed{bet}"]) for _ in range(3)]

    assert of_seats(steps[1].infos[0]) == ended
    assert steps[2].infos[0]["seat"] == 0
