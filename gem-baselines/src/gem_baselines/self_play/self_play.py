"""Self-play of one training: which games an update plays, the pool, and what the monitor does.

Knows nothing about how a policy learns or where it is written to.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gem.episode import Episode
from gem_baselines.learning_policy import LearningPolicy
from gem_baselines.self_play.monitor import Check, Monitor, Results
from gem_baselines.self_play.opponents import shared_out, weight_of
from gem_baselines.self_play.pool import Frozen, Pool, copy_of
from gem_baselines.self_play.settings import SelfPlaySettings

__all__ = ["Games", "Play", "Seated", "SelfPlay", "own_parts"]

_STATE = "state.json"
_POOL = "pool"
_REWARDS = 20
"""Updates whose mean reward in self-play the monitor compares."""

Seated = LearningPolicy | list[LearningPolicy]
Play = Callable[[Seated, int, str], list[Episode]]
"""Plays as many games, of seeds that the purpose and the update decide, and returns them in order.

A list of policies rotates over the seats, as `gem.rollout` has it.
"""


Pairings = Mapping[int, Mapping[str, Sequence[float]]]
"""What was earned in each game: by the update of the copy that was met, and by the seat's name."""


class Games(NamedTuple):
    """The games of one update: those in self-play, and those against frozen copies."""

    alone: Sequence[Episode]
    against_copies: Sequence[Episode]

    @property
    def episodes(self) -> list[Episode]:
        """All games, those in self-play first."""
        return [*self.alone, *self.against_copies]


class SelfPlay:
    """The state of a training in self-play, at the update where it stands.

    `num_seats` is that of the environment, `kind` the policy's, for its copies.
    """

    def __init__(self, settings: SelfPlaySettings, kind: str, num_seats: int) -> None:
        self._settings = settings
        self._kind = kind
        self._num_seats = num_seats
        self._monitor = Monitor(settings.margin)
        self.pool = Pool(settings.pool_size)
        # The share of games against copies now: the monitor raises it when it goes back.
        self._share = settings.pool_share if settings.opponents == "pool" else 0.0
        # The copy that looks compare with, and the newest one that seemed as good. They differ: a
        # copy that only seemed as good must not become what the next one has to reach.
        self._reference = 0
        self._best = 0
        # What a game against each copy earned at the last look, by the copy's update.
        self._earned: dict[int, float] = {}
        self._rewards: list[float] = []
        self._rewards_at_best: list[float] = []
        self.went_back: list[int] = []

    @property
    def best_update(self) -> int | None:
        """The update of the best copy that the monitor knows; None where there is no monitor."""
        return self._best if self._settings.monitor else None

    def begin(self, policy: LearningPolicy) -> None:
        """Keep the policy as it is before its first update: an opponent that never changes."""
        self.pool.add(copy_of(policy, self._kind, 0))

    def play(self, policy: LearningPolicy, number: int, update: int, play: Play) -> Games:
        """Play the games of one update."""
        against = int(number * self._share)
        alone = play(policy, number - against, "update") if against < number else []
        played = []
        for copy, games in self._opponents(against, update):
            seated = self._against(policy, copy.policy)
            played += play(seated, games, f"update/{copy.update}")
        return Games(alone, played)

    def _opponents(self, games: int, update: int) -> list[tuple[Frozen, int]]:
        """Return the copies that are met in an update, and each one's games.

        They are given rounds, in which the policy takes every seat once; until a look has met a
        copy it counts as one that is as good as the policy.
        """
        copies = self.pool.copies
        weights = [weight_of(self._earned.get(copy.update, 0.0)) for copy in copies]
        rounds = shared_out(games // self._num_seats, weights, turn=update)
        shares = [number * self._num_seats for number in rounds]
        shares[update % len(copies)] += games % self._num_seats
        pairs = zip(copies, shares, strict=True)
        return [(copy, share) for copy, share in pairs if share]

    def parts(self, games: Games) -> tuple[list[Episode], list[str]]:
        """Return what the policy learns from, a trajectory a seat of its own, and each one's role.

        A role is the seat's name, and that the opponents are frozen: games against copies earn
        something else than those in self-play, and have averages of their own. What an error ended
        is left out, and so is a seat that never acted.
        """
        found = []
        roles = []
        for group, suffix in ((games.alone, ""), (games.against_copies, " against copies")):
            for episode in group:
                for part in _own_parts_of(episode):
                    if part.turns:
                        found.append(part)
                        roles.append(f"{part.seats[0].name}{suffix}")
        return found, roles

    def note(self, games: Games) -> dict[str, Any]:
        """Return the figures of the games by seat, as JSON data, and remember the reward."""
        parts = own_parts(games.alone)
        if parts:
            self._rewards.append(math.fsum(part.total_reward for part in parts) / len(parts))
            del self._rewards[:-_REWARDS]
        figures: dict[str, Any] = {"seats": _by_seat(parts)}
        if games.against_copies:
            own = own_parts(games.against_copies)
            figures["against_copies"] = _by_seat(own)
        return figures

    def is_due(self, update: int) -> bool:
        """Say whether a copy is to be made after an update."""
        return update % self._settings.snapshot_every == 0

    def look(self, policy: LearningPolicy, update: int, play: Play) -> dict[str, Any]:
        """Add a copy of the policy, once the monitor has looked at it, and return its figures.

        Where it is a collapse, the policy becomes the best copy again: the newest that earned no
        less than the reference. The reference moves to a policy that is better by more than chance.
        With no monitor every copy is added.
        """
        if not self._settings.monitor:
            self.pool.add(copy_of(policy, self._kind, update))
            return {}
        results = self._results(policy, play)
        reference_results = self._results(self.pool.of_update(self._reference).policy, play)
        check = self._checked(results, reference_results)
        figures: dict[str, Any] = {"monitor": check._asdict()}
        # Before a copy is added: the results are of those that are there.
        self._remember(reference_results if check.is_collapsed else results)
        if check.is_collapsed:
            figures["monitor"]["went_back_to"] = self._best
            self.went_back.append(update)
            # From here on there are fixed opponents, also where there were none.
            self._share = self._settings.pool_share
            self._rewards = list(self._rewards_at_best)
            self._go_back(policy)
            self._settle(policy, update)
            return figures
        if check.is_better:
            self._reference = update
        if check.is_as_good:
            self._best = update
            self._rewards_at_best = list(self._rewards)
        self.pool.add(copy_of(policy, self._kind, update), keep={self._best, self._reference})
        self._settle(policy, update)
        return figures

    def evaluation(self, policy: LearningPolicy) -> list[LearningPolicy]:
        """Return who plays in an evaluation: the policy, against itself before its first update."""
        return self._against(policy, self.pool.copies[0].policy)

    def save(self, folder: Path) -> None:
        """Write all that decides how it goes on. Raises OSError."""
        state = {
            "share": self._share,
            "best": self._best,
            "reference": self._reference,
            "earned": {str(update): earned for update, earned in self._earned.items()},
            "rewards": self._rewards,
            "rewards_at_best": self._rewards_at_best,
            "went_back": self.went_back,
        }
        (folder / _STATE).write_text(json.dumps(state), encoding="ascii")
        self.pool.save(folder / _POOL)

    def restore(self, folder: Path, arguments: Mapping[str, Any]) -> None:
        """Take on what `save` wrote; `arguments` are those of the policy.

        Raises OSError, ValueError, KeyError, BadArguments.
        """
        state = json.loads((folder / _STATE).read_text(encoding="ascii"))
        self._share = state["share"]
        self._best = state["best"]
        # A checkpoint of before there was one compares with its best copy.
        self._reference = state.get("reference", self._best)
        self._earned = {int(update): earned for update, earned in state["earned"].items()}
        self._rewards = state["rewards"]
        self._rewards_at_best = state["rewards_at_best"]
        self.went_back = state["went_back"]
        size = self._settings.pool_size
        self.pool = Pool.restored(size, folder / _POOL, self._kind, arguments)

    def _go_back(self, policy: LearningPolicy) -> None:
        """Have the policy be the best copy again."""
        with tempfile.TemporaryDirectory() as folder:
            self.pool.of_update(self._best).policy.save(Path(folder))
            policy.restore(Path(folder))

    def _settle(self, policy: LearningPolicy, update: int) -> None:
        """Have a policy that can take smaller steps take them, once there was a collapse.

        At each look, for the weight of the entropy goes on falling. Of all collapses: the copy that
        it became again is from before them, with the steps of then.
        """
        set_pace = getattr(policy, "set_pace", None)
        if set_pace is None or not self.went_back:
            return
        half_life = self._settings.settle_half_life
        since = update - self.went_back[0]
        entropy = 1.0 if half_life is None else 0.5 ** (since / half_life)
        set_pace(self._settings.slow_down ** len(self.went_back), entropy)

    def _checked(self, results: Pairings, reference_results: Pairings) -> Check:
        return self._monitor.check(
            _by_pairing(results),
            _by_pairing(reference_results),
            self._rewards_at_best,
            self._rewards,
        )

    def _results(self, policy: LearningPolicy, play: Play) -> Pairings:
        """Return what a policy earns in each game against the copies, in every seat equally often.

        A mapping from the update of a copy to what each seat earned, by the seat's name. Two
        policies are given games of the same seeds.
        """
        copies = self.pool.copies
        # A multiple of the seats, so that each is taken equally often.
        rounds = max(1, self._settings.monitor_games // (len(copies) * self._num_seats))
        results = {}
        for copy in copies:
            seated = self._against(policy, copy.policy)
            games = play(seated, rounds * self._num_seats, f"monitor/{copy.update}")
            by_seat: dict[str, list[float]] = {}
            for part in own_parts(games):
                by_seat.setdefault(part.seats[0].name, []).append(part.total_reward)
            results[copy.update] = by_seat
        return results

    def _remember(self, results: Pairings) -> None:
        """Remember what a game against each copy earned, for who is met how often."""
        self._earned = {}
        for update, by_seat in results.items():
            earned = [each for seat in by_seat.values() for each in seat]
            if earned:  # else an error ended every game
                self._earned[update] = math.fsum(earned) / len(earned)

    def _against(self, policy: LearningPolicy, other: LearningPolicy) -> list[LearningPolicy]:
        return [policy, *[other] * (self._num_seats - 1)]


def _by_pairing(results: Pairings) -> Results:
    return [earned for by_seat in results.values() for earned in by_seat.values()]


def _own_parts_of(episode: Episode) -> list[Episode]:
    """Return the parts of the policy that learns: the first of a list, or the only one."""
    if episode.is_error:
        return []
    # An episode of one seat has no outcomes of seats, and is the policy's own.
    return [part for part in episode.parts() if not part.seats or part.seats[0].policy_index == 0]


def own_parts(episodes: Sequence[Episode]) -> list[Episode]:
    """Return the parts of the policy that learns of each episode that no error ended."""
    return [part for episode in episodes for part in _own_parts_of(episode)]


def _by_seat(parts: Sequence[Episode]) -> dict[str, dict[str, float]]:
    """Return means by the names of seats; `spread` is the standard deviation of the reward."""
    by_name: dict[str, list[Episode]] = {}
    for part in parts:
        by_name.setdefault(part.seats[0].name, []).append(part)
    found = {}
    for name, own in sorted(by_name.items()):
        rewards = [part.total_reward for part in own]
        mean = math.fsum(rewards) / len(own)
        squares = math.fsum((reward - mean) ** 2 for reward in rewards)
        found[name] = {
            "games": len(own),
            "reward": mean,
            "spread": math.sqrt(squares / len(own)),
            "success": sum(bool(part.success) for part in own) / len(own),
            "turns": sum(len(part.turns) for part in own) / len(own),
        }
    return found
