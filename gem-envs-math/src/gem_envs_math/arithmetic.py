"""Arithmetic expressions with whole numbers as answers, generated from the seed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

from gem.errors import BadArguments
from gem_envs_math.problem import MathProblem

__all__ = ["Arithmetic", "value"]

_TERMS = range(2, 21)
_LARGEST = range(10, 1_000_001)
Operator = Literal["+", "-", "*"]

_OPERATORS: tuple[Operator, ...] = ("+", "-", "*")


class Arithmetic(MathProblem):
    """The value of an expression of `num_terms` numbers between 1 and `max_value`.

    `operators` are drawn evenly; one that is listed twice comes twice as often. The answer is
    never a number that stands in the question, so copying never pays.

    >>> env = Arithmetic(num_terms=2, operators=("+",))
    >>> observation, info = env.reset(seed=0)
    >>> env.step(env.solve()).reward
    1.0
    """

    def __init__(
        self,
        *,
        num_terms: int = 3,
        max_value: int = 99,
        operators: tuple[Operator, ...] = _OPERATORS,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__("number", format_error_reward=format_error_reward)
        _check(num_terms, max_value, operators)
        self.num_terms = num_terms
        self.max_value = max_value
        self.operators = tuple(operators)
        self.expression = ""
        self.answer = 0

    def pose(self) -> str:
        # Ends with probability one: with any operator, some draws (1 - 1, 2 * 2, any sum of two)
        # have a value that is not among their numbers.
        while True:
            numbers = [self.rng.randint(1, self.max_value) for _ in range(self.num_terms)]
            drawn = [self.rng.choice(self.operators) for _ in numbers[1:]]
            self.answer = value(numbers, drawn)
            if abs(self.answer) not in numbers:
                break
        pairs = zip(map(str, numbers), [*drawn, ""], strict=True)
        self.expression = " ".join(filter(None, itertools.chain.from_iterable(pairs)))
        return f"Compute the value of this expression, multiplication first:\n\n{self.expression}"

    def gold(self) -> str:
        return str(self.answer)


def _check(num_terms: int, max_value: int, operators: Sequence[str]) -> None:
    problems = []
    if num_terms not in _TERMS:
        problems.append(f"num_terms={num_terms} is not between {_TERMS[0]} and {_TERMS[-1]}")
    if max_value not in _LARGEST:
        problems.append(f"max_value={max_value} is not between {_LARGEST[0]} and {_LARGEST[-1]}")
    if not operators or not set(operators) <= set(_OPERATORS):
        problems.append(f"operators={operators!r} is not one or more of {', '.join(_OPERATORS)}")
    if problems:
        raise BadArguments(
            f"Arithmetic cannot be made: {'; '.join(problems)}. Choose within these limits.",
            subject="Arithmetic",
            problems=problems,
        )


def value(numbers: Sequence[int], operators: Sequence[str]) -> int:
    """Return the value of numbers with an operator between each two, multiplication first.

    >>> value([2, 3, 4], ["+", "*"])
    14
    """
    total = 0
    term = numbers[0]
    for operator, number in zip(operators, numbers[1:], strict=True):
        if operator == "*":
            term *= number
        else:
            total += term
            term = number if operator == "+" else -number
    return total + term
