"""What both views of one of our environments share: its seats by name, and what each was shown.

Knows nothing about whose turn it is in PettingZoo.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gem
from gem import Env, EnvSpec, Step
from gem.content import observation_text
from gem.errors import BadArguments
from gem_integrations.pettingzoo.spaces import ActionSpace, ObservationSpace, TextObservation

__all__ = ["RENDER_MODES", "Seats", "end_of"]

RENDER_MODES = ("ansi", "human")


class Seats:
    """One of our environments, its seats by their names, and the texts that each was shown.

    `env` is an environment, or anything that `gem.make` takes, with its arguments. `subject` is
    what errors call it. `returns` is what each seat earned in this episode, after it was out too.
    """

    def __init__(
        self,
        env: Env | str | EnvSpec | Callable[..., Env],
        *,
        max_cycles: int | None,
        render_mode: str | None,
        kwargs: Mapping[str, Any],
    ) -> None:
        self.env = _made(env, kwargs)
        self.subject = self.env.spec.id if self.env.spec else type(self.env.unwrapped).__name__
        if max_cycles is not None and max_cycles < 1:
            raise self.wrong(
                f"was given max_cycles={max_cycles!r}. Pass 1 or more, or None for no limit."
            )
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise self.wrong(
                f"was given render_mode={render_mode!r:.40}. Pass 'ansi', which returns the text "
                "of the episode, 'human', which prints it, or None."
            )
        self.render_mode = render_mode
        self.names = list(self.env.seats)
        self.returns = dict.fromkeys(self.names, 0.0)
        self.observation_spaces = {name: ObservationSpace() for name in self.names}
        self.action_spaces = {
            name: ActionSpace(self.env, seat) for seat, name in enumerate(self.names)
        }
        self._options = _names_of_options(self.env)
        self._texts = {name: TextObservation() for name in self.names}
        self._transcript: list[str] = []

    @property
    def metadata(self) -> dict[str, Any]:
        """What PettingZoo wants to know of every environment."""
        modes = list(RENDER_MODES)
        return {"name": self.subject, "render_modes": modes, "is_parallelizable": False}

    def reset(self, seed: int | None, options: Mapping[str, Any] | None) -> Step:
        """Start an episode, and return its first observation as a step that earned nothing.

        Options that the environment does not know are passed over, as PettingZoo's tests ask.
        """
        known = {name: value for name, value in (options or {}).items() if name in self._options}
        observation, info = self.env.reset(seed=seed, **known)
        self.returns = dict.fromkeys(self.names, 0.0)
        self._texts = {name: TextObservation() for name in self.names}
        self._transcript = []
        first = Step(observation, info=info)
        self._show(first)
        return first

    def take(self, agent: str, action: object) -> Step:
        """Let a seat, whose turn it must be, take an action. Raises BadArguments for no text."""
        text = self.checked_action(agent, action)
        self._transcript.append(f"{agent} answered: {text}")
        step = self.env.step(text)
        for name, reward in zip(self.names, step.rewards, strict=True):
            self.returns[name] += reward
        self._show(step)
        return step

    def checked_action(self, agent: str, action: object) -> str:
        """Return an action as it came, for an Action may carry native calls of tools."""
        if isinstance(action, str):
            return action
        raise self.wrong(
            f"was given {type(action).__name__} as the action of {agent}, whose turn it is. Pass a "
            "text; None is for agents that are out."
        )

    def text(self, agent: str) -> TextObservation:
        """Return what a seat was shown last in this episode, "" if nothing was."""
        return self._texts[self.known(agent)]

    def infos(self, agents: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return an info for each agent: the tools that it may call, where it has some."""
        infos: dict[str, dict[str, Any]] = {}
        for agent in agents:
            tools = self.env.shown_to(self.names.index(agent))[2]
            infos[agent] = {"tools": tools} if tools else {}
        return infos

    def tell_own(self, infos: Mapping[str, dict[str, Any]], actor: str, step: Step) -> None:
        """Add to infos what a step says of each seat by itself; of another's it says nothing."""
        errors = dict(step.info.get("action_errors", {}))  # of each seat of a round that has ended
        own = step.info.get("action_error")
        if own:  # a wrapper of that seat may have said it, and the round knows nothing of that
            errors[self.names.index(actor)] = own
        for seat, error in errors.items():
            if error and self.names[seat] in infos:
                infos[self.names[seat]]["action_error"] = error
        if not (step.terminated or step.truncated):
            return
        successes = step.info.get("successes")
        if successes is None and len(self.names) == 1 and "success" in step.info:
            successes = [step.info["success"]]
        for name, success in zip(self.names, successes or (), strict=False):
            if name in infos:
                infos[name]["success"] = success

    def known(self, agent: object) -> str:
        """Return the name of a seat that there is. Raises BadArguments otherwise."""
        if agent not in self._texts:
            raise self.wrong(
                f"was asked for the agent {agent!r:.60}. Its agents are "
                f"{', '.join(map(repr, self.names))}."
            )
        return str(agent)

    def render(self) -> str | None:
        """Return the text of the episode so far, print it, or do nothing, as `render_mode` says."""
        if self.render_mode is None:
            return None
        text = "\n".join(self._transcript)
        if self.render_mode == "ansi":
            return text
        sys.stdout.write(f"{text}\n")
        return None

    def wrong(self, problem: str) -> BadArguments:
        """Return the error that says what is wrong with a use of this environment."""
        return BadArguments(
            f"{self.subject} as a PettingZoo environment {problem}", subject=self.subject
        )

    def _show(self, step: Step) -> None:
        for seat, observation in step.observations.items():
            text = observation_text(observation)
            suffix = step.info.get("suffix")
            if suffix and seat == step.seat:  # of one seat alone, as in a conversation
                text = f"{text}\n{suffix}" if text else suffix
            self._texts[self.names[seat]] = TextObservation(text)
            self._transcript.append(f"{self.names[seat]} was shown: {text}")


def end_of(step: Step, seat: int) -> str | None:
    """Return how a seat is out by a step, "terminated" or "truncated"; None where it is not."""
    how = step.ends.get(seat)
    if how is None and (step.terminated or step.truncated):
        return "terminated" if step.terminated else "truncated"
    return how


def _made(env: Any, kwargs: Mapping[str, Any]) -> Env:
    if not isinstance(env, Env):
        made: Env = gem.make(env, **kwargs)
        return made
    if kwargs:
        raise BadArguments(
            f"An environment that is made already was given with {', '.join(sorted(kwargs))}. Pass "
            "its id with these arguments, or the environment alone.",
            subject=type(env).__name__,
        )
    return env


def _names_of_options(env: Env) -> set[str]:
    """Return the names of what an author's `reset` takes beside the seed."""
    parameters = inspect.signature(env.unwrapped.reset).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {each.name for each in parameters if each.kind in named} - {"seed"}
