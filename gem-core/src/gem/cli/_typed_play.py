"""Play episodes of an environment by what is typed. Knows nothing about the command line."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.cli._player import Player, PlayerLeft, TypedAnswer, answer_form
from gem.cli._screen import Exchange, View
from gem.cli._text import counted, indented, one_line

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
    """Episodes of one environment, with the states to go back to."""

    _seed: int

    def __init__(self, env: Env, id: str, *, is_strict: bool) -> None:
        self._env = env
        self._id = id
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
        if not self._view.outcome:
            print(f"Left after {_turns(self._env)}, total reward {self._view.total:g} so far.")

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._past.clear()  # before the reset: what is saved is of the episode before
        observation, info = self._env.reset(seed=seed)
        self._player.form = _form(self._env, observation)
        heading = f"{self._id}. Seed {seed}. Type your action, or :help."
        rules, board = self._numbered(observation, info)
        rules = self._addressed(rules)
        view = View(
            heading,
            (Exchange("", rules),),
            board,
            max_turns=self._env.max_turns,
            highlights=self._env.unwrapped.highlights,
        )
        self._player.begin(view)

    def _take(self, answer: TypedAnswer) -> None:
        if self._view.outcome:
            self._display.note(_OVER)
            return
        self._remember()  # before the step, so that there is a state to take it back to
        step = self._env.step(answer.action)
        cannot_be_read = step.info.get("action_error") == "format"
        if cannot_be_read and self._past and not self._is_strict:
            self._ask_again(step, answer.text)
            return
        message, board = self._numbered(step.observation, step.info)
        message = self._addressed(message)
        view = self._after(step, Exchange(answer.text, message), board)
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
        message = _text(step.observation).strip()
        if message:
            lines.append(f"A model would be told: {message}")
        elif self._player.form != "%s":
            lines.append(f"An answer looks like this: {self._player.form % '...'}")
        self._display.note("\n".join(lines))

    def _numbered(self, observation: Observation, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the message and the board, with numbers where one of them lists answers."""
        return self._player.numbered(_text(observation), _board(info))

    def _addressed(self, message: str) -> str:
        """Return a message with the name of whose turn it is, where one player has all seats."""
        env = self._env
        return message if len(env.seats) == 1 else f"[{env.seats[env.seat]}] {message}"

    def _after(self, step: Step, turn: Exchange, board: str) -> View:
        replaces = self._env.rewrites_history
        view = self._view.after(turn, board, step.reward, replaces=replaces)
        assert view.total is not None, "_start has begun to count"
        outcome = _outcome(self._env, step, view.total)
        return view._replace(max_turns=self._env.max_turns, outcome=outcome)

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
    return counted(env.turn, "turn")


def _outcome(env: Env, step: Step, total: float) -> str:
    """Return how the episode ended, nothing while it goes on."""
    from gem.episode._episode import is_success

    if not (step.terminated or step.truncated):
        return ""
    won = is_success(step.info, total, env.spec)
    return f"{'Success' if won else 'No success'} after {_turns(env)}, total reward {total:g}."


def _form(env: Env, observation: Observation) -> str:
    """Return how answers are written here, `%s` for the answer; a sample knows best."""
    try:
        return answer_form(env.sample_action())
    except NotImplementedError:
        return answer_form(_text(observation))
