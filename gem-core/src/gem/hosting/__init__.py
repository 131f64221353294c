"""Where environments live, and the one way to have them do something: a `Host`.

A backend of a plugin's own is a `Host` that calls its environments itself, in `SlotEnvs`, or a
`RecoveringHost`, whose workers may be lost; where these are on other machines, each runs a
`RelayHost`. Imports what is below it alone, and knows nothing about episodes, vectors or policies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gem.hosting._failure import Failure
from gem.hosting._messages import ASK, DROP, MAKE, RESET, STEP, Command
from gem.hosting._port import Host, Wakeup
from gem.hosting._slot_envs import SlotEnvs

if TYPE_CHECKING:
    from gem.hosting._processes import available_cpus
    from gem.hosting._recovering import RecoveringHost, check_workers
    from gem.hosting._relaying import RelayHost
    from gem.hosting._slots import Slot

__all__ = [
    "ASK",
    "DROP",
    "MAKE",
    "RESET",
    "STEP",
    "Command",
    "Failure",
    "Host",
    "RecoveringHost",
    "RelayHost",
    "Slot",
    "SlotEnvs",
    "Wakeup",
    "available_cpus",
    "check_workers",
]

_HOME_OF = {
    "RecoveringHost": "_recovering",
    "RelayHost": "_relaying",
    "Slot": "_slots",
    "available_cpus": "_processes",
    "check_workers": "_recovering",
}


def __getattr__(name: str) -> object:
    # Lazy, so that who only needs `Failure` loads neither the registry nor worker processes.
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gem.hosting' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"gem.hosting.{home}"), name)
