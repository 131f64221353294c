"""How long to wait before a request is made again."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from gem.retries import Backoff, retry_after_s


@pytest.mark.parametrize(("attempt", "longest"), list(enumerate((1, 2, 4, 8, 16, 20, 20))))
def test_waits_double_up_to_their_limit(attempt: int, longest: float) -> None:
    wait = Backoff(1.0, 20.0).delay_s(attempt, seed=3)

    assert min(longest, 2**attempt / 2) <= wait <= longest


def test_requests_do_not_come_back_at_once() -> None:
    waits = {Backoff(1.0, 20.0).delay_s(0, seed=seed) for seed in range(50)}

    assert len(waits) == 50


def test_a_date_in_retry_after_counts_from_now() -> None:
    later = datetime.now(timezone.utc) + timedelta(hours=1)

    assert 3000 < (retry_after_s(format_datetime(later, usegmt=True)) or 0) < 3700


@pytest.mark.parametrize(("header", "wait"), [("120", 120.0), (" 0.5 ", 0.5), ("0", 0.0)])
def test_seconds_in_retry_after_are_read(header: str, wait: float) -> None:
    assert retry_after_s(header) == wait


@pytest.mark.parametrize("header", [None, "", "soon", "-5", "9" * 40, "nan"])
def test_a_retry_after_that_says_nothing_is_ignored(header: str | None) -> None:
    assert retry_after_s(header) is None


def test_a_server_s_wait_is_kept_to_up_to_the_longest() -> None:
    assert Backoff(1.0, 20.0).delay_s(0, seed=3, retry_after_s=7.5) == 7.5
    assert Backoff(1.0, 20.0).delay_s(0, seed=3, retry_after_s=3600.0) == 20.0
