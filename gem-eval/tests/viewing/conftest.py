"""What the tests of the viewer share: runs as they are wanted, a viewer on them, and a browser.

Only tests in a browser need `browsing`, which skips where there is none: its fixtures import it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from gem import Episode, Turn
from gem_eval.finding import example_episode, example_turn
from gem_eval.run_folder import RunFolder
from gem_eval.settings import settings_from
from gem_eval.viewing.runs import Run, open_runs
from gem_eval.viewing.token_text import TokenTexts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

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


def write_run(
    folder: Path, *episodes: Episode, total: int | None = None, **settings: Any
) -> RunFolder:
    """Write a run of episodes, by two policies unless the settings say otherwise."""
    given = {"envs": "tiny:Guess", "policies": ["solver", "random"], **settings}
    command = ["gem-env", "eval", "tiny:Guess"]
    run = RunFolder.create(folder, settings_from(given), command, total=total)
    write(run.episodes_path, *episodes)
    return run


@pytest.fixture
def make_run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Return a function that writes a run of episodes and opens it for a viewer."""
    opened: list[Run] = []

    def make(
        *episodes: Episode, name: str = "run", total: int | None = None, **settings: Any
    ) -> Run:
        folder = write_run(tmp_path / name, *episodes, total=total, **settings)
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


# Of a module, not of the session: while a browser is driven, no other test can run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give a browser that the tests of a module share."""
    from .browsing import started

    with started() as found:
        yield found


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Give a window that has visited nothing."""
    from .browsing import new_context

    with new_context(browser) as found:
        yield found


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Give a page of that window; the test fails where the browser complains."""
    from .browsing import new_page

    with new_page(context) as found:
        yield found
