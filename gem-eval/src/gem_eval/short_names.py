"""Shorten the names of policies where that leaves them apart. Knows no policy by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

__all__ = ["short_names"]

_ADDRESS = re.compile(r"(?P<what>.+)@\w+://(?P<where>[^/]+).*", re.DOTALL)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return each name's shortest form that no other name could have, or the whole name.

    >>> short_names(["solver", "openai:Qwen/Qwen3-8B@http://localhost:8000/v1"])
    {'solver': 'solver', 'openai:Qwen/Qwen3-8B@http://localhost:8000/v1': 'Qwen3-8B'}
    """
    forms = {name: list(dict.fromkeys(filter(None, _forms(name)))) for name in names}
    owners = Counter(form for several in forms.values() for form in several)
    return {
        name: next((form for form in several if owners[form] == 1), name)
        for name, several in forms.items()
    }


def _forms(name: str) -> Iterator[str]:
    """Yield what a name may be called, from short to long: its last part, and where it is."""
    _, colon, argument = name.partition(":")
    match = _ADDRESS.fullmatch(argument)
    if match is not None:
        model = match["what"]
        last = model.rstrip("/").rpartition("/")[2]
        yield from (last, model, f"{last}@{match['where']}", f"{model}@{match['where']}")
    elif colon and "/" in argument:
        yield argument.rstrip("/").rpartition("/")[2]
        yield argument
    elif colon and ":" in argument:
        yield argument.rpartition(":")[2]
        yield argument
    yield name
