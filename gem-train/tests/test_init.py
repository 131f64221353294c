"""The package costs nothing to import, and shows each name of its modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gem_train
from gem.testing import private_imports
from gem_train import returns, tokens


def test_it_shows_every_name_of_its_modules() -> None:
    assert {*gem_train.__all__} == {*tokens.__all__, *returns.__all__}
    assert {*gem_train.__all__} <= {*dir(gem_train)}
    for name in gem_train.__all__:
        home = tokens if name in tokens.__all__ else returns
        assert getattr(gem_train, name) is getattr(home, name)


def test_it_has_no_other_name() -> None:
    with pytest.raises(AttributeError, match="module 'gem_train' has no attribute 'nothing'"):
        _ = gem_train.nothing


def test_importing_it_costs_nothing_and_tokens_need_no_numpy() -> None:
    code = (
        "import sys; import gem_train\n"
        "assert not {'numpy', 'gem_train.tokens'} & set(sys.modules)\n"
        "gem_train.Trajectory, gem_train.TokenPolicy\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_imports_of_core_only_what_is_public() -> None:
    assert private_imports(Path(gem_train.__file__).parent) == []
