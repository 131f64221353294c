"""What importing and listing may cost, asserted by what must not be in `sys.modules`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gem

Run = Callable[..., "subprocess.CompletedProcess[str]"]

HEAVY = {"pydantic", "pluggy", "numpy", "asyncio", "importlib.metadata"}

# What a manifest costs: pydantic and its own needs; the commands of other packs come by pluggy.
FREE = {
    "annotated_types",
    "packaging",
    "pluggy",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "typing_inspection",
}

LISTINGS = {
    "python": "import gem; assert gem.list_envs()",
    "command": "from gem.cli._main import main; assert not main(['list'])",
    "json": "from gem.cli._main import main; assert not main(['list', '--json'])",
}


def modules_after(run_python: Run, code: str, *flags: str) -> set[str]:
    """Run code in a fresh process and return the modules that it loaded."""
    report = "import json, sys; before = set(sys.modules)\n"
    report += f"{code}\nprint(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)"
    done = run_python(*flags, "-c", report)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_importing_gem_loads_nothing_heavy(run_python: Run) -> None:
    home = str(Path(gem.__file__).parents[1])  # with -S no .pth file has loaded anything yet

    loaded = modules_after(run_python, f"sys.path.insert(0, {home!r}); import gem", "-S")

    assert "gem" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("listing", sorted(LISTINGS))
def test_listing_loads_no_third_party_package_of_any_pack(run_python: Run, listing: str) -> None:
    loaded = modules_after(run_python, LISTINGS[listing])

    tops = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    third_party = {name for name in tops if not re.match(r"gem$|gem_|_sysconfigdata_", name)}

    assert third_party <= FREE


@pytest.mark.parametrize("listing", sorted(LISTINGS))
def test_listing_loads_no_environment(run_python: Run, listing: str) -> None:
    loaded = modules_after(run_python, LISTINGS[listing])

    rooms = {name for name in loaded if name.startswith("gem_envs_") and "." in name}
    modules = {name.partition(".")[2] for name in rooms}
    # A folder is loaded with a module in it; these have an `__init__.py` without an import.
    folders = {"seated", "tau", "textarena"}
    tables = {name for name in modules if {"listing", "probing"} & set(name.split("."))}

    assert modules - tables - folders == {"plugin"}
