"""Every single-player game of TextArena 0.7.4, as data: its id, its limits, and how it is won.

Imports `gem.specs` and the standard library, nothing else. The facts were read in TextArena's
source and by playing: the package itself does not state them.
"""

from __future__ import annotations

from gem_envs_games.textarena.listing.family import BROKEN, REMOTE, TEXTARENA, Family

__all__ = ["FAMILIES"]

_TILES = {
    "": 2048,
    "-ultra-easy": 200,
    "-mega-easy": 200,
    "-super-easy": 200,
    "-very-easy": 256,
    "-easy": 1024,
    "-hard": 4096,
    "-very-hard": 8192,
    "-extreme": 16384,
    "-3x3": 2048,
    "-5x5": 2048,
    "-6x6": 2048,
    "-8x8": 2048,
    "-10x10": 2048,
}

FAMILIES: tuple[Family, ...] = (
    Family("2048", "Slide and merge tiles up to a target.", _TILES, unwinnable=("-3x3",)),
    Family("Bandit", "Find the best of several buttons.", {"": 21, "-hard": 41}, lowest=-1.0),
    Family(
        "Blackjack",
        "Win more than half of the hands against a dealer.",
        {"": 110, "-long": 330},
        won="concluded",
        success_at=0.51,
    ),
    Family(
        "Countdown",
        "Reach a number from six others by arithmetic.",
        {"": 5},
        won="Perfect",
        is_fixed=True,
    ),
    Family(
        "Crosswords",
        "Fill a crossword, letter by letter.",
        {"": 31, "-hardcore": 31},
        miss="letter is incorrect",
    ),
    Family(
        "Cryptarithm",
        "Give each letter a digit so that a sum holds.",
        {"": 101},
        won="Correct",
        is_fixed=True,
    ),
    Family(
        "FifteenPuzzle", "Slide fifteen tiles into order; half the boards cannot be.", {"": 201}
    ),
    Family(
        "FrozenLake",
        "Cross a lake without falling into a hole.",
        {"": 101, "-hardcore": 101, "-random": 101},
    ),
    Family("GuessTheNumber", "Guess a number from hints.", {"": 11, "-hardcore": 11}),
    Family("GuessWho", "Find a character by questions.", {"": 20}, missing=REMOTE),
    Family(
        "Hangman",
        "Find a word, letter by letter.",
        {"": 60, "-hardcore": 60},
        corpora=("words",),
    ),
    Family("Klondike", "Play a game of patience.", {"": 200}, missing=BROKEN),
    Family("LightsOut", "Turn every light off.", {"": 20}, lowest=-24.0),
    Family("LogicPuzzle", "Match items of categories from clues.", {"": 31, "-hard": 31}),
    Family(
        "Mastermind",
        "Break a code from black and white pegs.",
        {"": 21, "-hard": 31, "-extreme": 51},
        won="cracked",
    ),
    Family(
        "Minesweeper",
        "Reveal every cell without a mine.",
        {"": 101, "-small": 101, "-medium": 101, "-hard": 101},
        miss="hit a mine",
    ),
    Family("PegJump", "Jump pegs until one is left.", {"": 14}, won="Solved", is_fixed=True),
    Family("RushHour", "Drive a car out of a jam.", {"": 200}, won="solved", is_slow=True),
    Family(
        "Secretary",
        "Stop at the largest of several values.",
        {"": 5, "-long": 10},
        won="Perfect",
        lowest=-1.0,
    ),
    Family(
        "Set",
        "Find a Set among the cards in every one of 20 turns.",
        {"": 20},
        won="20 turns",
        success_at=20.0,
        highest=20.0,
    ),
    Family("Slitherlink", "Draw one loop around numbered cells.", {"": 201}, won="solved"),
    Family(
        "Sokoban",
        "Push every box onto a target.",
        {"": 31, "-medium": 51},
        is_slow=True,
        requires=(TEXTARENA, "numpy>=1.23"),
    ),
    Family(
        "Sudoku",
        "Fill a 9x9 grid of digits.",
        {"": 101, "-very-easy": 101, "-easy": 101, "-medium": 101, "-hard": 101},
        miss="violates Sudoku rules",
        is_slow=True,
    ),
    Family("ThreeCardMonte", "Follow a ball under three cups.", {"": 1}, won="Correct"),
    Family(
        "TowerOfHanoi",
        "Move a tower of disks.",
        {"": 15, "-medium": 31, "-hard": 63, "-hardcore": 127, "-extreme": 255},
        is_fixed=True,
    ),
    Family(
        "TwentyQuestions", "Find a word by questions.", {"": 21, "-hardcore": 21}, missing=REMOTE
    ),
    Family(
        "UltimateTexasHoldem",
        "Keep your chips through 1,000 rounds against a dealer.",
        {"": 3001},
        won="completed",
        lowest=-1.0,
        python=(3, 12),
    ),
    Family(
        "WordLadder",
        "Turn one word into another, letter by letter.",
        {"": 101, "-medium": 101, "-hard": 101},
        is_slow=True,
        corpora=("words",),
    ),
    Family(
        "WordSearch",
        "Find words in a grid of letters.",
        {"": 50, "-hardcore": 50},
        corpora=("words",),
    ),
    Family(
        "Wordle",
        "Find a word from the letters that fit.",
        {"": 6, "-hardcore": 6, "-long": 9, "-long-hardcore": 9},
        corpora=("words", "averaged_perceptron_tagger_eng"),
    ),
)
