"""Run folders of episodes that tests write down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem import Episode
from gem_eval.run_folder import RunFolder
from gem_eval.settings import settings_from


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes a run folder of episodes, at `run`."""

    def make(*episodes: Episode, name: str = "run", **options: Any) -> Path:
        given = {"envs": "tiny:Guess", "policies": ["good", "bad"], "episodes": 2}
        settings = settings_from({**given, **options})
        folder = RunFolder.create(tmp_path / name, settings, ("gem-env", "eval"), total=4)
        lines = "".join(f"{each.to_json()}\n" for each in episodes)
        folder.episodes_path.write_text(lines, encoding="ascii")
        return folder.path

    return make
