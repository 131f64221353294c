"""Import TextArena's games, without the network, print-outs and warnings that come with it."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from gem.errors import DataError, GemError, MissingRequirement, in_one_line
from gem_envs_games.textarena.chance import lend, seeded
from gem_envs_games.textarena.listing import family_of
from gem_envs_games.textarena.listing.family import Family, id_of
from gem_envs_games.textarena.mending import put_in_order

__all__ = ["copied", "fresh_game", "load_game"]

_READ_ONLY = (
    "all_sets",
    "data",
    "dictionary",
    "facts_data",
    "game_board_data",
    "universal_word_list",
    "word_data",
    "word_list",
)


def fresh_game(name: str) -> Any:
    """Return a game that was never reset, free of what an earlier episode left in it."""
    return copied(load_game(name))


def copied(game: Any) -> Any:
    """Return a game's independent twin. Word lists and such, up to 30 MB, are shared."""
    shared = [getattr(game, attribute, None) for attribute in _READ_ONLY]
    return copy.deepcopy(game, {id(value): value for value in shared if value is not None})


@functools.cache
def load_game(name: str) -> Any:
    """Make a game, once for each name and process: 0.4 s for the first, 0.7 s for WordLadder.

    Raises MissingRequirement or DataError, with what to do, where it cannot run here.
    """
    family = family_of(name)
    if family.missing:
        raise MissingRequirement(
            f"{id_of(name)} cannot be made: {family.missing}. Run `gem-env list 'ta:*'` to see the "
            "others.",
            requirements=(family.missing,),
            command="",
        )
    with seeded(0), _undisturbed():
        try:
            game = importlib.import_module("textarena").make(f"{name}-raw")
        except Exception as error:
            raise _unavailable(name, family, error) from error
    lend("textarena", game)
    package = type(game).__module__.rpartition(".")[0]
    for module in [name for name in sys.modules if name.startswith(package)]:
        vars(sys.modules[module])["print"] = _say_nothing
    put_in_order(game)
    return game


def _unavailable(name: str, family: Family, error: Exception) -> GemError:
    env_id = id_of(name)
    if isinstance(error, LookupError) and family.corpora:
        corpora = " ".join(family.corpora)
        return DataError(
            f"{env_id} needs the NLTK data {' and '.join(family.corpora)}, not installed here; "
            f"nothing is downloaded unasked. Run: python -m nltk.downloader {corpora}, or unzip it "
            "below a folder that the variable NLTK_DATA names.",
            source=f"NLTK data {corpora}",
        )
    if sys.version_info < family.python:
        needed = ".".join(map(str, family.python))
        return MissingRequirement(
            f"{env_id} needs Python {needed}, and this is {sys.version.split()[0]}: TextArena's "
            f"module for it is no valid Python before that. Use Python {needed} or newer.",
            requirements=(f"python>={needed}",),
            command="",
        )
    return MissingRequirement(
        f"{env_id} cannot be made here: TextArena raised {in_one_line(error)}. Install "
        f"{' and '.join(family.requires)} again, whole.",
        requirements=family.requires,
        command="pip install --force-reinstall " + " ".join(family.requires),
    )


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep TextArena from downloading data and from warning, both of which importing it does."""
    nltk: Any = importlib.import_module("nltk")
    download = nltk.download
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nltk.download = _say_nothing
        try:
            yield
        finally:
            nltk.download = download


def _say_nothing(*_: object, **__: object) -> None:
    """Stand in for `print` in its modules, which narrate, and for `nltk.download` at import."""
