"""Change the core's rules one at a time, and say which changes their own tests find.

    python tools/mutations.py                    every module of MODULES
    python tools/mutations.py deadlines returns  some of them
    python tools/mutations.py --list             what would be changed, without running a test

A mutant is a module with one change: a comparison, an operator, a number, a word, a condition, or
a statement that is left out. It lies in a copy of the distribution's source that comes first on
the path, and the tests of the module run until one fails. A mutant on which they fail or hang is
found. What only changes a text for people (a message, an error's fields) is counted apart.
The result is written into tools/mutations.json; the exit status is 1 where less than 95% of
the others are found. Needs what the tests need; Linux and macOS.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).with_suffix(".json")
LIMIT_S = 60.0
WANTED = 0.95
RETURNS = "gem-train/tests/returns"
MODULES = {  # what it is called: its source, and the tests of the same name
    "returns": ("gem-train/src", "gem_train/returns/_episodes.py", RETURNS),
    "returns of batches": ("gem-train/src", "gem_train/returns/_batches.py", RETURNS),
    "returns of groups": ("gem-train/src", "gem_train/returns/_groups.py", RETURNS),
    "returns of turns": ("gem-train/src", "gem_train/returns/_multi_turn.py", RETURNS),
    "cells": ("gem-train/src", "gem_train/returns/_cells.py", RETURNS),
    "shapes": ("gem-train/src", "gem_train/returns/_shapes.py", RETURNS),
    "checks": ("gem-train/src", "gem_train/returns/_checks.py", RETURNS),
    "seeding": ("gem-core/src", "gem/_python/seeding.py", "gem-core/tests/python/test_seeding.py"),
    "records": ("gem-core/src", "gem/episode/_episode.py", "gem-core/tests/episode"),
    "turns": ("gem-core/src", "gem/episode/_turn.py", "gem-core/tests/episode"),
    "planning": (
        "gem-core/src",
        "gem/rollouts/_planning.py",
        "gem-core/tests/rollouts/test_planning.py",
    ),
    "deadlines": (
        "gem-core/src",
        "gem/rollouts/_deadlines.py",
        "gem-core/tests/rollouts/test_sweeper.py",
    ),
    "mixtures": (
        "gem-core/src",
        "gem/rollouts/_mixtures.py",
        "gem-core/tests/rollouts/mixtures",
    ),
    "intervals": ("gem-eval/src", "gem_eval/intervals.py", "gem-eval/tests/test_intervals.py"),
    "run folders": ("gem-eval/src", "gem_eval/run_folder.py", "gem-eval/tests/test_run_folder.py"),
}
PRELOADED = (
    *("pytest", "pytest_timeout", "hypothesis", "hypothesis.strategies", "numpy"),
    *("pydantic", "pydantic.main", "pydantic.fields", "pydantic.functional_validators"),
    *("asyncio", "importlib.metadata", "multiprocessing", "packaging.requirements"),
)
"""Modules of others: each mutant is a fork that has them, for a fifth of the time."""
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.USub: ast.UAdd,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
LEFT_OUT = (ast.AugAssign, ast.Break, ast.Continue, ast.Delete)
ERRORS = ("Error", "BadArguments", "_unfit")
"""How the names of what makes an error end: its arguments are for people."""
UNTOUCHED = ("annotation", "returns", "decorator_list", "bases")
SPELLED_FREELY = ("utf-8", "ascii", "stable")
"""Words that Python and numpy know in other spellings as well, such as a mutant has."""


class Mutant(NamedTuple):
    """A change: where it is, what stood there and stands there now, and the whole source."""

    module: str
    line: int
    before: str
    after: str
    is_text: bool
    source: str


def main() -> int:
    """Try the mutants of the modules that the command line names, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(MODULES)}")
    parser.add_argument("--list", action="store_true", help="print the mutants, and run nothing")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--label", default="now", help="what the result is kept as: before, after")
    options = parser.parse_args()
    wanted = options.modules or list(MODULES)
    mutants = [mutant for module in wanted for mutant in mutants_of(module)]
    if options.list:
        print(*map(described, mutants), sep="\n")
        return 0
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # their imports would be half of a run
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # and compiling the other half
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = tempfile.mkdtemp(prefix="mutations-")
    sys.dont_write_bytecode = False
    for name in PRELOADED:
        __import__(name)
    gc.freeze()  # pytest collects at its end, and all that is here
    # `fork`: what is preloaded is there at once, and nothing of ours is imported yet.
    with get_context("fork").Pool(options.jobs, _make_overlay) as pool:
        unchanged = [Mutant(name, 0, "", "", False, _source_of(name)) for name in wanted]
        for mutant, is_failing in zip(
            unchanged, pool.imap(is_found_by_tests, unchanged), strict=True
        ):
            if is_failing:
                sys.exit(f"The tests of {mutant.module} fail as it is. Run them, and mend them.")
        outcomes = []
        for mutant, is_found in zip(mutants, pool.imap(is_found_by_tests, mutants), strict=True):
            outcomes.append((mutant, is_found))
            if not is_found:
                print("survived:", described(mutant), flush=True)
    kept = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    result = kept.setdefault(options.label, {})
    result |= {module: summary(module, outcomes) for module in wanted}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    found = sum(facts["found"] for facts in result.values())
    mutated = sum(facts["mutants"] for facts in result.values())
    print(f"{found} of {mutated} that are no texts were found: {found / mutated:.1%}")
    return 0 if found / mutated >= WANTED else 1


def summary(module: str, outcomes: Sequence[tuple[Mutant, bool]]) -> dict[str, Any]:
    """Return what is kept of a module: counts, and what survived."""
    own = [(mutant, is_found) for mutant, is_found in outcomes if mutant.module == module]
    rules = [(mutant, is_found) for mutant, is_found in own if not mutant.is_text]
    texts = [(mutant, is_found) for mutant, is_found in own if mutant.is_text]
    return {
        "mutants": len(rules),
        "found": sum(is_found for _, is_found in rules),
        "survived": [described(mutant) for mutant, is_found in rules if not is_found],
        "texts": len(texts),
        "texts_found": sum(is_found for _, is_found in texts),
    }


def described(mutant: Mutant) -> str:
    """Return a mutant as one line."""
    text = " (a text)" if mutant.is_text else ""
    return f"{mutant.module}, line {mutant.line}: {mutant.before}  ->  {mutant.after}{text}"


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of its lines."""
    tree = ast.parse(_source_of(module))
    for node, is_text in _nodes(tree, is_text=False):
        for field, value, line in _changes(node):
            kept = getattr(node, field)
            before = _shown(node)
            setattr(node, field, value)
            ast.fix_missing_locations(tree)
            is_prose = isinstance(value, str) and " " in value
            yield Mutant(
                module, line, *_apart(before, _shown(node)),
                is_text or is_prose, ast.unparse(tree),
            )  # fmt: skip
            setattr(node, field, kept)


def _source_of(module: str) -> str:
    source, path, _ = MODULES[module]
    return (ROOT / source / path).read_text("utf-8")


def _nodes(node: ast.AST, *, is_text: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the nodes that may be changed, and whether what is there is for people only."""
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    if name in ("TypeVar", "cast") or _is_declaration(node):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: a second check
        return
    is_text = is_text or isinstance(node, (ast.Raise, ast.JoinedStr)) or name.endswith(ERRORS)
    yield node, is_text
    for field, child in ast.iter_fields(node):
        for part in child if isinstance(child, list) else [child]:
            if isinstance(part, ast.AST) and field not in UNTOUCHED:
                yield from _nodes(part, is_text=is_text)


def _is_declaration(node: ast.AST) -> bool:
    """Whether it is a docstring, `__all__`, or for type checkers alone."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value) == "Callable"  # a type, with its names in quotes
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) in ("__all__", "__slots__")
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _changes(node: ast.AST) -> Iterator[tuple[str, Any, int]]:
    """Yield what a node may become: a field, its other value, and the line where it stands."""
    line = getattr(node, "lineno", 0)
    yield from ((field, value, line) for field, value in _other_values(node))
    for field in ("body", "orelse", "finalbody"):
        statements = getattr(node, field, None)
        block: list[ast.stmt] = statements if isinstance(statements, list) else []
        for at, statement in enumerate(block):
            if _may_be_left_out(statement):
                yield field, [*block[:at], ast.Pass(), *block[at + 1 :]], statement.lineno


def _other_values(node: ast.AST) -> Iterator[tuple[str, Any]]:
    operated = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.AugAssign)
    if isinstance(node, operated) and type(node.op) in SWAPS:
        yield "op", SWAPS[type(node.op)]()
    if isinstance(node, ast.Compare):
        for at, comparison in enumerate(node.ops):
            if type(comparison) in SWAPS:
                other = SWAPS[type(comparison)]()
                yield "ops", [*node.ops[:at], other, *node.ops[at + 1 :]]
    if isinstance(node, (ast.If, ast.IfExp, ast.While)) and not _is_turned_by_swap(node.test):
        yield "test", ast.UnaryOp(ast.Not(), node.test)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "operand", ast.UnaryOp(ast.Not(), node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "value", not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield "value", node.value + 1
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value in SPELLED_FREELY:
            return
        yield "value", f"{node.value}_"
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield "id", NAMES[node.id]


def _is_turned_by_swap(test: ast.AST) -> bool:
    """Whether a condition has a mutant that is its opposite already."""
    opposites = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not)
    return (
        isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], opposites)
    )


def _may_be_left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    is_store = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name)
    return is_store or isinstance(node, LEFT_OUT)


def _shown(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def _apart(before: str, after: str) -> tuple[str, str]:
    """Return the first lines that differ, shortened."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    old, new = next(((old, new) for old, new in pairs if old != new), (before, after))
    return old.strip()[:100], new.strip()[:100]


def _make_overlay() -> None:
    """Give this process a folder of its own for the sources that come first on the path."""
    folder = Path(tempfile.mkdtemp(prefix="mutations-"))
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")
    global overlay
    overlay = folder


overlay = Path()
"""The folder of this process of the pool."""
ages = [0]
"""The age of its last mutant, in seconds of Unix time."""


def is_found_by_tests(mutant: Mutant) -> bool:
    """Run the tests of its module in a fork; whether one fails, or they hang."""
    source, path, tests = MODULES[mutant.module]
    folder = overlay / source
    if not folder.exists():
        shutil.copytree(ROOT / source, folder)
    whole = (folder / path).read_text("utf-8")
    (folder / path).write_text(mutant.source, "utf-8")
    # Python takes compiled code for that of a source of the same second and length: no two of
    # these have the same second.
    ages[0] += 1
    os.utime(folder / path, (ages[0], ages[0]))
    child = os.fork()
    if child == 0:
        _run_tests(folder, tests)
    try:
        return _has_failed(child)
    finally:
        (folder / path).write_text(whole, "utf-8")


def _has_failed(child: int) -> bool:
    ends = time.monotonic() + LIMIT_S
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)  # with what it may have started
    os.waitpid(child, 0)
    return True


def _run_tests(folder: Path, tests: str) -> None:
    """End this process with pytest's exit status, without a word of it."""
    import pytest

    status = 1
    try:
        os.setsid()
        os.chdir(ROOT)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.environ["PYTHONPATH"] = str(folder)
        sys.path.insert(0, str(folder))
        options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        options += ["-p", "pytest_timeout", "-p", "_hypothesis_pytestplugin"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is preloaded
        status = pytest.main([*options, tests])
    finally:
        os._exit(int(status))


if __name__ == "__main__":
    sys.exit(main())
