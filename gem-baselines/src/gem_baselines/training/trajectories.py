"""What an update learns from: the episodes as they were played, or each seat's part of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gem.episode import Episode
from gem_baselines.learning_policy import LearningPolicy
from gem_baselines.self_play.self_play import Games, SelfPlay

__all__ = ["Trajectories", "played_by"]


class Trajectories(NamedTuple):
    """Episodes of one seat each, or parts; `roles` names the role of each part.

    `num_episodes` and `num_errors` count what was played.
    """

    episodes: Sequence[Episode]
    num_episodes: int
    num_errors: int
    roles: Sequence[str] | None = None
    games: Games | None = None


def played_by(
    policy: LearningPolicy,
    self_play: SelfPlay | None,
    *,
    number: int,
    update: int,
    play: Callable[[LearningPolicy | list[LearningPolicy], int, str], list[Episode]],
) -> Trajectories:
    """Play the episodes of an update, and return what it learns from.

    Of one seat these are all of them, also those that an error ended. Of several seats they are the
    parts of the seats that the learning policy played in games without an error; where there is no
    such game they are all games, for whoever says what is wrong.
    """
    if self_play is None:
        episodes = play(policy, number, "update")
        return Trajectories(episodes, len(episodes), _errors_of(episodes))
    games = self_play.play(policy, number, update, play)
    parts, roles = self_play.parts(games)
    episodes = games.episodes
    learnt_from = parts or episodes
    return Trajectories(learnt_from, len(episodes), _errors_of(episodes), roles, games)


def _errors_of(episodes: Sequence[Episode]) -> int:
    return sum(episode.is_error for episode in episodes)
