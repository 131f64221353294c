"""WikiGame on a server's pages: what the ids of `wiki:` make."""

from __future__ import annotations

from gem.errors import DataError
from gem_envs_games.rewards import Rewards
from gem_envs_games.wiki_game.game import PUBLISHED, Variant, WikiGame, WikiRewards
from gem_envs_games.wiki_game.kiwix import Kiwix
from gem_envs_games.wiki_game.mediawiki import MediaWiki

__all__ = ["kiwix", "mediawiki"]


def mediawiki(
    url: str | None = None,
    max_turns: int = 30,
    variant: Variant = "freenav",
    rewards: WikiRewards | Rewards = PUBLISHED,
    timeout_s: float = 10.0,
    retries: int = 2,
) -> WikiGame:
    """Return a WikiGame in a MediaWiki whose `api.php` is at `url`. Raises DataError without one.

    The target is not linked on the first page, and may be out of reach.
    """
    if url is None:
        raise _no_server("a MediaWiki's api.php", "url='http://127.0.0.1:8080/api.php'")
    wiki = MediaWiki(url, timeout_s=timeout_s, retries=retries)
    return WikiGame(max_turns, wiki, variant, rewards)


def kiwix(
    url: str | None = None,
    book: str | None = None,
    max_turns: int = 30,
    variant: Variant = "freenav",
    rewards: WikiRewards | Rewards = PUBLISHED,
    timeout_s: float = 10.0,
    retries: int = 2,
) -> WikiGame:
    """Return a WikiGame in the ZIM file `book` of a kiwix-serve at `url`.

    Raises DataError without them. The target is not linked on the first page, and may be out of
    reach.
    """
    if url is None or book is None:
        example = "url='http://127.0.0.1:8080', book='wikipedia_en_simple_all'"
        raise _no_server("kiwix-serve, and the name of one of its books", example)
    wiki = Kiwix(url, book, timeout_s=timeout_s, retries=retries)
    return WikiGame(max_turns, wiki, variant, rewards)


def _no_server(what: str, example: str) -> DataError:
    return DataError(
        f"This WikiGame needs the address of {what}, and got none. Pass {example}, say, or play "
        "game:WikiGame-v0-easy, which brings its own pages.",
        source="url",
    )
