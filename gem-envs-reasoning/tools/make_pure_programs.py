"""Write `pure_programs.py`: which of codeio's packaged programs give the same from the same seed.

Many read the clock, the global random state or a file, print, or depend on the order of a set.
A program is kept if its source names nothing of that kind and five runs of it, in two processes
with other hashes, agree, in less than a tenth of a second each and without a warning.

    python gem-envs-reasoning/tools/make_pure_programs.py
"""

from __future__ import annotations

import ast
import gzip
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from random import Random
from typing import Any

TARGET = Path(__file__).parents[1] / "src" / "gem_envs_reasoning" / "pure_programs.py"
MODULES = """
abc bisect cmath collections collections.abc copy dataclasses decimal enum fractions functools heapq
itertools json math numbers operator re statistics string typing
"""
NAMES = """
__import__ breakpoint compile datetime dir eval exec exit frozenset globals hash id input locals np
numpy open os print quit random set sys time vars
"""
HEAD = '''"""The rows of codeio's packaged programs that give the same from the same seed.

Written by `tools/make_pure_programs.py` from reasoning-gym 0.1.25.
"""

from __future__ import annotations

__all__ = ["PURE_PROGRAMS"]

_ROWS = """
'''


def rows() -> list[dict[str, Any]]:
    """Read the packaged programs."""
    from reasoning_gym.data import get_data_file_path

    with gzip.open(get_data_file_path("codeio.jsonl.gz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def source_of(row: dict[str, Any]) -> str:
    """Return a row's program as it is run."""
    return f"{row['code_sample']}\n\n{row['input_generator']}"


def is_named_pure(source: str) -> bool:
    """Say whether a program's source names nothing that may differ from run to run."""
    return not any(map(_is_impure, ast.walk(ast.parse(source))))


def _is_impure(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name not in MODULES.split() for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module not in MODULES.split()
    if isinstance(node, ast.Attribute):
        return node.attr.startswith("__") and node.attr not in ("__init__", "__name__")
    is_set = isinstance(node, (ast.Set, ast.SetComp))
    return is_set or (isinstance(node, ast.Name) and node.id in NAMES.split())


def outcome(row: dict[str, Any]) -> str | None:
    """Run a program on five seeds; None where it fails, warns or takes long."""
    names: dict[str, Any] = {"Random": Random}
    pairs = []
    try:
        exec(source_of(row), names, names)  # noqa: S102 - a packaged program, as codeio runs it
        for seed in range(5):
            started = time.process_time()
            inputs = names["generate_inputs"](Random(seed))
            shown = f"{inputs}"
            pairs.append((json.dumps(inputs), shown, json.dumps(names["main_solution"](**inputs))))
            if time.process_time() - started > 0.1:
                return None
    except Exception:  # noqa: BLE001 - whatever it raises, it is left out
        return None
    return json.dumps(pairs)


def outcomes() -> dict[int, str]:
    """Run every program that is named pure, warnings as errors."""
    warnings.simplefilter("error")
    found = {}
    for number, row in enumerate(rows()):
        try:
            result = outcome(row) if is_named_pure(source_of(row)) else None
        except (SyntaxError, Warning):
            result = None
        if result is not None:
            found[number] = result
    return found


def elsewhere(hashes: str) -> dict[int, str]:
    """Return the outcomes of another process."""
    done = subprocess.run(
        [sys.executable, __file__, "--outcomes"],
        env={**os.environ, "PYTHONHASHSEED": hashes},
        check=True,
        capture_output=True,
        text=True,
    )
    return {int(number): result for number, result in json.loads(done.stdout).items()}


def main() -> None:
    """Compare two processes, and write what they agree on."""
    if "--outcomes" in sys.argv:
        json.dump(outcomes(), sys.stdout)
        return
    one = elsewhere("1")
    other = elsewhere("2")
    kept = sorted(number for number in one if one[number] == other.get(number))
    lines = []
    line = ""
    for number in map(str, kept):
        if len(line) + len(number) > 90:
            lines.append(line)
            line = ""
        line = f"{line} {number}".strip()
    body = "\n".join([*lines, line])
    TARGET.write_text(
        f'{HEAD}{body}\n"""\nPURE_PROGRAMS = tuple(map(int, _ROWS.split()))\n', encoding="utf-8"
    )


if __name__ == "__main__":
    main()
