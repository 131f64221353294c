"""Announce what happened to whoever listens; plugins add to `gem-env` the same way.

A listener is a module that a manifest names in `hooks`. It is imported at the first
announcement, on its own: one that cannot be imported, or raises, is logged and kept in
`problems()`, and stops nobody. Where nobody listens an announcement costs one dictionary look-up.

A listener imports the marker and defines what it wants to hear:

    from gem.hooks import hookimpl

    @hookimpl
    def gem_episode_finished(episode):
        print(episode.env_id, episode.total_reward)
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pluggy

from gem.errors import in_one_line, traceback_of
from gem.registry._catalogue import plugins

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from gem.episode._episode import Episode
    from gem.episode._foreign import ForeignEpisode
    from gem.registry._discovery import PluginRecord

    LogReader = Callable[[Path], ForeignEpisode | None]

__all__ = ["HookProblem", "announce", "hookimpl", "problems"]

hookimpl = pluggy.HookimplMarker("gem")
"""Marks a function of a hook module as a listener to the announcement of its name."""

_hookspec = pluggy.HookspecMarker("gem")
_log = logging.getLogger(__name__)


class _Announcements:
    """Everything that is announced. A listener may take fewer arguments than these."""

    @_hookspec
    def gem_cli_commands(self, subparsers: argparse._SubParsersAction[Any]) -> None:
        """`gem-env` is being set up: add commands, each with `set_defaults(run=function)`.

        `function(args)` returns the exit status.
        """

    @_hookspec
    def gem_log_readers(self, readers: list[LogReader]) -> None:
        """`gem-env replay` is given a file that is no log of ours: append what reads others.

        A reader takes the path and returns the episode in it, or None where the file is of
        another format, which it leaves to other readers. It raises GemError, in one line, on a
        file that is of its format and cannot be read.
        """

    @_hookspec
    def gem_run_started(self, run: Any) -> None:
        """A run of many episodes begins. `run` is the folder that it writes to."""

    @_hookspec
    def gem_run_finished(self, run: Any) -> None:
        """A run of many episodes is over."""

    @_hookspec
    def gem_episode_finished(self, episode: Episode) -> None:
        """An episode of a rollout is over; whoever runs it has not taken it yet."""


_NAMES = tuple(name for name in vars(_Announcements) if name.startswith("gem_"))


@dataclass(frozen=True, slots=True)
class HookProblem:
    """A listener that failed: whose it is, where, with what, and how many times."""

    distribution: str
    module: str
    announcement: str
    error: str
    traceback: str
    times: int = 1

    def __str__(self) -> str:
        often = f" ({self.times} times)" if self.times > 1 else ""
        return (
            f"The hook module {self.module} of {self.distribution} failed "
            f"{self.announcement}: {self.error}{often}. It was left out."
        )


@dataclass(frozen=True, slots=True)
class _Listener:
    distribution: str
    module: str
    call: Callable[..., object]


@dataclass(slots=True)
class _Listeners:
    """The listeners of one scan of the installed plugins, by what they listen to."""

    records: tuple[PluginRecord, ...]
    of: dict[str, list[_Listener]] = field(default_factory=lambda: {name: [] for name in _NAMES})
    problems: dict[tuple[str, str], HookProblem] = field(default_factory=dict)


_listeners: _Listeners | None = None


def announce(name: str, /, **facts: object) -> None:
    """Tell every listener, in the order of the plugins' names. Never raises for one of them.

    Raises KeyError on a name that is not announced by this version.
    """
    listeners = _installed()
    for listener in listeners.of[name]:
        try:
            listener.call(**facts)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a listener may raise anything, SystemExit too
            _note(listeners, listener.distribution, listener.module, f"in {name}", error)


def problems() -> tuple[HookProblem, ...]:
    """Import every hook module and return those that failed so far, at import or later."""
    return tuple(_installed().problems.values())


def _installed() -> _Listeners:
    global _listeners
    records = plugins()
    # By identity: a refresh of the registry makes a new tuple, and listeners are looked for anew.
    if _listeners is None or _listeners.records is not records:
        # Set before the modules are imported: one of them may announce something itself.
        _listeners = _Listeners(records)
        for record, module in _hook_modules(records):
            _load_hook_module(_listeners, record, module)
    return _listeners


def _hook_modules(records: tuple[PluginRecord, ...]) -> Iterator[tuple[PluginRecord, str]]:
    for record in records:
        for module in getattr(record.manifest, "hooks", ()):
            yield record, module


def _load_hook_module(listeners: _Listeners, record: PluginRecord, module: str) -> None:
    """Import a hook module and add its listeners, or note why it cannot be imported."""
    # A manager for each module: a listener that raises ends a manager's whole round of calls.
    manager = pluggy.PluginManager("gem")
    manager.add_hookspecs(_Announcements)
    try:
        manager.register(importlib.import_module(module))
        manager.check_pending()
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a module may raise anything at import, SystemExit too
        _note(listeners, record.distribution, module, "at import", error)
        return
    heard = [name for name in _NAMES if getattr(manager.hook, name).get_hookimpls()]
    for name in heard:
        caller = getattr(manager.hook, name)
        listeners.of[name].append(_Listener(record.distribution, module, caller))
    if not heard:
        nothing = LookupError("none of its functions is marked with @gem.hooks.hookimpl")
        _note(listeners, record.distribution, module, "at import", nothing)


def _note(
    listeners: _Listeners, distribution: str, module: str, where: str, error: BaseException
) -> None:
    # Logged once and counted from then on: a listener that fails does so in every episode.
    known = listeners.problems.get((module, where))
    if known is not None:
        listeners.problems[module, where] = replace(known, times=known.times + 1)
        return
    text = traceback_of(error)
    problem = HookProblem(distribution, module, where, in_one_line(error), text)
    listeners.problems[module, where] = problem
    _log.warning("%s", problem)
