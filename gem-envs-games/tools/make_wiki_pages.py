"""Write the bundled encyclopedia of WikiGame, `pages.json`, from `wiki_pages.txt` beside this.

The same text gives the same bytes. Refuses a link to a page that is not there, and a graph in
which some page cannot be reached from another.

    python gem-envs-games/tools/make_wiki_pages.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["pages"]

SOURCE = Path(__file__).with_name("wiki_pages.txt")
TARGET = SOURCE.parents[1] / "src/gem_envs_games/wiki_game/pages.json"

_LINK = re.compile(r"\[([^]>]+)(?:>([^]]+))?\]")  # [title], or [what is shown>title]

_FEW = 12


class Topic(NamedTuple):
    """A page as it is written down: its text with links in brackets, and the page it is under."""

    title: str
    text: str
    parent: str | None


def topics(source: str) -> Iterator[Topic]:
    """Read `= Section < Parent`, the text below it, and its `- Title: text` entries."""
    section = ""
    lines = iter(source.splitlines())
    for line in lines:
        if line.startswith("= "):
            section, _, parent = line[2:].partition(" < ")
            yield Topic(section, next(lines), parent or None)
        elif line.startswith("- "):
            title, _, text = line[2:].partition(": ")
            yield Topic(title, text, section)
        elif line == "%countries":
            yield from countries(list(iter(lambda: next(lines), "%end")))


def countries(rows: list[str]) -> Iterator[Topic]:
    """Read rows of country, continent, capital, language, neighbours, and on the capital.

    `*` marks a name that takes "the", `!` a capital that is one of several.
    """
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    named = {name.lstrip("*!"): name for name, *_ in cells}
    for name, continent, capital, language, borders, text in cells:
        title = name.lstrip("*!")
        role = "one of its capitals" if "!" in name else "its capital"
        neighbours = [_named(named[each.strip()]) for each in borders.split(",") if each.strip()]
        near = f", and its neighbours include {_listed(neighbours)}" if neighbours else ""
        country = _named(name)
        yield Topic(
            title,
            f"{country[0].upper()}{country[1:]} is a country in [{continent}], and [{capital}] is "
            f"{role}. [?{language}] is spoken there{near}.",
            continent,
        )
        yield Topic(
            capital, f"{capital} is {role.replace('its', 'the')} of {country}. {text}", title
        )


def _named(name: str) -> str:
    return f"the [{name[1:]}]" if name.startswith("*") else f"[{name.lstrip('!')}]"


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def pages(source: str) -> dict[str, dict[str, object]]:
    """Return each page's summary and links by title.

    It links to the pages it names, the one above it and those below it; one of few links also
    to pages that lead to it. Raises ValueError where a link leads nowhere, or a title comes twice.
    """
    found = list(topics(source))
    by_name = {topic.title.lower(): topic.title for topic in found}
    if len(by_name) < len(found):
        raise ValueError("A title is used twice.")
    links: dict[str, set[str]] = {topic.title: set() for topic in found}
    for topic in found:
        links[topic.title] |= {by_name[name] for name in _mentioned(topic, by_name)}
        if topic.parent is not None:
            links[topic.title].add(by_name[topic.parent.lower()])
            links[by_name[topic.parent.lower()]].add(topic.title)
    _link_back(links)
    return {
        topic.title: {
            "summary": _LINK.sub(lambda link: link[1].lstrip("?"), topic.text),
            "links": sorted(links[topic.title] - {topic.title}),
        }
        for topic in sorted(found)
    }


def _link_back(links: dict[str, set[str]]) -> None:
    """Let a page of few links lead to pages that lead to it, in order of title."""
    mentions = {title: sorted(other for other in links if title in links[other]) for title in links}
    for title, others in mentions.items():
        new = [other for other in others if other not in links[title]]
        links[title] |= set(new[: max(0, _FEW - len(links[title]))])


def _mentioned(topic: Topic, by_name: Mapping[str, str]) -> Iterator[str]:
    for shown, title in _LINK.findall(topic.text):
        name = (title or shown).lower()
        if name.lstrip("?") in by_name:
            yield name.lstrip("?")
        elif not name.startswith("?"):  # a page that may be there or not
            raise ValueError(f"{topic.title!r} links to {name!r}, which is no page.")


def require_reachable(made: Mapping[str, Mapping[str, object]]) -> None:
    """Raise ValueError unless every page can be reached from every page."""
    backwards: dict[str, list[str]] = {title: [] for title in made}
    forwards: dict[str, list[str]] = {title: list(made[title]["links"]) for title in made}  # type: ignore[call-overload]
    for title, links in forwards.items():
        for link in links:
            backwards[link].append(title)
    for graph in (forwards, backwards):
        seen = {min(made)}
        waiting = [min(made)]
        while waiting:
            new = set(graph[waiting.pop()]) - seen
            seen |= new
            waiting += new
        if len(seen) < len(made):
            raise ValueError(f"Cut off from the rest: {sorted(set(made) - seen)}.")


if __name__ == "__main__":
    written = pages(SOURCE.read_text(encoding="utf-8"))
    require_reachable(written)
    rows = (f"{json.dumps(title)}: {json.dumps(written[title])}" for title in written)
    TARGET.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
