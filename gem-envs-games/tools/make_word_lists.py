"""Make the word lists of this pack, which must be installed, from two of Debian's dictionaries.

`common.txt` comes from wamerican-small and `rare.txt` from what wamerican has beyond it, both of
version 2020.12.07-2. Where these are installed:

    python gem-envs-games/tools/make_word_lists.py

Elsewhere unpack the two packages (`dpkg-deb -x FILE.deb FOLDER`) and name the dictionaries:

    python gem-envs-games/tools/make_word_lists.py --small FILE --large FILE [--to FOLDER]

Slurs, vulgar and sexual words are left out. `excluded_words.txt` holds a digest of each, in every
inflection, so that the list can be kept and checked without being spread; `--excluded` prints the
words that it takes out of the dictionaries, for who reviews it. `abbreviations.txt` names what is
written in small letters and is no word; Roman numerals and accented words are left out as well.

`left_out_common.txt` and `left_out_hardcore.txt` are those words of the lists that Hangman does
not hide, since its solver would find them too late.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from pathlib import Path

from gem_envs_games.hangman.game import turns_needed, turns_of
from gem_envs_games.hangman.letter_index import LetterIndex

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "gem_envs_games" / "word_lists"
DICTIONARIES = Path("/usr/share/dict")
DIGESTS = {
    "small": "a6e2bc32526c38fa082ffbdb527ad9999e41b0a712d06e8415244068454d4d55",
    "large": "9f513f1ceadb6a01c5485b7dbdfd5118dc66cd70b59cae2851292112d4066a32",
}
PLAIN = re.compile("[a-z]{3,10}")  # so no proper names, possessives or accents
ROMAN = re.compile("m*(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")


def words_in(file: Path) -> set[str]:
    """Return what a file of plain ASCII words holds."""
    return set(file.read_text(encoding="ascii").split())


def digest(word: str) -> str:
    """Return what stands for an excluded word: not for reading, and soon checked."""
    return hashlib.sha256(word.encode()).hexdigest()[:12]


def is_plain(word: str) -> bool:
    """Tell whether an entry has the letters and the length of a word to play with."""
    is_number = ROMAN.fullmatch(word) and word != "mix"
    return bool(PLAIN.fullmatch(word)) and not is_number


def dictionary(file: Path, size: str) -> set[str]:
    """Return the plain words of a dictionary, which must be of the version that was reviewed."""
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != DIGESTS[size]:
        sys.exit(
            f"{file} is not the {size} dictionary of version 2020.12.07-2. Get that version, or "
            "review the words that another one adds and write its digest into this script."
        )
    return set(filter(is_plain, content.decode().split())) - words_in(HERE / "abbreviations.txt")


def found_too_late(words: set[str]) -> set[str]:
    """Return the words that Hangman leaves out: without them, its solver finds all in time.

    Those it finds last go first, until the others are all found.
    """
    kept = set(words)
    for length in sorted({len(word) for word in words}):
        while True:
            index = LetterIndex(sorted(word for word in kept if len(word) == length))
            needed = turns_needed(index)
            most = max(needed.values())
            if most <= turns_of(length):
                break
            kept -= {word for word, turns in needed.items() if turns == most}
    return words - kept


def write(file: Path, words: set[str]) -> None:
    """Write the words, one a line, in alphabetical order."""
    file.write_text("\n".join(sorted(words)) + "\n", encoding="ascii")


def main() -> None:
    """Make the lists, or print what is left out of them."""
    parser = argparse.ArgumentParser(description="Make the word lists of the games.")
    parser.add_argument("--small", type=Path, default=DICTIONARIES / "american-english-small")
    parser.add_argument("--large", type=Path, default=DICTIONARIES / "american-english")
    parser.add_argument("--to", type=Path, default=PACKAGE, help="the folder to write to")
    parser.add_argument("--excluded", action="store_true", help="print what is left out, and stop")
    options = parser.parse_args()
    small = dictionary(options.small, "small")
    large = dictionary(options.large, "large") | small
    listed = words_in(HERE / "excluded_words.txt")
    excluded = {word for word in large if digest(word) in listed}
    if options.excluded:
        sys.exit("\n".join(sorted(excluded)))
    write(options.to / "common.txt", small - excluded)
    write(options.to / "rare.txt", large - small - excluded)
    write(options.to / "left_out_common.txt", found_too_late(small - excluded))
    write(options.to / "left_out_hardcore.txt", found_too_late(large - excluded))


if __name__ == "__main__":
    main()
