"""One of TextArena's games in progress: what it was told, what it said since, how it ended."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gem.errors import GemError, in_one_line
from gem_envs_games.textarena.chance import BRIEF_LOCK, Chance
from gem_envs_games.textarena.listing import family_of
from gem_envs_games.textarena.listing.family import id_of
from gem_envs_games.textarena.loading import copied, fresh_game
from gem_envs_games.textarena.mending import draw_anew, mend, was_refused

__all__ = [
    "Message",
    "Outcome",
    "Playing",
    "caught_up",
    "forget_starts",
    "replayed",
    "started",
    "started_anew",
]

_KEPT_STARTS = 128
_MOST_DRAWS = 300_000  # of one reset or step; no game that is not slow needs a tenth
_TRIES = 10


class Message(NamedTuple):
    """One message of the game: who says it (GAME, Player), its kind as TextArena names it.

    `seat` is the number of the player who says it, -1 the game.
    """

    sender: str
    kind: str
    text: str
    seat: int = -1


class Outcome(NamedTuple):
    """How a game ended, for each player. `was_refused`: by an invalid move of theirs."""

    rewards: tuple[float, ...]
    reason: str
    was_refused: tuple[bool, ...]
    turns: tuple[int, ...]


class Playing:
    """A game in progress. Name, players, seed and answers determine everything it says.

    `answers` is the list of what it was told so far; whoever holds the same list object is in
    the same state. `news` is what it said to each player since: TextArena's own triples of
    sender, text and kind.
    """

    __slots__ = ("_chance", "_is_settled", "answers", "game", "news", "num_players", "seed")

    def __init__(
        self,
        game: Any,
        seed: int,
        chance: Chance,
        num_players: int,
        news: dict[int, list[Any]],
    ) -> None:
        self.game = game
        self.seed = seed
        self._chance = chance
        self._is_settled = True  # False from the start of a step to its end
        self.num_players = num_players
        self.news = news
        self.answers: list[str] = []

    def tell(self, answer: str) -> None:
        """Give the game an answer. Raises what the game raises."""
        with BRIEF_LOCK:  # a copy that is being made is finished first
            # Before the step: an answer on which the game fails was told as well.
            self.answers.append(answer)
            self._is_settled = False
        try:
            with self._chance:
                self.game.state.was_refused = False
                self.game.step(answer)
                self.news = _news(self.game, self.num_players)
        finally:
            self._is_settled = True

    @property
    def player(self) -> int:
        """Who is to act."""
        return int(self.game.state.current_player_id)

    @property
    def was_refused(self) -> bool:
        """Whether the game called the last answer an invalid move."""
        return was_refused(self.game)

    def eliminated(self) -> set[int]:
        """Return who is out of the game, as far as TextArena says: each game does it its way."""
        state = self.game.state
        facts = state.game_state
        if "player_chips" in facts:
            return set()  # Poker asks players again who have no chips
        out = {*getattr(state, "elimination_order", ()), *facts.get("eliminated_players", ())}
        if "alive_players" in facts:
            out |= set(range(self.num_players)).difference(facts["alive_players"])
        bodies = facts.get("snakes") or facts.get("players")
        if isinstance(bodies, dict):
            out |= {player for player, body in bodies.items() if not getattr(body, "alive", True)}
        return out

    def messages(self, player: int) -> tuple[Message, ...]:
        """Return what the game said to a player since the last answer."""
        names = self.game.state.role_mapping
        return tuple(_message(names, *raw) for raw in self.news.get(player, ()))

    def outcome(self) -> Outcome | None:
        """Return how the game ended, None while it goes on."""
        if not self.game.state.done:  # not what `step` returns: some games end without saying
            return None
        rewards, facts = self.game.close()
        paid = rewards or {}
        players = range(self.num_players)
        return Outcome(
            tuple(float(paid.get(player, 0.0)) for player in players),
            str(facts[0].get("reason") or ""),
            tuple(bool(facts[player]["invalid_move"]) for player in players),
            tuple(int(facts[player]["turn_count"]) for player in players),
        )

    def twin_if(self, seed: int, answers: Sequence[str]) -> Playing | None:
        """Return an independent copy if this is the state after these answers.

        None while another thread takes a step, which may never end: whoever asks plays again.
        """
        with BRIEF_LOCK:  # no step begins before the copy is made
            is_here = (self.seed, self.answers) == (seed, answers)
            return self.twin() if is_here and self._is_settled else None

    def twin(self) -> Playing:
        """Return an independent copy."""
        game = copied(self.game)
        twin = Playing(game, self.seed, self._chance.twin(), self.num_players, self.news)
        twin.answers = [*self.answers]
        return twin


def started(name: str, seed: int, num_players: int = 1) -> Playing:
    """Reset a game. Raises what the game raises: some generators fail on rare seeds."""
    if family_of(name).is_slow:
        return _kept_start(name, seed, num_players).twin()
    return _first_state(name, seed, num_players)


def started_anew(name: str, num_players: int, draw_seed: Callable[[], int]) -> Playing:
    """Start an episode. A seed on which a generator of theirs fails is passed over."""
    for _ in range(_TRIES):
        seed = draw_seed()
        try:
            return started(name, seed, num_players)
        except Exception as error:  # noqa: BLE001 - a game of theirs may raise anything
            cause = error
    raise GemError(
        f"{id_of(name)} was to be reset, and TextArena raised on {_TRIES} seeds in a row, last "
        f"{in_one_line(cause)}. Report it with the seed, and use another game."
    ) from cause


def forget_starts() -> None:
    """Let every start be generated anew when it is next asked for."""
    _kept_start.cache_clear()


def replayed(name: str, seed: int, answers: Sequence[str], num_players: int = 1) -> Playing:
    """Return the game after these answers, in the time that they took."""
    playing = started(name, seed, num_players)
    for answer in answers:
        playing.tell(answer)
    return playing


def caught_up(
    playing: Playing | None, name: str, seed: int, answers: Sequence[str], num_players: int = 1
) -> Playing:
    """Return the game in this state; after a restore or a fork it is copied or replayed."""
    if playing is not None and playing.answers is answers:
        return playing
    twin = playing.twin_if(seed, answers) if playing is not None else None
    return twin or replayed(name, seed, answers, num_players)


@functools.lru_cache(maxsize=_KEPT_STARTS)
def _kept_start(name: str, seed: int, num_players: int) -> Playing:
    """Keep the start of games whose generators take up to 20 s, since a replay begins there."""
    return _first_state(name, seed, num_players)


def _first_state(name: str, seed: int, num_players: int) -> Playing:
    family = family_of(name)
    game = fresh_game(name)
    most = float("inf") if family.is_slow else _MOST_DRAWS
    chance = Chance(seed, most=most)
    with chance:
        draw_anew(game)
        game.reset(num_players=num_players, seed=seed)
        mend(game)
        news = _news(game, num_players)
    return Playing(game, seed, chance, num_players, news)


def _news(game: Any, num_players: int) -> dict[int, list[Any]]:
    """Take what the game has said to each player since this was last asked."""
    news: dict[int, list[Any]] = {}
    state = game.state
    if num_players == 1 or not state.done:  # some games add to what the player to act is shown
        player, news[player] = game.get_observation()
    if num_players > 1:
        queues = state.observations
        for player, queue in queues.items():
            if queue:
                news[player] = queue
                queues[player] = []
    return news


def _message(names: Any, sender: int, text: Any, kind: Any) -> Message:
    if isinstance(kind, str):  # three games pass their arguments misplaced
        return Message("Player", "PLAYER_ACTION", kind, sender)
    return Message(str(names.get(sender)), kind.name, text, sender)
