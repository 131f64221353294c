"""Values are read out of a window as out of the whole text, wherever the window ends."""

from __future__ import annotations

import io
import json
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_eval.viewing.json_window import JsonWindow

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def window(text: str, chunk: int) -> JsonWindow:
    line = text.encode()
    return JsonWindow(io.BytesIO(line), len(line), chunk=chunk)


@given(st.lists(VALUES, max_size=6), st.integers(1, 9), st.booleans(), st.sampled_from([None, 1]))
def test_values_and_their_places_are_those_of_the_text(
    values: list[Any], chunk: int, is_ascii: bool, indent: int | None
) -> None:
    text = " ".join(json.dumps(each, ensure_ascii=is_ascii, indent=indent) for each in values)
    read = window(f" {text} ", chunk)
    found = []
    places = []

    while read.next_mark():
        start = read.place
        found.append(read.value())
        places.append((start, read.place))

    line = f" {text} ".encode()
    assert found == values
    assert [json.loads(line[start:end]) for start, end in places] == values


@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_marks_are_taken_with_the_blanks_around_them(chunk: int) -> None:
    read = window(" [ 12 , 3 ] ", chunk)

    read.take("[")
    assert read.value() == 12
    assert not read.takes("]")
    assert read.takes(",")
    assert read.value() == 3
    read.take("]")
    assert read.next_mark() == ""


@pytest.mark.parametrize("text", ['{"a": ', '"half', "[1, 2", "nul", ""])
def test_what_is_cut_off_is_no_value(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of any words
        window(text, 2).value()


def test_a_mark_that_is_missing_is_told_by_its_place() -> None:
    read = window('"\u00e9" x', 1)
    read.value()

    with pytest.raises(ValueError, match=r"'\}' was expected at byte 6"):
        read.take("}")


def test_a_file_that_ends_too_soon_is_no_value() -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of any words
        JsonWindow(io.BytesIO(b"[1, "), 100, chunk=2).value()


def test_no_more_is_kept_than_a_value_is_long() -> None:
    line = json.dumps(["x" * 100] * 1000).encode()
    read = JsonWindow(io.BytesIO(line), len(line), chunk=10)
    longest = 0

    read.take("[")
    while True:
        read.value()
        longest = max(longest, len(read._text))
        if not read.takes(","):
            break

    assert longest < 500


class Encoded:
    """Counts the characters of all texts that are encoded while it is on."""

    def __init__(self) -> None:
        self.characters = 0

    def __enter__(self) -> Encoded:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, _: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ == "encode":
            self.characters += len(called.__self__)


def test_places_in_a_text_that_is_not_ascii_take_linear_time() -> None:
    text = json.dumps(["\u00e9"] * 1000, ensure_ascii=False)
    read = window(text, 1 << 20)
    places = []

    with Encoded() as encoded:
        read.take("[")
        while True:
            read.value()
            places.append(read.place)
            if not read.takes(","):
                break
        read.take("]")

    assert places[:2] == [5, 11]
    # Each character once: where it is asked for the place of each value, that takes no more.
    assert encoded.characters == len(text)
