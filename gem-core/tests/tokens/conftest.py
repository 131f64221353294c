"""What the tests of tokens share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from .templates import tokenizer_with


@pytest.fixture(scope="session")
def tokenizer_of() -> Callable[..., Any]:
    """Return a function that gives the tokenizer with a template, of a model or of the test."""
    pytest.importorskip("transformers")
    return cache(tokenizer_with)
