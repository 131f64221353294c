"""Environments that say what they are told to, and a tokenizer with a readable template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import gem
from gem.content import Observation
from gem.env import Env
from gem.env._step import Step


class Say(Env):
    """Say the given observations one after the other, with the state of each as suffix."""

    def __init__(self, said: Sequence[Any] = ("one", "two", "three", "four")) -> None:
        self.said = list(said)

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        return self.said[0], {"suffix": "s0"}

    def step(self, action: str) -> Step:
        at = self.turn + 1
        is_last = at == len(self.said) - 1
        return Step(self.said[at], 1.0, is_last, False, {"suffix": f"s{at}"})

    def sample_action(self) -> str:
        return self.sample_rng.choice(["yes", "no"])


class Quiet(Say):
    """The same, without a suffix."""

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        return self.said[0], {}

    def step(self, action: str) -> Step:
        return super().step(action)._replace(info={})


class Template:
    """A tokenizer whose template is easy to read, and which notes what it was given."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.messages: list[dict[str, Any]] = []

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        self.messages, self.options = conversation, options
        turns = "".join(f"<{each['role']}>{each['content']}</>" for each in conversation)
        return f"{turns}<assistant>"


@pytest.fixture
def say() -> Callable[..., Env]:
    return Say


@pytest.fixture
def quiet() -> Callable[..., Env]:
    return Quiet


@pytest.fixture
def template() -> Template:
    return Template()


@pytest.fixture
def said_id() -> str:
    """The id of an environment that a stack can be made of by name."""
    return gem.register("wrapped:Say", Say).id
