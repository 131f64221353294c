from __future__ import annotations

from gem_envs_math.pool.cache import Cache, Pair

REPLY = ("right", "compared")


def pair(number: int, size: int = 100) -> Pair:
    return Pair(f"{number:0{size}}", "1")


def test_what_is_asked_for_least_lately_goes_first() -> None:
    cache = Cache(most_bytes=2000)
    cache[pair(1)] = cache[pair(2)] = REPLY
    assert cache.get(pair(1)) == REPLY
    cache[pair(3)] = cache[pair(4)] = REPLY
    assert [number for number in range(1, 5) if cache.get(pair(number))] == [1, 4] or [
        number for number in range(1, 5) if cache.get(pair(number))
    ] == [1, 3, 4]
    assert cache.get(pair(2)) is None


def test_it_holds_no_more_bytes_than_it_may() -> None:
    cache = Cache(most_bytes=1 << 20)
    for number in range(10_000):
        cache[pair(number, size=1000)] = REPLY
    assert 500 < len(cache) < 1000


def test_what_is_larger_than_all_of_it_is_not_kept() -> None:
    cache = Cache(most_bytes=2000)
    cache[pair(1, size=5000)] = REPLY
    assert len(cache) == 0


def test_a_pair_that_comes_again_takes_no_more() -> None:
    cache = Cache(most_bytes=2000)
    for _ in range(100):
        cache[pair(1)] = REPLY
    cache[pair(2)] = REPLY
    assert len(cache) == 2
