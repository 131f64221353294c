"""What tokens cost: a user's own prices, by model. Knows no price itself, and asks nobody."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gem.errors import problems_of
from gem_eval.errors import SettingsError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Price", "Prices", "how_to_price", "model_of", "price_of", "prices_from"]

_MILLION = 1_000_000
_ADDRESS = re.compile(r"[^:]+:(?P<model>.+?)@https?://.+", re.DOTALL)
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """What a million tokens of prompts and of answers cost, in whatever currency the user has."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    prompt: _Amount
    completion: _Amount

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what so many tokens cost.

        >>> Price(prompt=0.5, completion=2.0).cost(1_000_000, 500_000)
        1.5
        """
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / _MILLION


Prices = Mapping[str, Price]
"""By model, or by the whole name of a policy where the same model costs more elsewhere."""

_PRICES = TypeAdapter(dict[str, Price])


def prices_from(given: str | PathLike[str] | Mapping[str, Any]) -> Prices:
    """Return prices, of a mapping or of a TOML or JSON file. Raises SettingsError.

    >>> prices_from({"my-model": {"prompt": 0.15, "completion": 0.6}})["my-model"].completion
    0.6
    """
    if isinstance(given, (str, PathLike)):
        subject = f"The file {given}"
        plain = _read(Path(given))
    else:
        subject = "The argument prices"
        plain = given
    try:
        return _PRICES.validate_python(plain, strict=True)
    except ValidationError as error:
        problem = problems_of(error)[0]
        raise SettingsError(
            f"{subject} holds no prices: {problem}. {how_to_price('my-model')}", option="prices"
        ) from error


def price_of(policy: str, prices: Prices) -> Price | None:
    """Return the price of a policy by its name; None where there is none.

    >>> prices = prices_from({"m": {"prompt": 1, "completion": 2}})
    >>> price_of("openai:m@http://localhost:8000/v1", prices)
    Price(prompt=1.0, completion=2.0)
    """
    model = model_of(policy)
    price = prices.get(policy)
    if price is None and model is not None:
        price = prices.get(model)
    return price


def model_of(policy: str) -> str | None:
    """Return the model that a policy asks at an address; None where its name tells none."""
    match = _ADDRESS.fullmatch(policy)
    return match["model"] if match else None


def how_to_price(model: str) -> str:
    """Say how a price is written, a TOML table on one line."""
    return (
        f"Write {json.dumps(model)} = {{prompt = 0.15, completion = 0.6}} into a TOML file, with "
        "what a million tokens cost."
    )


def _read(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        what = f"it cannot be read ({error.strerror})"
        raise _unreadable(path, what) from error
    except (ValueError, RecursionError) as error:  # of another format, or not UTF-8
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise _unreadable(path, f"it is not {kind} ({error})") from error


def _unreadable(path: Path, what: str) -> SettingsError:
    return SettingsError(
        f"The file {path} holds no prices: {what}. {how_to_price('my-model')}", option="prices"
    )
