"""What is written is read back by others, pixel by pixel."""

from __future__ import annotations

import zlib
from io import BytesIO
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

Image = pytest.importorskip("PIL.Image", reason="the extra `visual` is not installed")
from gem_envs_math.diagram.png import _zlib, encode  # noqa: E402 - it imports Pillow

PALETTE = [(17 * n, 255 - 17 * n, n) for n in range(16)]


# A seed stands for the pixels: drawn one by one they are often more than hypothesis takes.
@given(st.integers(1, 30), st.integers(1, 30), st.integers(0))
def test_an_image_is_read_back_as_it_was(half: int, height: int, seed: int) -> None:
    width = 2 * half
    values = bytes(Random(seed).choices((0, 0, 0, 7, 15), k=width * height))
    written = encode(Image.frombytes("L", (width, height), values), PALETTE)
    again = Image.open(BytesIO(written)).convert("RGB")
    assert again.tobytes() == b"".join(bytes(PALETTE[value]) for value in values)


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(1, 700)), max_size=20))
def test_what_is_deflated_is_inflated_by_zlib(runs: list[tuple[int, int]]) -> None:
    content = b"".join(bytes([value]) * count for value, count in runs)
    assert zlib.decompress(_zlib(content)) == content


def test_a_run_of_any_length_comes_back() -> None:
    runs = [b"\x00" * length for length in range(1, 600)]
    assert [zlib.decompress(_zlib(run)) for run in runs] == runs
