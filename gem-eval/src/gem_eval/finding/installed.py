"""Find the finders that are installed: ours, and those that packs add by an entry point.

A pack that cannot be loaded, or claims an id of others, becomes a problem with its name; nobody
else notices. Knows nothing about what the rules look for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import NamedTuple

from gem import registry
from gem.errors import in_one_line
from gem_eval.errors import FindError
from gem_eval.finding.finder import Finder
from gem_eval.finding.table import FINDERS

__all__ = ["GROUP", "Installed", "InstalledFinder", "chosen", "installed"]

GROUP = "gem_eval.finders.v1"
"""The group of entry points. It carries the version of what a finder is."""

OURS = "gem-eval"


class InstalledFinder(NamedTuple):
    """A finder, and the distribution that brings it."""

    finder: Finder
    distribution: str


class Installed(NamedTuple):
    """The finders that can be used, ours first, and a line for each pack's that cannot."""

    finders: tuple[InstalledFinder, ...]
    problems: tuple[str, ...]


_known: tuple[object, Installed] | None = None


def installed() -> Installed:
    """Return the installed finders. They are looked for anew after `gem.registry.refresh()`."""
    global _known
    records = registry.plugins()
    # By identity: a refresh of the registry makes a new tuple.
    if _known is None or _known[0] is not records:
        _known = (records, _scanned())
    return _known[1]


def chosen(ids: Sequence[str] | None) -> tuple[InstalledFinder, ...]:
    """Return the finders with these ids, or all of them. Raises FindError on one that is not there.

    >>> [each.finder.id for each in chosen(["loop"])]
    ['loop']
    """
    finders, problems = installed()
    if ids is None:
        return finders
    known = {each.finder.id: each for each in finders}
    for id in ids:
        if id not in known:
            near = registry.near(id, list(known))
            hint = f" Did you mean {near[0]!r}?" if near else ""
            broken = f" {problems[0]}" if problems else ""
            raise FindError(
                f"No finder is called {id!r}.{hint} There are {', '.join(known)}.{broken}"
            )
    return tuple(known[id] for id in dict.fromkeys(ids))


def _scanned() -> Installed:
    problems: list[str] = []
    of_packs: dict[str, list[InstalledFinder]] = defaultdict(list)
    # By name, whatever the order of the path: what is listed first is the same on each machine.
    for name, distribution in sorted(_announcing().items()):
        try:
            for point in distribution.entry_points.select(group=GROUP):
                for finder in _loaded(point):
                    of_packs[finder.id].append(InstalledFinder(finder, name))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a pack may raise anything, SystemExit too
            problems.append(
                f"The finders of {name} cannot be loaded: {in_one_line(error, at_most=300)}. "
                "Uninstall it, or tell its authors."
            )
    ours = tuple(InstalledFinder(finder, OURS) for finder in FINDERS)
    taken = {finder.id for finder in FINDERS}
    problems.extend(_conflicts(of_packs, taken))
    free = (claims[0] for id, claims in of_packs.items() if len(claims) == 1 and id not in taken)
    return Installed((*ours, *free), tuple(problems))


def _announcing() -> dict[str, Distribution]:
    """Return by name the distributions whose entry points name the group."""
    found: dict[str, Distribution] = {}
    for distribution in distributions():
        try:
            text = distribution.read_text("entry_points.txt") or ""
        except (OSError, ValueError):  # damaged, and so is whatever else it may hold
            continue
        if GROUP in text:
            # The first on the path is the one that imports find.
            found.setdefault(str(distribution.metadata["Name"]), distribution)
    return found


def _loaded(point: EntryPoint) -> list[Finder]:
    value = point.load()
    several = [value] if isinstance(value, Finder) else value
    if not isinstance(several, Iterable):
        kind = type(value).__name__
        raise TypeError(f"{point.value} is a {kind}, and must be a Finder or several")
    finders = list(several)
    for finder in finders:
        if not isinstance(finder, Finder):
            kind = type(finder).__name__
            raise TypeError(f"{point.value} holds a {kind}, and must hold Finders")
    return finders


def _conflicts(of_packs: dict[str, list[InstalledFinder]], taken: set[str]) -> Iterator[str]:
    """Say which ids several claim. None of a pack's is chosen then: that would be a guess."""
    for id, claims in of_packs.items():
        owners = [claim.distribution for claim in claims]
        if id in taken:
            owners.insert(0, OURS)
        if len(owners) > 1:
            left_out = " and ".join(dict.fromkeys(claim.distribution for claim in claims))
            yield (
                f"The finder {id!r} is claimed by {' and '.join(owners)}; that of {left_out} is "
                "left out. Its authors must give it another id."
            )
