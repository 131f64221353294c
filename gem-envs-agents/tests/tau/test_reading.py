"""The published files come from elsewhere: whatever they hold is one clear error."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, DataError
from gem_envs_agents.tau import reading

from .small import AIRLINE, RETAIL, write

TASK = {
    "id": 0,
    "user_id": "ada_1",
    "instruction": "You are Ada Berg, ada@example.com. You want to cancel #W1.",
    "actions": [],
    "outputs": [],
}
Spoil = Callable[[Any], None]


def refusal(folder: Path, id: str = "tau:Retail-2024") -> str:
    """Return why an environment of a folder cannot be made: one line."""
    with pytest.raises(DataError) as caught:
        gem.make(id, data=str(folder))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_data_every_id_says_what_is_lacking() -> None:
    for spec in gem.list_envs("tau:*"):
        with pytest.raises(BadArguments, match="the published files are not shipped") as caught:
            gem.make(spec.id)
        assert "\n" not in str(caught.value)


def test_a_folder_without_the_files_is_a_data_error(tmp_path: Path) -> None:
    assert "holds no db_users.json or users.json" in refusal(tmp_path)


def test_a_line_of_a_task_may_hold_any_mark_and_be_empty(tmp_path: Path) -> None:
    task = {**TASK, "instruction": f"{TASK['instruction']}\u2028\x85You are in a hurry."}
    line = json.dumps(task, ensure_ascii=False)
    write(tmp_path, RETAIL, [])
    (tmp_path / "tasks_test.jsonl").write_text(f"{line}\r\n{line}\n\n", encoding="utf-8")
    assert [each.instruction for each in reading.read_tasks(str(tmp_path), "test")] == [
        task["instruction"],
        task["instruction"],
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tasks_test.jsonl", "{"),
        ("tasks_test.jsonl", '{"id": 0}'),
        ("tasks_test.jsonl", "[1]"),
        ("tasks_test.jsonl", "[" * 100_000),
        ("tasks_test.jsonl", json.dumps({**TASK, "outputs": [40]})),
        ("tasks_test.jsonl", json.dumps({**TASK, "instruction": None})),
        ("tasks_test.jsonl", json.dumps({**TASK, "actions": [{"name": [], "kwargs": {}}]})),
        ("tasks_test.jsonl", json.dumps({**TASK, "actions": [{"name": "think", "kwargs": 1}]})),
        ("tasks_test.py", "TASKS = [Task(user_id=open('x'))]"),
        ("tasks_test.py", "TASKS = ["),
        ("tasks_test.py", f"TASKS = {'(' * 10_000}"),
        ("tasks.json", "[{}]"),
        ("tasks.json", "{}"),
    ],
    ids=str,
)
def test_tasks_that_are_not_as_published_are_a_data_error(
    name: str, text: str, tmp_path: Path
) -> None:
    write(tmp_path, RETAIL, [])
    (tmp_path / "tasks_test.jsonl").unlink()
    (tmp_path / "split_tasks.json").write_text('{"test": []}', encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert "not as they were published" in refusal(tmp_path)


def test_tables_may_lie_where_their_repository_has_them(tmp_path: Path) -> None:
    write(tmp_path, RETAIL, [TASK])
    (tmp_path / "data").mkdir()
    for name in ("users", "orders", "products"):
        [path] = tmp_path.glob(f"*{name}.json")
        path.rename(tmp_path / "data" / f"{name}.json")
    assert gem.make("tau:Retail-2024", data=str(tmp_path)).num_tasks == 1


def test_a_folder_that_is_none_is_called_so(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "nowhere")


def test_a_split_without_tasks_is_a_data_error(tmp_path: Path) -> None:
    write(tmp_path, RETAIL, [])
    assert "holds no task" in refusal(tmp_path)


DEEP: Any = []
for _ in range(600):
    DEEP = [DEEP]


def spoiled(*path: str, value: Any) -> Spoil:
    """Return what puts a value somewhere into the tables."""

    def spoil(tables: Any) -> None:
        for key in path[:-1]:
            tables = tables[key]
        tables[path[-1]] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (spoiled("users", value=[]), "'users', it is no object"),
        (spoiled("users", "ada_1", value=None), "ada_1 is no object"),
        (spoiled("users", "ada_1", "email", value=7), "ada_1.email is 7"),
        (spoiled("users", "ada_1", "payment_methods", value={"x": {}}), "has no 'source'"),
        (spoiled("users", "ada_1", "payment_methods", value={"x": {"source": "x"}}), "no 'id'"),
        (
            spoiled("users", "ada_1", "payment_methods", "gift_card_1", "balance", value="20"),
            "gift_card_1.balance is '20'",
        ),
        (spoiled("products", "kettle", "variants", "k2", "price", value=float("nan")), "is nan"),
        (spoiled("orders", "#W1", "address", value=DEEP), "deeper than 30 levels"),
        (spoiled("orders", "#W1", "items", value={}), "#W1.items is no list"),
        (spoiled("orders", "#W1", "items", value=[{}]), "#W1.items[0] has no 'name'"),
        (spoiled("products", "kettle", "variants", value={"k": {"item_id": "k"}}), "has no"),
        (spoiled("products", "kettle", "name", value="Another name"), None),
    ],
)
def test_a_row_that_no_tool_could_read_is_named(
    spoil: Spoil, where: str | None, tmp_path: Path
) -> None:
    tables = copy.deepcopy(RETAIL)
    spoil(tables)
    data = write(tmp_path, tables, [TASK])
    if where is None:  # another name is no fault
        gem.make("tau:Retail-2024", data=data)
    else:
        assert where in refusal(tmp_path)


def test_a_flight_that_can_be_booked_needs_seats_and_prices(tmp_path: Path) -> None:
    tables = copy.deepcopy(AIRLINE)
    number = next(iter(tables["flights"]))
    tables["flights"][number]["dates"]["2024-05-20"] = {"status": "available"}
    write(tmp_path, tables, [])
    assert "dates.2024-05-20 has no 'available_seats'" in refusal(tmp_path, "tau:Airline-2024")


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (b"{", "is no JSON"),
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "is no JSON"),
        (b'{"ada_1": ' + b"9" * 5_000 + b"}", "is n"),
    ],
    ids=["half", "no text", "deep", "a huge number"],
)
def test_a_table_that_is_damaged_is_named(held: bytes, why: str, tmp_path: Path) -> None:
    write(tmp_path, RETAIL, [TASK])
    path = next(tmp_path.glob("*users.json"))
    path.write_bytes(held)
    assert why in refusal(tmp_path)
    assert str(path) in refusal(tmp_path)


def test_a_file_that_is_far_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, RETAIL, [TASK])
    monkeypatch.setattr(reading, "LARGEST_FILE", 100)
    assert "no published file has" in refusal(tmp_path)


def test_a_policy_that_is_no_text_is_named(tmp_path: Path) -> None:
    write(tmp_path, RETAIL, [TASK])
    for path in (*tmp_path.glob("policy.md"), *tmp_path.glob("wiki.md")):
        path.write_bytes(b"\xff")
    assert "cannot be read" in refusal(tmp_path)


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, RETAIL, [TASK])
    path = next(tmp_path.glob("*users.json"))
    path.unlink()
    path.mkdir()
    assert "cannot be read" in refusal(tmp_path)


def test_a_solution_without_its_arguments_is_an_error_of_its_task_alone(tmp_path: Path) -> None:
    broken = {**TASK, "id": 1, "actions": [{"name": "cancel_pending_order", "kwargs": {}}]}
    env = gem.make("tau:Retail-2024", data=write(tmp_path, RETAIL, [TASK, broken]))
    env.reset(task=0)
    with pytest.raises(DataError, match="The task 1 of retail-2024 is not as it was published"):
        env.reset(task=1)
