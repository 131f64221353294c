"""A warning of an earlier release's name is seen by whoever used the name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gem
from gem._python.deprecation import warn_deprecated
from gem.specs import EnvSpec

SCRIPT = """\
import gem
from gem.specs import EnvSpec
old = EnvSpec(id="demo:Old", target="gem.testing.envs:Echo", replaced_by="demo:New")
gem.register(old)
gem.make("demo:Old")
"""


def test_a_script_shows_the_warning_with_its_own_line(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=True
    )
    assert f"{script}:5: DeprecationWarning: 'demo:Old' is the id of an earlier" in done.stderr


@pytest.mark.vector
def test_the_warning_points_out_of_the_package() -> None:
    gem.register(EnvSpec(id="demo:Old", target="gem.testing.envs:Echo", replaced_by="demo:New"))
    with pytest.warns(DeprecationWarning, match="'demo:Old'") as seen:
        gem.make_vec(["demo:Old"]).close()
    assert {warning.filename for warning in seen} == {__file__}


def test_both_sentences_are_shown() -> None:
    with pytest.warns(DeprecationWarning, match=r"^old= is gone\. Write new=\.$"):
        warn_deprecated("old= is gone.", instead="Write new=.")


def test_code_without_a_module_is_warned_too() -> None:
    with pytest.warns(DeprecationWarning, match="It is gone"):
        exec("warn('It is gone.', instead='Leave it.')", {"warn": warn_deprecated})  # noqa: S102
