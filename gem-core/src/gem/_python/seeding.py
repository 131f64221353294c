"""Turn seeds and keys into independent streams of chance. Knows nothing about environments.

Everything is keyed, never counted: a stream depends on its keys alone, so no order of work,
no number of workers and no other stream can change it.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from hashlib import blake2b

__all__ = ["episode_seed", "key_seed", "seeds_under", "stream"]

_LONG_BITS = 1024  # of an int; a longer one is spelt in hexadecimal


def key_seed(*keys: int | str) -> int:
    """Hash keys into a seed in [0, 2**63). Deterministic across processes and versions.

    Any int is a valid key, negative, huge and numpy's own ones too; `1` and `"1"` differ.

    >>> key_seed(0, "a") == key_seed(0, "a")
    True
    >>> len({key_seed(1), key_seed(-1), key_seed("1")})
    3
    """
    return _hashed(f"({', '.join(map(_spelt, keys))})".encode())


def seeds_under(*keys: int | str) -> Callable[[int], int]:
    """Return `key_seed` with all keys but the last given, for a quarter of its time.

    >>> seeds_under("policy", 7)(3) == key_seed("policy", 7, 3)
    True
    """
    # What `key_seed` hashes is the text "(key, key, last)": this is all of it but the last.
    prefix = "".join(f"{_spelt(key)}, " for key in keys)
    known = f"({prefix}".encode()

    def seed(key: int) -> int:
        if type(key) is int and key.bit_length() < _LONG_BITS:  # as nearly all are
            return _hashed(known + b"%d)" % key)
        return _hashed(known + f"{_spelt(key)})".encode())

    return seed


def _hashed(text: bytes) -> int:
    # One bit is dropped: a signed 64-bit integer, as arrays and other programs have, holds it.
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1


def _spelt(key: int | str) -> str:
    # Seeds of every recorded episode come from these spellings: none of them ever changes.
    if type(key) is not int:
        if isinstance(key, str):
            return repr(str(key))  # which escapes a lone surrogate, so that UTF-8 can hold it
        key = int(operator.index(key))
    # Python refuses to spell very long numbers in decimal, and how long depends on a setting.
    return str(key) if key.bit_length() < _LONG_BITS else hex(key)


def episode_seed(run_seed: int, env_index: int, episode_index: int) -> int:
    """Seed one episode of a run. `env_index` is the position in the list of environments.

    >>> episode_seed(0, 0, 0) == episode_seed(0, 0, 1)
    False
    """
    return key_seed("episode", run_seed, env_index, episode_index)


def stream(*keys: int | str) -> random.Random:
    """Return a generator that the keys alone determine, independent of every other stream.

    >>> stream(7, "deal").random() == stream(7, "deal").random()
    True
    """
    return random.Random(key_seed(*keys))
