"""For authors of environments: check one, script a policy, install a made-up pack.

    import gem.testing

    report = gem.testing.check_env("acme:Backwards-v0")
    assert report.is_good, report.failures

In a test module, subclass `EnvContract` and get one test for each line. `private_imports` lists
what a pack imports from core that is not public.

What a check expects of an environment, beyond the contract of `gem.Env`: an action that it
refuses is marked by `info["action_error"]` ("format" or "invalid"), or by a reward part named
`format_error` or `invalid` that is not zero. `sample_action()` never draws such an action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem.testing.checking import check_env
    from gem.testing.contract import EnvContract
    from gem.testing.fake_pack import fake_plugin
    from gem.testing.public import PUBLIC_MODULES, private_imports
    from gem.testing.report import CheckLine, CheckReport
    from gem.testing.scripted_policy import ScriptedPolicy

__all__ = [
    "PUBLIC_MODULES",
    "CheckLine",
    "CheckReport",
    "EnvContract",
    "ScriptedPolicy",
    "check_env",
    "fake_plugin",
    "private_imports",
]

_HOME_OF = {
    "PUBLIC_MODULES": "public",
    "CheckLine": "report",
    "CheckReport": "report",
    "EnvContract": "contract",
    "ScriptedPolicy": "scripted_policy",
    "check_env": "checking",
    "fake_plugin": "fake_pack",
    "private_imports": "public",
}


def __getattr__(name: str) -> object:
    # Lazy, so that `gem.testing.envs` costs no more than its environments.
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gem.testing' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"gem.testing.{home}"), name)
