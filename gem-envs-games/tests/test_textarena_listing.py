from __future__ import annotations

import csv
import importlib
import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import gem
from gem.errors import BadArguments, MissingRequirement
from gem.specs import EnvSpec
from gem_envs_games.textarena.listing import ENVS, FAMILIES, family_of
from gem_envs_games.textarena.listing.family import names_of
from gem_envs_games.textarena.sampling import SAMPLERS
from gem_envs_games.textarena.sampling_seats import WRITERS

IS_INSTALLED = importlib.util.find_spec("textarena") is not None
needs_textarena = pytest.mark.skipif(
    not IS_INSTALLED, reason="the extra gem-envs-games[textarena] is not installed"
)

MISSING = [
    "ta:GuessWho-v0",
    "ta:Klondike-v0",
    "ta:TwentyQuestions-v0-hardcore",
    "ta:Debate-v0",
    "ta:ScorableGames-v0-game1",
    "ta:UsedCar-v0-balanced",
]

OFFLINE = """
import socket, sys
def refuse(*_): raise AssertionError("a connection was opened")
socket.socket.connect = socket.getaddrinfo = refuse
import nltk
nltk.data.path[:] = []
download = nltk.download
import gem
for env_id in sys.argv[1:]:
    try:
        gem.make(env_id)
    except gem.errors.DataError as error:
        print(str(error).replace("\\n", " "))
    assert nltk.download is download
"""
WORDS = [
    "Hangman-v0",
    "WordSearch-v0",
    "WordLadder-v0",
    "Wordle-v0",
    "Codenames-v0",
    "WordChains-v0",
]


def test_all_238_are_listed_with_what_they_need_and_under_what_licence() -> None:
    listed = gem.list_envs("ta:*")

    assert len(listed) == 238
    assert {spec.id for spec in listed} == {spec.id for spec in ENVS}
    assert all(spec.summary and spec.licence == "MIT" for spec in listed)
    missing = [spec for spec in listed if spec.summary.startswith("Not available: ")]
    assert {spec.requires for spec in missing} == {()}
    assert all("textarena==0.7.4" in spec.requires for spec in listed if spec not in missing)


@needs_textarena
def test_they_are_all_of_textarena_s_games() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        registered = importlib.import_module("textarena.envs.registration").ENV_REGISTRY

    theirs = {name for name in registered if not name.endswith(("-raw", "-train"))}
    assert {name for family in FAMILIES for name in names_of(family)} == theirs
    assert {spec.kwargs["name"] for spec in ENVS} == theirs


def test_165_have_several_seats_and_say_how_many() -> None:
    seated = [spec for spec in ENVS if family_of(spec.kwargs["name"]).has_seats]

    assert len(seated) == 165
    assert all("seats: " in spec.summary for spec in seated if spec.requires)


def test_moves_can_be_drawn_for_every_game_that_can_run() -> None:
    drawn = set(SAMPLERS) | set(WRITERS)

    assert drawn == {family.name for family in FAMILIES if not family.missing}


@pytest.mark.skipif(IS_INSTALLED, reason="the extra is installed")
def test_without_the_extra_make_says_what_to_install() -> None:
    with pytest.raises(MissingRequirement, match=r'Run: pip install "textarena==0\.7\.4"'):
        gem.make("ta:2048-v0")


@needs_textarena
@pytest.mark.parametrize("env_id", MISSING)
def test_one_that_nothing_can_run_says_why(env_id: str) -> None:
    reason = gem.spec(env_id).summary.removeprefix("Not available: ").removesuffix(".")

    with pytest.raises(MissingRequirement, match="cannot be made") as caught:
        gem.make(env_id)

    assert reason in str(caught.value)


@needs_textarena
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="it runs on Python 3.12 and newer")
def test_one_that_needs_a_newer_python_says_which() -> None:
    with pytest.raises(MissingRequirement, match=r"needs Python 3\.12"):
        gem.make("ta:UltimateTexasHoldem-v0")


@pytest.mark.slow
@needs_textarena
def test_without_nltk_s_words_make_says_what_to_install_and_opens_no_connection() -> None:
    env_ids = [f"ta:{name}" for name in WORDS]
    ran = subprocess.run(
        [sys.executable, "-c", OFFLINE, *env_ids], capture_output=True, text=True, check=True
    )

    said = ran.stdout.splitlines()
    assert len(said) == len(env_ids)
    for env_id, line in zip(env_ids, said, strict=True):
        assert f"{env_id} needs the NLTK data words" in line
        assert "python -m nltk.downloader words" in line
    assert not ran.stderr


@needs_textarena
def test_a_name_that_is_no_game_of_one_player_is_refused() -> None:
    spec = EnvSpec(id="x:Chess", target=ENVS[0].target, kwargs={"name": "Chess-v0"})

    with pytest.raises(BadArguments, match="no single-player game"):
        gem.make(spec)


@needs_textarena
def test_a_limit_of_no_turns_is_refused() -> None:
    with pytest.raises(BadArguments, match="needs a turn at least"):
        gem.make("ta:2048-v0", max_turns=0)


def test_the_sweep_has_every_id_and_every_episode_of_it_was_replayed_the_same() -> None:
    table = Path(__file__).with_name("textarena_sweep.tsv")
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))

    assert [row["id"] for row in rows] == [spec.id for spec in ENVS]
    for row in rows:
        if row["status"] == "run":
            assert (row["episodes"], row["raised"], row["replayed"]) == ("10", "0", "10"), row
        else:
            assert row["status"].startswith("unavailable: "), row
