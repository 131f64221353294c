"""What the tests of this pack share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gem
from gem import Step

Ask = Callable[..., Step]


@pytest.fixture
def ask() -> Ask:
    """Return a function that poses one open question and answers it: `ask(answers, action)`."""

    def answered(answers: Any, action: str, **kwargs: Any) -> Step:
        rows = [{"question": "Which one?", "answer": answers}]
        with gem.make("eval:QaOpen", data=rows, **kwargs) as env:
            env.reset(task=0)
            return env.step(action)

    return answered


@pytest.fixture
def choose() -> Ask:
    """Return a function that poses one question with options: `choose(options, right, action)`."""

    def answered(options: Any, right: Any, action: str, **kwargs: Any) -> Step:
        rows = [{"question": "Which one?", "options": options, "answer": right}]
        with gem.make("logic:FOLIO", data=rows, **kwargs) as env:
            env.reset(task=0)
            return env.step(action)

    return answered
