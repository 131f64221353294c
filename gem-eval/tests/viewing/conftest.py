"""What the tests of the viewer share: logs of episodes as they are wanted, and a viewer on them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from gem import Episode, Turn
from gem_eval.finding import example_episode, example_turn
from gem_eval.run_folder import RunFolder
from gem_eval.settings import settings_from
from gem_eval.viewing.runs import Run, open_runs
from gem_eval.viewing.token_text import TokenTexts

MakeEpisode = Callable[..., Episode]


def turn(**changes: Any) -> Turn:
    """Return a turn, with whatever is to be different."""
    return replace(example_turn("\\boxed{8}", "What now?"), **changes)


def episode(**changes: Any) -> Episode:
    """Return an episode of one turn that succeeded, with whatever is to be different."""
    usual = example_episode(
        turn(reward=1.0, terminated=True),
        env_id="tiny:Guess",
        env_kwargs={"highest": 15},
        seed=1234567890123,
        policy="solver",
        final_observation="Well done.",
        success=True,
        versions={"gem-core": "0.1.0"},
        duration_s=0.25,
    )
    return replace(usual, **changes)


def failed(**changes: Any) -> Episode:
    """Return an episode that an error ended."""
    usual = {
        "turns": (),
        "final_observation": None,
        "total_reward": 0.0,
        "terminated": False,
        "truncated": True,
        "stop_reason": "policy_error",
        "error": "RuntimeError: server answered 503",
        "success": None,
    }
    return episode(**{**usual, **changes})


def write(log: Path, *episodes: Episode) -> None:
    """Add episodes to a log. Its own way would wait for the disk after each."""
    with log.open("a", encoding="ascii") as file:
        file.writelines(f"{each.to_json()}\n" for each in episodes)


@pytest.fixture
def make_run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Return a function that writes a run of episodes and opens it for a viewer."""
    opened: list[Run] = []

    def make(
        *episodes: Episode, name: str = "run", total: int | None = None, **settings: Any
    ) -> Run:
        given = {"envs": "tiny:Guess", "policies": ["solver", "random"], **settings}
        folder = RunFolder.create(
            tmp_path / name, settings_from(given), ["gem-env", "eval"], total=total
        )
        write(folder.episodes_path, *episodes)
        [run] = open_runs([str(folder.path)], tmp_path / "cache")
        opened.append(run)
        run.refresh(budget_s=60)
        return run

    yield make
    for run in opened:
        run.close()


class Client:
    """Asks a viewer as a browser would, without a socket."""

    def __init__(
        self,
        *runs: Run,
        host: str = "127.0.0.1",
        texts: TokenTexts | None = None,
        solver: Any = None,
        trainings: Any = (),
    ) -> None:
        from gem_eval.viewing.app import viewer_app  # it needs the extra `view`

        self._app: Any = viewer_app(
            runs, host=host, texts=texts, solver=solver, trainings=trainings
        )

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Ask for an address, and return the answer."""
        return self.request("GET", path, **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Ask by any method. Whatever the viewer raises is raised here."""
        return asyncio.run(self._request(method, path, **options))

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, **options)


def append_line(run: Run, plain: Any) -> None:
    """Add a line that no log of ours would have."""
    with run.folder.episodes_path.open("a", encoding="utf-8") as log:
        log.write(plain if isinstance(plain, str) else json.dumps(plain) + "\n")
