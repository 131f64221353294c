"""Memory by control groups: where they are found, and what they do where this machine has them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gem_tools.sandbox import ExecRequest
from gem_tools.sandbox.bwrap import BwrapSandbox
from gem_tools.sandbox.groups import MemoryGroups, NoGroups, memory_groups


def tree(root: Path, controllers: dict[str, str], own: str) -> tuple[Path, Path]:
    """Make a folder that looks like groups with these controllers for those below each."""
    (root / "cgroup.controllers").write_text("cpu memory pids\n")
    for name, known in controllers.items():
        folder = root / name
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.subtree_control").write_text(f"{known}\n")
        (folder / "cgroup.procs").write_text("")
    (root / "own").write_text(f"1:name=systemd:/elsewhere\n0::/{own}\n")
    return root, root / "own"


def test_a_machine_without_groups_of_version_2_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoGroups, match="no control groups of version 2"):
        MemoryGroups(tmp_path, tmp_path / "own")


def test_groups_that_know_nothing_of_memory_are_no_use(tmp_path: Path) -> None:
    root, own = tree(tmp_path, {"": "cpu pids", "user": "pids"}, "user")

    with pytest.raises(NoGroups, match="knows of memory"):
        MemoryGroups(root, own)


def test_the_nearest_group_around_this_process_that_knows_of_memory_is_taken(
    tmp_path: Path,
) -> None:
    root, own = tree(tmp_path, {"": "memory", "user": "memory pids", "user/leaf": ""}, "user/leaf")

    with pytest.raises(NoGroups, match="held more than its group may"):  # these are mere files
        MemoryGroups(root, own)

    assert [path.parent for path in root.rglob("gem-sandbox-*")] == [root / "user"]


def test_a_group_of_a_process_that_was_killed_is_removed(tmp_path: Path) -> None:
    root, own = tree(tmp_path, {"": "memory"}, "")
    left = root / "gem-sandbox-999999999-0" / "jail-999999999-0"
    left.mkdir(parents=True)

    with pytest.raises(NoGroups):
        MemoryGroups(root, own)

    assert not left.parent.exists()


def test_the_sandbox_says_how_memory_is_held(sandbox: BwrapSandbox) -> None:
    groups = memory_groups()

    expected = str(groups.path) if isinstance(groups, MemoryGroups) else f"sampled ({groups})"
    assert expected in sandbox.description


def test_the_kernel_ends_a_program_whose_processes_hold_too_much(sandbox: BwrapSandbox) -> None:
    groups = memory_groups()
    if isinstance(groups, NoGroups):
        pytest.skip(f"memory is sampled here: {groups}")
    grow = "import os\nfor _ in range(3): os.fork()\nheld = b'x' * (60 << 20)\nwhile True: pass"

    result = asyncio.run(sandbox.run(ExecRequest(grow, memory_mb=128, timeout_s=60)))

    assert result.status == "memory"
