from __future__ import annotations

from gem.parsing import Malformed, ParsedCall, Tags

TAGS = Tags({"python": "code", "search": "query"})


def test_calls_come_in_order_with_their_places_and_the_text_around() -> None:
    text = "First <search> gem </search>, then\n<python>\nprint(1)\n</python>."

    found = TAGS.parse(text)

    assert found.calls == (
        ParsedCall("call_0", "search", {"query": "gem"}, (6, 28)),
        ParsedCall("call_1", "python", {"code": "print(1)"}, (35, 62)),
    )
    assert found.text == "First , then\n."
    assert text[6:28] == "<search> gem </search>"


def test_tags_in_a_tag_are_part_of_what_it_holds() -> None:
    code = 'print("<search>a</search> <think> <python>")'

    assert [each.arguments for each in TAGS.parse(f"<python>{code}</python>").calls] == [
        {"code": code}
    ]


def test_a_tag_that_is_not_closed_is_an_error_and_ends_the_reading() -> None:
    found = TAGS.parse("<search>a</search> <python>print(1) <search>b</search>")

    assert [each.name for each in found.calls] == ["search"]
    assert found.errors == (
        Malformed("call_1", "unclosed", "<python> is not closed by </python>.", "python", (19, 54)),
    )
    assert found.text == " "


def test_unknown_tags_attributes_and_lone_ends_are_text() -> None:
    text = "<bash>ls</bash> <python version='3'>1</python> </search>"

    found = TAGS.parse(text)

    assert (found.found, found.text) == ((), text)


def test_names_are_taken_as_they_are_spelled() -> None:
    tags = Tags({"a.b": "x"})

    assert tags.parse("<aXb>1</aXb>").calls == ()
    assert tags.parse("<a.b>1</a.b>").calls[0].arguments == {"x": "1"}


def test_without_tools_nothing_is_a_call() -> None:
    assert Tags({}).parse("<python>1</python> <>a</>").found == ()


def test_an_empty_call_is_a_call() -> None:
    assert TAGS.parse("<search></search>").calls[0].arguments == {"query": ""}


def test_a_lone_surrogate_is_replaced() -> None:
    assert TAGS.parse("<search>\ud800</search>").calls[0].arguments == {"query": "\ufffd"}


def test_a_call_in_a_final_answer_is_a_call() -> None:
    assert len(TAGS.parse(r"\boxed{<search>a</search>}").calls) == 1
