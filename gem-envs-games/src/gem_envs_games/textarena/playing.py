"""One of TextArena's games in progress: what it was told, what it said since, how it ended."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from gem_envs_games.textarena.chance import ONE_AT_A_TIME, Chance
from gem_envs_games.textarena.listing import family_of
from gem_envs_games.textarena.loading import copied, fresh_game
from gem_envs_games.textarena.mending import mend

__all__ = ["Message", "Outcome", "Playing", "forget_starts", "replayed", "started"]

_ONLY_PLAYER = 0
_KEPT_STARTS = 128


class Message(NamedTuple):
    """One message of the game: who says it (GAME, Player), its kind as TextArena names it."""

    sender: str
    kind: str
    text: str


class Outcome(NamedTuple):
    """How a game ended. `was_refused`: by an invalid move."""

    reward: float
    reason: str
    was_refused: bool
    turns: int


class Playing:
    """A game in progress. Name, seed and answers determine everything it says.

    `answers` is the list of what it was told so far; whoever holds the same list object is in
    the same state.
    """

    __slots__ = ("_chance", "answers", "game", "said", "seed")

    def __init__(self, game: Any, seed: int, chance: Chance, said: tuple[Message, ...]) -> None:
        self.game = game
        self.seed = seed
        self._chance = chance
        self.said = said
        self.answers: list[str] = []

    def tell(self, answer: str) -> tuple[Message, ...]:
        """Give the game an answer and return what it says. Raises what the game raises."""
        with self._chance:
            # Before the step: an answer on which the game fails was told as well.
            self.answers.append(answer)
            self.game.step(answer)
            self.said = _heard(self.game)
        return self.said

    def outcome(self) -> Outcome | None:
        """Return how the game ended, None while it goes on."""
        if not self.game.state.done:  # not what `step` returns: some games end without saying
            return None
        rewards, facts = self.game.close()
        mine = facts[_ONLY_PLAYER]
        return Outcome(
            float(rewards[_ONLY_PLAYER]),
            str(mine.get("reason") or ""),
            bool(mine["invalid_move"]),
            int(mine["turn_count"]),
        )

    def twin_if(self, seed: int, answers: Sequence[str]) -> Playing | None:
        """Return an independent copy if this is the state after these answers.

        It waits for a step that another thread is taking.
        """
        with ONE_AT_A_TIME:
            return self.twin() if (self.seed, self.answers) == (seed, answers) else None

    def twin(self) -> Playing:
        """Return an independent copy."""
        twin = Playing(copied(self.game), self.seed, self._chance.twin(), self.said)
        twin.answers = [*self.answers]
        return twin


def started(name: str, seed: int) -> Playing:
    """Reset a game. Raises what the game raises: some generators fail on rare seeds."""
    if family_of(name).is_slow:
        return _kept_start(name, seed).twin()
    return _first_state(name, seed)


def forget_starts() -> None:
    """Let every start be generated anew when it is next asked for."""
    _kept_start.cache_clear()


def replayed(name: str, seed: int, answers: Sequence[str]) -> Playing:
    """Return the game after these answers, in the time that they took."""
    playing = started(name, seed)
    for answer in answers:
        playing.tell(answer)
    return playing


@functools.lru_cache(maxsize=_KEPT_STARTS)
def _kept_start(name: str, seed: int) -> Playing:
    """Keep the start of games whose generators take up to 20 s, since a replay begins there."""
    return _first_state(name, seed)


def _first_state(name: str, seed: int) -> Playing:
    game = fresh_game(name)
    chance = Chance(seed)
    with chance:
        game.reset(num_players=1, seed=seed)
        messages = _heard(game)
    mend(game)
    return Playing(game, seed, chance, messages)


def _heard(game: Any) -> tuple[Message, ...]:
    _, new = game.get_observation()
    names = game.state.role_mapping
    return tuple(
        Message("Player", "PLAYER_ACTION", kind)  # three games pass their arguments misplaced
        if isinstance(kind, str)
        else Message(str(names.get(sender)), kind.name, text)
        for sender, text, kind in new
    )
