"""The data that classes of gem-llm are given reaches our own classes over a table."""

from __future__ import annotations

import pytest

from gem.compat._tables import table_arguments
from gem.errors import BadArguments
from gem.specs import DataSource

ROWS = [{"question": "1 + 1?", "answer": "2"}]


FIELDS = {"question": "problem"}


def test_a_name_is_of_a_data_set_of_the_hub() -> None:
    taken = table_arguments(None, dataset_name="org/sums", split="test", fields=FIELDS)

    assert taken == {"source": DataSource(hub="org/sums"), "split": "test", "fields": FIELDS}


def test_rows_go_before_a_name() -> None:
    taken = table_arguments(ROWS, dataset_name="org/sums", split=None, fields=FIELDS)

    assert taken == {"data": ROWS, "split": None, "fields": FIELDS}


@pytest.mark.parametrize("split", [None, "train", "test"])
def test_of_splits_the_one_asked_for_is_taken_or_train(split: str | None) -> None:
    splits = {"train": ROWS, "test": ROWS * 2}

    taken = table_arguments(splits, dataset_name="", split=split, fields=FIELDS)

    assert taken == {"data": splits[split or "train"], "fields": FIELDS}


def test_a_split_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadArguments, match=r"split='train' .* splits are 'test', 'dev'"):
        table_arguments({"test": ROWS, "dev": ROWS}, dataset_name="", split=None, fields={})
