"""A door opens on the distribution behind it, and says which of the two is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gem.errors import MissingRequirement
from gem.registry._behind_doors import package_behind


def test_the_package_behind_a_door_is_named_like_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gem_open_words.py").write_text("word = 'kettle'")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert package_behind("gem.words", "gem-open-words").word == "kettle"


def test_a_distribution_that_is_absent_is_named_with_the_pip_command() -> None:
    with pytest.raises(MissingRequirement, match=r"gem\.words was asked for, and gem-no-words"):
        package_behind("gem.words", "gem-no-words")


def test_a_package_that_misses_something_itself_says_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gem_torn_words.py").write_text("import nowhere_to_be_found")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        package_behind("gem.words", "gem-torn-words")
