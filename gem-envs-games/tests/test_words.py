from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from gem_envs_games.words import LENGTHS, by_length, is_word, words

TOOLS = Path(__file__).parents[1] / "tools"
DICTIONARIES = Path("/usr/share/dict")
LISTS = files("gem_envs_games") / "word_lists"
NAMES = ["common.txt", "left_out_common.txt", "left_out_hardcore.txt", "rare.txt"]


def listed(name: str) -> list[str]:
    return (LISTS / name).read_text(encoding="ascii").splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_a_list_is_sorted_and_names_no_word_twice(name: str) -> None:
    assert listed(name) == sorted(set(listed(name)))


@pytest.mark.parametrize("name", NAMES)
def test_a_list_holds_small_ascii_letters_only(name: str) -> None:
    assert [word for word in listed(name) if not re.fullmatch("[a-z]{3,10}", word)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_list_holds_no_excluded_word(name: str) -> None:
    excluded = set((TOOLS / "excluded_words.txt").read_text(encoding="ascii").split())
    digests = {hashlib.sha256(word.encode()).hexdigest()[:12] for word in listed(name)}

    assert len(excluded) > 500
    assert digests & excluded == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_list_holds_no_abbreviation_and_no_roman_numeral(name: str) -> None:
    abbreviations = (TOOLS / "abbreviations.txt").read_text(encoding="ascii").split()

    assert {*listed(name)} & {*abbreviations, "iii", "xix", "xxvii", "clxii"} == set()


def test_no_word_is_both_common_and_rare() -> None:
    assert {*listed("common.txt")} & {*listed("rare.txt")} == set()


def test_there_are_common_and_rare_words_of_every_length() -> None:
    counts = [len(words(length, common=common)) for length in LENGTHS for common in (True, False)]

    assert min(counts) > 100
    assert sum(counts) == len(listed("common.txt")) + len(listed("rare.txt"))


def test_words_have_the_length_asked_for() -> None:
    assert {len(word) for length in (3, 10) for word in words(length, common=True)} == {3, 10}


@pytest.mark.parametrize("length", [-1, 0, 2, 11, 10**9])
def test_there_are_no_words_of_other_lengths(length: int) -> None:
    assert words(length, common=True) == words(length, common=False) == ()


def test_every_word_of_the_lists_is_a_word() -> None:
    assert all(map(is_word, [*listed("common.txt"), *listed("rare.txt")]))


@pytest.mark.parametrize(
    "text", ["", "a", "zzz", "Cat", "cat ", "c\0t", "étude", "\ud800", "x" * 10**6]
)
def test_other_text_is_no_word(text: str) -> None:
    assert not is_word(text)


@pytest.mark.parametrize("kind", ["common", "hardcore"])
def test_hangman_leaves_out_words_of_the_list_alone(kind: str) -> None:
    every = [*listed("common.txt"), *(listed("rare.txt") if kind == "hardcore" else [])]

    assert {*listed(f"left_out_{kind}.txt")} < {*every}
    assert len(by_length(f"left_out_{kind}.txt")[3]) < 240


def test_the_licence_stands_beside_the_lists() -> None:
    text = (LISTS / "LICENSE.txt").read_text(encoding="utf-8")

    assert "Copyright 2000-2011 by Kevin Atkinson" in text
    assert "modified" in text


def test_the_tool_makes_the_lists_as_they_are(tmp_path: Path) -> None:
    if not (DICTIONARIES / "american-english-small").exists():
        pytest.skip("Debian's wamerican-small and wamerican are not installed")
    command = [sys.executable, str(TOOLS / "make_word_lists.py"), "--to", str(tmp_path)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if "is not the" in made.stderr:
        pytest.skip(f"another version of the dictionaries is installed: {made.stderr}")

    assert made.stderr == ""
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        name: (LISTS / name).read_bytes() for name in NAMES
    }
