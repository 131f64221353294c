"""One verdict costs no other, whatever the answer does to its worker."""

from __future__ import annotations

import os
import random
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from gem.env import process_tree
from gem.errors import GemError
from gem_envs_math.pool import Limits, Pool
from gem_envs_math.pool.client import MOST_CHARACTERS
from gem_envs_math.pool.limits import most_workers
from gem_envs_math.pool.place import Place

MakePool = Callable[..., Pool]

HAZARDS = {
    "crash": "crashed",
    "leave": "crashed",
    "grow": "too much memory",
    "swallow": "too much memory",
    "bloat 100": "too much memory",
    "deepen": "failed: RecursionError",
}


@pytest.fixture
def hasty_pool(make_pool: MakePool) -> Pool:
    """Return a pool for answers that never end."""
    return make_pool(limits=Limits(deadline_s=0.3))


@pytest.fixture
def mixed_pool(make_pool: MakePool) -> Pool:
    """Return a pool for answers that never end beside others."""
    return make_pool(limits=Limits(deadline_s=2.0))


def test_an_answer_is_compared(pool: Pool) -> None:
    assert pool.ask("1", "1") == ("right", "compared")
    assert pool.ask("1", "2") == ("wrong", "compared")


@pytest.mark.parametrize("text", ["", "\0", "\n", '"', "\ud800", "\u202e1", "😀", "1" * 9_999])
def test_any_text_arrives_as_it_is(pool: Pool, text: str) -> None:
    assert pool.ask(text, text) == ("right", "compared")
    assert pool.ask(text, f"{text}.") == ("wrong", "compared")


@pytest.mark.parametrize(("answer", "why"), HAZARDS.items())
def test_an_answer_that_harms_its_worker_is_undecided(
    make_pool: MakePool, answer: str, why: str
) -> None:
    pool = make_pool(limits=Limits(deadline_s=60, most_resident_bytes=96 << 20))
    assert pool.ask(answer, "1") == ("undecided", why)
    assert pool.ask("1", "1") == ("right", "compared")


@pytest.mark.slow
def test_an_answer_that_never_ends_is_undecided(mixed_pool: Pool) -> None:
    assert mixed_pool.ask("hang", "1") == ("undecided", "too slow")
    assert mixed_pool.ask("1", "1") == ("right", "compared")


def test_what_is_too_long_reaches_no_worker(pool: Pool) -> None:
    long = "1" * (MOST_CHARACTERS + 1)
    assert pool.ask(long, "1") == pool.ask("1", long) == ("undecided", "too long")
    assert pool.stats()["started"] == 0


@pytest.mark.slow
def test_harm_costs_no_other_verdict_from_many_threads(mixed_pool: Pool) -> None:
    good = [(str(n), str(n - n % 2)) for n in range(400)]
    bad = [(f"{kind} {n}", "1") for kind in ("hang", "crash", "swallow") for n in range(4)]
    pairs = random.Random(0).sample(good + bad, len(good) + len(bad))
    with ThreadPoolExecutor(32) as threads:
        answers = threads.map(lambda pair: mixed_pool.ask(*pair), pairs)
        replies = dict(zip(pairs, answers, strict=True))
    assert all(replies[pair][0] == "undecided" for pair in bad)
    assert all(replies[pair][0] == ("right" if pair[0] == pair[1] else "wrong") for pair in good)
    assert len(mixed_pool.stats()["workers"]) <= most_workers() <= 4


def test_a_verdict_is_not_charged_with_what_an_earlier_one_left(make_pool: MakePool) -> None:
    pool = make_pool(limits=Limits(deadline_s=60, most_address_bytes=160 << 20))
    one, *others = ((f"keep {n}", f"keep {n}") for n in range(60, 60 + 3 * most_workers()))
    assert pool.ask(*one) == ("right", "compared")
    assert {pool.ask(*other) for other in others} == {("right", "compared")}


def test_a_verdict_is_remembered(hasty_pool: Pool) -> None:
    for _ in range(3):
        assert hasty_pool.ask("hang", "1") == ("undecided", "too slow")
    assert hasty_pool.stats()["started"] == 1


def test_one_question_at_many_places_is_worked_on_once(hasty_pool: Pool) -> None:
    with ThreadPoolExecutor(16) as threads:
        replies = set(threads.map(lambda _: hasty_pool.ask("hang", "1"), range(16)))
    assert replies == {("undecided", "too slow")}
    assert hasty_pool.stats()["started"] == 1


def test_a_worker_that_is_killed_at_rest_costs_nothing(pool: Pool) -> None:
    pool.ask("1", "1")
    for worker in pool.stats()["workers"]:
        os.kill(worker, signal.SIGKILL)
    assert pool.ask("2", "2") == ("right", "compared")


def test_after_the_server_was_killed_another_answers(pool: Pool) -> None:
    pool.ask("1", "1")
    first = pool.stats()["server"]
    os.kill(first, signal.SIGKILL)
    assert pool.ask("2", "2") == ("right", "compared")
    assert pool.stats()["server"] != first


@pytest.mark.slow
def test_who_asks_while_the_server_is_killed_is_answered_by_the_next(mixed_pool: Pool) -> None:
    server = mixed_pool.stats()["server"]
    hanging = most_workers()
    with ThreadPoolExecutor(8) as threads:
        replies = [threads.submit(mixed_pool.ask, f"{n}", "1") for n in range(200)]
        replies += [threads.submit(mixed_pool.ask, f"hang {n}", "1") for n in range(hanging)]
        os.kill(server, signal.SIGKILL)
        outcomes = [reply.result()[0] for reply in replies]
    assert outcomes == ["wrong", "right", *["wrong"] * 198, *["undecided"] * hanging]


@pytest.mark.parametrize("target", ["hazards:nothing", "nowhere:verify", "hazards:held"])
def test_a_target_that_makes_no_verdicts_is_one_clear_error(
    make_pool: MakePool, target: str
) -> None:
    pool = make_pool(target)
    with pytest.raises(GemError, match=rf"{target}.*cannot be loaded"):
        pool.ask("1", "1")


@pytest.mark.parametrize(
    "line",
    [b"nonsense\n", b"[1, 2]\n", b'["1"]\n', b"{}\n", b"1" * (2 << 20)],
    # pytest puts the id into the environment, and no process starts with 2 MiB in it.
    ids=["words", "numbers", "one", "object", "endless"],
)
def test_nonsense_on_its_socket_harms_nobody_else(pool: Pool, line: bytes) -> None:
    server = pool.stats()["server"]
    place = Place(process_tree.root(), f"{pool.target} {pool.limits}")
    with place.connect() or socket.socket() as stranger:
        try:
            stranger.sendall(line)
            assert stranger.recv(100) == b""
        except OSError:
            pass
    assert pool.ask("1", "1") == ("right", "compared")
    assert pool.stats()["server"] == server
