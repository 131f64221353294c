"""Draw a move that a game of several players takes: one is written, and tried on a copy.

What is written needs only to have the game's form. The copy says whether it is allowed now, which
is all that a player learns of it.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Mapping
from random import Random
from typing import Any

from gem_envs_games.textarena.breakthrough import moves_of
from gem_envs_games.textarena.listing.family import Family
from gem_envs_games.textarena.move_forms import (
    Writer,
    aloud,
    form,
    listed,
    near,
    numbers,
    votes,
)
from gem_envs_games.textarena.playing import Playing

__all__ = ["WRITERS", "sampled"]

_TRIES = 2000  # one in 100 moves of the widest games is allowed


def sampled(playing: Playing, family: Family, rng: Random) -> str:
    """Return an action that the game takes now, or, where none was found, the last one tried."""
    writer = WRITERS[family.name]
    copy: Playing | None = None
    for _ in range(_TRIES):
        if copy is None:
            copy = playing.twin()
        copy.game.state.error_count = 0  # so that a refused move leaves the copy as it is
        action = writer(copy.game, rng)
        try:
            copy.tell(action)
        except Exception:  # noqa: BLE001 - a game of theirs may raise anything
            copy = None
            continue
        if not copy.was_refused:
            break
        if copy.game.state.done:
            copy = None
    return action


def _battleship(game: Any, rng: Random) -> str:
    shots = game.state.game_state["tracking_board"][game.state.current_player_id]
    open_cells = [
        f"[{string.ascii_uppercase[row]}{column}]"
        for row, marks in enumerate(shots)
        for column, mark in enumerate(marks)
        if mark == "~"
    ]
    return rng.choice(open_cells)


def _breakthrough(game: Any, rng: Random) -> str:
    moves = moves_of(game, game.state.current_player_id)
    return rng.choice(moves) if moves else "[none]"


def _chess(game: Any, rng: Random) -> str:
    return f"[{rng.choice(list(game.state.game_state['board'].legal_moves)).uci()}]"


def _colonel_blotto(game: Any, rng: Random) -> str:
    names = [field["name"] for field in game.state.game_state["fields"]]
    cuts = sorted(rng.randint(0, game.num_total_units) for _ in names[1:])
    ends = [0, *cuts, game.num_total_units]
    return f"[{' '.join(f'{name}{ends[at + 1] - ends[at]}' for at, name in enumerate(names))}]"


def _memory(game: Any, rng: Random) -> str:
    matched = game.state.game_state["matched_positions"]
    side = range(game.grid_size)
    hidden = [f"{row} {column}" for row in side for column in side if (row, column) not in matched]
    return f"[{' '.join(rng.sample(hidden, 2))}]" if len(hidden) > 1 else "[none]"


def _othello(game: Any, rng: Random) -> str:
    valid = game.state.game_state["valid_moves"]
    return str(rng.choice(valid)) if valid else "[none]"


def _spite(game: Any, rng: Random) -> str:
    mine = game.players[game.state.current_player_id]
    cards = [*mine["hand"], *mine["payoff"][-1:], *(pile[-1] for pile in mine["discard"] if pile)]
    if not mine["hand"] and (not cards or rng.random() < 0.2):
        return "[draw]"
    return f"[{rng.choice(('play', 'discard'))} {rng.choice(cards)} {rng.randrange(4)}]"


def _stratego(game: Any, rng: Random) -> str:
    row, column = rng.choice(game.player_pieces[game.state.current_player_id])
    down, right = rng.choice(((0, 1), (1, 0), (0, -1), (-1, 0)))
    return f"[{chr(65 + row)}{column} {chr(65 + max(0, row + down))}{max(0, column + right)}]"


def _tak(game: Any, rng: Random) -> str:
    row = rng.randrange(game.board_size)
    column = rng.randrange(game.board_size)
    stack = game.board[row][column]
    if not stack:
        piece = f"{rng.choice('FFFFWC')}{game.state.current_player_id}"
        return f"[place () {{({row},{column}): [{piece}]}}]"
    moved = ", ".join(stack[-rng.randint(1, len(stack)) :])
    down, right = rng.choice(((0, 1), (1, 0), (0, -1), (-1, 0)))
    return f"[move ({row},{column}) {{({row + down},{column + right}): [{moved}]}}]"


def _letter_auction(game: Any, rng: Random) -> str:
    if game.round_number < len(game.letters):
        return rng.choice(("[pass]", f"[bid {rng.randint(1, 30)}]"))
    letters = game.player_states[game.state.current_player_id]["letters"]
    return f"[{''.join(rng.sample(list(letters), len(letters))) or 'a'}]"


@functools.lru_cache(maxsize=4)
def _words(dictionary: Any) -> list[str]:
    """Return a dictionary's words in order: 0.3 s, and its own is another in every process."""
    return sorted(dictionary.get_all_words())


@functools.lru_cache(maxsize=64)
def _chain(dictionary: Any, first: str, length: int) -> list[str]:
    return [word for word in _words(dictionary) if len(word) == length and word.startswith(first)]


@functools.lru_cache(maxsize=64)
def _spelled(dictionary: Any, letters: str) -> list[str]:
    allowed = set(letters)
    return [word for word in _words(dictionary) if allowed.issuperset(word)]


def _word_chain(game: Any, rng: Random) -> str:
    state = game.state.game_state
    length = state["required_length"]
    words = _chain(game.dictionary, state["required_start_letter"], length)
    return f"[{rng.choice(words)}]" if words else "[none]"


def _spelling_bee(game: Any, rng: Random) -> str:
    state = game.state.game_state
    shortest = len(state["word_history"][-1]) if state["word_history"] else 1
    spelled = _spelled(game.dictionary, "".join(state["allowed_letters"]))
    words = [word for word in spelled if len(word) >= shortest]
    return f"[{rng.choice(words)}]" if words else "[none]"


def _codenames(game: Any, rng: Random) -> str:
    if game.state.current_player_id in (0, 2):
        return form("[{zzq|qqz|xqx} {1-3}]")(game, rng)
    return f"[{rng.choice([*game.board, 'pass'])}]"


def _settlers(game: Any, rng: Random) -> str:
    moves = len(game.game_moves)
    return rng.choice((f"[{rng.randint(1, moves)}]", f"[{moves}]", "[done]", "Wood? [deny]"))


def _liars_dice(game: Any, rng: Random) -> str:
    bid = game.state.game_state["current_bid"]
    if rng.random() < 0.3:
        return "[Call]"
    quantity = bid["quantity"] + rng.randint(0, 2)
    return f"[Bid: {quantity}, {rng.randint(max(1, bid['face_value']), 6)}]"


def _quantum(game: Any, rng: Random) -> str:
    one, other = rng.sample(range(9), 2)
    return f"[{one},{other}]"


def _three_prisoners(game: Any, rng: Random) -> str:
    return " ".join(
        f"[{player} {rng.choice(('cooperate', 'defect'))}]"
        for player in range(3)
        if player != game.state.current_player_id
    )


_CARDS = form("[{A|K|Q|J|10|9|8|7|6|5|4|3|2}]")
_STEP = form("[{up|down|left|right}]")
_HELLO = "{Let us see|What do you think|I am fine with that|That is fair}."

WRITERS: Mapping[str, Writer] = {
    "Alquerque": near("[{0}{1} {2}{3}]", 5, reach=2, first=1, pieces="RB"),
    "Battleship": _battleship,
    "Breakthrough": _breakthrough,
    "Briscola": form("[play {1-3}]"),
    "CharacterConclave": votes("I am the one to remember, says a voice. [{}]"),
    "Checkers": near("[{1} {4} {3} {5}]", 8, reach=2),
    "Chess": _chess,
    "Chopsticks": form("[attack {0-1} {0-1}]", "[split {0-4} {0-4}]"),
    "Codenames": _codenames,
    "ColonelBlotto": _colonel_blotto,
    "ConnectFour": numbers("[col {}]", "num_cols"),
    "Crusade": listed(
        lambda game: " ".join(game._legal_moves_for_player(game.state.current_player_id))
    ),
    "DontSayIt": form(_HELLO),
    "GameOfPureStrategy": _CARDS,
    "GermanWhist": form("[play {1-13}]"),
    "Golf": form("[draw]", "[take]", "[swap {1-3} {1-3}]", "[discard]"),
    "HighSociety": form("[{1-11}]"),
    "IndianPoker": form("[check]", "[bet {1-3}]", "[call]", "[raise {1-3}]", "[fold]"),
    "IteratedMatchingPennies": form("[{heads|tails}]"),
    "IteratedPrisonersDilemma": form(_HELLO + " [{Cooperate|Defect}]"),
    "IteratedRockPaperScissors": form("[{rock|paper|scissors}]"),
    "IteratedStagHunt": form(_HELLO + " [{Stag|Hare}]"),
    "IteratedTwoThirdsAverage": form("[{0-100}]"),
    "IteratedUltimatumGame": form("[Offer: {0-50}]", "[Accept]", "[Reject]"),
    "KuhnPoker": form("[{check|bet|call|fold}]"),
    "LetterAuction": _letter_auction,
    "LiarsDice": _liars_dice,
    "LinesOfAction": near("[{0}{1} {2}{3}]", 8, reach=7, first=1, pieces="OX"),
    "MarketEntryGame": aloud(form(_HELLO), form("[{E|S}]")),
    "MemoryGame": _memory,
    "NewRecruit": form("[Propose] {A-E}{A-E}{A-E}{A-E}{A-E}{A-E}{A-E}{A-E}", "[Accept]"),
    "Nim": form("[{0-4} {1-11}]"),
    "Othello": _othello,
    "PigDice": form("[{roll|hold}]"),
    "Poker": form("[Check]", "[Call]", "[Fold]", "[Bet {20-200}]", "[Raise {20-200}]"),
    "PublicGoodsGame": aloud(form(_HELLO), form("[{0-20}]")),
    "QuantumTicTacToe": _quantum,
    "ReverseTicTacToe": form("[{0-8}]"),
    "SantoriniBaseFixed": listed(
        lambda game: game._get_valid_moves(game.state.current_player_id) or ""
    ),
    "SecretMafia": votes("I suspect [Player {}]."),
    "SettlersOfCatan": _settlers,
    "SimpleBlindAuction": form(_HELLO + " [Bid on Item {0-4}: {1-100}]"),
    "SimpleNegotiation": form(
        _HELLO,
        "[Accept]",
        "[Deny]",
        "[Offer: {1-3} {Wheat|Wood|Sheep|Brick|Ore} -> {1-3} {Wheat|Wood|Sheep|Brick|Ore}]",
    ),
    "SimpleTak": form("[{0-63}]"),
    "Snake": _STEP,
    "SpellingBee": _spelling_bee,
    "SpiteAndMalice": _spite,
    "Stratego": _stratego,
    "Surround": _STEP,
    "Taboo": form("{Something|A thing|One of many}, not like {zzq|qqz}. [{tree|moon|spoon}]"),
    "Tak": _tak,
    "ThreePlayerGOPS": _CARDS,
    "ThreePlayerIPD": _three_prisoners,
    "ThreePlayerTicTacToe": form("[{0-24}]"),
    "TicTacToe": form("[{0-8}]"),
    "TruthAndDeception": form(_HELLO + " [Fact {1-2}]"),
    "TwoDollar": form("[Propose] $1.{0-9}0", "[Propose] $0.{0-9}0", "[Accept]", "[Reject]"),
    "UltimateTicTacToe": form("[{0-8} {0-8}]"),
    "WildTicTacToe": form("[{X|O} {0-8}]"),
    "WordChains": _word_chain,
}
