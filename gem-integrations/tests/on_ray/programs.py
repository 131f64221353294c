"""Programs that tests of Ray run apart from their own process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


class Program:
    """A way to run Python apart: with a home and a temporary folder of its own."""

    def __init__(self, home: Path, temp: Path) -> None:
        self.home = home
        self.temp = temp
        own = {"HOME": str(home), "RAY_TMPDIR": str(temp), "PYTHONPATH": str(HERE)}
        self.env = {**os.environ, **own}

    def command(self, code: str, *arguments: str) -> list[str]:
        """Return the command line of some code."""
        return [sys.executable, "-X", "dev", "-W", "error", "-c", code, *arguments]

    def run(self, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run some code to its end, in the folder of these tests."""
        return subprocess.run(
            self.command(code, *arguments),
            env=self.env,
            cwd=HERE,
            capture_output=True,
            text=True,
            check=False,
        )
