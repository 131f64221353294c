"""The format atif, read by inspect-scout's own source of ATIF transcripts.

It reads with the models of Harbor, which needs Python 3.12: `nox -s others` installs both there.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gem_eval

from . import runs

pytest.importorskip("atif")

MakeRun = Callable[..., Path]


@pytest.fixture
def source() -> Iterator[Any]:
    """Return inspect-scout's source; what it imports warns as it likes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("harbor")
        yield pytest.importorskip("inspect_scout.sources").atif


def test_scout_reads_every_trajectory(source: Any, make_run: MakeRun) -> None:
    run = make_run(
        runs.episode(*runs.with_tokens()),
        runs.episode(*runs.with_tools(), seed=2, episode_index=1),
        runs.episode(runs.with_image(), seed=3, episode_index=2),
        runs.broken(seed=4, episode_index=3),
        runs.hostile(),
    )
    folder = gem_eval.export(run, to="atif", out=run / "atif").path

    async def read() -> list[Any]:
        return [transcript async for transcript in source(folder)]

    found = {each.source_id.rpartition("/")[2]: each for each in asyncio.run(read())}

    assert sorted(found) == [f"{number:06}" for number in range(1, 6)]
    tokens, tools, image = (found[f"{number:06}"] for number in (1, 2, 3))
    assert [message.role for message in tools.messages] == ["user", "assistant", "tool", *LAST]
    assert tools.messages[2].function == "add"
    assert image.messages[0].content[1].image.startswith("data:image/png;base64,")
    models = [event for event in tokens.events if event.event == "model"]
    assert [event.output.usage.total_tokens for event in models] == [3, 6]


LAST = ["assistant", "tool"]
"""The last answer, and what the environment said to it."""
