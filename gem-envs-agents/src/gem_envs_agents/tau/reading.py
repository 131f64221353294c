"""Read the published files: tables, tasks, policy. Runs no code that it reads.

A folder holds the tables, one file each (`db_users.json` or `users.json`, there or in the folder
`data` in it, where the repository of 2024 has them), or all of them in `db.json`; the tasks, as
JSON lines, as JSON, or as the published Python files of 2024, whose literals alone are read; and
the policy (`policy.md` or `wiki.md`).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from gem.errors import DataError, in_one_line
from gem_envs_agents.desk.database import Tables
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.tau.shapes import DEEPEST, SHAPES, ListOf, RowsOf, Shape, is_too_deep, misfit

__all__ = ["LARGEST_FILE", "Task", "read_policy", "read_tables", "read_tasks"]

LARGEST_FILE = 64 << 20
"""Bytes of a file that is read: forty times the largest published one."""

_TOO_DEEP = (SyntaxError, RecursionError, MemoryError)  # as `ast.parse` and `json.loads` raise them


class Task(NamedTuple):
    """One published task. `actions` is its solution, `outputs` what the agent has to say.

    `known`, `unknown` and `reason` are what the corrected tasks write apart: what the user knows of
    themselves, what not, and why they call. `assertions` are sentences that only a judge can grade.
    """

    id: str
    user_id: str
    instruction: str
    actions: tuple[Call, ...]
    outputs: tuple[str, ...]
    known: str = ""
    unknown: str = ""
    reason: str = ""
    assertions: tuple[str, ...] = ()


@lru_cache(maxsize=8)  # a shop's tables are shared by all its environments
def read_tables(folder: str, shop: str) -> Tables:
    """Return the tables of a shop, "retail" or "airline", by name.

    Raises DataError where one is missing, or holds what no tool could read.
    """
    names = list(SHAPES[shop])
    whole = Path(folder) / "db.json"
    if not whole.exists():
        paths = [_table(folder, name) for name in names]
        tables = {name: _json(path) for name, path in zip(names, paths, strict=True)}
        sources = dict(zip(names, paths, strict=True))
    else:
        tables = _json(whole)
        sources = dict.fromkeys(names, whole)
        missing = [] if not isinstance(tables, dict) else [n for n in names if n not in tables]
        if missing or not isinstance(tables, dict):
            raise DataError(
                f"{whole} holds no table {(missing or names)[0]!r}. Give a folder with "
                f"{', '.join(names)}.",
                source=str(whole),
            )
    for name in names:
        wrong = misfit(RowsOf(SHAPES[shop][name]), tables[name])
        if wrong is None and is_too_deep(tables[name]):
            wrong = f"a row is nested deeper than {DEEPEST} levels"
        if wrong is not None:
            raise DataError(
                f"{sources[name]} is not as it was published: of the table {name!r}, {wrong}. "
                "Download it again.",
                source=str(sources[name]),
            )
    return {name: tables[name] for name in names}


def read_policy(folder: str) -> str:
    """Return the text of the policy. Raises DataError where there is none."""
    return _text(_first(folder, "policy.md", "wiki.md")).strip()


def read_tasks(folder: str, split: str) -> tuple[Task, ...]:
    """Return the tasks of a split, in their order. Raises DataError where there are none.

    Tasks of 2024 have a file for each split. The corrected ones have one, `tasks.json`, and the ids
    of each split in `split_tasks.json`.
    """
    try:
        tasks = _read_tasks(folder, split)
    except (KeyError, TypeError, ValueError, AttributeError, *_TOO_DEEP) as error:
        raise DataError(
            f"The tasks of the split {split!r} in {folder!r} are not as they were published "
            f"({in_one_line(error)}). Download them again.",
            source=folder,
        ) from error
    if not tasks:
        raise DataError(
            f"The split {split!r} in {folder!r} holds no task. Give another, or download it again.",
            source=folder,
        )
    return tasks


def _read_tasks(folder: str, split: str) -> tuple[Task, ...]:
    whole = Path(folder) / "tasks.json"
    if whole.exists():
        return tuple(_corrected(row) for row in _of_split(folder, split, _json(whole)))
    path = _first(folder, f"tasks_{split}.jsonl", f"tasks_{split}.py")
    rows = _json_lines(path) if path.suffix == ".jsonl" else _python_literals(path)
    return tuple(_of_2024(number, row) for number, row in enumerate(rows))


def _table(folder: str, name: str) -> Path:
    return _first(
        folder,
        f"db_{name}.json",
        f"{name}.json",
        f"data/{name}.json",
        hint=", and database= the folder with the tables where they lie apart",
    )


def _first(folder: str, *names: str, hint: str = "") -> Path:
    for name in names:
        path = Path(folder) / name
        if path.exists():
            return path
    what = f"holds no {' or '.join(names)}" if Path(folder).is_dir() else "does not exist"
    raise DataError(
        f"The folder {folder!r} {what}. Give data= the folder with the published files of this "
        f"benchmark{hint}.",
        source=folder,
    )


def _text(path: Path) -> str:
    """Return what a file holds. Raises DataError where it cannot be read, or is far too large."""
    try:
        with path.open("rb") as file:
            # One byte more than it may have: what it says of its own size need not be true.
            held = file.read(LARGEST_FILE + 1)
        text = held.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} cannot be read ({in_one_line(error)}). Download it again.", source=str(path)
        ) from error
    if len(held) > LARGEST_FILE:
        raise DataError(
            f"{path} has more than {LARGEST_FILE >> 20} MiB, and no published file has. Download "
            "it again.",
            source=str(path),
        )
    return text


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path} is no JSON ({in_one_line(error)}). Download it again.", source=str(path)
        ) from error


def _json_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    # By this mark alone: `splitlines` parts at others too, which may stand within a text of JSON.
    for line in _text(path).split("\n"):
        if line.strip():
            yield json.loads(line)


def _python_literals(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the tasks of a published Python file: calls of `Task` with literal arguments."""
    tree = ast.parse(_text(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node) == "Task":
            yield {keyword.arg or "": _literal(keyword.value) for keyword in node.keywords}


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.List):
        return [_literal(each) for each in node.elts]
    if isinstance(node, ast.Call):
        return {keyword.arg: _literal(keyword.value) for keyword in node.keywords}
    return ast.literal_eval(node)


def _name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


_OF_2024 = {
    "user_id": str,
    "instruction": str,
    "actions": ListOf({"name": str, "kwargs": dict}),
    "outputs": ListOf(str),
}
_INSTRUCTIONS = dict.fromkeys(
    ("known_info", "unknown_info", "reason_for_call", "task_instructions"), (str, type(None))
)
_LISTED = (list, type(None))
_CORRECTED = {
    "id": str,
    "user_scenario": {"instructions": _INSTRUCTIONS},
    "evaluation_criteria": {
        "actions": _LISTED,
        "communicate_info": _LISTED,
        "nl_assertions": _LISTED,
    },
}


def _check(shape: Shape, row: Any) -> None:
    wrong = misfit(shape, row)
    if wrong is None and is_too_deep(row):
        wrong = f"a part is nested deeper than {DEEPEST} levels"
    if wrong is not None:
        raise ValueError(f"of a task, {wrong}")


def _of_2024(number: int, row: Mapping[str, Any]) -> Task:
    _check(_OF_2024, row)
    return Task(
        id=str(row.get("id", number)),
        user_id=row["user_id"],
        instruction=row["instruction"],
        actions=tuple(Call(action["name"], action["kwargs"]) for action in row["actions"]),
        outputs=tuple(row["outputs"]),
    )


def _of_split(folder: str, split: str, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    splits = _json(_first(folder, "split_tasks.json"))
    _check(RowsOf(ListOf(str)), splits)
    _check(ListOf({"id": str}), rows)
    if split not in splits:
        raise DataError(
            f"The split {split!r} was asked for, and the folder {folder!r} has "
            f"{', '.join(splits)}. Choose one of these.",
            source=folder,
        )
    ids = set(splits[split])
    return [row for row in rows if row["id"] in ids]


def _corrected(row: Mapping[str, Any]) -> Task:
    _check(_CORRECTED, row)
    instructions = row["user_scenario"]["instructions"]
    criteria = row["evaluation_criteria"]
    actions = criteria["actions"] or []
    outputs = criteria["communicate_info"] or []
    assertions = criteria["nl_assertions"] or []
    _check(ListOf({"name": str, "arguments": dict}), actions)
    _check(ListOf(str), outputs)
    _check(ListOf(str), assertions)
    parts = (
        instructions["known_info"],
        instructions["reason_for_call"],
        instructions["task_instructions"],
    )
    return Task(
        id=row["id"],
        user_id="",
        instruction=" ".join(part for part in parts if part),
        actions=tuple(Call(action["name"], action["arguments"]) for action in actions),
        outputs=tuple(outputs),
        known=instructions["known_info"] or "",
        unknown=instructions["unknown_info"] or "",
        reason=instructions["reason_for_call"] or "",
        assertions=tuple(assertions),
    )
