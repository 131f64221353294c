"""The data that classes of gem-llm are given reaches our own classes over a table."""

from __future__ import annotations

import pytest

from gem.compat.tables import table_arguments
from gem.errors import BadArguments
from gem.specs import DataSource

ROWS = [{"question": "1 + 1?", "answer": "2"}]


def test_a_name_is_of_a_data_set_of_the_hub() -> None:
    assert table_arguments(None, dataset_name="org/sums", split="test") == {
        "data": None,
        "source": DataSource(hub="org/sums"),
        "split": "test",
    }


def test_rows_go_before_a_name() -> None:
    assert table_arguments(ROWS, dataset_name="org/sums", split=None) == {
        "data": ROWS,
        "source": None,
        "split": None,
    }


@pytest.mark.parametrize("split", [None, "train", "test"])
def test_of_splits_the_one_asked_for_is_taken_or_train(split: str | None) -> None:
    splits = {"train": ROWS, "test": ROWS * 2}

    found = table_arguments(splits, dataset_name="", split=split)
    assert found["data"] == splits[split or "train"]
    assert found["split"] is None  # what is left has no splits


def test_a_split_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadArguments, match=r"split='train' .* splits are 'test', 'dev'"):
        table_arguments({"test": ROWS, "dev": ROWS}, dataset_name="", split=None)
