"""An address says what is shown, whatever stands in it."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_eval.viewing.query import Query

WHOLE = Query(
    outcome=("failed",),
    env=(0, 2),
    policy=("openai:a/b@http://localhost:1/v1", "ö & é"),
    stop=("max_turns",),
    q='"50%" + more',
    return_min=-0.5,
    return_max=1.0,
    turns_min=2.0,
    turns_max=30.0,
    sort="-return",
    page=3,
    upto=17,
)


def read(address: str) -> Query:
    return Query.read(parse_qsl(address.removeprefix("?"), keep_blank_values=True))


@pytest.mark.parametrize("query", [Query(), WHOLE])
def test_an_address_holds_everything(query: Query) -> None:
    assert read(query.address()) == query


def test_a_changed_filter_leads_to_the_first_page() -> None:
    assert read(WHOLE.address(q="")).page == 1
    assert read(WHOLE.address(page=4)).page == 4


def test_filters_are_named_and_removed_one_by_one() -> None:
    query = WHOLE
    for name in WHOLE.filters():
        query = query.without(name)

    assert WHOLE.filters() == ["outcome", "env", "policy", "stop", "q", "return", "turns"]
    assert query.is_filtered is False
    assert WHOLE.cleared() == Query(sort="-return", upto=17)


@pytest.mark.parametrize(
    "address",
    [
        "?env=x&page=-1&turns_min=&return_max=nan&sort=length&outcome=nonsense",
        "?page=99999999999999999999999999&env=99999999999999999999999",
        "?env=9223372036854775808&upto=1.5&return_min=inf",
    ],
)
def test_what_makes_no_sense_is_left_out(address: str) -> None:
    assert read(address) == Query()


def test_a_filter_has_no_more_values_than_a_page_can_link() -> None:
    address = "?" + "&".join(f"policy=p{number}&env={number}" for number in range(3000))

    query = read(address)

    assert query.policy == tuple(f"p{number}" for number in range(100))
    assert query.env == tuple(range(1000))


def test_a_page_that_is_far_away_is_a_page() -> None:
    assert read("?page=9000000000000000000").page == 1 << 40


@given(st.lists(st.tuples(st.sampled_from([*Query.__dataclass_fields__]), st.text())))
def test_no_address_breaks_it(pairs: list[tuple[str, str]]) -> None:
    query = Query.read(pairs)

    assert read(query.address()) == query
