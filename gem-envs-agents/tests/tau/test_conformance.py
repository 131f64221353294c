"""The published tasks keep the contracts of environments, where their files are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gem.testing import EnvContract, SeatedEnvContract

from .published import arguments


@pytest.fixture(scope="class")
def _over_local_data(request: pytest.FixtureRequest, local_data: Path) -> None:
    request.cls.env_kwargs = arguments(request.cls.env_id, local_data)


@pytest.mark.usefixtures("_over_local_data")
class OneSeat(EnvContract):
    """What the sets have in common: few seeds, for their tables are large."""

    # The solution is the published one: what it asks for depends on what the task is about, also
    # where two customers begin with the same words.
    test_solve_is_fair = None
    env_kwargs: ClassVar[Mapping[str, Any]] = {}
    seeds = range(3)
    backends = ("sync", "thread")


@pytest.mark.usefixtures("_over_local_data")
class TwoSeats(SeatedEnvContract):
    """The same with a seat for the user."""

    env_kwargs: ClassVar[Mapping[str, Any]] = {}
    seeds = range(2)
    backends = ("sync", "thread")


@pytest.mark.slow
class TestRetail2024(OneSeat):
    env_id = "tau:Retail-2024"
    test_leaks = None  # long, and what desks share: one class of each form looks


@pytest.mark.slow
class TestAirline2024(OneSeat):
    env_id = "tau:Airline-2024"


@pytest.mark.slow
class TestCorrectedRetail(OneSeat):
    env_id = "tau:Retail-v1.0.1"
    test_leaks = None  # long, and what desks share: one class of each form looks


@pytest.mark.slow
class TestRetail2024OfTwo(TwoSeats):
    env_id = "tau:Retail-2024-OfTwo"


@pytest.mark.slow
class TestAirline2024OfTwo(TwoSeats):
    env_id = "tau:Airline-2024-OfTwo"
    test_leaks = None  # long, and what desks share: one class of each form looks
