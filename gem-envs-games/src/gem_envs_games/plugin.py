"""What this pack provides. Imports `gem.specs` and the standard library, nothing else."""

from __future__ import annotations

from typing import Any

from gem.specs import CheckHints, EnvSpec, ObsoleteKwarg, PluginManifest
from gem_envs_games.seated.listing import ENVS as SEATED
from gem_envs_games.textarena.listing import ENVS as TEXTARENA

__all__ = ["plugin"]

_WORD_LISTS = {
    "source": "Word lists from Debian's wamerican-small and wamerican 2020.12.07-2, filtered.",
    "licence": "Apache-2.0; the word lists: SCOWL's, in gem_envs_games/word_lists/LICENSE.txt",
}


def _spec(name: str, target: str, summary: str, *, declared: Any = None, **kwargs: Any) -> EnvSpec:
    return EnvSpec(
        id=f"game:{name}",
        target=f"gem_envs_games.{target}",
        kwargs=kwargs,
        summary=summary,
        blocking=False,
        **{"source": "Generated from the seed.", "licence": "Apache-2.0", **(declared or {})},
    )


def _guess_the_number(
    variant: str, summary: str, low: int | None, high: int | None, turns: int | None
) -> EnvSpec:
    return _spec(
        f"GuessTheNumber-{variant}",
        "guess_the_number:GuessTheNumber",
        f"Guess a number {summary}, from hints higher and lower.",
        min_number=low,
        max_number=high,
        max_turns=turns,
    )


def _mastermind(
    variant: str, summary: str, length: int | None, numbers: int | None, turns: int | None
) -> EnvSpec:
    return _spec(
        f"Mastermind-{variant}",
        "mastermind:Mastermind",
        f"Break a code of {summary}, from black and white pegs.",
        code_length=length,
        num_numbers=numbers,
        max_turns=turns,
        duplicate_numbers=False,
    )


def _minesweeper(
    variant: str, summary: str, side: int | None, mines: int | None, turns: int | None
) -> EnvSpec:
    version = variant.partition("-")[0]
    return _spec(
        f"Minesweeper-{variant}",
        "minesweeper:Minesweeper",
        f"Reveal every safe cell of {summary}.",
        declared={"check": CheckHints(needs_luck=version == "v0")},
        rows=side,
        cols=side,
        num_mines=mines,
        max_turns=turns,
        no_guess=version != "v0",
    )


def _wordle(variant: str, summary: str, length: int | None, turns: int | None) -> EnvSpec:
    return _spec(
        f"Wordle-{variant}",
        "wordle:Wordle",
        f"Find a word of {summary}, from the letters that fit.",
        declared=_WORD_LISTS,
        word_length=length,
        only_real_words=True,
        max_turns=turns,
    )


def _fifteen_puzzle(variant: str, summary: str, rows: int | None, turns: int | None) -> EnvSpec:
    return _spec(
        f"FifteenPuzzle-{variant}",
        "fifteen_puzzle:FifteenPuzzle",
        f"Slide the tiles of {summary} into order.",
        num_rows=rows,
        max_turns=turns,
    )


def _hangman(variant: str, summary: str, length: int | None, turns: int | None) -> EnvSpec:
    return _spec(
        f"Hangman-{variant}",
        "hangman:Hangman",
        f"Find a word of {summary}, letter by letter.",
        declared=_WORD_LISTS,
        word_length=length,
        hardcore=False,
        max_turns=turns,
    )


def _sudoku(
    variant: str, summary: str, scale: int | None, clues: int | None, turns: int | None
) -> EnvSpec:
    return _spec(
        f"Sudoku-{variant}",
        "sudoku:Sudoku",
        f"Fill {summary}.",
        scale=scale,
        clues=clues,
        max_turns=turns,
    )


def _tower_of_hanoi(variant: str, summary: str, disks: int | None, turns: int | None) -> EnvSpec:
    scattered = variant.startswith("v1")
    return _spec(
        f"TowerofHanoi-{variant}",
        "tower_of_hanoi:TowerOfHanoi",
        f"Move a tower of {summary}.",
        declared={"check": CheckHints(fixed_start=disks is not None and not scattered)},
        num_disks=disks,
        max_turns=turns,
        scattered=scattered,
    )


def _lost(bound: float) -> CheckHints:
    return CheckHints(winnable=False, bound=bound)


def _game_2048(
    variant: str,
    summary: str,
    target: int | None,
    turns: int | None,
    *,
    check: CheckHints = CheckHints(),  # noqa: B008 - frozen
) -> EnvSpec:
    return _spec(
        f"Game2048-{variant}",
        "game_2048:Game2048",
        f"Merge tiles up to {summary}.",
        declared={"check": check},
        target_tile=target,
        max_turns=turns,
    )


def _sokoban(
    variant: str, summary: str, room: tuple[int, int] | None, boxes: int | None, turns: int | None
) -> EnvSpec:
    return _spec(
        f"Sokoban-{variant}",
        "sokoban:Sokoban",
        f"Push every box onto a goal in {summary}.",
        declared={"obsolete_kwargs": {"room_size": ObsoleteKwarg(instead="dim_room")}},
        dim_room=room,
        num_boxes=boxes,
        max_turns=turns,
    )


def _crosswords(
    variant: str, summary: str, hardcore: bool | None, words: int | None, turns: int | None
) -> EnvSpec:
    return _spec(
        f"Crosswords-{variant}",
        "crosswords:Crosswords",
        f"Fill a crossword of {summary}, letter by letter.",
        hardcore=hardcore,
        max_turns=turns,
        num_words=words,
    )


def _word_search(
    variant: str, summary: str, hardcore: bool | None, words: int | None, turns: int | None
) -> EnvSpec:
    return _spec(
        f"WordSearch-{variant}",
        "word_search:WordSearch",
        f"Find {summary} in a grid of letters.",
        num_words=words,
        max_turns=turns,
        hardcore=hardcore,
    )


def _wiki_game(variant: str, summary: str, turns: int, /, **rules: str) -> EnvSpec:
    return _spec(
        f"WikiGame-{variant}",
        "wiki_game:WikiGame",
        f"Go from page to page of an encyclopedia by links, {summary}.",
        max_turns=turns,
        **rules,
    )


def _served_wiki_game(id: str, target: str, server: str) -> EnvSpec:
    return EnvSpec(
        id=f"wiki:{id}",
        target=f"gem_envs_games.wiki_game.served:{target}",
        kwargs={"max_turns": 30},
        summary=f"Go from page to page by links, in 30 turns, on {server} that you name.",
        requires=("httpx>=0.27",),
        source=f"The pages of {server} that you name.",
        licence="That of the pages.",
        probe="gem_envs_games.probing:served_wiki",
    )


def _older(spec: EnvSpec, replaced_by: str) -> EnvSpec:
    """Return the spec of an id of earlier releases, which no listing shows."""
    return spec.model_copy(update={"replaced_by": f"game:{replaced_by}"})


_OLDER = (
    _older(_mastermind("v0", "4 of 6 numbers in 30 turns", 4, 6, 30), "Mastermind-v0-hard"),
    _older(_minesweeper("v0", "8x8 with 10 mines", 8, 10, 64), "Minesweeper-v0-hard"),
    _older(_wordle("v0", "5 letters in 25 turns", 5, 25), "Wordle-v0-hard"),
    _older(_fifteen_puzzle("v0", "3x3 in 20 moves", 3, 20), "FifteenPuzzle-v1-easy"),
    _older(_hangman("v0", "5 letters in 15 turns", 5, 15), "Hangman-v0-hard"),
    _older(_sudoku("v0", "9x9 in 50 turns", 9, 50, 50), "Sudoku-v0-hard"),
    _older(_tower_of_hanoi("v0", "4 disks in 20 moves", 4, 20), "TowerofHanoi-v0-hard"),
)
"""Ids of earlier releases, with the sizes that training configurations name for them."""

_PUBLISHED = {
    "crosswords": "CrosswordsEnv",
    "fifteen_puzzle": "FifteenPuzzleEnv",
    "game_2048": "Game2048Env",
    "guess_the_number": "GuessTheNumberEnv",
    "hangman": "HangmanEnv",
    "mastermind": "MastermindEnv",
    "minesweeper": "MinesweeperEnv",
    "sokoban": "SokobanEnv",
    "sudoku": "SudokuEnv",
    "tower_of_hanoi": "TowerofHanoiEnv",
    "word_search": "WordSearchEnv",
    "wordle": "WordleEnv",
}
"""The modules of gem-llm's `gem.envs.game_env` and their classes."""

plugin = PluginManifest(
    name="games",
    summary="Language games with verifiable outcomes.",
    envs=(
        _guess_the_number("v0", "from 1 to 20 in 20 turns", 1, 20, 20),
        _guess_the_number("v0-easy", "from 1 to 10 in 4 turns", 1, 10, 4),
        _guess_the_number("v0-hard", "from 1 to 50 in 7 turns", 1, 50, 7),
        _guess_the_number("v0-random", "in a range and turns drawn anew", None, None, None),
        _mastermind("v0-easy", "2 of 6 numbers in 10 turns", 2, 6, 10),
        _mastermind("v0-hard", "4 of 8 numbers in 30 turns", 4, 8, 30),
        _mastermind("v0-random", "2 of 4, 4 of 6 or 4 of 8 numbers", None, None, None),
        _minesweeper("v0-easy", "5x5 with 5 mines", 5, 5, 25),
        _minesweeper("v0-hard", "8x8 with 12 mines", 8, 12, 64),
        _minesweeper("v0-random", "5x5 to 8x8, a fifth of it mines", None, None, None),
        _minesweeper("v1-easy", "5x5 with 5 mines, never by guessing", 5, 5, 25),
        _minesweeper("v1-hard", "8x8 with 12 mines, never by guessing", 8, 12, 64),
        _minesweeper("v1-random", "5x5 to 8x8, never by guessing", None, None, None),
        _wordle("v0-easy", "3 letters in 15 turns", 3, 15),
        _wordle("v0-hard", "5 letters in 25 turns", 5, 25),
        _wordle("v0-random", "3, 4 or 5 letters", None, None),
        _fifteen_puzzle("v0-easy", "2x2 in 10 moves", 2, 10),
        _fifteen_puzzle("v0-hard", "4x4 in 50 moves", 4, 50),
        _fifteen_puzzle("v0-random", "2x2, 3x3 or 4x4", None, None),
        _fifteen_puzzle("v1-easy", "3x3 in 40 moves", 3, 40),
        _fifteen_puzzle("v1-hard", "4x4 in 130 moves, from any board", 4, 130),
        _hangman("v0-easy", "3 letters in 10 turns", 3, 10),
        _hangman("v0-hard", "7 letters in 20 turns", 7, 20),
        _hangman("v0-random", "3, 5 or 7 letters", None, None),
        _sudoku("v0-easy", "4x4 in 15 turns", 4, 10, 15),
        _sudoku("v0-hard", "9x9 in 50 turns", 9, 50, 50),
        _sudoku("v0-random", "4x4 or 9x9", None, None, None),
        _tower_of_hanoi("v0-easy", "3 disks in 10 moves", 3, 10),
        _tower_of_hanoi("v0-hard", "5 disks in 35 moves", 5, 35),
        _tower_of_hanoi("v0-random", "3, 4 or 5 disks", None, None),
        _tower_of_hanoi("v1-easy", "3 disks, scattered at first, in 10 moves", 3, 10),
        _tower_of_hanoi("v1-hard", "5 disks, scattered at first, in 35 moves", 5, 35),
        _game_2048("v0-easy", "64 in 50 moves", 64, 50),
        _game_2048("v0-hard", "512 in 50 moves", 512, 50, check=_lost(0.75)),
        _game_2048("v0-extreme-hard", "2048 in 100 moves", 2048, 100, check=_lost(0.7)),
        _game_2048("v0-random", "16, 32 or 64", None, None),
        _game_2048("v1-hard", "512 in 500 moves", 512, 500),
        _game_2048("v1-extreme-hard", "1024 in 800 moves", 1024, 800),
        _sokoban("v0-easy", "6x6 with 2 boxes in 20 moves", (6, 6), 2, 20),
        _sokoban("v0-hard", "8x8 with 4 boxes in 50 moves", (8, 8), 4, 50),
        _sokoban("v0-random", "6x6 or 8x8", None, None, None),
        _crosswords("v0-easy", "3 easy words in 30 turns", False, 3, 30),
        _crosswords("v0-hard", "3 hard words in 40 turns", True, 3, 40),
        _crosswords("v0-random", "3 to 6 words, easy or hard", None, None, None),
        _word_search("v0-easy", "5 common words in 20 turns", False, 5, 20),
        _word_search("v0-hard", "5 rare words in 20 turns", True, 5, 20),
        _word_search("v0-random", "3 to 8 words, common or rare,", None, None, None),
        _wiki_game("v0-easy", "in 30 turns", 30),
        _wiki_game("v0-easy-noregrets", "in 30 turns, no page twice", 30, variant="noregrets"),
        _wiki_game("v0-easy-oneback", "in 30 turns, back by one page", 30, variant="oneback"),
        _wiki_game("v0-easy-eidetic", "in 30 turns, or any link seen", 30, variant="eidetic"),
        _wiki_game("v0-hard", "in 15 turns", 15),
        _served_wiki_game("MediaWiki-v0", "mediawiki", "a MediaWiki"),
        _served_wiki_game("Kiwix-v0", "kiwix", "a kiwix-serve"),
        *SEATED,
        *TEXTARENA,
        *_OLDER,
    ),
    published={
        f"gem.envs.game_env.{module}:{name}": f"gem_envs_games.gem_llm:{name}"
        for module, name in _PUBLISHED.items()
    },
)
