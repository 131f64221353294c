"""Small environments that keep every rule: to test with, and to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import Observation
from gem.env._env import Env
from gem.env._seated import SeatedEnv
from gem.env._step import Step

__all__ = ["Coin", "Echo", "Guess", "Kuhn", "Lamps", "LastOne", "Signs"]

_HOW = "Answer with a number inside \\boxed{}."


class Echo(Env):
    """Repeat a word that is shown reversed. One turn, and every answer ends it."""

    single_turn = True
    max_turns = 1
    reward_range = (0.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.word = _word(self.rng)
        return f"Write this from its end to its start: {self.word[::-1]}", {}

    def step(self, action: str) -> Step:
        is_right = action.strip() == self.word
        return Step("", float(is_right), True, False, {"success": is_right})

    def sample_action(self) -> str:
        return _word(self.sample_rng)

    def solve(self) -> str:
        return self.word


def _word(rng: Any) -> str:
    return "".join(rng.choices("abcdefghij", k=8))


class Guess(Env):
    """Find a number between 1 and `highest`, told each time which way it lies."""

    reward_range = (-0.1, 1.0)

    def __init__(self, highest: int = 15, max_turns: int = 4) -> None:
        self.highest: int = highest
        self.max_turns: int = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.secret = self.rng.randint(1, self.highest)
        # What the hints have left: `solve` knows no more than a player who has read them.
        self.low = 1
        self.high = self.highest
        return f"Guess a number from 1 to {self.highest}. {_HOW}", {"suffix": "Guess."}

    def step(self, action: str) -> Step:
        guess = _boxed_number(action)
        if guess is None:
            info = {"success": False, "reward_parts": {"format_error": -0.1}}
            return Step(f"No number was found. {_HOW}", -0.1, True, False, info)
        if guess == self.secret:
            return Step("Found.", 1.0, True, False, {"success": True})
        if guess < self.secret:
            hint = "It is higher."
            self.low = max(self.low, guess + 1)
        else:
            hint = "It is lower."
            self.high = min(self.high, guess - 1)
        is_last = self.turn + 1 >= self.max_turns  # `turn` counts those that are over
        return Step(hint, 0.0, False, is_last, {"success": False, "suffix": "Guess again."})

    def sample_action(self) -> str:
        return f"\\boxed{{{self.sample_rng.randint(1, self.highest)}}}"

    def solve(self) -> str:
        return f"\\boxed{{{(self.low + self.high) // 2}}}"


def _boxed_number(text: str) -> int | None:
    digits = _boxed(text)
    # A model's text: not every digit is one for int(), and a long number takes it long.
    is_readable = digits.isascii() and digits.isdigit() and len(digits) < 10
    return int(digits) if is_readable else None


def _boxed(text: str) -> str:
    _, _, rest = text.rpartition("\\boxed{")
    inside, closed, _ = rest.partition("}")
    return inside.strip() if closed else ""


class Lamps(Env):
    """Switch every lamp on, one a turn, while the wind may put one out. Starts always alike."""

    max_turns = 12
    reward_range = (0.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.lit: set[int] = set()
        return "Four lamps, 1 to 4, are out. Name one to light it.", {}

    def step(self, action: str) -> Step:
        number = action.strip()
        if number not in {"1", "2", "3", "4"}:
            return self._after(f"There is no lamp {number[:20]!r}.", {"action_error": "invalid"})
        self.lit.add(int(number))
        if len(self.lit) == 4:
            return Step("All are lit.", 1.0, True, False, {"success": True})
        if self.rng.random() < 0.2:
            self.lit.discard(self.rng.choice(sorted(self.lit)))
        return self._after(f"Lit: {sorted(self.lit)}.", {})

    def _after(self, text: str, info: dict[str, Any]) -> Step:
        is_last = self.turn + 1 >= 12
        return Step(text, 0.0, False, is_last, {"success": False, **info})

    def sample_action(self) -> str:
        return str(self.sample_rng.randint(1, 4))

    def solve(self) -> str:
        return str(min({1, 2, 3, 4} - self.lit))


class Coin(Env):
    """Call a coin before it falls: chance alone decides, so nothing is known to solve it.

    A finite set of tasks: task i is the side that lies up at first.
    """

    single_turn = True
    max_turns = 1
    reward_range = (0.0, 1.0)
    num_tasks = 2

    _sides = ("heads", "tails")

    def reset(self, seed: int | None = None, task: int | None = None) -> tuple[str, dict[str, Any]]:
        up = self.pick_task(task)
        return f"{self._sides[up].title()} lies up. Call its next side.", {"task": up}

    def step(self, action: str) -> Step:
        fallen = self.rng.choice(self._sides)
        won = action.strip() == fallen
        return Step(f"It is {fallen}.", float(won), True, False, {"success": won})

    def sample_action(self) -> str:
        return self.sample_rng.choice(self._sides)


class Kuhn(SeatedEnv):
    """Kuhn poker: two seats, three cards, an ante of 1 and one bet of 1 (Kuhn, 1950)."""

    seats = ("first", "second")
    zero_sum = True
    reward_range = (-2.0, 2.0)

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        self.cards = self.rng.sample("JQK", 2)
        self.moves = ""
        for seat, name in enumerate(self.seats):
            self.tell(
                seat,
                f"Kuhn poker with the cards J, Q and K. You are {name}. Your card is "
                f"{self.cards[seat]}. Each turn, answer \\boxed{{bet}} or \\boxed{{pass}}.",
            )
        return self.begin(0)

    def step(self, action: str) -> Step:
        other = 1 - self.seat
        move = _boxed(action)
        info: dict[str, Any] = {}
        if move not in ("bet", "pass"):
            info["action_error"] = "invalid" if move else "format"
            move = "pass"
        self.moves += move[0]
        self.tell(other, f"The other player answered {move}.")
        if self.moves in ("p", "b", "pb"):
            return self.ask(other, info=info)
        if self.moves in ("bp", "pbp"):
            winner = other  # who passed to a bet gave up
            pot = 1.0
        else:
            winner = int("JQK".index(self.cards[0]) < "JQK".index(self.cards[1]))
            pot = 2.0 if "b" in self.moves else 1.0
            self.tell_all(f"The cards were {self.cards[0]} and {self.cards[1]}.")
        success = {winner: True}
        return self.end({winner: pot, 1 - winner: -pot}, success=success, info=info)

    def sample_action(self) -> str:
        return self.sample_rng.choice(["\\boxed{bet}", "\\boxed{pass}"])

    def secrets(self) -> dict[int, list[str]]:
        return {seat: [f"Your card is {card}"] for seat, card in enumerate(self.cards)}


class Signs(SeatedEnv):
    """Rock, paper, scissors: two seats, both at once, three rounds. What is no sign loses."""

    seats = ("left", "right")
    zero_sum = True
    reward_range = (-1.0, 1.0)

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        self.wins = [0, 0]
        self.number = 1
        self.tell_all("Three rounds. Answer rock, paper or scissors.", "Round 1.")
        return self.begin(0, 1)

    def step_all(self, actions: Mapping[int, str]) -> Step:
        signs = [actions[seat].strip() for seat in (0, 1)]
        rewards = _of_signs(*signs)
        self.wins[0] += rewards[0] > 0
        self.wins[1] += rewards[1] > 0
        # What is no sign is shown as such: a long text of one seat shall not fill the other's.
        shown = [sign if sign in _BEATS else "no sign" for sign in signs]
        errors = {seat: "invalid" for seat in (0, 1) if signs[seat] not in _BEATS}
        info: dict[str, Any] = {"action_errors": errors} if errors else {}
        if self.seat in errors:  # whose action ends the round
            info["action_error"] = errors[self.seat]
        self.tell_all(f"Left showed {shown[0]}, right {shown[1]}.")
        if self.number == 3:
            success = (self.wins[0] > self.wins[1], self.wins[1] > self.wins[0])
            return self.end(rewards, success=success, info=info)
        self.number += 1
        self.tell_all(f"Round {self.number}.")
        return self.ask(0, 1, rewards=rewards, info=info)

    def sample_action(self) -> str:
        return self.sample_rng.choice(list(_BEATS))


_BEATS = {"rock": "scissors", "paper": "rock", "scissors": "paper"}


def _of_signs(left: str, right: str) -> tuple[float, float]:
    if left == right or (left not in _BEATS and right not in _BEATS):
        return 0.0, 0.0
    if left in _BEATS and (right not in _BEATS or _BEATS[left] == right):
        return 1.0, -1.0
    return -1.0, 1.0


class LastOne(SeatedEnv):
    """Three seats in turn name a number, and who meets the one that is drawn is out."""

    seats = ("red", "green", "blue")
    reward_range = (0.0, 1.0)
    max_turns = 12

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        self.tell_all("Name a number from 1 to 3. Whoever names the one that is drawn is out.")
        self.tell(0, "You begin.")
        return self.begin(0)

    def step(self, action: str) -> Step:
        name = self.seats[self.seat]
        number = action.strip()
        if number not in ("1", "2", "3"):
            number = "1"
            info: dict[str, Any] = {"action_error": "invalid"}
        else:
            info = {}
        left = [seat for seat in range(3) if not self.is_out(seat)]
        following = [seat for seat in left if seat > self.seat] or left
        if number == str(self.rng.randint(1, 3)):
            self.tell_all(f"{name.title()} named {number} and is out.")
            self.drop(self.seat)
            left.remove(self.seat)
        else:
            self.tell_all(f"{name.title()} named {number}.")
        if len(left) == 1:
            return self.end({left[0]: 1.0}, success={left[0]: True}, info=info)
        if self.turn + 1 >= self.max_turns:
            return self.end(truncated=True, success=False, info=info)
        return self.ask(following[0], info=info)

    def sample_action(self) -> str:
        return str(self.sample_rng.randint(1, 3))
