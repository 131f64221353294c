"""Get a data set of the Hugging Face Hub, by its commit, or say clearly why it cannot be had.

Knows nothing about rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.errors import DataError
from gem.specs import DataSource
from gem_data._arrow import undecoded
from gem_data._quiet import Quiet, root_text

if TYPE_CHECKING:
    import datasets

__all__ = ["HubRows", "find_hub_rows"]

_REACH_TIMEOUT_S = 5.0  # of one question; a hub that takes longer is out of reach
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,40}")

_LACKING = re.compile(r"(?:Unknown|Bad) split|BuilderConfig .* not found|Unrecognized instruction")
"""How `datasets` says that it has the data set, and not the split or the config asked for."""


class HubRows(NamedTuple):
    """The rows of one split, and the commit that they are of, where it is known."""

    rows: Any
    commit: str | None


def find_hub_rows(source: DataSource, *, needs: str, is_streamed: bool) -> HubRows:
    """Return a `datasets.Dataset`, or an iterator of rows that are fetched as they are taken.

    `needs` tells an error which fields a local file must have. Raises DataError, within seconds
    where the hub cannot be reached and the data set is not in the cache.
    """
    import datasets  # heavy: 0.5 s

    with Quiet() as quiet:
        is_reached, commit = _ask_hub(source)
        if not is_reached:
            quiet.go_offline()  # or the library would try for half a minute before it looks there
        try:
            loaded = datasets.load_dataset(
                str(source.hub),
                source.config,
                split=source.split,
                revision=commit or source.revision,  # a branch may move while it is fetched
                streaming=is_streamed,
            )
        except Exception as error:
            raise _not_had(source, error, needs=needs, is_reached=is_reached) from error
    rows = _one_split(source, loaded)
    if is_streamed:
        return HubRows(_arriving(source, rows), commit)
    commit = commit or _commit_of(rows)
    # Offline the library takes whatever revision its cache holds.
    if not is_reached:
        _check_commit(source, commit)
    return HubRows(rows, commit)


def _arriving(source: DataSource, rows: datasets.IterableDataset) -> Iterator[Any]:
    try:
        yield from undecoded(rows)
    except Exception as error:
        raise DataError(
            f"The stream of {source.hub!r} broke off ({root_text(error)}). Start "
            "again, or without streaming=True, which downloads the whole first.",
            source=str(source.hub),
        ) from error


def _ask_hub(source: DataSource) -> tuple[bool, str | None]:
    """Ask the hub once, briefly, whether it answers and for the commit that is asked for.

    `load_dataset` itself would try for half a minute.
    """
    import huggingface_hub  # heavy: 0.2 s
    from huggingface_hub import constants

    # In every version these are at this place.
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        HfHubHTTPError,
        HFValidationError,
    )

    if constants.HF_HUB_OFFLINE:
        return False, None
    try:
        facts = huggingface_hub.HfApi().dataset_info(
            str(source.hub), revision=source.revision, timeout=_REACH_TIMEOUT_S
        )
    except (HfHubHTTPError, HFValidationError) as error:
        status = getattr(getattr(error, "response", None), "status_code", 0)
        return status < 500, None  # an answer, if a bad one: load_dataset says which
    except Exception:  # noqa: BLE001 - each version has another HTTP library's errors
        return False, None
    return True, facts.sha


def _commit_of(rows: datasets.Dataset) -> str | None:
    """Return the commit that rows in the library's cache are of: the name of their folder."""
    names = [Path(file["filename"]).parent.name for file in rows.cache_files]
    return next(filter(_COMMIT.fullmatch, names), None)


def _check_commit(source: DataSource, got: str | None) -> None:
    """Refuse what the cache holds if it is not the revision that was asked for."""
    asked = source.revision
    if asked is None or (got is not None and _is_commit(asked) and got.startswith(asked)):
        return
    raise DataError(
        f"The data set {source.hub!r} was asked for at revision {asked!r}. The hub is out of "
        f"reach, and its cache here holds the commit {got or 'unknown'}. Go online, or ask for "
        "the commit that is here.",
        source=str(source.hub),
    )


def _is_commit(revision: str) -> bool:
    return _SHORT_COMMIT.fullmatch(revision) is not None


def _not_had(source: DataSource, error: Exception, *, needs: str, is_reached: bool) -> DataError:
    is_nowhere = isinstance(error, ConnectionError) and not is_reached
    reason = "not in its cache here" if is_nowhere else root_text(error)
    if _LACKING.search(reason):  # it was had: to fetch it again would not help
        return DataError(
            f"Of the data set {source.hub!r} the config {source.config!r} and the split "
            f"{source.split!r} were asked for, and it does not have both ({reason}). Choose among "
            "those that it has.",
            source=str(source.hub),
        )
    where = "the hub" if is_reached else "the hub, which is out of reach"
    licence = f" Its licence: {source.licence}." if source.licence else ""
    return DataError(
        f"The data set {source.hub!r} was asked for, and cannot be had from {where} ({reason})."
        f"{licence} Where there is a network, fetch it with `gem-env data ID --prefetch`, ID "
        f"being the environment's. Or use a local file with the fields {needs}: "
        'data="path/to/test.jsonl", or on the command line '
        '--env-kwargs \'{"data": "path/to/test.jsonl"}\'.',
        source=str(source.hub),
    )


def _one_split(source: DataSource, loaded: Any) -> Any:
    if not isinstance(loaded, Mapping):
        return loaded
    if len(loaded) == 1:
        return next(iter(loaded.values()))
    raise DataError(
        f"The data set {source.hub!r} was asked for without a split, and has "
        f"{', '.join(map(repr, loaded))}. Choose one with split=.",
        source=str(source.hub),
        field="split",
    )
