"""What games of several seats share: a game tree below, and who is told what. Knows no game."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from gem import SeatedEnv, Step
from gem.errors import BadArguments
from gem_envs_games.trees.position import Position
from gem_envs_games.trees.solving.policies import Policy, uniform

if TYPE_CHECKING:
    from gem_envs_games.seated.exploiting import AskedPolicy

__all__ = ["TreeGame"]

P = TypeVar("P", bound=Position)


class TreeGame(SeatedEnv, Generic[P]):
    """A game of two seats that move one after another, by the rules of a game tree.

    An answer that cannot be read, or is no legal move, is asked for again `error_allowance`
    times in a row; the next one forfeits the game, which costs its seat as much as the game can.
    Such steps say so in `info["action_error"]`. What the game pays is paid at its end.

    A subclass sets `tree` and `stake`, and writes `instructions`, `read`, `expected`, `question`,
    `closing`, and `solution` or `best_move`; where chance deals, `private`, `secrets` and
    `revealed`.
    """

    zero_sum = True
    tree: ClassVar[Any]
    """The class of positions, a named tuple."""
    stake: ClassVar[float] = 1.0
    """The most that a seat can lose."""
    titles: ClassVar[tuple[str, ...]] = ("The first player", "The second player")
    """What texts call the seats."""

    _dealing: list[str] | None = None  # what chance does next, where that is not drawn
    _mixing: int  # what `drawn` is keyed by, of games where something is hidden

    # A snapshot is plain data, so positions are kept as the plain tuples of their fields.
    _root: tuple[Any, ...]
    _position: tuple[Any, ...]

    def __init__(self, root: tuple[Any, ...], error_allowance: int) -> None:
        if error_allowance < 0:
            name = type(self).__name__
            raise BadArguments(
                f"{name} was given error_allowance={error_allowance}, and nobody can err less than "
                "never. Pass 0 or more.",
                subject=name,
            )
        self.error_allowance = error_allowance
        self._root = tuple(root)
        self.reward_range = (-self.stake, self.stake)

    @property
    def position(self) -> P:
        """The position now, which never changes; never anything for a policy to see."""
        position: P = self.tree._make(self._position)
        return position

    @property
    def root(self) -> P:
        """The position at the start, before chance has dealt anything."""
        root: P = self.tree._make(self._root)
        return root

    def exploitability(self, policy: AskedPolicy) -> float:
        """Return by how much a seat gains on average, if it alone answers this policy at best.

        See `gem_envs_games.seated.exploiting`: the policy is asked for the chances of its actions.
        """
        from gem_envs_games.seated.exploiting import exploitability_of

        return exploitability_of(self, policy)

    def hint_exploitability(self, method: Literal["sample_action", "solve"]) -> float:
        """Return the exploitability of who plays what the game itself draws, or its solution.

        Raises ValueError where `exploitability` does, and where `solve` plays no policy by what a
        seat knows.
        """
        from gem_envs_games.seated.exploiting import exploitability_of_policy

        policy = uniform if method == "sample_action" else self.solution()
        if policy is None:
            raise ValueError(
                f"The solution of {type(self).__name__} is no policy by what a seat knows: its "
                "exploitability is not computed."
            )
        return exploitability_of_policy(self, policy)

    def dealt(self, outcomes: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Begin a game in which chance does these things first. Returns what `reset` does."""
        self._dealing = list(outcomes)
        return self.reset(seed=0)

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self._errors = 0
        position = self.tree._make(self._root)
        if not position.has_perfect_information:
            self._mixing = self.rng.getrandbits(32)
            position = self._settled(position)
        self._position = tuple(position)
        mover = position.movers[0]
        for seat in range(len(self.seats)):
            texts = [self.instructions(seat)]
            if private := self.private(seat):
                texts.append(private)
            if seat == mover:
                texts.append(self.question(position, seat))
            self.tell(seat, *texts)
        return self.begin(mover)

    def step(self, action: str) -> Step:
        seat = self.seat
        move = self.read(action)
        if move is None:
            return self._refuse("format", "Your answer could not be read.")
        position = self.tree._make(self._position)
        if move not in position.legal(seat):
            return self._refuse("invalid", f"The move {move} is not allowed now.")
        self._errors = 0
        other = 1 - seat
        news = f"{self.titles[seat]} chose {move}."
        position = position.after(move)
        movers = position.movers
        if movers == (other,):  # nearly always, so in one call (benchmarks/seats.py)
            self._position = tuple(position)
            self.tell(other, news, self.question(position, other))
            return self.ask(other)
        self.tell(other, news)
        if position.chances():
            position = self._settled(position)
            self.tell_all(self.revealed(position))
            movers = position.movers
        self._position = tuple(position)
        if not movers:
            return self._finish(position)
        self.tell(movers[0], self.question(position, movers[0]))
        return self.ask(movers[0])

    def instructions(self, seat: int) -> str:
        """Return the rules, who this seat is, and how it answers, with an example."""
        raise NotImplementedError

    def private(self, seat: int) -> str:
        """Return what only this seat is told at the start, "" where that is nothing."""
        return ""

    def read(self, action: str) -> str | None:
        """Return the move that an answer names, legal or not, as the tree writes it."""
        raise NotImplementedError

    def expected(self) -> str:
        """Return what a well-formed answer is, with an example."""
        raise NotImplementedError

    def question(self, position: P, seat: int) -> str:
        """Return what a seat is shown when it is asked for its move."""
        raise NotImplementedError

    def closing(self, position: P) -> str:
        """Return what all seats are told at the end: how it ended, and what was hidden."""
        raise NotImplementedError

    def revealed(self, position: P) -> str:
        """Return what all seats are told after a chance move in the midst of the game."""
        raise NotImplementedError

    def solution(self) -> Policy | None:
        """Return the policy that `solve` plays by what a seat knows; None where it plays none.

        A game has this or a `best_move` of its own.
        """
        return None

    def best_move(self, position: P) -> str:
        """Return the move that `solve` answers for the seat whose turn it is."""
        policy = self.solution()
        if policy is None:
            raise NotImplementedError
        return self.drawn(policy, position)

    def sample_action(self) -> str:
        position = self.position
        if position.is_over:
            return ""
        return f"\\boxed{{{self.sample_rng.choice(position.legal(self.seat))}}}"

    def solve(self) -> str | None:
        """Answer the best move that is known for the seat whose turn it is; None at the end."""
        position = self.position
        if position.is_over:
            return None
        return f"\\boxed{{{self.best_move(position)}}}"

    def drawn(self, policy: Policy, position: P) -> str:
        """Return the move of a policy that mixes, one and the same whenever it is asked here.

        The draw is keyed by a number that `reset` took from the episode's own chance, which no
        seat is shown, and by what the seat knows.
        """
        information = position.known_to(self.seat)
        actions = position.legal(self.seat)
        random = Random(f"{self._mixing} {information}")
        return random.choices(actions, policy(information, actions))[0]

    def _settled(self, position: P) -> P:
        """Return the position after all that chance does now."""
        while chances := position.chances():
            if self._dealing:
                position = position.after(self._dealing.pop(0))
                continue
            outcomes = [outcome for outcome, _ in chances]
            outcome = self.rng.choices(outcomes, [chance for _, chance in chances])[0]
            position = position.after(outcome)
        return position

    def _finish(self, position: P) -> Step:
        self.tell_all(self.closing(position))
        returns = position.returns()
        return self.end(returns, success=[earned > 0 for earned in returns])

    def _refuse(self, error: str, why: str) -> Step:
        seat = self.seat
        self._errors += 1
        info = {"action_error": error}
        if self._errors <= self.error_allowance:
            self.tell(seat, f"{why} Expected {self.expected()}.")
            return self.ask(seat, info=info)
        self.tell(seat, f"{why} You forfeit the game.")
        return self._forfeit(seat, info)

    def _forfeit(self, loser: int, info: dict[str, Any]) -> Step:
        self.tell(1 - loser, f"{self.titles[loser]} gave no valid answer and forfeits.")
        rewards = self.forfeit_rewards([loser])
        return self.end(rewards, success=[earned > 0 for earned in rewards], info=info)

    def forfeit_rewards(self, losers: Sequence[int]) -> list[float]:
        """Return what each seat earns where these forfeit."""
        rewards = [self.stake] * len(self.seats)
        for loser in losers:
            rewards[loser] = -self.stake
        return rewards
