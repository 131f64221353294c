"""What games need beyond packages is told without them: data of NLTK, a server, a newer Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import gem
from gem.registry._availability import lacks
from gem_envs_games.probing import textarena


def needs(env_id: str) -> list[str]:
    """What an environment needs but for packages, which a test may run without."""
    spec = gem.spec(env_id).model_copy(update={"requires": ()})
    return [lack.what for lack in lacks(spec)]


@pytest.mark.parametrize("env_id", ["ta:GuessWho-v0", "ta:Klondike-v0"])
def test_what_nothing_can_run_is_told(env_id: str) -> None:
    assert needs(env_id) == ["a TextArena that can run it"]


def test_words_are_looked_for_where_nltk_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "nowhere"))
    assert textarena("Hangman-v0") == (
        "the NLTK data words",
        "python -m nltk.downloader words",
    )
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "words.zip").touch()
    assert textarena("Hangman-v0") is None
    assert textarena("Wordle-v0") == (
        "the NLTK data averaged_perceptron_tagger_eng",
        "python -m nltk.downloader averaged_perceptron_tagger_eng",
    )


def test_a_newer_python_is_needed_below_it() -> None:
    is_older = sys.version_info < (3, 12)
    assert needs("ta:UltimateTexasHoldem-v0") == (["Python 3.12"] if is_older else [])


def test_a_served_wiki_needs_a_server_until_one_is_named() -> None:
    assert needs("wiki:Kiwix-v0") == needs("wiki:MediaWiki-v0") == ["a server that you name"]
    spec = gem.spec("wiki:MediaWiki-v0").model_copy(
        update={"requires": (), "kwargs": {"url": "http://127.0.0.1:1/api.php"}}
    )
    assert lacks(spec) == ()
