"""In every published task the solution alone earns: each of its writes, and all of its outputs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gem_envs_agents.desk.database import Database
from gem_envs_agents.desk.tool import Call, run

from .published import PublishedTasks, published_tasks

Path_ = tuple[Any, ...]
TASKS = {"tau:Retail-2024": 115, "tau:Airline-2024": 50, "tau:Retail-v1.0.1": 114}
MOVED_BACK = {"address1", "address2", "city", "state", "country", "zip"}
WITHOUT_A_TRACE = {
    # The solution writes this address, and then the one before again.
    "tau:Retail-2024": {(22, "modify_user_address", name) for name in MOVED_BACK},
    "tau:Retail-v1.0.1": {(22, "modify_user_address", name) for name in MOVED_BACK},
    # Nothing is to be paid for these bags, whoever would pay.
    "tau:Airline-2024": {
        (number, "update_reservation_baggages", "payment_id") for number in (3, 4, 5)
    },
}
# Nothing can be changed in some returns: of a whole order, paid back where it was paid from.
MADE_WRONG = {
    "tau:Retail-2024": (163, 174),
    "tau:Airline-2024": (56, 56),
    "tau:Retail-v1.0.1": (163, 174),
}
"""How many of the writes have an argument that can be changed, and how many there are."""


@pytest.fixture(params=TASKS)
def id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tasks(id: str, local_data: Path) -> PublishedTasks:
    return published_tasks(id, local_data)


def test_the_calls_and_the_outputs_of_every_solution_earn_all(
    id: str, tasks: PublishedTasks
) -> None:
    earned = [
        tasks.earned(number, tasks.solution(number), tasks.case(number).outputs)
        for number in tasks.numbers
    ]
    assert earned == [1.0] * TASKS[id]


def test_a_missing_output_earns_nothing(tasks: PublishedTasks) -> None:
    tried = 0
    for number in tasks.numbers:
        outputs = tasks.case(number).outputs
        for missing in set(outputs):
            others = [output for output in outputs if output != missing]
            assert tasks.earned(number, tasks.solution(number), others) == 0.0
            tried += 1
    assert tried > 5


def test_a_missing_write_earns_nothing(tasks: PublishedTasks) -> None:
    for number in tasks.numbers:
        solution = tasks.solution(number)
        reads = [call for call in solution if not tasks.writes(call)]
        if len(reads) < len(solution):
            assert tasks.earned(number, reads, tasks.case(number).outputs) == 0.0


def test_an_extra_write_earns_nothing(tasks: PublishedTasks) -> None:
    for number in tasks.numbers:
        solution = tasks.solution(number)
        extra = _extra_write(tasks, number)
        assert tasks.earned(number, [*solution, extra], tasks.case(number).outputs) == 0.0


def test_extra_reads_change_nothing(tasks: PublishedTasks) -> None:
    reads = _reads(tasks)
    assert len(reads) >= 8
    reads.append(Call("get_user_details", {"user_id": "nobody"}))
    reads.append(Call("no_such_tool", {}))
    for number in tasks.numbers:
        # Before the solution and after it: what was read then is what was changed.
        calls = [*reads, *tasks.solution(number), *reads]
        assert tasks.earned(number, calls, tasks.case(number).outputs) == 1.0


@pytest.mark.slow
def test_a_write_with_one_other_argument_earns_nothing(id: str, tasks: PublishedTasks) -> None:
    values = _known_values(tasks)
    earning = set()
    writes = made_wrong = 0
    for number in tasks.numbers:
        solution = tasks.solution(number)
        outputs = tasks.case(number).outputs
        wrong_writes = list(_wrong_writes(tasks, number, values))
        writes += len(_places_of_writes(tasks, number))
        made_wrong += len({wrong.place for wrong in wrong_writes})
        for wrong in wrong_writes:
            calls = [*solution[: wrong.place], wrong.call, *solution[wrong.place + 1 :]]
            if tasks.earned(number, calls, outputs):
                earning.add((number, wrong.call.name, wrong.argument))
    assert earning == WITHOUT_A_TRACE[id]
    assert (made_wrong, writes) == MADE_WRONG[id]


class WrongWrite(NamedTuple):
    """A call in the place of one of a solution, of which one argument has another valid value."""

    place: int
    call: Call
    argument: str


def _wrong_writes(
    tasks: PublishedTasks, number: int, values: Mapping[Path_, list[Any]]
) -> Iterator[WrongWrite]:
    """Yield for each argument of each write the first other value that the shop takes."""
    tools = tasks.base.agent_tools
    for place, before in _places_of_writes(tasks, number).items():
        name, given = tasks.solution(number)[place]
        for path, value in _leaves(given):
            others = (*_own(before, given, path, value), *values[_key(name, path)])
            for other in (*others, f"{value} 2"):
                call = Call(name, _with(given, path, other))
                if other != value and not run(tools, before, call).is_error:
                    yield WrongWrite(place, call, path[0])
                    break


def _places_of_writes(tasks: PublishedTasks, number: int) -> dict[int, Database]:
    """Return where in a solution a call writes, and the database before it."""
    database = Database(tasks.case(number).tables, {})
    places = {}
    for place, call in enumerate(tasks.solution(number)):
        outcome = run(tasks.base.agent_tools, database, call)
        if tasks.writes(call) and not outcome.is_error:
            places[place] = database
        database = outcome.database
    return places


def _own(database: Database, given: Mapping[str, Any], path: Path_, value: Any) -> Iterator[Any]:
    """Yield other values that a customer has, or that are near."""
    row: Mapping[str, Any] = {}
    for table, key in (("orders", "order_id"), ("reservations", "reservation_id")):
        if key in given:
            row = database.get(table, given[key]) or {}
    user = database.get("users", given.get("user_id") or row["user_id"]) or {}
    name = path[-1] if isinstance(path[-1], str) else path[0]
    if name in ("payment_method_id", "payment_id"):
        yield from user["payment_methods"]
    elif name in ("order_id", "reservation_id"):
        yield from user["orders" if name == "order_id" else "reservations"]
    elif name == "item_ids":
        yield from (item["item_id"] for item in row["items"])
    elif name == "new_item_ids":
        old = given["item_ids"][path[1]]
        product = next(item["product_id"] for item in row["items"] if item["item_id"] == old)
        yield from (database.get("products", product) or {})["variants"]
    elif isinstance(value, (int, float)):
        yield value + 1
        yield value - 1


def _known_values(tasks: PublishedTasks) -> Mapping[Path_, list[Any]]:
    """Return the values that the solutions of all tasks give to each argument of a write."""
    known: dict[Path_, dict[str, Any]] = defaultdict(dict)
    for number in tasks.numbers:
        for call in filter(tasks.writes, tasks.solution(number)):
            for path, value in _leaves(call.arguments):
                known[_key(call.name, path)][json.dumps(value)] = value
    return defaultdict(list, {key: list(values.values()) for key, values in known.items()})


def _leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    else:
        yield path, value
        return
    for key, each in pairs:
        yield from _leaves(each, (*path, key))


def _with(value: Any, path: Path_, leaf: Any) -> Any:
    """Return JSON data with another leaf."""
    if not path:
        return leaf
    changed = dict(value) if isinstance(value, Mapping) else list(value)
    changed[path[0]] = _with(value[path[0]], path[1:], leaf)
    return changed


def _key(name: str, path: Path_) -> Path_:
    """Return an argument of a tool, wherever in a list it stands."""
    return (name, *(each for each in path if isinstance(each, str)))


def _extra_write(tasks: PublishedTasks, number: int) -> Call:
    """Return a write that no solution of this task has, and that the shop takes."""
    tables = tasks.case(number).tables
    named = json.dumps([call.arguments for call in tasks.solution(number)])
    if "reservations" in tables:
        for key, row in tables["reservations"].items():
            if key not in named and row.get("status") != "cancelled":
                return Call("cancel_reservation", {"reservation_id": key})
    pending = (key for key, row in tables["orders"].items() if row["status"] == "pending")
    other = next(key for key in pending if key not in named)
    return Call("cancel_pending_order", {"order_id": other, "reason": "no longer needed"})


def _reads(tasks: PublishedTasks) -> list[Call]:
    """Return a right call of each tool that only reads."""
    database = Database(tasks.case(0).tables, {})
    arguments = _arguments_of_reads(database)
    calls = []
    for name, tool in tasks.base.agent_tools.items():
        if not tool.writes:
            call = Call(name, {each: arguments[each] for each in tool.parameters})
            assert not run(tasks.base.agent_tools, database, call).is_error
            calls.append(call)
    return calls


def _arguments_of_reads(database: Database) -> dict[str, Any]:
    """Return a value of each argument by which something can be read."""
    tables = database.tables
    values: dict[str, Any] = {"thought": "What now?", "expression": "6 * 7", "summary": "No."}
    values["user_id"], user = next(iter(tables["users"].items()))
    values |= {"email": user["email"], "zip": user["address"].get("zip", "")}
    values |= user["name"]
    if "orders" in tables:
        values["order_id"] = next(iter(tables["orders"]))
        values["product_id"], product = next(iter(tables["products"].items()))
        values["item_id"] = next(iter(product["variants"]))
    else:
        values["reservation_id"] = next(iter(tables["reservations"]))
        flight = next(iter(tables["flights"].values()))
        values |= {"origin": flight["origin"], "destination": flight["destination"]}
        values["date"] = next(iter(flight["dates"]))
    return values
