"""A game of TextArena for several players as an environment of several seats."""

from __future__ import annotations

from typing import Any

from gem import SeatedEnv, Step
from gem.errors import BadArguments, in_one_line
from gem_envs_games.textarena.answers import bracketed, spoken
from gem_envs_games.textarena.listing import family_of
from gem_envs_games.textarena.listing.family import Family
from gem_envs_games.textarena.loading import load_game
from gem_envs_games.textarena.playing import Outcome, Playing, caught_up, started_anew
from gem_envs_games.textarena.sampling_seats import sampled

__all__ = ["TextArenaSeats"]

_HOW_TO_ANSWER = (
    "Write what you like, but give your answer in square brackets, [like this], or in \\boxed{}. "
    "Only the last one counts, and nothing else of what you write is used."
)
_HOW_TO_TALK = (
    "All that you write is used, and may be shown to others. Where an answer in square brackets "
    "is asked for, [like this], you may also give it in \\boxed{}."
)
_GAME = -1


class TextArenaSeats(SeatedEnv):
    r"""Play TextArena's game `name` with `num_players` seats, each shown what is said to it.

    The seats move in TextArena's order, one by one. The answer is the last `[answer]` or
    `\boxed{answer}` of an action, or the whole action where it has neither; in games where players
    talk it is the whole action, in one line. What another player said begins with who said it,
    and a seat is not shown its own words. A move that TextArena refuses has
    `info["action_error"]`; a player who is eliminated is dropped.

    Rewards come at the end, -1 to 1 as TextArena gives them; a seat succeeds if it earned more
    than 0 and none more than it. `max_turns` actions of all seats truncate, and so does a draw by
    a limit of TextArena's. The last info has TextArena's own facts, a mapping for each seat under
    `"game_info"`. A game that raises is truncated, with the error in `info["error"]`.

    A snapshot holds the seed and the answers so far, and what is restored from it plays them
    again before its next step: that takes as long as they took.
    """

    # Of the largest game: a fork's seat is compared with these before it has its own.
    seats = tuple(f"player_{player}" for player in range(15))
    shared = ("_playing",)  # each state finds out by its answers whether this is its own

    def __init__(
        self, name: str, num_players: int | None = None, max_turns: int | None = 1000
    ) -> None:
        family = _family(name)
        count = family.players[0] if num_players is None else num_players
        _require_counts(name, family, count, max_turns)
        load_game(name)
        self.name = name
        self.max_turns = max_turns
        self.seats = tuple(f"player_{player}" for player in range(count))
        self.zero_sum = family.players == (2,)
        self.reward_range = (family.lowest, family.highest)
        self._is_talk = family.is_talk
        self._playing: Playing | None = None

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        playing = started_anew(self.name, len(self.seats), lambda: self.rng.getrandbits(31))
        self._playing = playing
        self._seed = playing.seed
        self._answers = playing.answers
        self._tell_news(playing)
        how = _HOW_TO_TALK if self._is_talk else _HOW_TO_ANSWER
        self.tell_all(f"\n{how}")
        return self.begin(playing.player)

    def step(self, action: str) -> Step:
        playing = self._caught_up()
        try:
            playing.tell(spoken(action) if self._is_talk else bracketed(action))
            outcome = playing.outcome()
        except Exception as error:  # noqa: BLE001 - a game of theirs may raise anything
            return self._broken(error)
        self._tell_news(playing)
        info: dict[str, Any] = {"action_error": "invalid"} if playing.was_refused else {}
        if outcome is not None:
            return self._ended(outcome, info)
        if self.turn + 1 == self.max_turns:
            self.tell_all("You have reached the maximum number of turns.")
            return self.end(success=False, truncated=True, info=info)
        return self._next(playing, info)

    def _next(self, playing: Playing, info: dict[str, Any]) -> Step:
        player = playing.player
        if len(self.seats) > 2:  # of two, whoever is left has won
            for out in sorted(playing.eliminated()):
                if out != player and not self.is_out(out):
                    self.drop(out)
        if player not in playing.news:
            self.tell(player, "It is your turn.")
        return self.ask(player, info=info)

    def _tell_news(self, playing: Playing) -> None:
        """Tell each seat what was said to it, but for its own words."""
        names = playing.game.state.role_mapping
        for seat, said in playing.news.items():
            lines = []
            for sender, text, kind in said:
                if sender == _GAME:
                    lines.append(text)
                elif sender != seat:
                    words = kind if isinstance(kind, str) else text  # misplaced by three games
                    lines.append(f"{names.get(sender, f'Player {sender}')}: {words}")
            if lines:
                self.tell(seat, "\n".join(lines))
            elif seat == playing.player:
                self.tell(seat, "It is your turn.")

    def _ended(self, outcome: Outcome, info: dict[str, Any]) -> Step:
        best = max(outcome.rewards)
        successes = [earned > 0.0 and earned == best for earned in outcome.rewards]
        is_limit = not any(successes) and "limit" in outcome.reason
        self.tell_all(outcome.reason or "The game is over.")
        info["game_info"] = [
            {"reason": outcome.reason, "invalid_move": was_refused, "turn_count": turns}
            for was_refused, turns in zip(outcome.was_refused, outcome.turns, strict=True)
        ]
        return self.end(outcome.rewards, success=successes, truncated=is_limit, info=info)

    def _broken(self, error: Exception) -> Step:
        message = in_one_line(error)
        self.tell_all(f"The game failed on this action and is over ({message}).")
        return self.end(success=False, truncated=True, info={"error": message})

    def sample_action(self) -> str:
        return sampled(self._caught_up(), family_of(self.name), self.sample_rng)

    def _caught_up(self) -> Playing:
        """Return the game in this state; after a restore or a fork it is copied or replayed."""
        playing = caught_up(self._playing, self.name, self._seed, self._answers, len(self.seats))
        self._playing = playing
        self._answers = playing.answers
        return playing


def _family(name: str) -> Family:
    try:
        family = family_of(name)
    except KeyError:
        family = None
    if family is not None and family.has_seats:
        return family
    raise BadArguments(
        f"{name!r} was asked for, and is no game of TextArena 0.7.4 for several players. Run "
        "`gem-env list 'ta:*'` to see them.",
        subject=name,
    )


def _require_counts(name: str, family: Family, num_players: int, max_turns: int | None) -> None:
    if num_players not in family.players:
        known = ", ".join(map(str, sorted(family.players)))
        raise BadArguments(
            f"ta:{name} was given num_players={num_players}, and takes {known}. Pass one of these.",
            subject=name,
        )
    if max_turns is not None and max_turns < 1:
        raise BadArguments(
            f"ta:{name} was given max_turns={max_turns}, and needs a turn at least. Pass a "
            "positive number, or None to leave it to the game.",
            subject=name,
        )
