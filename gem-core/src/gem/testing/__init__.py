"""For authors of environments: check one, script a policy, install a made-up pack.

    import gem.testing

    report = gem.testing.check_env("acme:Backwards-v0")
    assert report.is_good, report.failures

In a test module, subclass `EnvContract` and get one test for each line. `private_imports` lists
what a pack imports from core that is not public, and `registrations_undone` forgets what a test
registered.

What a check expects of an environment, beyond the contract of `gem.Env`: an action that it
refuses is marked by `info["action_error"]` ("format" or "invalid"), or by a reward part named
`format_error` or `invalid` that is not zero. `sample_action()` never draws such an action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem.testing._checking import check_env
    from gem.testing._contract import EnvContract, SeatedEnvContract
    from gem.testing._fake_pack import fake_plugin
    from gem.testing._public import PUBLIC_MODULES, private_imports
    from gem.testing._registrations import registrations_undone
    from gem.testing._report import CheckLine, CheckReport
    from gem.testing._scripted_policy import ScriptedPolicy

__all__ = [
    "PUBLIC_MODULES",
    "CheckLine",
    "CheckReport",
    "EnvContract",
    "ScriptedPolicy",
    "SeatedEnvContract",
    "check_env",
    "fake_plugin",
    "private_imports",
    "registrations_undone",
]

_HOME_OF = {
    "PUBLIC_MODULES": "_public",
    "CheckLine": "_report",
    "CheckReport": "_report",
    "EnvContract": "_contract",
    "ScriptedPolicy": "_scripted_policy",
    "SeatedEnvContract": "_contract",
    "check_env": "_checking",
    "fake_plugin": "_fake_pack",
    "private_imports": "_public",
    "registrations_undone": "_registrations",
}


def __getattr__(name: str) -> object:
    # Lazy, so that `gem.testing.envs` costs no more than its environments.
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gem.testing' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"gem.testing.{home}"), name)
