"""What the assertions of a problem need around them, in a jail that the candidate is not in."""

from __future__ import annotations

from typing import NamedTuple

from gem_envs_code.entries import CLASS, only_makes_instances
from gem_envs_code.looking import looks_into
from gem_envs_code.naming import defined, free_names, imports_all, is_builtin
from gem_envs_code.rows import Problem
from gem_envs_code.suites import assertion_texts

__all__ = ["Surroundings", "surroundings"]


class Surroundings(NamedTuple):
    """What runs before the tests, and what stands in for the candidate there.

    `functions` are names of the candidate's functions, its class `Solution` among them, and
    `perhaps` those that are its own unless `texts` define them. Instances of `classes`, which the
    problem defines, may be arguments and values.
    """

    texts: list[str]
    functions: list[str]
    perhaps: list[str]
    classes: list[str]


def surroundings(problem: Problem) -> Surroundings | None:
    """Return what the assertions of a problem need.

    None where they use more of the candidate than functions and instances of its class, or where
    its functions return generators or coroutines, which cannot cross: both so far as the tests and
    the problem's solution tell. None as well where there are no assertions.
    """
    tests = assertion_texts(problem.tests)
    if problem.shared_process or not tests:
        return None
    ours = defined(problem.given)
    solution = defined(problem.solution)
    function = {problem.function} if problem.function.isidentifier() else set()
    known = {*ours.functions, *ours.imports, *ours.classes, *ours.others} - {*function, CLASS}
    names = free_names([problem.given, *tests]) | function
    theirs = solution.functions | solution.classes | solution.others
    names_to_ask = {name for name in names - known if name in theirs or not is_builtin(name)}
    if CLASS in names_to_ask and not only_makes_instances(tests):
        return None
    if names_to_ask & (solution.classes | solution.others | solution.generators) - {CLASS}:
        return None
    imported = names_to_ask & solution.imports.keys() - function
    own = names_to_ask - imported
    # What `from collections import *` defines is in no text: beside one, a name that the row does
    # not give to the program may be such a one, and looking into that moves nothing.
    if not own <= theirs | function and imports_all([problem.given, *tests]):
        own &= theirs | function
    # Only instances of classes that the problem defines cross, and have fields of any name.
    if not ours.classes - {CLASS} and looks_into(tests, own):
        return None
    certain = names_to_ask & (solution.functions | function | {CLASS}) - imported
    return Surroundings(
        texts=[problem.given, *sorted(solution.imports[name] for name in imported)],
        functions=sorted(certain),
        perhaps=sorted(names_to_ask - imported - certain),
        classes=sorted(ours.classes - {CLASS}),
    )
