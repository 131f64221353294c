"""Shorten the names of policies and line-ups where that leaves them apart.

Knows no policy by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from gem_eval.line_ups import joined_policies, named_policies

__all__ = ["short_names"]

_ADDRESS = re.compile(r"(?P<what>.+)@\w+://(?P<where>[^/]+).*", re.DOTALL)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return each name's shortest form that no other name could have, or the whole name.

    >>> short_names(["solver", "openai:Qwen/Qwen3-8B@http://localhost:8000/v1"])
    {'solver': 'solver', 'openai:Qwen/Qwen3-8B@http://localhost:8000/v1': 'Qwen3-8B'}
    >>> [*short_names(["white=openai:m/a@http://h/v1 + black=random"]).values()]
    ['white=a + black=random']
    """
    policies = {name: named_policies(name) for name in dict.fromkeys(names)}
    short = _short({policy for several in policies.values() for _, policy in several})
    shortened = {
        name: joined_policies((seat, short[policy]) for seat, policy in several)
        for name, several in policies.items()
    }
    owners = Counter(shortened.values())
    return {name: each if owners[each] == 1 else name for name, each in shortened.items()}


def _short(names: Iterable[str]) -> dict[str, str]:
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
