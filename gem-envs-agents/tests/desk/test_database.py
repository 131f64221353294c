from __future__ import annotations

import copy
from typing import Any

import pytest

from gem_envs_agents.desk.database import Database

TABLES: dict[str, Any] = {
    "users": {"a": {"name": "Ada", "cards": [{"holds": 25}]}, "b": {"name": "Bo"}}
}


def test_writing_leaves_the_shared_rows_as_they_were() -> None:
    before = copy.deepcopy(TABLES)
    draft = Database(TABLES, {}).draft()
    draft.edit("users", "a")["cards"][0]["holds"] = 1
    assert draft.done().get("users", "a") == {"name": "Ada", "cards": [{"holds": 1}]}
    assert before == TABLES


def test_only_the_rows_that_are_written_are_copied() -> None:
    draft = Database(TABLES, {}).draft()
    draft.edit("users", "a")
    written = draft.done()
    assert written.get("users", "b") is TABLES["users"]["b"]
    assert list(written.changes["users"]) == ["a"]


def test_a_draft_that_is_thrown_away_changes_nothing() -> None:
    database = Database(TABLES, {})
    database.draft().edit("users", "a")["name"] = "Eve"
    assert database.state() == "{}"


def test_a_second_draft_writes_on_what_the_first_left() -> None:
    first = Database(TABLES, {}).draft()
    first.edit("users", "a")["name"] = "Eve"
    middle = first.done()
    second = middle.draft()
    second.edit("users", "a")["cards"] = []
    assert second.done().get("users", "a") == {"name": "Eve", "cards": []}
    assert middle.get("users", "a") == {"name": "Eve", "cards": [{"holds": 25}]}


def test_a_number_is_the_same_however_it_is_written() -> None:
    draft = Database(TABLES, {}).draft()
    draft.edit("users", "a")["cards"][0]["holds"] = 25.0
    assert draft.done().state() == "{}"


def test_true_is_not_one() -> None:
    draft = Database({"t": {"k": {"v": 1}}}, {}).draft()
    draft.edit("t", "k")["v"] = True
    assert draft.done().state() != "{}"


def test_a_row_that_was_added_is_listed_once_and_last() -> None:
    draft = Database(TABLES, {}).draft()
    draft.add("users", "c", {"name": "Cy"})
    assert list(draft.keys("users")) == ["a", "b", "c"]
    assert list(draft.done().keys("users")) == ["a", "b", "c"]


def test_editing_what_is_not_there_raises() -> None:
    with pytest.raises(KeyError):
        Database(TABLES, {}).draft().edit("users", "z")
