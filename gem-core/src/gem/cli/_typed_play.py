"""Play episodes of an environment by what is typed. Knows nothing about the command line."""

from __future__ import annotations

import contextlib
import random
from typing import NamedTuple

from gem.cli._player import Player, PlayerLeft, TypedAnswer, answer_form
from gem.cli._screen import View, total_so_far
from gem.cli._text import counted, indented, one_line, printable
from gem.cli._views import ending, first_view, next_view
from gem.content import Observation, observation_text
from gem.env._env import Env
from gem.env._snapshot import Snapshot
from gem.env._step import Step
from gem.episode._episode import is_success
from gem.episode._seats import seats_succeeded
from gem.errors import SnapshotError

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
            print(printable(f"Left after {_turns(self._env)}, {total_so_far(view)} so far."))

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._past.clear()  # before the reset: what is saved is of the episode before
        observation, info = self._env.reset(seed=seed)
        self._player.form = _form(self._env, observation)
        heading = f"{self._id}. {self._who()}Seed {seed}. Type your action, or :help."
        start = self._numbered(Step(observation, info=info))
        self._player.begin(first_view(self._env, heading, start))

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
        seat = self._env.seat
        step = self._env.step(answer.action)
        cannot_be_read = step.info.get("action_error") == "format"
        if cannot_be_read and self._past and not self._is_strict:
            self._ask_again(step, answer.text)
            return
        view = next_view(self._view, self._env, seat, answer.text, self._numbered(step))
        view = view._replace(outcome=_outcome(self._env, step, view))
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
        told = observation_text(step.observation).strip()
        if told:
            lines.append(f"A model would be told: {told}")
        elif self._player.form != "%s":
            lines.append(f"An answer looks like this: {self._player.form % '...'}")
        self._display.note("\n".join(lines))

    def _numbered(self, step: Step) -> Step:
        """Return a step with numbers where its message or its board lists answers."""
        board = str(step.info.get("suffix") or "")
        text, board = self._player.numbered(observation_text(step.observation), board)
        return step._replace(observation=text, info={**step.info, "suffix": board})

    def _remember(self) -> None:
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


def _turns(env: Env) -> str:
    turns = counted(env.turn, "turn")
    return turns if len(env.unwrapped.seats) == 1 else f"{turns} of all seats"


def _outcome(env: Env, step: Step, view: View) -> str:
    """Return how the episode ended, nothing while it goes on."""
    if not (step.terminated or step.truncated):
        return ""
    if view.seats:
        successes = seats_succeeded(step.info, view.totals, env.spec)
        return ending(_turns(env), view.seats, view.totals, successes)
    assert view.total is not None, "_start has begun to count"
    won = is_success(step.info, view.total, env.spec)
    return ending(_turns(env), (), [view.total], [won])


def _form(env: Env, observation: Observation) -> str:
    """Return how answers are written here, `%s` for the answer; a sample knows best."""
    try:
        return answer_form(env.sample_action())
    except NotImplementedError:
        return answer_form(observation_text(observation))
