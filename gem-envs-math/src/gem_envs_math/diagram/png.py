r"""Write an image as PNG, the same bytes on every machine.

Compressors differ between machines and versions, so this has one of its own: rows as differences
from the row above, in which runs are repetitions of the byte before (RFC 1951, fixed codes).
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence

from PIL import Image, ImageChops  # heavy: 0.05 s

__all__ = ["encode"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = b"\x02"  # the filter of a row: differences from the row above
_RUNS = re.compile(rb"(.)\1*", re.DOTALL)
_SHORTEST = 3  # bytes of a repetition, at least
_LONGEST = 258  # and at most
_END = "0000000"
_LAST_FIXED_BLOCK = "110"


def encode(image: Image.Image, palette: Sequence[tuple[int, int, int]]) -> bytes:
    """Return a PNG of an "L" image of even width whose values are numbers of colours, below 16."""
    width, height = image.size
    header = struct.pack(">IIBBBBB", width, height, 4, 3, 0, 0, 0)
    colours = b"".join(map(bytes, palette))
    chunks = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", _zlib(_rows(image))), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


def _rows(image: Image.Image) -> bytes:
    """Return two pixels a byte, each row as its differences from the row above."""
    values = image.tobytes()
    size = (image.width // 2, image.height)
    left = int.from_bytes(values[::2], "big")
    right = int.from_bytes(values[1::2], "big")
    packed = ((left << 4) | right).to_bytes(size[0] * size[1], "big")
    rows = Image.frombytes("L", size, packed)
    above = Image.new("L", size)
    above.paste(rows, (0, 1))
    differences = ImageChops.subtract_modulo(rows, above).tobytes()
    starts = range(0, len(differences), size[0])
    return b"".join(_UP + differences[start : start + size[0]] for start in starts)


def _zlib(content: bytes) -> bytes:
    bits = _LAST_FIXED_BLOCK + "".join(_codes(content)) + _END
    count = (len(bits) + 7) // 8
    deflated = int(bits[::-1], 2).to_bytes(count, "little")  # the first bit is the lowest
    return b"\x78\x01" + deflated + struct.pack(">I", zlib.adler32(content))


def _codes(content: bytes) -> Iterator[str]:
    for run in _RUNS.finditer(content):
        literal = _literal(run.group()[0])
        yield literal
        left = len(run.group()) - 1
        while left >= _SHORTEST:
            length = min(left, _LONGEST)
            yield _repetition(length)
            left -= length
        yield literal * left


def _literal(value: int) -> str:
    return f"{0x30 + value:08b}" if value < 144 else f"{0x190 + value - 144:09b}"


def _repetition(length: int) -> str:
    """Return the code of so many repetitions of the byte before."""
    symbol, extra_bits, extra = _length_symbol(length)
    code = f"{symbol - 256:07b}" if symbol < 280 else f"{0xC0 + symbol - 280:08b}"
    low_first = f"{extra:0{extra_bits}b}"[::-1] if extra_bits else ""
    return f"{code}{low_first}00000"


def _length_symbol(length: int) -> tuple[int, int, int]:
    """Return the symbol of a length, and how many bits follow it with which value."""
    if length == _LONGEST:
        return 285, 0, 0
    offset = length - _SHORTEST
    if offset < 8:
        return 257 + offset, 0, 0
    extra_bits = offset.bit_length() - 3
    return (
        257 + 4 * extra_bits + (offset >> extra_bits),
        extra_bits,
        offset & ((1 << extra_bits) - 1),
    )
