"""A text is found wherever it was said, a page at a time, and is never a pattern."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from gem import Episode, ImagePart, TextPart, ToolCall, ToolResult
from gem_eval.viewing import searching
from gem_eval.viewing.query import Query
from gem_eval.viewing.runs import Run
from gem_eval.viewing.searching import Searches

from .conftest import Client, append_line, episode, failed, turn, write
from .reading import listed, page, words

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

MakeRun = Callable[..., Run]
Q = "?within=conversations&q="
QUOTED = 'Say "ja" and\n\\go'


def found(run: Run, text: str) -> dict[int, int]:
    search = run.search(Query(q=text, within="conversations"))
    assert search is not None
    assert search.is_done
    return dict(search.turns)


@pytest.fixture
def talk(make_run: MakeRun) -> Run:
    """Return a run of one episode in which everybody says something else."""
    called = turn(
        observation=(TextPart("an apple"), ImagePart(b"\x89PNG\r\n\x1a\npicture")),
        suffix="a banana",
        reasoning="a cherry",
        action="a damson",
        tool_calls=(ToolCall("call-1", "lookup", {"id": "an elderberry", "n": 5}),),
        tool_results=(ToolResult("call-1", "a fig"),),
    )
    return make_run(
        episode(turns=(turn(), called), final_observation="a grape"),
        failed(episode_index=1, error="a hazelnut"),
    )


@pytest.mark.parametrize(
    "text",
    ["apple", "banana", "cherry", "damson", "lookup", "elderberry", "fig", "grape", "an APPLE"],
)
def test_whatever_was_said_is_found_with_its_turn(talk: Run, text: str) -> None:
    assert found(talk, text) == {1: 2}


@pytest.mark.parametrize(
    "text",
    [
        "a.*e",
        "%",
        "observation",
        "tool_calls",
        "call-1",
        "image",
        "iVBOR",
        "user",
        "hazelnut",
        "`",
    ],
)
def test_what_nobody_said_is_not_found(talk: Run, text: str) -> None:
    assert found(talk, text) == {}


@pytest.mark.parametrize("text", ['"ja"', "and\n\\go", "\\go", "größe", "🙂", "\u202e", "<b>"])
def test_a_text_is_found_however_json_writes_it(make_run: MakeRun, text: str) -> None:
    said = f"{QUOTED} GRößE größe 🙂 \u202e <b>"
    run = make_run(episode(), episode(episode_index=1, turns=(turn(action=said),)))
    plain = json.loads(episode(episode_index=2, turns=(turn(action="größe 🙂"),)).to_json())
    append_line(run, json.dumps(plain, ensure_ascii=False) + "\n")
    run.refresh()

    assert 2 in found(run, text)
    assert found(run, "größe") == {2: 1, 3: 1}


def test_a_page_lists_what_was_found_and_leads_to_the_turn(talk: Run) -> None:
    assert listed(talk, f"{Q}cherry") == [1]
    text = page(talk, f"{Q}cherry")
    assert 'href="/runs/run/episodes/1?q=cherry&amp;within=conversations&amp;turn=2#t2"' in text
    assert "Remove the filter “cherry” in conversations" in text
    assert '<option value="conversations" selected>' in text
    assert listed(talk, "?q=cherry") == []
    assert listed(talk, f"{Q}cherry&outcome=error") == []
    neighbour = Client(talk).get(f"/runs/run/episodes/1{Q}cherry").text
    assert "1 of 1" in words(neighbour)


def test_a_search_goes_on_where_the_page_before_it_stopped(make_run: MakeRun) -> None:
    run = make_run(*(episode(episode_index=number) for number in range(5)))
    searches = Searches(run.folder.episodes_path, run.index)

    steps = [searches.search("what now", budget_s=0) for _ in range(7)]

    assert [step.line for step in steps] == [1, 2, 3, 4, 5, 5, 5]
    assert [step.is_done for step in steps] == [False] * 4 + [True] * 3
    assert steps[-1].turns == dict.fromkeys(range(1, 6), 1)


def test_a_page_says_how_far_the_search_is(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(*(episode(episode_index=number) for number in range(3)))
    whole = Searches.search
    monkeypatch.setattr(Searches, "search", lambda self, text: whole(self, text, budget_s=0))

    first = page(run, f"{Q}now")
    second = page(run, f"{Q}now")

    assert "1 of 3 lines searched so far" in words(first)
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in first
    assert "2 of 3 lines searched so far" in words(second)
    assert "searched so far" not in page(run, f"{Q}now")


def test_new_episodes_are_searched_too_and_a_replaced_log_anew(make_run: MakeRun) -> None:
    run = make_run(episode())
    assert found(run, "what now") == {1: 1}
    log = run.folder.episodes_path
    write(log, episode(episode_index=1, turns=(turn(), turn(observation="What NOW"))))
    run.refresh()
    assert found(run, "what now") == {1: 1, 2: 1}

    log.unlink()
    write(log, episode(turns=(turn(observation="Another."),)))
    run.refresh()

    assert found(run, "what now") == {}


def test_an_episode_that_is_larger_than_a_piece_is_searched_in_pieces(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(*(long_episode(place) for place in range(0, 130, 7)), episode(episode_index=200))
    monkeypatch.setattr(searching, "_PIECE", 64)

    assert list(found(run, "needle")) == list(range(1, 20))
    assert found(run, "no needles") == {}


def long_episode(place: int) -> Episode:
    return episode(episode_index=place, turns=(turn(action=f"{'x' * place}needle{'y' * 200}"),))


def test_a_log_that_cannot_be_read_is_named(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(episode())
    run.folder.episodes_path.rename(tmp_path / "elsewhere")

    assert "No such file or directory" in page(run, f"{Q}now")
    assert listed(run, f"{Q}now") == []


def test_a_line_that_changed_meanwhile_is_not_found(make_run: MakeRun) -> None:
    run = make_run(episode())
    log = run.folder.episodes_path
    log.write_bytes(b"What now?".ljust(log.stat().st_size, b"?"))

    assert found(run, "what now") == {}


def test_a_query_of_conversations_comes_back_from_its_address() -> None:
    query = Query(q="x", within="conversations")

    assert Query.read(query.pairs()) == query
    assert query.filters() == ["q"]
    assert Query.read([("q", "x"), ("within", "elsewhere")]) == Query(q="x")
    assert Query(within="conversations").conversation_text == ""


def test_a_whole_error_is_an_address_and_no_search_of_conversations(make_run: MakeRun) -> None:
    run = make_run(failed(error="cherry"), episode(episode_index=1, policy="cherry"))
    query = Query(q="cherry", within="error")

    assert Query.read(parse_qsl(query.address()[1:])) == query
    assert run.search(query) is None
    assert listed(run, query.address()) == [1]
    assert "“cherry” is the error" in page(run, query.address())
