"""The manifest, and what importing the package costs."""

from __future__ import annotations

import subprocess
import sys

from gem import registry


def test_the_plugin_is_found_and_well() -> None:
    [record] = [found for found in registry.plugins() if found.name == "tools"]

    assert (record.distribution, record.state) == ("gem-tools", "ok")


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import gem_tools, sys; print({'pydantic', 'httpx', 'asyncio'} & {*sys.modules})"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "set()\n"
