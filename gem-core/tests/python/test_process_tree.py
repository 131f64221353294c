from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gem._python.process_tree import VARIABLE, Root, join, root

TELL = "from gem._python.process_tree import root; print(root())"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")


def told(code: str = TELL) -> str:
    """Return what a process of ours says is its root."""
    return subprocess.check_output([sys.executable, "-c", code], text=True).strip()


def test_a_process_that_nobody_named_is_the_root_itself() -> None:
    assert root().process == os.getpid()
    assert root().is_running


def test_the_root_of_a_child_is_its_parents() -> None:
    mine = root()
    assert told() == str(mine) == os.environ[VARIABLE]


def test_a_child_that_began_before_has_a_tree_of_its_own() -> None:
    assert told() != str(root())


def test_a_forked_child_has_its_parents_root() -> None:
    first = "import os; from gem._python.process_tree import root; print(root(), flush=True)"
    mine, *both = told(f"{first}; os.fork() and os.wait(); {TELL}").split()
    assert both == [mine, mine]


@pytest.mark.parametrize(
    "named", ["", "nonsense", "1", "0-1", "-1-1", "²-1", "9999999999-1", "1-2-3"]
)
def test_what_names_no_process_is_not_believed(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, named)
    assert root().process == os.getpid()


def test_a_later_process_of_the_same_number_is_another() -> None:
    mine = root()
    later = Root(mine.process, str(int(mine.began) + 1))
    assert not later.is_running
    assert join(str(later)) == mine


def test_a_process_that_has_ended_is_no_root() -> None:
    with subprocess.Popen([sys.executable, "-c", TELL], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        ended = child.stdout.read().decode().strip()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it is not collected yet
        assert join(ended).process == os.getpid()


def test_one_joins_the_tree_of_a_process_that_runs() -> None:
    line = [sys.executable, "-c", f"{TELL}; input()"]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout is not None
        theirs = other.stdout.readline().strip()
        assert str(join(theirs)) == theirs == os.environ[VARIABLE]
        other.communicate("\n")
