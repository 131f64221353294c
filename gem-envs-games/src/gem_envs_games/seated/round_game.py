"""What games share in which all seats choose at once, round by round. Knows no game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from gem.env import Step
from gem_envs_games.seated.tree_game import TreeGame
from gem_envs_games.trees.position import Position

__all__ = ["RoundGame"]

P = TypeVar("P", bound=Position)


class RoundGame(TreeGame[P]):
    """A game of rounds. What a round pays is paid as it ends.

    Seats whose answer is no choice are asked again alone, and nobody learns the others' choices
    before all are made. `closing` says how a game ended, and `forfeit_rewards` what the rounds
    that are left then pay. Who forfeits has not succeeded.
    """

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self._mixing = self.rng.getrandbits(32)
        self._position = self._root
        self._begin_round()
        for seat in range(len(self.seats)):
            self.tell(seat, self.instructions(seat))
            self.tell(seat, self.question(self.position, seat))
        return self.begin(*range(len(self.seats)))

    def step(self, action: str) -> Step:
        """Take the answer of the only seat that was asked again."""
        return self.step_all({self.seat: action})

    def step_all(self, actions: Mapping[int, str]) -> Step:
        errors: dict[int, str] = {}
        for seat, action in actions.items():
            error = self._hear_choice(seat, action)
            if error is not None:
                errors[seat] = error
        info: dict[str, Any] = {"action_errors": errors} if errors else {}
        if self.seat in errors:  # what is said of a step is said of the seat that took it
            info["action_error"] = errors[self.seat]
        losers = [seat for seat, count in self._error_counts.items() if self._is_too_much(count)]
        if losers:
            return self._forfeit_by(losers, info)
        waiting = [seat for seat in range(len(self.seats)) if seat not in self._choices]
        if waiting:
            return self.ask(*waiting, info=info)
        return self._end_round(info)

    def successes(self, totals: Iterable[float]) -> list[bool]:
        """Return whether each seat did its task, of what it earned in all."""
        return [total > 0 for total in totals]

    def _begin_round(self) -> None:
        self._choices: dict[int, str] = {}
        self._error_counts: dict[int, int] = {}

    def _is_too_much(self, count: int) -> bool:
        return count > self.error_allowance

    def _hear_choice(self, seat: int, action: str) -> str | None:
        """Keep a seat's choice, or count its error and tell it. Returns the kind of error."""
        choice = self.read(action)
        if choice is not None:
            self._choices[seat] = choice
            return None
        count = self._error_counts.get(seat, 0) + 1
        self._error_counts[seat] = count
        if self._is_too_much(count):
            self.tell(seat, "Your answer could not be read. You forfeit the game.")
        else:
            self.tell(seat, f"Your answer could not be read. Expected {self.expected()}.")
        return "format"

    def _end_round(self, info: dict[str, Any]) -> Step:
        choices = self._choices
        before = self.tree._make(self._position)
        after = before.after(choices[0], choices[1])
        self._position = tuple(after)
        pairs = zip(before.returns(), after.returns(), strict=True)
        rewards = [total - earlier for earlier, total in pairs]
        for seat in range(len(self.seats)):
            self.tell(seat, self._round_text(choices, seat))
        if after.is_over:
            self.tell_all(self.closing(after))
            return self.end(rewards, success=self.successes(after.returns()), info=info)
        self._begin_round()
        for seat in range(len(self.seats)):
            self.tell(seat, self.question(after, seat))
        return self.ask(*range(len(self.seats)), rewards=rewards, info=info)

    def _round_text(self, choices: Mapping[int, str], seat: int) -> str:
        """Return what a seat is told of a round that is over."""
        other = 1 - seat
        return f"You chose {choices[seat]}. {self.titles[other]} chose {choices[other]}."

    def _forfeit_by(self, losers: list[int], info: dict[str, Any]) -> Step:
        for loser in losers:
            self.tell(1 - loser, f"{self.titles[loser]} gave no valid answer and forfeits.")
        rewards = self.forfeit_rewards(losers)
        pairs = zip(self.position.returns(), rewards, strict=True)
        succeeded = self.successes([earlier + reward for earlier, reward in pairs])
        for loser in losers:
            succeeded[loser] = False  # whatever it has earned before: it gave the game up
        return self.end(rewards, success=succeeded, info=info)
