"""A game of PettingZoo as an environment of ours: its agents are seats, and all of it is text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pettingzoo

from gem import SeatedEnv, Step
from gem.content import Observation
from gem.errors import BadArguments, in_one_line
from gem.registry import load_target
from gem_integrations.pettingzoo.actions import (
    RefusedAction,
    can_be_read,
    form_of,
    legal_of,
    read,
    sampled,
    value_of,
)
from gem_integrations.pettingzoo.describing import MOST_NUMBERS, described, numbers_in
from gem_integrations.pettingzoo.making import Form, make
from gem_integrations.pettingzoo.playing import Game, Outcome, Question, started

__all__ = ["PettingZooGame"]

Render = Callable[[Any, str], str]
Read = Callable[[str, Any, str], Any]

_MOST_TEXT = 200  # of an error of a game
# What games raise on an action that is not allowed, where no mask says which are.
_REFUSALS = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)


class PettingZooGame(SeatedEnv):
    r"""Play a game of PettingZoo, AEC or parallel: a step in turn, a round where all act at once.

    `game` is an id of its registry ("classic/tictactoe_v3"), a "module:attribute", a module with
    `env` or `parallel_env`, a class or a function; `options` are what it is made with. `form` is
    "aec" or "parallel", without it AEC where both are there.

    `render(observation, agent)` writes an observation, without its mask, as text; without it
    numbers are shown. `read(text, observation, agent)` returns an action as JSON data; without it,
    and where it returns None, the last `\boxed{...}` is read, a number or JSON. Both may be a
    "module:attribute". `rules` is told each seat at its first turn.

    What cannot be read, is not in the space or not in the action mask is `action_error`, and the
    seat is asked again. After `error_allowance` of these in a row the next one ends the episode:
    the seat earns `illegal_reward`, the others nothing more. Where a game has no mask and raises on
    an action, that action is refused as well; in a round, where nobody knows whose it was, it is an
    error of the environment. A total of 1 is a success unless a spec says otherwise.

    Each episode resets the game by a seed from `rng`. What a game draws from global generators is
    not reproducible. A snapshot holds the seed and the actions so far, and what is restored from it
    makes the game anew and plays them again before its next step.
    """

    # The recipe is the same in every state; a game finds out by its actions whose state it is of.
    shared = ("_game", "_form", "_options", "_render", "_read", "_rules", "_playing", "_spaces")

    def __init__(
        self,
        game: str | ModuleType | Callable[..., Any] = "classic/tictactoe_v3",
        form: Form | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        render: str | Render | None = None,
        read: str | Read | None = None,
        rules: str = "",
        error_allowance: int = 1,
        illegal_reward: float = -1.0,
        max_turns: int | None = 1000,
    ) -> None:
        self._game = game
        self._form: Form | None = form
        self._options = dict(options or {})
        self._render: Render | None = load_target(render) if isinstance(render, str) else render
        self._read: Read | None = load_target(read) if isinstance(read, str) else read
        self._rules = rules
        self._playing: Game | None = None
        self.error_allowance = error_allowance
        self.illegal_reward = float(illegal_reward)
        self.max_turns = max_turns
        env = make(game, form, self._options)
        try:
            self._inspect(env)
        finally:
            env.close()

    def _inspect(self, env: Any) -> None:
        """Read seats and spaces of a game. Raises BadArguments where it cannot be played here."""
        self.name = str(env)
        agents = list(getattr(env, "possible_agents", ()))
        if len(agents) < 2:
            raise self._wrong(
                f"{self.name} has {len(agents)} possible_agents, and seats are two or more that "
                "are known before a reset. Use a game that names them."
            )
        self.seats = tuple(map(str, agents))
        self._spaces = [env.action_space(agent) for agent in agents]
        for agent, space in zip(agents, self._spaces, strict=True):
            if self._read is None and not can_be_read(space):
                raise self._wrong(
                    f"{self.name} has actions of {space!r:.80}, and no text for them is known. "
                    "Pass read=, a function of a text, the observation and the agent."
                )
            size = numbers_in(env.observation_space(agent))
            if self._render is None and size > MOST_NUMBERS:
                raise self._wrong(
                    f"{self.name} shows {size:,} numbers at a time, which nobody reads as text. "
                    "Pass render=, a function of the observation and the agent."
                )

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        self._game_seed = self.rng.getrandbits(31)
        playing = self._started()
        self._playing = playing
        self._actions: list[Any] = playing.actions
        self._errors: dict[int, int] = {}
        self._choices: dict[int, Any] = {}
        self._has_rules: list[int] = []
        asked = playing.asked()
        if not asked:
            raise self._wrong(
                f"{self.name} was reset, and has no agents. Report it to its authors."
            )
        for seat in asked:
            self._tell_question(seat)
        return self.begin(*asked)

    def step(self, action: str) -> Step:
        """Take the answer of the only seat that is asked."""
        return self.step_all({self.seat: action})

    def step_all(self, actions: Mapping[int, str]) -> Step:
        playing = self._caught_up()
        errors: dict[int, str] = {}
        for seat, text in actions.items():
            refused = self._hear_action(seat, text)
            if refused is not None:
                errors[seat] = refused.kind
        info: dict[str, Any] = {"action_errors": errors} if errors else {}
        if self.seat in errors:  # what is said of a step is said of the seat that took it
            info["action_error"] = errors[self.seat]
        losers = [seat for seat, count in self._errors.items() if count > self.error_allowance]
        if losers:
            return self._lost_by(losers, info)
        waiting = [seat for seat in playing.asked() if seat not in self._choices]
        if waiting:
            return self.ask(*waiting, info=info)
        return self._go_on(playing, info)

    def sample_action(self) -> str:
        space = self._spaces[self.seat]
        if not can_be_read(space):
            raise NotImplementedError(f"{self.name} has actions of {space!r:.80}, unknown as text.")
        playing = self._caught_up()
        # The seats of a round are asked for hints in any order, before they have answered.
        question = playing.question(self.seat) if self.seat in playing.asked() else Question(None)
        return sampled(space, question.mask, self.sample_rng)

    def close(self) -> None:
        self._let_go()

    def _let_go(self) -> None:
        """Close the game that is played, if it is this environment's own."""
        playing = self._playing
        self._playing = None
        # A fork has what it was forked from until its first step, and leaves it open.
        if playing is not None and playing.owner is self:
            playing.env.close()

    def _hear_action(self, seat: int, text: str) -> RefusedAction | None:
        """Keep a seat's action, or count its error and tell it why. Returns the error."""
        question = self._caught_up().question(seat)
        space = self._spaces[seat]
        try:
            plain = self._plain_action(seat, text, question)
            value_of(space, plain, question.mask)
        except RefusedAction as refused:
            self._refuse(seat, str(refused), question)
            return refused
        self._choices[seat] = plain
        return None

    def _plain_action(self, seat: int, text: str, question: Question) -> Any:
        if self._read is not None:
            plain = self._read(text, question.observation, self.seats[seat])
            if isinstance(plain, (np.ndarray, np.generic)):
                plain = plain.tolist()
            if plain is not None:
                return plain
        return read(self._spaces[seat], text)  # as samples are written

    def _refuse(self, seat: int, reason: str, question: Question) -> None:
        self._errors[seat] = self._errors.get(seat, 0) + 1
        if self._errors[seat] > self.error_allowance:
            self.tell(seat, f"Your action was refused. {reason} The game is over for you.")
            return
        self.tell(seat, f"Your action was refused. {reason}", self._how_to_answer(seat, question))

    def _go_on(self, playing: Game, info: dict[str, Any]) -> Step:
        """Take what the seats chose, and ask who is next."""
        choices = self._choices
        self._choices = {}
        values = self._values(choices)
        masks = [playing.question(seat).mask for seat in choices]
        try:
            outcome = playing.take(values)
        except _REFUSALS as error:
            if len(choices) > 1 or masks[0] is not None:
                raise  # it was legal, or nobody knows whose action it was
            return self._refused_by_the_game(error)
        for seat in choices:
            self._errors[seat] = 0
        playing.actions.append([[seat, plain] for seat, plain in choices.items()])
        for seat, how in outcome.ends.items():
            self._tell_end(seat, outcome)
            if not self.is_out(seat):
                self.drop(seat, "truncated" if how == "truncated" else "terminated")
        asked = playing.asked()
        if not asked:
            is_truncated = set(outcome.ends.values()) == {"truncated"}
            return self.end(outcome.rewards, truncated=is_truncated, info=info)
        for seat in asked:
            self._tell_question(seat)
        return self.ask(*asked, rewards=outcome.rewards, info=info)

    def _refused_by_the_game(self, error: Exception) -> Step:
        # It may have been half way through the action: it is made anew, and played without it.
        self._let_go()
        question = self._question(self.seat)
        reason = f"The game does not take it ({in_one_line(error, at_most=_MOST_TEXT)})."
        self._refuse(self.seat, reason, question)
        info = {"action_error": "invalid"}
        if self._errors[self.seat] > self.error_allowance:
            return self._lost_by([self.seat], info)
        return self.ask(self.seat, info=info)

    def _lost_by(self, losers: list[int], info: Mapping[str, Any]) -> Step:
        for loser in losers:
            for seat in range(len(self.seats)):
                if seat not in losers and not self.is_out(seat):
                    self.tell(seat, f"{self.seats[loser]} gave no valid action. The game is over.")
        return self.end(dict.fromkeys(losers, self.illegal_reward), info=info)

    def _tell_question(self, seat: int) -> None:
        question = self._question(seat)
        if seat not in self._has_rules:
            self._has_rules.append(seat)
            others = ", ".join(name for name in self.seats if name != self.seats[seat])
            opening = f"You are {self.seats[seat]} in {self.name}, with {others}."
            self.tell(seat, "\n".join(filter(None, (opening, self._rules))))
        text = self._written(seat, question)
        self.tell(seat, "\n".join(filter(None, (text, self._how_to_answer(seat, question)))))

    def _tell_end(self, seat: int, outcome: Outcome) -> None:
        self.tell(seat, "The game is over for you.")
        if seat in outcome.final_questions:
            self.tell(seat, self._written(seat, outcome.final_questions[seat]))

    def _written(self, seat: int, question: Question) -> str:
        if self._render is not None:
            return self._render(question.observation, self.seats[seat])
        text = described(question.observation)
        return f"You see:\n{text}" if "\n" in text else f"You see: {text}"

    def _how_to_answer(self, seat: int, question: Question) -> str:
        space = self._spaces[seat]
        legal = legal_of(space, question.mask)
        if self._read is not None:
            return f"{self.seats[seat]}, enter your action."
        where = f"Legal now: {legal}. " if legal is not None else ""
        return f"{where}Give your action in \\boxed{{}}: {form_of(space)}."

    def _question(self, seat: int) -> Question:
        return self._caught_up().question(seat)

    def _values(self, choices: Mapping[int, Any]) -> dict[int, Any]:
        return {seat: value_of(self._spaces[seat], plain) for seat, plain in choices.items()}

    def _started(self) -> Game:
        """Return the game of this episode at its start, in an environment that is this one's."""
        own = self._playing
        if own is not None and own.owner is self:
            return started(own.env, self._game_seed, owner=self)
        env = make(self._game, self._form, self._options)
        return started(env, self._game_seed, owner=self)

    def _replayed(self) -> Game:
        """Return this episode's game as far as it was played in this state."""
        playing = self._started()
        for pairs in self._actions:
            playing.take(self._values(dict(pairs)))
            playing.actions.append(pairs)
        return playing

    def _caught_up(self) -> Game:
        """Return the game in this state; after a restore or a fork it is played again."""
        playing = self._playing
        if playing is None or playing.actions is not self._actions:
            playing = self._replayed()
            self._playing = playing
            self._actions = playing.actions
        return playing

    def __str__(self) -> str:
        return f"{self.name} of PettingZoo {pettingzoo.__version__}"

    def _wrong(self, text: str) -> BadArguments:
        return BadArguments(text, subject=str(getattr(self, "name", "pettingzoo")))
