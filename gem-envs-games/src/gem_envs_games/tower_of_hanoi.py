"""Move a tower of disks from peg A to peg C."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.parsing import reader
from gem_envs_games.rewards import PUBLISHED, Rewards

__all__ = ["TowerOfHanoi", "moves_left", "next_move"]

_PEGS = "ABC"
_DISKS = (3, 4, 5)
_TURNS = {3: 10, 4: 20, 5: 35}
_MOST_DISKS = 64


class TowerOfHanoi(Game):
    """Bring `num_disks` disks, never a larger one on a smaller, to peg C in `max_turns` moves.

    An argument that is None is drawn anew for every episode: 3, 4 or 5 disks, and the turns
    then go with the disks. Nothing else depends on the seed, and when the turns run out, every
    disk on C earns its share of the reward, whatever its place.

    With `scattered` every disk starts on a peg that the seed draws, and when the turns run out
    what is earned is the share of the way that was made.
    """

    def __init__(
        self,
        num_disks: int | None = 5,
        max_turns: int | None = 35,
        scattered: bool = False,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        if num_disks is not None and not 1 <= num_disks <= _MOST_DISKS:
            raise BadArguments(
                f"TowerOfHanoi was given num_disks={num_disks}, and can be played with 1 to "
                f"{_MOST_DISKS}. Pass one of these, or None to have it drawn.",
                subject="TowerOfHanoi",
            )
        self._given_disks = num_disks
        self.scattered = scattered

    def deal(self) -> None:
        disks = self._given_disks
        self.num_disks = self.rng.choice(_DISKS) if disks is None else disks
        if self._given_turns is None:
            self.max_turns = _turns_for(self.num_disks)
        self._pegs = [(1 << self.num_disks) - 1, 0, 0]  # a bit for each disk, the smallest lowest
        if self.scattered:
            self._pegs = _scatter(self.rng, self.num_disks)
            self._far = moves_left(_piles(self._pegs))

    def instructions(self) -> str:
        return (
            "You are playing Tower of Hanoi.\n"
            f"There are three pegs, A, B and C, and {self.num_disks} disks, numbered from 1 (the "
            f"smallest) to {self.num_disks} (the largest). {self._start()} Bring all of "
            f"them to C. You have {self.max_turns} turns.\n"
            "Each turn moves the top disk of one peg to another peg, and a disk may never lie on "
            "a smaller one. A move that breaks the rules is refused and still costs a turn.\n"
            "Write what you like, but give your move as two pegs, from and to, in \\boxed{}, for "
            "example \\boxed{A C} for the top disk of A to C. Only the last one counts. An answer "
            "without it ends the game."
        )

    def _start(self) -> str:
        return "They start where you see them." if self.scattered else "All of them start on A."

    def expected(self) -> str:
        return "two of the pegs A, B and C in \\boxed{}, from and to, for example \\boxed{A C}"

    def suffix(self) -> str:
        a, b, c = self._pegs
        return (
            f"The disks, bottom to top:\nA: {_disks_text(a)}\nB: {_disks_text(b)}\n"
            f"C: {_disks_text(c)}\nEnter your next move."
        )

    def consolation(self) -> dict[str, float]:
        if self.scattered:
            way = 1 - moves_left(_piles(self._pegs)) / self._far
            return {"way": self.rewards.success * max(0.0, way)}
        return {"disks_on_c": self.rewards.success * self._pegs[2].bit_count() / self.num_disks}

    def step(self, action: str) -> Step:
        move = _read(action)
        if move is None:
            return self._malformed()
        pegs = self._pegs
        source, target = move
        disk = pegs[source] & -pegs[source]
        above = pegs[target] & -pegs[target]
        if source == target or not disk or 0 < above < disk:
            return self._refuse(self._broken_rule(source, target))
        pegs[source] ^= disk
        pegs[target] ^= disk
        moved = f"you moved disk {disk.bit_length()} from {_PEGS[source]} to {_PEGS[target]}."
        if pegs[2] + 1 == 1 << self.num_disks:
            return self._win(
                f"{moved} All disks are on C. Congratulations!", {"success": self.rewards.success}
            )
        return self._go_on(moved)

    def _broken_rule(self, source: int, target: int) -> str:
        tried = f"you tried to move a disk from {_PEGS[source]} to {_PEGS[target]}, but"
        if source == target:
            return f"{tried} a disk must go to another peg."
        if not self._pegs[source]:
            return f"{tried} there is no disk on {_PEGS[source]}."
        disk, above = (_disks(self._pegs[peg])[-1] for peg in (source, target))
        return f"{tried} disk {disk} is larger than disk {above}."

    def sample_action(self) -> str:
        tops = [peg & -peg or 1 << self.num_disks for peg in self._pegs]
        moves = [(a, b) for a in range(3) for b in range(3) if tops[a] < tops[b]]
        return _boxed(self.sample_rng.choice(moves))

    def solve(self) -> str | None:
        """Make the first of the fewest moves that bring every disk to C."""
        move = next_move(_piles(self._pegs))
        return _boxed(move) if move else None


def _move(words: list[str]) -> tuple[int, int] | None:
    """Read two pegs, as `A C` or `ac`."""
    pegs = "".join(words).upper()
    if len(pegs) == 2 and pegs[0] in _PEGS and pegs[1] in _PEGS:
        return _PEGS.index(pegs[0]), _PEGS.index(pegs[1])
    return None


_read = reader(_move)


def _scatter(rng: Random, num_disks: int) -> list[int]:
    """Draw one of all states but the last, where every disk is on C."""
    pegs = [0, 0, 0]
    state = rng.randrange(3**num_disks - 1)
    for disk in range(num_disks):
        state, peg = divmod(state, 3)
        pegs[peg] |= 1 << disk
    return pegs


def _piles(pegs: list[int]) -> list[list[int]]:
    return [_disks(peg) for peg in pegs]


def _disks(peg: int) -> list[int]:
    """List the disks of a peg, bottom to top."""
    return [disk for disk in range(peg.bit_length(), 0, -1) if peg >> (disk - 1) & 1]


@lru_cache(1024)
def _disks_text(peg: int) -> str:
    return str(_disks(peg))


def _boxed(move: tuple[int, int]) -> str:
    return f"\\boxed{{{_PEGS[move[0]]} {_PEGS[move[1]]}}}"


def _turns_for(num_disks: int) -> int:
    """Return the published number of turns, elsewhere the fewest moves and one for each disk."""
    return _TURNS.get(num_disks, (1 << num_disks) - 1 + num_disks)


def next_move(pegs: list[list[int]]) -> tuple[int, int] | None:
    """Return the first move, (from, to), of the shortest way to the last peg; None if there.

    `pegs` holds three piles of disks, bottom to top. The largest disk out of place moves only
    once every smaller one is on the third peg, so the goal of each smaller disk follows from
    the larger ones. Linear in the number of disks.

    >>> next_move([[2], [1], []])
    (0, 2)
    """
    return next(reversed([(source, target) for _, source, target in _out_of_place(pegs)]), None)


def moves_left(pegs: list[list[int]]) -> int:
    """Count the moves of the shortest way to the last peg.

    >>> moves_left([[2], [1], []])
    2
    """
    return sum(1 << (disk - 1) for disk, _, _ in _out_of_place(pegs))


def _out_of_place(pegs: list[list[int]]) -> Iterator[tuple[int, int, int]]:
    """Yield each disk that must move, the largest first, with where it is and must go."""
    place = {disk: peg for peg, disks in enumerate(pegs) for disk in disks}
    goal = 2
    for disk in sorted(place, reverse=True):
        if place[disk] != goal:
            yield disk, place[disk], goal
            goal = 3 - place[disk] - goal
