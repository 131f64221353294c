"""Go from one page of an encyclopedia to another by links alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from gem.env import Step
from gem.errors import BadArguments, DataError
from gem_envs_games.game import Game
from gem_envs_games.parsing import read_boxed_text
from gem_envs_games.rewards import Rewards
from gem_envs_games.wiki_game.backend import Backend, Page, folded
from gem_envs_games.wiki_game.graph import Graph, bundled

__all__ = ["PUBLISHED", "Variant", "WikiGame", "WikiRewards"]

Variant = Literal["noregrets", "oneback", "freenav", "eidetic"]

_RULES = {
    "noregrets": "Go to a page that is linked on the one you are on. There is no way back: a page "
    "that you have been on, the first one included, is closed. Where every link is closed, the "
    "game is lost.",
    "oneback": "Go to a page that is linked on the one you are on, or back to the one you were on "
    "just before it. Any other page that you have been on is closed.",
    "freenav": "Go to a page that is linked on the one you are on, or back to any page that you "
    "have been on.",
    "eidetic": "Go to any page that you have been on, or that is linked on one of them: a link "
    "that you have seen once stays open.",
}
_CLOSING = ("noregrets", "oneback")
_NEAR = 2
_LONGEST_SUMMARY = 200
_MOST_EARLIER = 300
_TRIES = 20
_BACKEND = ("page", "random_title", "close")


@dataclass(frozen=True, slots=True)
class WikiRewards(Rewards):
    """The constants of WikiGame. The defaults are those published with axon-rl/gem.

    >>> WikiRewards(step=0.0).invalid
    -0.2
    """

    step: float = -0.05
    invalid: float = -0.2
    format_error: float = -0.2


PUBLISHED = WikiRewards()


class WikiGame(Game):
    r"""Go by links from one page to another within `max_turns` turns.

    An action is a title in a box; letter case and spaces around it make no difference. The
    `variant` says where one may go besides the links of the page that one is on:

    - "noregrets": nowhere, and no page twice. Without an open link the game is lost.
    - "oneback": back to the page just before, the only one that may be seen again.
    - "freenav": to any page visited.
    - "eidetic": to any page visited, and to any link of those.

    Each allows all that the one before it does. `backend` is "bundled", an encyclopedia of about
    600 pages that comes with the package, or an object (see `Backend`). In the bundled one, and
    in any `Graph`, the target is at least 2 links away and `max_turns` at most, and `solve()`
    knows the shortest way; of another backend it knows none and returns None.
    """

    shared: ClassVar[Sequence[str]] = ("rewards", "backend")

    def __init__(
        self,
        max_turns: int = 30,
        backend: Backend | str = "bundled",
        variant: Variant = "freenav",
        # A dictionary becomes WikiRewards, so that what it leaves out stays as published.
        rewards: WikiRewards | Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        if variant not in _RULES:
            raise BadArguments(
                f"WikiGame was given variant={variant!r:.80}. There are "
                f"{', '.join(_RULES)}. Choose one of them.",
                subject="WikiGame",
            )
        self.backend = _opened(backend)
        self.variant = variant

    def deal(self) -> None:
        start, target = self._drawn()
        self._at = start.title
        self._target = target.title
        self._before: str | None = None
        self._visited = [start.title]

    def _drawn(self) -> tuple[Page, Page]:
        for _ in range(_TRIES):
            start = self.backend.page(self.backend.random_title(self.rng))
            target = self._drawn_target(start) if start and start.links else None
            if start and target:
                return start, target
        raise DataError(
            f"WikiGame drew pages {_TRIES} times, and none of them was a start with a target "
            f"{_NEAR} links away or more, and no more than {self.max_turns}. Give it another "
            "backend, or more turns.",
            source="backend",
        )

    def _drawn_target(self, start: Page) -> Page | None:
        if isinstance(self.backend, Graph):
            turns = self.max_turns or _NEAR
            distances = self.backend.distances_from(start.title)
            near = min(_NEAR, turns)
            fit = [title for title, links in distances.items() if near <= links <= turns]
            return self.backend.page(self.rng.choice(fit)) if fit else None
        target = self.backend.page(self.backend.random_title(self.rng))
        is_far = target and target.title != start.title and target.title not in start.links
        return target if is_far else None

    def close(self) -> None:
        self.backend.close()

    def instructions(self) -> str:
        target = self._page(self._target)
        return (
            "You are playing the Wiki Game.\n"
            f"Go from page to page of an encyclopedia until you are on the page {target.title}. "
            f"You have {self.max_turns} turns.\n"
            f"About the target: {_shortened(target.summary)}\n"
            f"{_RULES[self.variant]} Any other page is refused, and still costs a turn.\n"
            "Write what you like, but give the title of the page to go to in \\boxed{}, for "
            f"example {self._example()}. Only the last one counts. An answer without it ends the "
            "game."
        )

    def expected(self) -> str:
        return f"the title of a page in \\boxed{{}}, for example {self._example()}"

    def _example(self) -> str:
        return _boxed(self._choices()[0])

    def suffix(self) -> str:
        page = self._page(self._at)
        return (
            f"You are on: {page.title}\n{_shortened(page.summary)}\n{self._page_text(page)}\n"
            f"Target: {self._target}\nEnter your next page."
        )

    def _page_text(self, page: Page) -> str:
        """Return the links as they are offered, and then what else is open."""
        if self.variant in _CLOSING:
            links = "\n".join(map(_boxed, self._open_links(page)))
        else:
            links = page.shown
        lines = [f"Links:\n{links}"] if links else ["No open link."]
        if self.variant == "oneback":
            lines += [f"Back: {_boxed(self._before)}"] if self._before else []
        else:
            earlier = [title for title in self._earlier() if title not in page.links]
            lines += [f"Earlier: {' '.join(map(_boxed, earlier[:_MOST_EARLIER]))}"] * bool(earlier)
        return "\n".join(lines)

    def _open_links(self, page: Page) -> list[str]:
        return [link for link in page.links if not self._is_closed(link)]

    def _is_closed(self, title: str) -> bool:
        if title == self._at:
            return True
        return self.variant in _CLOSING and title in self._visited and title != self._way_back()

    def _way_back(self) -> str | None:
        return self._before if self.variant == "oneback" else None

    def _earlier(self) -> list[str]:
        """List what is open wherever one is, the last seen first."""
        if self.variant == "noregrets":
            return []
        if self.variant == "oneback":
            return [self._before] if self._before else []
        titles = dict.fromkeys(reversed(self._visited))
        if self.variant == "eidetic":
            for title in self._visited[::-1]:
                titles.update(dict.fromkeys(self._page(title).links))
        titles.pop(self._at, None)
        return list(titles)

    def _choices(self) -> list[str]:
        """List where one may go by a link of this page, or by any other way where none is open."""
        return self._open_links(self._page(self._at)) or self._earlier()

    def _page(self, title: str) -> Page:
        """Return a page that the game has been told of before."""
        page = self.backend.page(title)
        if page is None:
            raise DataError(
                f"WikiGame asked its backend again for the page {title!r}, and it is gone. "
                "Give it a backend whose pages stay.",
                source="backend",
            )
        return page

    def step(self, action: str) -> Step:
        named = read_boxed_text(action, _title)
        if named is None:
            return self._malformed()
        link = self._link(named)
        title = named[:_LONGEST_SUMMARY] if named.isprintable() else "a page"
        if link is None:
            return self._refuse(f"you named {title}, which is not linked here.")
        page = self.backend.page(link)
        if page is None:
            return self._refuse(f"you named {title}, which is linked and was never written.")
        if self._is_closed(page.title):
            return self._refuse(f"you named {title}, which is closed.")
        return self._go(page)

    def _link(self, named: str) -> str | None:
        """Return the link that is meant, whether it is closed or not."""
        page = self._page(self._at)
        if named in page.links:
            return named
        name = folded(named)
        link = page.names.get(name)
        if link is not None:
            return link
        return next((title for title in self._earlier() if folded(title) == name), None)

    def _go(self, page: Page) -> Step:
        self._before = self._at
        self._at = page.title
        if page.title not in self._visited:
            self._visited.append(page.title)
        if page.title == self._target:
            parts = {"success": self.rewards.success}
            return self._win(f"you reached {page.title}, the target. Congratulations!", parts)
        if self.variant == "noregrets" and not self._open_links(page):
            return self._lose(f"you went to {page.title}, where no link is open. The game is lost.")
        return self._go_on(f"you went to {page.title}.")

    def sample_action(self) -> str:
        """Draw an open link of this page, or another way where there is none."""
        return _boxed(self.sample_rng.choice(self._choices()))

    def solve(self) -> str | None:
        """Take the shortest way that is open, by the whole graph; None where there is none."""
        if not isinstance(self.backend, Graph):
            return None
        closed = self._visited if self.variant in _CLOSING else ()
        distances = self.backend.distances_to(self._target, closed)
        choices = [*self._open_links(self._page(self._at)), *self._earlier()]
        ways = [title for title in choices if title in distances]
        return _boxed(min(ways, key=distances.__getitem__)) if ways else None


def _opened(backend: Backend | str) -> Backend:
    if backend == "bundled":
        return bundled()
    if not isinstance(backend, str) and all(hasattr(backend, name) for name in _BACKEND):
        return backend
    raise BadArguments(
        f"WikiGame was given backend={backend!r:.80}, and has only 'bundled' by name. For a server "
        "make wiki:MediaWiki-v0 or wiki:Kiwix-v0 with its url; or pass an object with "
        f"{', '.join(_BACKEND)}.",
        subject="WikiGame",
    )


def _title(inside: str) -> str | None:
    return " ".join(inside.split()) if any(map(str.isalnum, inside)) else None


def _boxed(title: str) -> str:
    return f"\\boxed{{{title}}}"


def _shortened(summary: str) -> str:
    """Return the first words of a summary, as one line.

    >>> _shortened("word " * 100)[-10:]
    'rd word...'
    """
    if len(summary) <= _LONGEST_SUMMARY and summary.isprintable():
        return summary
    text = " ".join(summary[: 4 * _LONGEST_SUMMARY].split())
    if len(text) <= _LONGEST_SUMMARY:
        return text
    return f"{text[: _LONGEST_SUMMARY + 1].rpartition(' ')[0] or text[:_LONGEST_SUMMARY]}..."
