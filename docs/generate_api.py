"""Write docs/api.md from the public modules of core; with --check only compare.

Run it with `python docs/generate_api.py [--check]`, where gem-core is installed. Types are left
out: Python versions write them differently, and the source and every editor show them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# The root is where `docs` is found, here and by a type checker.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.generated import update

import gem
from gem.testing import PUBLIC_MODULES

PAGE = Path(__file__).with_name("api.md")
CORE = Path(gem.__file__).parent
MOST_DEFAULT = 40  # characters of a default that are shown
HEAD = """\
# What is public

Install: `pip install .` in a virtual environment, from the checkout
([all ways](../README.md#install)).

Programs and packs import these modules and these names of them; everything else may change with
any version. `gem.testing.private_imports("src")` lists what a pack imports beyond it. This page is
written by `python docs/generate_api.py`.
"""


def first_line(text: str | None) -> str:
    """Return the first sentence of a docstring, which may take more than one line."""
    paragraph = " ".join((text or "").strip().partition("\n\n")[0].split())
    sentence = re.match(r".+?\.(?= |$)", paragraph)
    return sentence[0] if sentence else paragraph


def documented_values() -> dict[str, str]:
    """Return the strings that stand under assignments in core, by the name that is assigned."""
    found = {}
    for path in sorted(CORE.rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for assigned, said in itertools.pairwise(body):
            is_text = isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant)
            targets: list[ast.expr] = []
            if isinstance(assigned, ast.Assign):
                targets = assigned.targets
            elif isinstance(assigned, ast.AnnAssign):
                targets = [assigned.target]
            for target in targets:
                if is_text and isinstance(target, ast.Name):
                    found[target.id] = str(said.value.value)  # type: ignore[attr-defined]
    return found


def is_class(value: object) -> bool:
    """Say whether a value is a class; `list[int]` is none, though Python 3.10 takes it for one."""
    return inspect.isclass(value) and not isinstance(value, types.GenericAlias)


def signature(value: Any) -> str:
    """Return what a function or a class takes, "" where nothing is written about it."""
    function = value
    if is_class(value):
        is_protocol = getattr(value, "_is_protocol", False)
        if hasattr(value, "__signature__"):
            function = value
        elif hasattr(value, "_fields"):
            function = value.__new__  # a NamedTuple
        else:
            function = value.__init__
        if is_protocol or (function is not value and not inspect.isfunction(function)):
            return ""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    parameters = [
        parameter.replace(annotation=parameter.empty, default=Shown(parameter.default))
        if parameter.default is not parameter.empty
        else parameter.replace(annotation=parameter.empty)
        for parameter in found.parameters.values()
        if parameter.name not in ("self", "cls", "_cls")
    ]
    return str(inspect.Signature(parameters))


class Shown:
    """A default as the page has it: short, and the same in every process."""

    def __init__(self, value: object) -> None:
        self._text = repr(value)

    def __repr__(self) -> str:
        is_long = len(self._text) > MOST_DEFAULT or " at 0x" in self._text
        return "..." if is_long or self._text.startswith("<") else self._text


def members(owner: Any, listed: Sequence[Any]) -> dict[str, Any]:
    """Return what a class has first: what it defines, or has from a private class of core.

    A private class has no place of its own on the page, a public one has.
    """
    found: dict[str, Any] = {}
    told_elsewhere: set[str] = set()
    for base in owner.__mro__:
        is_private = base.__module__.startswith("gem.") and base not in listed
        if base is not owner and not is_private:
            told_elsewhere.update(vars(base))
            continue
        for name, member in vars(base).items():
            function = getattr(member, "__func__", member)  # of a class method
            if not name.startswith("_") and function.__doc__:
                found.setdefault(name, member)
    return {name: member for name, member in found.items() if name not in told_elsewhere}


def methods(owner: Any, listed: Sequence[Any]) -> Iterator[str]:
    """Yield a line for each public method and property that a class has first."""
    for name, member in members(owner, listed).items():
        function = getattr(member, "__func__", member)
        said = first_line(function.__doc__)
        if isinstance(member, property):
            yield f"  - `.{name}`: {said}"
        elif inspect.isfunction(function):
            yield f"  - `.{name}{signature(function)}`: {said}"


def public_classes() -> list[Any]:
    """Return every class with a place of its own on the page."""
    modules = [importlib.import_module(module) for module in PUBLIC_MODULES]
    values = [getattr(module, name) for module in modules for name in module.__all__]
    return [value for value in values if is_class(value)]


def entries(module: str, values: dict[str, str], listed: Sequence[Any]) -> Iterator[str]:
    """Yield the lines of a module's names."""
    public = importlib.import_module(module)
    for name in public.__all__:
        value = getattr(public, name)
        if module != "gem" and name in gem.__all__ and value is getattr(gem, name):
            yield f"- `{name}`: the same as `gem.{name}`."
        elif inspect.ismodule(value):
            yield f"- `{name}`: {first_line(value.__doc__)}"
        elif is_class(value) or inspect.isfunction(inspect.unwrap(value)):
            yield f"- `{name}{signature(value)}`: {first_line(value.__doc__)}".rstrip(": ")
            if is_class(value) and not hasattr(value, "model_fields"):
                yield from methods(value, listed)
        else:
            is_type = type(value).__module__ in ("typing", "types")
            said = first_line(values.get(name)) or ("A type." if is_type else "A constant.")
            yield f"- `{name}`: {said}"


def page() -> str:
    """Return the whole page."""
    values = documented_values()
    listed = public_classes()
    sections = [HEAD]
    for module, holds in PUBLIC_MODULES.items():
        lines = [f"## {module}", "", f"{holds[0].upper()}{holds[1:]}.", ""]
        lines += entries(module, values, listed)
        sections.append("\n".join(lines).rstrip() + "\n")
    return "\n".join(sections)


if __name__ == "__main__":
    sys.exit(update(PAGE, page(), script=Path(__file__).name))
