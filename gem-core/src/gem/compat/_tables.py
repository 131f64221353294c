"""The data set of an environment, as gem-llm's classes over a table were given it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gem.errors import BadArguments
from gem.specs import DataSource

if TYPE_CHECKING:
    from gem.data import TableArguments

__all__ = ["table_arguments"]

_DEFAULT_SPLIT = "train"


def table_arguments(
    dataset: Any, *, dataset_name: str | None, split: str | None, fields: Mapping[str, str]
) -> TableArguments:
    """Return our arguments for `dataset`, or without one for the hub's `dataset_name`.

    `dataset` is the table itself, or several by the name of their split, of which "train" is
    taken where none is asked for. Raises BadArguments for a split that is not there.

    >>> table_arguments({"test": ["row"]}, dataset_name="", split="test", fields={"answer": "a"})
    {'data': ['row'], 'fields': {'answer': 'a'}}
    """
    # An empty name is gem-llm's default for none.
    if dataset is None:
        return {"source": DataSource(hub=dataset_name or None), "split": split, "fields": fields}
    if not isinstance(dataset, Mapping):
        return {"data": dataset, "split": split, "fields": fields}
    wanted = split or _DEFAULT_SPLIT
    if wanted not in dataset:
        raise BadArguments(
            f"split={wanted!r} was asked for of dataset=, whose splits are "
            f"{', '.join(map(repr, dataset))}. Choose one of them with split=.",
            subject="split",
        )
    return {"data": dataset[wanted], "fields": fields}  # what is left has no splits
