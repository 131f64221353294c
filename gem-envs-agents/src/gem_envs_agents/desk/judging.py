"""Let a judge say whether statements about a dialogue are true. What it leaves open is an error.

A judge is a function from a question to an answer, whoever gives it: a model behind an endpoint, a
person. It has to begin its answer with yes or no. An empty or unreadable answer is never a pass:
it raises, so that the episode ends by an error and is not counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from gem.errors import GemError

__all__ = ["Judge", "VerdictError", "judged"]

Judge = Callable[[str], str]

_VERDICT = re.compile(r"[\s*\"'`]*(yes|no)\b", re.IGNORECASE)


class VerdictError(GemError):
    """A judge gave no verdict that can be read. `statement` is what it was asked about."""

    def __init__(self, message: str, *, statement: str) -> None:
        super().__init__(message)
        self.statement = statement


def judged(judge: Judge, statements: Sequence[str], transcript: Sequence[str]) -> float:
    """Return 1.0 where the judge says yes to every statement, else 0.0.

    Without a statement there is nothing to judge, and it is 1.0. Raises VerdictError.
    """
    # All are asked about before any counts: an unreadable verdict is found whatever the others are.
    verdicts = [_verdict(judge, statement, transcript) for statement in statements]
    return float(all(verdicts))


def _verdict(judge: Judge, statement: str, transcript: Sequence[str]) -> bool:
    dialogue = "\n".join(transcript)
    # Whatever it is annotated as, a judge may be anybody's.
    answer: Any = judge(
        f"Read this dialogue between an agent and a customer.\n\n{dialogue}\n\n"
        f"Is this true of the agent: {statement}\nBegin your answer with yes or no."
    )
    verdict = _VERDICT.match(answer) if isinstance(answer, str) else None
    if verdict is None:
        raise VerdictError(
            f"The judge was asked whether {statement!r:.200} is true, and answered {answer!r:.60}. "
            "Let it begin its answer with yes or no; an unreadable verdict passes nobody.",
            statement=statement,
        )
    return verdict[1].casefold() == "yes"
