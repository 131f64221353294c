"""`gem-env replay --verify` on logs of several seats: clean, and a changed byte is found."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.cli._main import main

Output = pytest.CaptureFixture[str]


def right(request: gem.Request) -> str:
    """Answer by the seat and its own turn."""
    return ("rock", "paper", "scissors")[(request.seat + request.turn) % 3]


def bold(request: gem.Request) -> str:
    return "Well.\\boxed{bet}" if request.seat == 0 else "\\boxed{pass}"


def logged(path: Path, env: str, policy: Any) -> Path:
    """Write the log of a rollout of three episodes, and return its path."""

    async def play() -> None:
        with gem.EpisodeLog(path) as log:
            async for episode in gem.rollout(policy, env, episodes=3, seed=4):
                log.append(episode)

    asyncio.run(play())
    return path


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    return logged(tmp_path / "rounds.jsonl", "gem.testing.envs:Signs", [right, right])


@pytest.fixture
def hands(tmp_path: Path) -> Path:
    return logged(
        tmp_path / "hands.jsonl", "gem.testing.envs:Kuhn", {"first": bold, "second": bold}
    )


@pytest.mark.parametrize("log", ["rounds", "hands"])
def test_the_log_of_a_rollout_reproduces(
    log: str, request: pytest.FixtureRequest, capsys: Output
) -> None:
    assert main(["replay", str(request.getfixturevalue(log)), "--verify"]) == 0
    assert capsys.readouterr().out == "3 episodes: 3 the same, 0 different, 0 partial\n"


@pytest.mark.parametrize(
    ("log", "before", "after", "turn", "seat", "field"),
    [
        # Actions of a round: they show in what the last one earns, or in what is shown after it.
        ("rounds", b'"action":"paper"', b'"action":"raper"', 1, "right", "reward"),
        ("rounds", b'"action":"rock"', b'"action":"rack"', 2, "left", "observation"),
        ("rounds", b"Left showed rock, right p", b"Left showed rack, right p", 2, "left", None),
        ("hands", b"Well.\\\\boxed{bet}", b"Well.\\\\boxed{bed}", 1, "second", None),
        ("hands", b"You are second.", b"You are secund.", 1, "second", None),
        # What the first was shown at the end, after the other's last action.
        ("hands", b"answered pass.", b"answered past.", 1, "second", "final_observation of first"),
    ],
)
def test_a_byte_that_changed_at_one_seat_is_found(
    log: str,
    before: bytes,
    after: bytes,
    turn: int,
    seat: str,
    field: str | None,
    request: pytest.FixtureRequest,
    capsys: Output,
) -> None:
    path: Path = request.getfixturevalue(log)
    whole = path.read_bytes()
    assert before in whole
    path.write_bytes(whole.replace(before, after, 1))

    assert main(["replay", str(path), "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert main(["replay", str(path), "--verify"]) == 1

    assert (facts["same"], facts["different"]) == (2, 1)
    found = facts["first_difference"]
    field = field or "observation"
    assert (found["turn"], found["seat"], found["field"]) == (turn, seat, field)
    assert f", turn {turn + 1} ({seat}), {field}:\n" in capsys.readouterr().out


# What only says again what stands elsewhere, or says nothing of the episode: who sat there, times,
# versions, and what an info says freely.
FREE = {"policy", "policy_index", "policy_s", "step_s", "duration_s", "repeat", "env_index"}
FREE |= {"episode_index", "versions", "error", "stopped_by", "info", "terminated", "truncated"}


def leaves(value: Any, *path: Any) -> list[tuple[Any, ...]]:
    """Return the paths of all texts and numbers in a record but those that are free."""
    if isinstance(value, dict):
        paths = [leaves(each, *path, key) for key, each in value.items() if key not in FREE]
    elif isinstance(value, list):
        paths = [leaves(each, *path, place) for place, each in enumerate(value)]
    else:
        return [path] if value is not None else []
    return [one for several in paths for one in several]


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return f"{value}!" if isinstance(value, str) else value + 1


def test_nothing_that_a_record_says_of_its_seats_goes_unread(rounds: Path) -> None:
    plain = json.loads(rounds.read_text("ascii").splitlines()[0])
    unread = []
    for path in leaves(plain):
        forged = json.loads(json.dumps(plain))
        place = forged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = changed(place[path[-1]])
        try:
            episode = gem.Episode.from_json(json.dumps(forged))
        except ValueError:
            continue  # it is refused before it is replayed
        try:
            state = gem.replay(episode).state
        except gem.GemError:
            continue  # so is an environment that there is not
        if state != "different":
            unread.append(path)

    assert unread == [("seed",)]  # these rounds draw nothing
