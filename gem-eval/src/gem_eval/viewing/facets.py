"""The filters beside a list: what can be chosen, with counts, and what is chosen."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

from gem.episode import StopReason
from gem_eval.settings import Settings
from gem_eval.short_names import short_names
from gem_eval.viewing import rows
from gem_eval.viewing.finding_index import FindingState
from gem_eval.viewing.query import CONVERSATIONS, ERROR, FACETS, OUTCOMES, Query
from gem_eval.viewing.runs import Run
from gem_eval.viewing.selection import Selection
from gem_eval.viewing.text import family, value_text
from gem_eval.wording import counted

__all__ = [
    "chips_of",
    "env_name",
    "facets_of",
    "finder_facet",
    "finding_line",
    "looser",
    "with_known_values",
]

_MOST_CHIPS = 100  # of one filter, whose values have a chip each; more have one together
_FILTERS = {
    "outcome": "outcome",
    "env": "environment",
    "policy": "policy",
    "stop": "reason to end",
    "finder": "finder",
    "q": "text",
    "return": "return",
    "turns": "turns",
}
_WHERE = {"": "", CONVERSATIONS: " in conversations", ERROR: " is the error"}


class Option(NamedTuple):
    """A value of a facet: what the form sends, what it is called, how many episodes have it."""

    value: str
    label: str
    episodes: int
    is_chosen: bool


class Facet(NamedTuple):
    """A group of filters of which several may be chosen."""

    name: str
    title: str
    options: tuple[Option, ...]


class FinderFacet(NamedTuple):
    """The group of finders. `idle` are those that found nothing, `note` says how far they are."""

    facet: Facet
    idle: tuple[str, ...]
    note: str


class Chip(NamedTuple):
    """A filter in use, and the address without it."""

    text: str
    address: str


def env_name(env_ids: Sequence[str], env: int) -> str:
    """Return the id of an environment of a run, also of one that the run does not list."""
    return env_ids[env] if env < len(env_ids) else f"environment {env}"


def _env_label(settings: Settings, env_ids: Sequence[str], env: int) -> str:
    """Return how a filter calls an environment: with the value of what was varied, if anything."""
    label = family(env_name(env_ids, env))
    if settings.varied is None or env >= len(settings.envs):
        return label
    value = value_text(settings.envs[env].kwargs.get(settings.varied))
    return f"{label}, {settings.varied} {value}"


def with_known_values(run: Run, query: Query) -> Query:
    """Return a query without the values of filters that its run does not have.

    Each link of a page names all values, and an address may hold any. Of a filter that has no
    other values the first stays, for it leaves no episode either.
    """
    planned: dict[str, Container[Any]] = {
        "env": range(len(run.env_ids)),
        "policy": run.policies,
        "stop": get_args(StopReason),
        "finder": run.findings.state.finders,
    }
    changes: dict[str, Any] = {}
    with run.index.reading() as db:
        for name, values in planned.items():
            chosen = getattr(query, name)
            if all(value in values for value in chosen):
                continue  # to look through the episodes takes time
            recorded = rows.values_of(db, name)
            known = tuple(value for value in chosen if value in values or value in recorded)
            changes[name] = known or chosen[:1]
    return replace(query, **changes)


def facets_of(run: Run, query: Query, selection: Selection, stops: Sequence[str]) -> list[Facet]:
    """Return the filters of which each episode has one value, with counts under all others."""
    names = short_names(run.policies)
    settings = run.folder.record.settings
    env_ids = run.env_ids
    facets = []
    known: dict[str, Mapping[Any, str]] = {
        "outcome": {outcome: outcome for outcome in OUTCOMES},
        "env": {env: _env_label(settings, env_ids, env) for env in range(len(env_ids))},
        "policy": names,
        "stop": {stop: stop.replace("_", " ") for stop in stops},
    }
    titles = {"outcome": "Outcome", "env": "Environment", "policy": "Policy", "stop": "Ended by"}
    for name, title in titles.items():
        counts = selection.facet(name)
        chosen = getattr(query, name)
        labels = {**known[name]}
        for value in [*sorted(counts, key=str), *chosen]:
            labels.setdefault(value, str(value).replace("_", " "))
        options = [
            Option(str(value), label, counts.get(value, 0), value in chosen)
            for value, label in labels.items()
        ]
        facets.append(Facet(name, title, tuple(options)))
    return facets


def finder_facet(looked: FindingState, query: Query, counts: Mapping[str, int]) -> FinderFacet:
    """Return the group of finders, in their order, with counts under all other filters."""
    names = dict.fromkeys([*looked.finders, *sorted(counts), *query.finder])
    shown = [name for name in names if name in counts or name in query.finder]
    options = [
        Option(name, name.replace("_", " "), counts.get(name, 0), name in query.finder)
        for name in shown
    ]
    idle = tuple(name.replace("_", " ") for name in names if name not in shown)
    return FinderFacet(Facet("finder", "Finder", tuple(options)), idle, finding_line(looked))


def finding_line(looked: FindingState) -> str:
    """Say what the finders have still to look at. Empty where they have seen all."""
    if not looked.is_done:
        return f"Looked at {looked.line:,} of {counted(looked.last, 'line')} so far."
    if looked.left_out:
        return f"{counted(looked.left_out, 'episode')} too long to look at here: gem-env find does."
    return ""


def chips_of(run: Run, query: Query) -> list[Chip]:
    """Return the filters in use, each with the address without it."""
    names = short_names(run.policies)
    settings = run.folder.record.settings
    env_ids = run.env_ids
    chips = []
    for name in FACETS:
        chosen = getattr(query, name)
        if len(chosen) > _MOST_CHIPS:
            # A chip for each, whose address names all the others, would be many megabytes.
            chips.append(Chip(counted(len(chosen), _FILTERS[name]), query.without(name).address()))
            continue
        for value in chosen:
            rest = tuple(each for each in chosen if each != value)
            text = str(value).replace("_", " ")
            if name == "env":
                text = _env_label(settings, env_ids, value)
            elif name == "policy":
                text = names.get(value, value)
            chips.append(Chip(text, query.address(**{name: rest})))
    if query.q:
        chips.append(Chip(f"“{query.q}”{_WHERE[query.within]}", query.address(q="")))
    for name in ("return", "turns"):
        low = getattr(query, f"{name}_min")
        high = getattr(query, f"{name}_max")
        if low is not None or high is not None:
            start = "any" if low is None else f"{low:g}"
            end = "any" if high is None else f"{high:g}"
            chips.append(Chip(f"{name} {start} to {end}", query.without(name).address()))
    return chips


class Looser(NamedTuple):
    """The filter whose removal brings back most, how many, and the address without it."""

    name: str
    episodes: int
    address: str


def looser(query: Query, selection: Selection) -> Looser | None:
    """Return the filter whose removal brings back most, None where none brings back any."""
    found = [
        Looser(_FILTERS[name], selection.count(query.without(name)), query.without(name).address())
        for name in query.filters()
    ]
    best = max(found, key=lambda each: each.episodes, default=None)
    return best if best is not None and best.episodes else None
