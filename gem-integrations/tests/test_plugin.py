"""The manifest: a backend that costs nothing until it is used."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

import gem
from gem.errors import MissingRequirement
from gem.registry import executors
from gem.testing.envs import Coin


def test_the_backend_is_listed_without_a_look_at_ray() -> None:
    code = (
        "import sys; from gem.registry import executors; executors(); print('ray' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "ray" in {each.id for each in executors()}
    assert done.stdout == "False\n"


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_one_error_says_how_to_install_it() -> None:
    gem.register("small:Coin", Coin)

    with pytest.raises(MissingRequirement, match=r'Run: pip install "ray>='):
        gem.make_vec("small:Coin", backend="ray")
