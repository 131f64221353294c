"""Announcements: packs are installed for real, and their listeners may be as bad as they like."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gem import hooks, registry

Install = Callable[..., Path]

LISTENER = """
from gem.hooks import hookimpl

heard = []

@hookimpl
def gem_run_started(run):
    heard.append(run)
"""
RAISES = """
from gem.hooks import hookimpl

@hookimpl
def gem_run_started(run):
    raise ValueError(f"cannot bear {run}")
"""
UNPRINTABLE = """
from gem.hooks import hookimpl

class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no text")

@hookimpl
def gem_run_started():
    raise Unprintable
"""
EXITS = """
import sys
from gem.hooks import hookimpl

@hookimpl
def gem_run_started():
    sys.exit("leaving")
"""
INTERRUPTS = """
from gem.hooks import hookimpl

@hookimpl
def gem_run_started():
    raise KeyboardInterrupt
"""


def with_hooks(install: Install, name: str, source: str) -> str:
    module = f"{name.replace('-', '_')}.hooks"
    install(name, hooks=(module,), files={"hooks.py": source})
    return module


def ours() -> list[hooks.HookProblem]:
    return [problem for problem in hooks.problems() if problem.distribution.startswith("acme-")]


def test_a_listener_hears_what_is_announced(install: Install) -> None:
    module = with_hooks(install, "acme-hears", LISTENER)

    hooks.announce("gem_run_started", run="a run")

    assert sys.modules[module].heard == ["a run"]


def test_a_listener_hears_only_what_it_listens_to(install: Install) -> None:
    module = with_hooks(install, "acme-hears", LISTENER)

    hooks.announce("gem_run_finished", run="a run")

    assert sys.modules[module].heard == []


def test_a_listener_is_imported_at_the_first_announcement(install: Install) -> None:
    module = with_hooks(install, "acme-lazy", LISTENER)

    registry.list_envs()
    before = module in sys.modules
    hooks.announce("gem_run_finished", run=None)

    assert (before, module in sys.modules) == (False, True)


def test_a_listener_that_raises_does_not_stop_the_others(install: Install) -> None:
    with_hooks(install, "acme-a-raises", RAISES)
    with_hooks(install, "acme-b-exits", EXITS)
    module = with_hooks(install, "acme-c-hears", LISTENER)

    hooks.announce("gem_run_started", run="a run")

    assert sys.modules[module].heard == ["a run"]


def test_a_listener_that_raises_is_kept_as_a_problem(install: Install) -> None:
    module = with_hooks(install, "acme-raises", RAISES)

    hooks.announce("gem_run_started", run="this")

    [problem] = ours()
    assert problem.module == module
    assert problem.announcement == "in gem_run_started"
    assert problem.error == "ValueError: cannot bear this"
    assert "Traceback" in problem.traceback


def test_a_listener_whose_errors_text_fails_stops_nobody(install: Install) -> None:
    with_hooks(install, "acme-a-unprintable", UNPRINTABLE)
    module = with_hooks(install, "acme-b-hears", LISTENER)

    hooks.announce("gem_run_started", run="this")

    [problem] = ours()
    assert problem.error == "Unprintable: (its text cannot be shown)"
    assert sys.modules[module].heard == ["this"]


def test_a_listener_that_raises_again_and_again_is_one_problem(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    with_hooks(install, "acme-raises", RAISES)

    with caplog.at_level(logging.WARNING, "gem.hooks"):
        for _ in range(3):
            hooks.announce("gem_run_started", run="this")

    [problem] = ours()
    assert problem.times == 3
    assert "(3 times)" in str(problem)
    assert len([record for record in caplog.messages if "acme-raises" in record]) == 1


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import sys; sys.exit('leaving')", "SystemExit: leaving"),
        (
            "from gem.hooks import hookimpl\n@hookimpl\ndef gem_no_such_thing(): pass",
            "gem_no_such_thing",
        ),
        (
            "from gem.hooks import hookimpl\n@hookimpl\ndef gem_run_started(ruin): pass",
            "ruin",
        ),
        ("def gem_run_started(run): pass", "marked with @gem.hooks.hookimpl"),
    ],
)
def test_a_module_that_cannot_listen_is_kept_as_a_problem(
    install: Install, source: str, error: str
) -> None:
    with_hooks(install, "acme-broken", source)

    [problem] = ours()

    assert problem.announcement == "at import"
    assert error in problem.error
    assert "\n" not in str(problem)


def test_an_interrupt_goes_through(install: Install) -> None:
    with_hooks(install, "acme-interrupts", INTERRUPTS)

    with pytest.raises(KeyboardInterrupt):
        hooks.announce("gem_run_started", run=None)


def test_an_interrupt_at_import_goes_through(install: Install) -> None:
    with_hooks(install, "acme-interrupts", "raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        hooks.problems()


def test_a_name_that_nobody_announces_is_refused() -> None:
    with pytest.raises(KeyError):
        hooks.announce("gem_no_such_thing")


def test_a_plugin_that_failed_has_no_listeners(install: Install) -> None:
    install("acme-bad", manifest="raise RuntimeError")

    hooks.announce("gem_run_started", run=None)

    assert ours() == []


def test_importing_gem_does_not_import_pluggy() -> None:
    code = "import sys, gem; gem.__all__; assert 'pluggy' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], check=True)
