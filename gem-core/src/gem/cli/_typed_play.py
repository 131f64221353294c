"""Play episodes of an environment by what is typed. Knows nothing about the command line."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.cli._player import Player, PlayerLeft, TypedAnswer, answer_form
from gem.cli._screen import Exchange, View
from gem.cli._seats import addressed, figures, message, results
from gem.cli._text import counted, indented, one_line, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gem.content import Observation
    from gem.env._env import Env
    from gem.env._snapshot import Snapshot
    from gem.env._step import Step

__all__ = ["TypedPlay", "any_seed"]

_HELP = """\
:hint         what solve() would answer; :hint! answers it
:undo         take the last action back, as often as you like
:restart      the same episode from its start
:new [SEED]   another episode
"""
_SHOWN = 60  # characters of an answer that is told to be wrong
_OVER = "It is over: :undo, :restart, :new or :quit"


def any_seed() -> int:
    """Return a seed that nobody chose, short enough to be typed again."""
    # Not from `random`, whose state belongs to whoever uses this process.
    return random.SystemRandom().randrange(10_000)


class _Saved(NamedTuple):
    """Where the player was before an action: what `:undo` goes back to."""

    state: Snapshot
    view: View
    choices: list[str]


class TypedPlay:
    """Episodes of one environment, with the states to go back to.

    `opponents` names who plays the other seats, where there are some.
    """

    _seed: int

    def __init__(self, env: Env, id: str, *, is_strict: bool, opponents: str = "") -> None:
        self._env = env
        self._id = id
        self._opponents = opponents
        self._is_strict = is_strict
        self._past: list[_Saved] = []
        self._player = Player(
            commands={
                ":hint": self._hint,
                ":hint!": self._take_hint,
                ":undo": self._undo,
                ":restart": lambda _: self._start(self._seed),
                ":new": self._new,
            },
            commands_help=_HELP,
        )
        self._player.has_tools = bool(env.tools)
        self._display = self._player.screen

    @property
    def _view(self) -> View:
        return self._player.view

    def play(self, seed: int) -> None:
        """Play as long as the player likes; where nobody types, to the end of the episode."""
        with contextlib.suppress(PlayerLeft, KeyboardInterrupt):
            self._start(seed)
            # On a terminal it goes on after the end, for :undo and :new.
            while not self._view.outcome or self._player.is_interactive:
                answer = self._player.read(f"{_OVER}> " if self._view.outcome else "> ")
                if answer is not None:
                    self._take(answer)
        view = self._view
        if not view.outcome:
            total = f"total rewards {figures(view.seats, view.totals)}"
            if view.total is not None:
                total = f"total reward {view.total:g}"
            print(printable(f"Left after {_turns(self._env)}, {total} so far."))

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._past.clear()  # before the reset: what is saved is of the episode before
        observation, info = self._env.reset(seed=seed)
        self._player.form = _form(self._env, observation)
        from gem.env._step import Step

        heading = f"{self._id}. {self._who()}Seed {seed}. Type your action, or :help."
        rules, board = self._read_out(Step(observation, info=info))
        view = View(
            heading,
            (Exchange("", rules),),
            board,
            turn=self._env.turn,  # of one seat of several: others may have moved before it
            max_turns=self._env.max_turns,
            highlights=self._env.unwrapped.highlights,
        )
        self._player.begin(view if len(self._env.seats) == 1 else view.of_seats(self._env.seats))

    def _who(self) -> str:
        """Say which seats the player has, and against whom; nothing where there is one seat."""
        env = self._env
        if len(env.seats) > 1:
            return f"You play every seat: {', '.join(env.seats)}. "
        name = getattr(env, "seat_name", "")  # of the view of a seat
        against = f", against {self._opponents}" if self._opponents else ""
        return f"You are {name}{against}. " if name else ""

    def _take(self, answer: TypedAnswer) -> None:
        if self._view.outcome:
            self._display.note(_OVER)
            return
        self._remember()  # before the step, so that there is a state to take it back to
        is_of_one = len(self._env.seats) == 1
        typed = answer.text if is_of_one else f"[{self._env.seats[self._env.seat]}] {answer.text}"
        step = self._env.step(answer.action)
        cannot_be_read = step.info.get("action_error") == "format"
        if cannot_be_read and self._past and not self._is_strict:
            self._ask_again(step, answer.text)
            return
        text, board = self._read_out(step)
        view = self._after(step, Exchange(typed, text), board)
        is_as_typed = answer.text == answer.action
        self._player.show(view, "" if is_as_typed else f"  sent as {answer.action}")

    def _ask_again(self, step: Step, typed: str) -> None:
        """Take a slip of the fingers back: it is the player's, and not the game's."""
        saved = self._past.pop()
        self._player.view = saved.view
        self._player.choices = saved.choices
        self._env.restore(saved.state)
        wrong = one_line(typed)[:_SHOWN]
        lines = [f'"{wrong}" cannot be read here. It was not counted (--strict counts it).']
        # What the game says takes the answer for counted, and may say that the game is over.
        told = _text(step.observation).strip()
        if told:
            lines.append(f"A model would be told: {told}")
        elif self._player.form != "%s":
            lines.append(f"An answer looks like this: {self._player.form % '...'}")
        self._display.note("\n".join(lines))

    def _read_out(self, step: Step) -> tuple[str, str]:
        """Return the message and the board, with numbers where one of them lists answers.

        Where one player has all seats, the message says which of them is shown it.
        """
        text, board = self._player.numbered(_text(step.observation), _board(step.info))
        names = self._env.seats
        if len(names) == 1:
            return text, board
        if step.terminated or step.truncated:
            return message(names, step), board
        return addressed(names, {step.seat: text}), board

    def _after(self, step: Step, turn: Exchange, board: str) -> View:
        env = self._env
        rewards = step.rewards if self._view.seats else ()
        view = self._view.after(
            turn, board, step.reward, replaces=env.rewrites_history, rewards=rewards
        )
        outcome = _outcome(env, step, view)
        view = view._replace(max_turns=env.max_turns, outcome=outcome)
        # The limit is one of all seats: so is the number beside it.
        return view if len(env.unwrapped.seats) == 1 else view._replace(turn=env.turn)

    def _remember(self) -> None:
        from gem.errors import SnapshotError

        try:
            self._past.append(_Saved(self._env.snapshot(), self._view, self._player.choices))
        except SnapshotError:
            self._past.clear()  # :undo then says that there is nothing to go back to

    def _undo(self, _: str) -> None:
        if not self._past:
            self._display.note("There is nothing to take back.")
            return
        saved = self._past.pop()
        self._player.choices = saved.choices
        self._env.restore(saved.state)
        view = saved.view._replace(reward=None)
        self._player.show(view, "Taken back. This is where you were.")

    def _new(self, seed: str) -> None:
        if not seed.strip():
            self._start(any_seed())
        elif seed.strip().lstrip("-").isdecimal():
            self._start(int(seed))
        else:
            self._display.note(f"{one_line(seed)} is no seed. Give an integer, or none.")

    def _hint(self, _: str) -> None:
        answer = self._solution()
        if answer is not None:
            self._display.note(indented(answer))

    def _take_hint(self, _: str) -> None:
        answer = self._solution()
        if answer is not None:
            self._take(TypedAnswer(answer, answer))

    def _solution(self) -> str | None:
        """Return what `solve` answers, or say why there is nothing."""
        if self._view.outcome:
            self._display.note(_OVER)
            return None
        answer = self._env.solve()
        if answer is None:
            self._display.note("No solution is known here.")
        return answer


def _text(observation: Observation) -> str:
    from gem.content import observation_text

    return observation_text(observation)


def _board(info: Mapping[str, Any]) -> str:
    return str(info.get("suffix") or "")


def _turns(env: Env) -> str:
    turns = counted(env.turn, "turn")
    return turns if len(env.unwrapped.seats) == 1 else f"{turns} of all seats"


def _outcome(env: Env, step: Step, view: View) -> str:
    """Return how the episode ended, nothing while it goes on."""
    from gem.episode._episode import is_success
    from gem.episode._seats import seats_succeeded

    if not (step.terminated or step.truncated):
        return ""
    if view.seats:
        successes = seats_succeeded(step.info, view.totals, env.spec)
        return f"Over after {_turns(env)}. {results(view.seats, view.totals, successes)}."
    assert view.total is not None, "_start has begun to count"
    won = is_success(step.info, view.total, env.spec)
    return f"{'Success' if won else 'No success'} after {_turns(env)}, total reward {view.total:g}."


def _form(env: Env, observation: Observation) -> str:
    """Return how answers are written here, `%s` for the answer; a sample knows best."""
    try:
        return answer_form(env.sample_action())
    except NotImplementedError:
        return answer_form(_text(observation))
