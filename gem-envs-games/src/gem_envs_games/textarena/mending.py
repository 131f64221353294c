"""Put right faults of TextArena 0.7.4 that spoil an episode. All others stay theirs."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gem_envs_games.textarena.breakthrough import moves_of

__all__ = ["draw_anew", "mend", "put_in_order", "was_refused"]

_Parse = Callable[[str], "tuple[int, ...] | None"]


def mend(game: Any) -> None:
    """Mend a game that was just reset.

    Countdown, Cryptarithm, Slitherlink and ThreeCardMonte give a refusal its reward as the
    reason and its reason as the reward. FifteenPuzzle calls a method that the state of one
    player lacks, so that solving it raises. Set takes one card three times for a Set, which
    scores on every turn, or raises. Bandit compares the button with the table of all chances, so
    that none is the right one, and pays the regret: the more, the worse the button is.

    Of two players, Checkers, Santorini and Tak call `set_winner` or `set_winners` with what they
    do not take, so that winning raises. CharacterConclave says what it says without a kind, and
    DontSayIt without a limit compares its turns with None: both raise. Games for any number of
    players ask one for ever whom they eliminated by an invalid move, and look for ever for the
    next one where all are eliminated. Poker asks who is eliminated again, and lists them anew at
    each further invalid move; it ranks by that list, and would pay 3 or 9 for a place.

    UltimateTicTacToe, QuantumTicTacToe and Breakthrough do not notice that no move is left, and who
    is asked then loses by an invalid one. In random play that ends a fifth of their games; of
    Breakthrough's, where a piece goes aslant only to capture, 6 % on the tiny board, 4 % on the
    small one and 2 % on that of 8x8.
    """
    state = game.state
    kind = type(state).__name__
    state.was_refused = False
    if kind == "SinglePlayerState":
        state.set_invalid_move = functools.partial(_set_invalid_move, state)
        if not hasattr(state, "set_winners"):
            state.set_winners = functools.partial(_set_only_winner, state)
    else:
        state.set_invalid_move = functools.partial(_note_invalid_move, state)
    if kind == "TwoPlayerState":
        state.set_winner = functools.partial(_set_winners, state)
        state.set_winners = functools.partial(_set_winners, state)
    if kind == "FFAMultiPlayerState":
        state.step = functools.partial(_step_past_eliminated, state)
        state.elimination_order = _EachOnce(state.elimination_order)
    mend_one = _MENDED.get(type(game).__name__)
    if mend_one is not None:
        mend_one(game)


def put_in_order(game: Any) -> None:
    """Take from a game that was just made what another process, or another thread, would change.

    What it takes from sets is sorted, for every process has their order anew. Sokoban's generator
    searches in global variables, which each call gets of its own.
    """
    name = type(game).__name__
    if name == "SokobanEnv":
        module = vars(sys.modules[type(game).__module__])
        # Once for each process: around itself, it would grow by a layer with each game.
        if not hasattr(module["generate_room"], "__wrapped__"):
            module["generate_room"] = _with_own_globals(module["generate_room"])
    if name == "WordChainsEnv":
        game.word_list.sort()
    if name == "SpellingBeeEnv":
        game._generate_allowed_letters = functools.partial(_sorted_letters, game)


def draw_anew(game: Any) -> None:
    """Let a game that draws as it is made, and not as it is reset, draw before each reset."""
    if game.env_id == "Taboo-v0-full-raw":
        registry = importlib.import_module("textarena.envs.registration").ENV_REGISTRY
        game.__init__(**registry[game.env_id].kwargs)


def _with_own_globals(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function, and those of its module that it calls, share no variable with other calls."""
    shared = vars(sys.modules[function.__module__])

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        own = dict(shared)
        for name, value in shared.items():
            if isinstance(value, types.FunctionType) and value.__globals__ is shared:
                own[name] = types.FunctionType(value.__code__, own, name, value.__defaults__)
        return own[function.__name__](*args, **kwargs)

    return call


class _InOrder(set[str]):
    """A set that is listed in order."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))


class _EachOnce(list[int]):
    """A list of players in which each keeps the first place that it got."""

    def append(self, player: int) -> None:
        if player not in self:
            super().append(player)


def _sorted_letters(game: Any) -> set[str]:
    return _InOrder(map(str, type(game)._generate_allowed_letters(game)))


def was_refused(game: Any) -> bool:
    """Tell whether a game of several players called an invalid move what it was told last."""
    return bool(game.state.was_refused)


def _set_invalid_move(state: Any, reason: Any, reward: Any = -1.0) -> None:
    if isinstance(reward, str):
        reason, reward = reward, reason
    type(state).set_invalid_move(state, reason=reason, reward=reward)


def _set_only_winner(state: Any, player_ids: Sequence[int], reason: str) -> None:
    state.set_outcome(reward=1.0, reason=reason)


def _note_invalid_move(state: Any, reason: str) -> Any:
    state.was_refused = True
    return type(state).set_invalid_move(state, reason=reason)


def _set_winners(
    state: Any, player_id: Any = None, reason: str = "", *, player_ids: Any = None
) -> None:
    """Let a player win, or those of a list, however the argument is called."""
    named = player_id if player_ids is None else player_ids
    winners = [named] if isinstance(named, int) else list(named)
    state.rewards = {player: 1 if player in winners else -1 for player in range(2)}
    for player in range(2):
        state.game_info[player]["reason"] = reason
    state.done = True


def _step_past_eliminated(state: Any, rotate_player: bool = True) -> Any:
    """Go on to the next player from one who was eliminated; where all are, it is a draw."""
    if not state.done:
        eliminated = set(state.elimination_order)
        if len(eliminated) >= state.num_players:
            state.set_draw(reason="All players are out.")
        elif rotate_player and state.current_player_id in eliminated:
            state.made_invalid_move = False  # else the next player would not be asked
    return type(state).step(state, rotate_player=rotate_player)


def _mend_set(game: Any) -> None:
    game._parse_action = functools.partial(_three_cards, game._parse_action)


def _three_cards(parse: _Parse, action: str) -> tuple[int, ...] | None:
    cards = parse(action)
    return cards if cards and len(set(cards)) == len(cards) else None


def _mend_messages(game: Any) -> None:
    state = game.state
    kind = importlib.import_module("textarena").ObservationType.GAME_MESSAGE
    state.add_observation = functools.partial(_add_observation, state, kind)


def _add_observation(
    state: Any,
    default: Any,
    message: Any,
    observation_type: Any = None,
    from_id: int = -1,
    to_id: int = -1,
) -> None:
    """Add what is said, as text whatever it is, and of a kind."""
    if not isinstance(message, str):  # Tak's is a tuple of one
        message = "".join(map(str, message))
    type(state).add_observation(state, message, observation_type or default, from_id, to_id)


def _mend_limit(game: Any) -> None:
    if game.state.max_turns is None:
        game.state.max_turns = float("inf")


def _mend_bandit(game: Any) -> None:
    game.state.set_outcome = functools.partial(_pay_for_button, game.state)


def _pay_for_button(state: Any, reward: float, reason: str) -> None:
    """End Bandit, whose `reward` is by how much the chosen button falls short of the best."""
    if reward == 0.0:
        reason = "Congratulations! You chose the correct button."
    type(state).set_outcome(state, reward=-reward if reward else 1.0, reason=reason)


def _mend_full_board(game: Any) -> None:
    game._is_draw = functools.partial(_is_full, game)


def _is_full(game: Any) -> bool:
    """Tell whether no cell is free: a small board that is won is filled with its winner's marks."""
    boards = game.state.game_state["board"]
    return all(cell != " " for board in boards for row in board for cell in row)


def _mend_last_cell(game: Any) -> None:
    game._resolve_cycles = functools.partial(_resolve_or_draw, game)


def _resolve_or_draw(game: Any) -> None:
    """Let cycles collapse, as the game does. A move takes two free cells; without, it is a draw."""
    type(game)._resolve_cycles(game)
    state = game.state
    free = sum(not cell for row in state.game_state["board"] for cell in row)
    if free < 2 and not state.done:
        state.set_draw(reason="No two cells are left to move in. The game is a draw!")


def _mend_blocked_pieces(game: Any) -> None:
    game._check_winner = functools.partial(_win_or_draw, game)


def _win_or_draw(game: Any) -> None:
    """Look for a winner, as the game does. After a move that leaves the other none it is a draw."""
    type(game)._check_winner(game)
    state = game.state
    # A refused move leaves the board as it was, and its player may open a way for the other.
    if state.done or state.made_invalid_move:
        return
    if not moves_of(game, 1 - state.current_player_id):
        state.set_draw(reason="No move is left. The game is a draw!")


_MENDED: Mapping[str, Callable[[Any], None]] = {
    "BanditEnv": _mend_bandit,
    "BreakthroughEnv": _mend_blocked_pieces,
    "CharacterConclaveEnv": _mend_messages,
    "DontSayItEnv": _mend_limit,
    "QuantumTicTacToeEnv": _mend_last_cell,
    "SetEnv": _mend_set,
    "TakEnv": _mend_messages,
    "UltimateTicTacToeEnv": _mend_full_board,
}
