"""A process that measures as it is told, and what runs in it.

`serve` imports nothing but the standard library: it runs wherever a package called `gem` is.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0


class Side:
    """A process of one interpreter that imported one module of this folder, or of another here."""

    def __init__(self, python: str, module: str, *, folder: str = "execution_parts") -> None:
        self._name = module
        path = f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        self._process = subprocess.Popen(
            [python, "-W", "ignore", "-m", f"benchmarks.{folder}.{module}"],
            cwd=ROOT,
            # What a worker of a worker imports is found by the path, whoever starts it.
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def tell(self, task: str, **arguments: Any) -> Any:
        """Return what the task gave. Raises RuntimeError where it failed or took too long."""
        assert self._process.stdin
        assert self._process.stdout
        line = json.dumps({"task": task, "arguments": arguments})
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE_S)
        reply = self._process.stdout.readline() if ready else b""
        answer = json.loads(reply) if reply else {"error": "no answer came"}
        if "error" in answer:
            raise RuntimeError(f"{task} of {self._name} failed: {answer['error']}")
        return answer["result"]

    def __enter__(self) -> Side:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()  # so that it ends by itself, and closes what it made
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def serve(tasks: dict[str, Callable[..., Any]]) -> None:
    """Do the tasks that standard input names, until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"result": tasks[asked["task"]](**asked["arguments"])}
        except Exception:  # noqa: BLE001 - whoever asked decides what it means
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)
