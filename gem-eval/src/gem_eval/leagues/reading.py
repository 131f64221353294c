"""Read where a league stands from its run folder alone, also while another process writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from gem.episode import Episode
from gem.rollouts import read_last_tries
from gem_eval.errors import LeagueError
from gem_eval.leagues.games import Game
from gem_eval.leagues.record import Forfeits, LeagueRecord
from gem_eval.leagues.results import Standings
from gem_eval.leagues.standings import stand, with_exploitability
from gem_eval.run_folder import RunFolder

__all__ = ["Played", "games_of", "league_in", "read_standings", "stored_standings"]


class Played(NamedTuple):
    """The games of a league. `void` ones ended by an error that is of no policy."""

    games: Sequence[Game]
    seats: tuple[str, ...]
    void: int


def league_in(folder: RunFolder) -> LeagueRecord:
    """Return what a league says of itself. Raises LeagueError where the run is none."""
    league = folder.record.league
    if league is None:
        raise LeagueError(
            f"{folder.path} is an evaluation and no league: its line-ups need not be all that its "
            f"policies can form. `gem-env report {folder.path}` shows its figures."
        )
    return league


def read_standings(folder: RunFolder, forfeits: Forfeits | None = None) -> Standings:
    """Work out where a league stands by its log. Changes nothing.

    Forfeits count as the league says, unless it is said otherwise. Raises LeagueError where the run
    is none, LogError, and MissingRequirement for more than two seats without openskill.
    """
    league = league_in(folder)
    episodes = read_last_tries(folder.episodes_path) if folder.episodes_path.exists() else ()
    played = games_of(episodes, league.policies)
    found = stand(
        played.games,
        league.policies,
        env_id=folder.record.settings.envs[0].id,
        seats=played.seats or _seats_unseen(folder),
        forfeits=forfeits or league.forfeits,
        void=played.void,
        is_sample=league.is_sample,
    )
    stored = stored_standings(folder)
    if stored is None:
        return found
    # What a policy would earn in every position is not in the log: it was asked while it played.
    known = {
        standing.policy: (standing.exploitability, standing.no_exploitability)
        for standing in stored.standings
    }
    return with_exploitability(found, known)


def stored_standings(folder: RunFolder) -> Standings | None:
    """Return what a league wrote when it ended last, or None where there is nothing."""
    try:
        return Standings.model_validate_json(folder.standings_path.read_bytes())
    except (OSError, ValidationError):
        return None


def games_of(episodes: Iterable[Episode], policies: Sequence[str]) -> Played:
    """Return episodes as games of policies by number. The order of the log does not matter."""
    numbers = {name: number for number, name in enumerate(policies)}
    starts: dict[tuple[int, int | None], int] = {}
    seats: tuple[str, ...] = ()
    void = 0
    games = []
    for episode in sorted(episodes, key=_place):
        if not episode.seats or (episode.is_error and episode.stopped_by is None):
            void += 1
            continue
        seats = tuple(seat.name for seat in episode.seats)
        # A finite set's task is the same start whatever its seed.
        start = (0, episode.task) if episode.task is not None else (episode.seed, None)
        games.append(
            Game(
                seed=starts.setdefault(start, len(starts)),
                players=tuple(numbers[seat.policy] for seat in episode.seats),
                earned=tuple(seat.total_reward for seat in episode.seats),
                forfeit=episode.stopped_by,
            )
        )
    return Played(games, seats, void)


def _place(episode: Episode) -> tuple[int, int, str]:
    return (episode.episode_index, episode.repeat, episode.policy)


def _seats_unseen(folder: RunFolder) -> tuple[str, ...]:
    """Return names for the seats of a league of which no game was played yet."""
    members = folder.record.settings.policies[0].members
    return tuple(f"seat {number}" for number in range(1, len(members) + 1))
