from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gem_eval import SettingsError
from gem_eval.prices import model_of, price_of, prices_from

PRICE = {"prompt": 0.15, "completion": 0.6}
NAME = "openai:org/my-model@https://models.example/v1"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("prices.toml", '"org/my-model" = {prompt = 0.15, completion = 0.6}'),
        ("prices.json", '{"org/my-model": {"prompt": 0.15, "completion": 0.6}}'),
    ],
)
def test_a_file_has_prices_by_model(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)

    prices = prices_from(file)

    assert prices == prices_from(str(file)) == prices_from({"org/my-model": PRICE})
    price = price_of(NAME, prices)
    assert price is not None
    assert price.cost(2_000_000, 1_000_000) == pytest.approx(0.9)


def test_the_whole_name_of_a_policy_goes_before_its_model() -> None:
    prices = prices_from({"org/my-model": PRICE, NAME: {"prompt": 1, "completion": 2}})

    price = price_of(NAME, prices)

    assert price is not None
    assert price.completion == 2.0


@pytest.mark.parametrize("name", ["random", "scripted:my.module:Policy", "openai:nobody"])
def test_a_policy_that_names_no_model_has_no_price(name: str) -> None:
    assert model_of(name) is None
    assert price_of(name, prices_from({"nobody": PRICE})) is None


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("prices.toml", "my-model = ", "not TOML"),
        ("prices.json", "{", "not JSON"),
        ("prices.json", "[" * 100_000, "not JSON"),
        ("prices.json", "[]", "valid dictionary"),
        ("prices.toml", "my-model = {prompt = 1}", "my-model.completion: Field required"),
        ("prices.toml", "my-model = {prompt = '1', completion = 1}", "my-model.prompt"),
        ("prices.toml", "my-model = {prompt = -1, completion = 1}", "greater than or equal to 0"),
        ("prices.json", '{"my-model": {"prompt": NaN, "completion": 1}}', "finite number"),
    ],
)
def test_a_file_without_prices_is_told(tmp_path: Path, name: str, text: str, what: str) -> None:
    file = tmp_path / name
    file.write_text(text)

    with pytest.raises(SettingsError) as caught:
        prices_from(file)

    said = str(caught.value)
    assert what in said
    assert said.startswith(f"The file {file} holds no prices: ")
    assert said.endswith(
        'Write "my-model" = {prompt = 0.15, completion = 0.6} into a TOML file, with what a '
        "million tokens cost."
    )


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match="not TOML"):
        prices_from(tmp_path / "prices.toml")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        prices_from(tmp_path / "prices.toml")


@pytest.mark.parametrize("given", [{"my-model": 3}, {3: PRICE}])
def test_what_is_no_price_is_told(given: dict[Any, Any]) -> None:
    with pytest.raises(SettingsError, match="The argument prices holds no prices: "):
        prices_from(given)
