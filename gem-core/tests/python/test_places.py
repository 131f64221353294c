"""The place of an error: the line that its author would look at."""

from __future__ import annotations

import random
import sysconfig
import traceback
from pathlib import Path

import pytest

from gem._python.places import Place, place_of, telling_place, text_with_place
from gem._python.quantities import check_timeout
from gem.errors import BadArguments, text_of

LIBRARY = Path(sysconfig.get_path("stdlib"))


def raised_by(code: str, path: str) -> Exception:
    """Return what a file of that path and text raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any
        exec(compile(code, path, "exec"), {"random": random})  # noqa: S102 - of this file
    return caught.value


def test_the_place_is_in_the_authors_file_and_not_in_the_library_that_it_called() -> None:
    error = raised_by("def pose():\n    random.randrange(0)\n\npose()", "/packs/words.py")

    assert place_of(error) == "words.py, line 2, in pose"


def test_the_place_is_in_the_authors_file_and_not_in_this_package() -> None:
    code = "from gem._python.quantities import check_timeout\ncheck_timeout('x', -1)"

    assert place_of(raised_by(code, "words.py")) == "words.py, line 2, in <module>"


def test_a_pack_that_is_installed_below_the_library_is_an_authors() -> None:
    path = str(LIBRARY / "site-packages" / "acme" / "env.py")

    assert place_of(raised_by("random.randrange(0)", path)) == "env.py, line 1, in <module>"


def test_a_line_of_this_package_is_named_where_there_is_no_other() -> None:
    with pytest.raises(BadArguments) as caught:
        check_timeout("wait", -1)
    error = caught.value
    assert error.__traceback__ is not None

    # Without the first frame, which is this test's own.
    inner = error.with_traceback(error.__traceback__.tb_next)

    [*_, last] = traceback.extract_tb(inner.__traceback__)
    assert place_of(inner) == f"quantities.py, line {last.lineno}, in {last.name}"


def test_what_was_never_raised_has_no_place() -> None:
    assert place_of(ValueError("odd")) == ""


def test_code_without_a_file_is_nobodys() -> None:
    places = [Place("/packs/words.py", 3, "step"), Place("<string>", 1, "__init__")]

    assert telling_place(places) == places[0]


def test_a_record_has_the_authors_line() -> None:
    error = raised_by("x = 1\nfail()", "/packs/words.py")

    assert text_with_place(error) == (
        "NameError: name 'fail' is not defined (words.py, line 2, in <module>)"
    )


def test_a_text_of_several_lines_has_the_place_on_its_own() -> None:
    error = raised_by("raise ValueError('first\\nsecond')", "/packs/words.py")

    assert text_with_place(error) == ("ValueError: first\nsecond\n(words.py, line 1, in <module>)")


def test_a_record_has_no_place_of_this_package_or_of_an_error_that_says_what_to_do() -> None:
    with pytest.raises(BadArguments) as caught:
        check_timeout("limit", -1.0)

    assert text_with_place(caught.value) == text_of(caught.value)
    assert text_with_place(KeyError("k")) == "KeyError: 'k'"
    assert text_with_place(raised_by("1 / 0", str(LIBRARY / "random.py"))).startswith("Zero")
