"""The page of an episode: turn by turn what happened, as text, however it was written."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from gem import ImagePart, Message, TextPart, ToolCall, ToolResult
from gem.conversation import Usage
from gem_eval.viewing.runs import Run

from .conftest import Client, append_line, episode, failed, turn

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")


MakeRun = Callable[..., Run]

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = "</div><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x00 {{ 7*7 }}"


def page(run: Run, line: int = 1, query: str = "") -> str:
    answer = Client(run).get(f"/runs/run/episodes/{line}{query}")
    assert answer.status_code == 200, answer.text
    return answer.text


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def shown_turns(text: str) -> list[int]:
    return [int(number) for number in re.findall(r'<article class="turn" id="t(\d+)"', text)]


def test_a_turn_shows_all_that_was_recorded(make_run: MakeRun) -> None:
    played = turn(
        observation="The board:\n. X\n X .",
        suffix="Your move.",
        reasoning="one two three",
        action="I say \\boxed{b2}",
        reward=0.5,
        reward_parts={"win": 0.75, "step": -0.25},
        info={"hint": "warm"},
        seat=1,
        usage=Usage(1234, 56),
        policy_s=1.5,
        step_s=0.0042,
        finish_reason="length",
    )
    run = make_run(episode(turns=(played,), total_reward=0.5), total=1)

    text = words(page(run))

    for part in (
        "Turn 1 +0.5 = win +0.75, step \N{MINUS SIGN}0.25 seat 1 cut by a limit of tokens",
        "1,234 + 56 tokens · policy 1.5 s · environment 4.2 ms",
        "Your move.",
        "Reasoning · 3 words, not sent to the environment one two three",
        "I say \\boxed{b2}",
        'Info {"hint": "warm"}',
        "End terminated Environment Well done.",
        "Succeeded after 1 turn, return 0.500; ended by its task",
        "arguments highest 15",
        "seed 1234567890123",
        "line 1 of episodes.jsonl",
    ):
        assert part in text
    assert '<code class="board">. X\n X .</code>' in page(run)
    assert '<span class="parsed" title="the last boxed answer">\\boxed{b2}</span>' in page(run)


def test_a_box_with_braces_is_marked_and_listed_as_a_whole(make_run: MakeRun) -> None:
    answer = r"Not \boxed{3}, but \boxed{\frac{1}{2}}"
    run = make_run(episode(turns=(turn(action=answer),)))

    text = page(run)

    assert r'title="the last boxed answer">\boxed{\frac{1}{2}}</span>' in text
    assert r'class="mono">\frac{1}{2}</a>' in text


def test_of_a_very_long_answer_a_box_near_its_end_is_listed(make_run: MakeRun) -> None:
    opened = r"\boxed{" + "{" * 200_000  # what is open there still holds all that follows
    near = rf"{opened} \boxed{{\frac{{1}}{{2}}}} and on"
    far = rf"\boxed{{7}}, {'x' * 100_000}"
    run = make_run(episode(turns=(turn(action=near), turn(action=far))))

    text = page(run)

    assert r'class="mono">\frac{1}{2}</a>' in text
    assert r'class="mono">\boxed{7}, xxxxxxxxxx…</a>' in text


def test_of_an_answer_that_is_cut_no_box_is_marked(make_run: MakeRun) -> None:
    answer = "x" * 2_000 + "\\boxed{3} " + "x" * 50_000 + " \\boxed{4}"
    run = make_run(episode(turns=(turn(action=answer),)))

    text = page(run)

    assert "the last boxed answer" not in text
    assert 'class="mono">4</a>' in text


def test_calls_of_tools_have_their_results(make_run: MakeRun) -> None:
    calls = (ToolCall("a", "add", {"x": 1}), ToolCall("b", "fail", {}), ToolCall("c", "lost", {}))
    results = (ToolResult("a", "two"), ToolResult("b", "no such thing", is_error=True))
    first = turn(action="", tool_calls=calls, tool_results=results)
    run = make_run(episode(turns=(first, turn(observation="two\nno such thing"))))

    text = page(run)

    assert "No text, only calls." in text
    assert "Tool add(x=1) → two two" in words(text)
    assert "Tool fail() failed no such thing" in words(text)
    assert "Tool lost() no result" in words(text)
    assert text.count('<details class="fold call" open>') == 1
    assert "tool error" in text
    # What tools answered is said once, and not again as what the next turn begins with.
    assert text.count("no such thing") == 1
    assert "add(…)" in text


def test_messages_have_their_roles(make_run: MakeRun) -> None:
    talk = (Message("system", "Be brief."), Message("user", "Hello"), Message("tool", "42"))
    run = make_run(episode(turns=(turn(observation=talk, suffix="Go."), turn(observation=talk[0]))))

    text = words(page(run))

    assert "System Be brief. Environment Hello Tool 42 Go." in text


def test_many_messages_and_calls_are_cut_and_counted(make_run: MakeRun) -> None:
    talk = [Message("user", f"m{number}") for number in range(50)]
    calls = tuple(ToolCall(str(number), "again", {"text": "x" * 500}) for number in range(50))
    run = make_run(episode(turns=(turn(observation=talk, tool_calls=calls),)))

    text = words(page(run))

    assert "10 more messages are left out here" in text
    assert "10 more calls are left out here" in text


def test_an_empty_answer_is_called_one(make_run: MakeRun) -> None:
    assert "An empty answer." in page(make_run(episode(turns=(turn(action=""),))))


def test_long_text_is_folded_and_text_without_end_is_cut(make_run: MakeRun) -> None:
    run = make_run(episode(turns=(turn(observation="a" * 5000, action="b" * 1_000_000),)))

    text = page(run)

    assert "3,500 more characters" in text
    assert "960,000 characters are left out here" in text
    assert text.count("b") < 50_000
    assert Client(run).get("/runs/run/episodes/1/turns/1").json()["action"] == "b" * 1_000_000


def test_images_are_shown_by_an_address_of_their_own(make_run: MakeRun) -> None:
    parts = (TextPart("Look:"), ImagePart(PNG), ImagePart(b"\xff\xd8\xff..", "image/jpeg"))
    seen = (Message("system", "Be brief."), Message("user", parts))
    run = make_run(episode(turns=(turn(), turn(observation=seen, suffix="What is it?"))))

    text = page(run)
    answer = Client(run).get("/runs/run/episodes/1/turns/2/images/0")

    assert text.count('src="/runs/run/episodes/1/turns/2/images/') == 2
    assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
    assert "What is it?" in text


@pytest.mark.parametrize(
    "image",
    [
        ImagePart(b"<svg onload='alert(1)'/>", "image/svg+xml"),
        ImagePart(b"<script>alert(1)</script>", "text/html"),
        ImagePart(b"<script>alert(1)</script>", "image/png"),
    ],
)
def test_an_image_that_is_none_is_never_sent(make_run: MakeRun, image: ImagePart) -> None:
    run = make_run(episode(turns=(turn(observation=(image,)),), final_observation=(image,)))

    assert f"an image of type {image.media_type}, not shown" in words(page(run))
    assert Client(run).get("/runs/run/episodes/1/turns/1/images/0").status_code == 404
    assert Client(run).get("/runs/run/episodes/1/turns/1/images/7").status_code == 404


def test_an_error_is_told_where_it_happened_and_is_no_failure(make_run: MakeRun) -> None:
    run = make_run(
        failed(turns=(turn(),), error="RuntimeError: <b>503</b>\n  more"), failed(repeat=1)
    )

    text = words(page(run))

    assert "It ended here, by a failure of the policy. The episode counts under errors" in text
    assert "RuntimeError: <b>503</b> more" in text
    assert "Failed" not in text
    assert "No last observation was recorded." in text
    assert "No turn was played." in words(page(run, 2))


@pytest.mark.parametrize("where", ["observation", "suffix", "action", "reasoning"])
def test_hostile_text_of_a_turn_is_text(make_run: MakeRun, where: str) -> None:
    run = make_run(episode(turns=(turn(**{where: HOSTILE}),)))

    assert_harmless(page(run))


def test_hostile_text_anywhere_is_text(make_run: MakeRun) -> None:
    bad: dict[str, Any] = {
        "policy": HOSTILE,
        "env_kwargs": {HOSTILE: HOSTILE},
        "versions": {HOSTILE: HOSTILE},
        "wrappers": ({"id": HOSTILE, "kwargs": {}}, {"id": "x", "kwargs": {HOSTILE: 1}}),
        "final_observation": HOSTILE,
    }
    played = turn(
        reward_parts={HOSTILE: 1.0, "b": 2.0},
        info={HOSTILE: HOSTILE},
        tool_calls=(ToolCall("1", HOSTILE, {HOSTILE: HOSTILE}),),
        tool_results=(ToolResult("1", HOSTILE),),
        finish_reason=HOSTILE,
    )
    run = make_run(
        episode(turns=(played,), **bad), failed(error=HOSTILE, **bad), policies=["solver"], total=3
    )

    asked = quote(HOSTILE)
    for path in ("/runs/run", f"/runs/run?policy={asked}", f"/runs/run?q={asked}"):
        assert_harmless(Client(run).get(path).text)
    for line in (1, 2):
        assert_harmless(page(run, line))
    assert_harmless(Client(run).get(f"/runs/{quote(HOSTILE.replace('/', ''))}").text)


def assert_harmless(text: str) -> None:
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "</div><script" not in text
    assert "\u202e" not in text
    assert "\x00" not in text
    assert "U+202E" in text
    assert "{{ 7*7 }}" in text  # of the templates' own language


def test_what_no_encoding_can_write_is_named(make_run: MakeRun) -> None:
    run = make_run(episode(turns=(turn(action="half \ud83d"),)))

    assert 'half <span class="ctl">U+D83D</span>' in page(run)
    assert Client(run).get("/runs/run/episodes/1/turns/1").json()["action"] == "half \ud83d"


def test_a_hidden_character_that_is_repeated_without_end_is_counted(make_run: MakeRun) -> None:
    run = make_run(episode(turns=(turn(action="go" + "\u200b" * 1000 + "\x00\x00on"),)))

    text = page(run)

    nothing = '<span class="ctl">U+0000</span>'
    assert f'go<span class="ctl">1,000 times U+200B</span>{nothing}{nothing}on' in text


@pytest.mark.parametrize(
    ("hidden", "label"),
    [
        ("\u200b\u200c" * 500, "1,000 hidden characters: U+200B, U+200C"),
        ("\u200b\u200b\u200b\u200b\x00" * 60, "300 hidden characters: U+200B, U+0000"),
        ("\u200b\u200c\u200d\u200e\u200f" * 40, "200 hidden characters of 5 kinds"),
    ],
)
def test_hidden_characters_without_end_are_counted_together(
    make_run: MakeRun, hidden: str, label: str
) -> None:
    run = make_run(episode(turns=(turn(action=f"go{hidden}on"),)))

    assert f'go<span class="ctl">{label}</span>on' in page(run)


def test_a_few_hidden_characters_in_a_row_have_marks_of_their_own(make_run: MakeRun) -> None:
    run = make_run(episode(turns=(turn(action="go" + "\u200b\u200c" * 50 + "on"),)))

    marks = '<span class="ctl">U+200B</span><span class="ctl">U+200C</span>' * 50
    assert f"go{marks}on" in page(run)


def test_an_episode_of_many_turns_is_shown_in_pages(make_run: MakeRun) -> None:
    turns = tuple(turn(action=f"move {number}", reward=1.0) for number in range(1, 131))
    run = make_run(episode(turns=turns))

    first = page(run)
    second = page(run, query="?turn=60&policy=solver")
    last = page(run, query="?turn=999999")

    assert shown_turns(first) == list(range(1, 51))
    assert shown_turns(second) == list(range(51, 101))
    assert shown_turns(last) == list(range(101, 131))
    assert 'href="/runs/run/episodes/1?policy=solver&amp;turn=50#t50">Turns 1 to 50</a>' in second
    assert 'href="/runs/run/episodes/1?policy=solver&amp;turn=101#t101"' in second
    assert 'id="t60" data-turn="60" aria-labelledby="h60" aria-current="step"' in second
    assert "60.00" in words(second)  # the return so far goes on from page to page
    assert "Well done." not in second
    assert "Well done." in last
    assert Client(run).get("/runs/run/episodes/1/turns/77").json()["action"] == "move 77"


@pytest.mark.parametrize("asked", ["0", "x", "9" * 30, "-3"])
def test_a_turn_that_makes_no_sense_is_the_first(make_run: MakeRun, asked: str) -> None:
    run = make_run(episode(turns=(turn(),) * 60))

    assert shown_turns(page(run, query=f"?turn={asked}"))[0] == 1


def test_neighbours_are_those_of_the_filtered_list(make_run: MakeRun) -> None:
    run = make_run(
        *(episode(episode_index=n, success=n % 2 == 0, total_reward=float(n)) for n in range(5))
    )

    text = page(run, 3, "?outcome=succeeded&sort=-return")

    assert "2 of 3 of the filtered list" in words(text)
    assert (
        'id="previous" rel="prev" href="/runs/run/episodes/5?outcome=succeeded&amp;sort=-return"'
        in text
    )
    assert (
        'id="next" rel="next" href="/runs/run/episodes/1?outcome=succeeded&amp;sort=-return"'
        in text
    )
    assert 'href="/runs/run?outcome=succeeded&amp;sort=-return" id="up"' in text


def test_an_episode_out_of_the_list_has_no_neighbours(make_run: MakeRun) -> None:
    run = make_run(episode(), failed(episode_index=1))

    assert "rel=" not in page(run, 1, "?outcome=error").partition("<main")[2]


def test_the_other_policies_on_the_same_seed_are_linked(make_run: MakeRun) -> None:
    run = make_run(episode(), episode(policy="random", success=False), episode(episode_index=1))

    text = page(run)

    assert re.search(r'aria-label="failed".*<a href="/runs/run/episodes/2"', text, re.DOTALL)
    assert "/runs/run/episodes/3" not in text.partition("Same seed")[2]


def test_a_try_that_does_not_count_says_so(make_run: MakeRun) -> None:
    run = make_run(failed(), episode())

    assert "another try of this episode counts" in page(run, 1)
    assert "another try" not in page(run, 2)


def test_a_turn_that_cannot_be_read_spoils_no_other(make_run: MakeRun) -> None:
    plain = json.loads(episode(turns=(turn(action="one"), turn(), turn(action="three"))).to_json())
    plain["turns"][1] = {"reward": 1.0, "action": "x"}
    plain["turns"].insert(0, {**plain["turns"][0], "action": 5})
    plain["final_observation"] = {"nonsense": 1}
    run = make_run()
    append_line(run, plain)
    run.refresh()

    text = words(page(run))

    assert "This turn cannot be read. KeyError: 'observation'" in text
    assert "This turn cannot be read. TypeError: text was expected, and this is int" in text
    assert "one" in text
    assert "three" in text
    assert "No last observation was recorded." in text


@pytest.mark.parametrize("total", [float("nan"), float("inf"), -1e308])
def test_numbers_that_are_none_break_nothing(make_run: MakeRun, total: float) -> None:
    plain = json.loads(episode(turns=(turn(reward=1.0),)).to_json())
    plain["turns"][0]["reward"] = float("nan")
    plain["total_reward"] = total
    plain["duration_s"] = float("nan")
    run = make_run()
    append_line(run, plain)
    run.refresh()

    assert Client(run).get("/runs/run").status_code == 200
    assert Client(run).get("/runs/run?sort=return").status_code == 200
    assert page(run)


def test_an_environment_that_the_run_does_not_list_is_shown(make_run: MakeRun) -> None:
    run = make_run(episode(env_index=7), failed(env_index=7, episode_index=1))

    assert "environment 7" in page(run)
    assert "environment 7" in Client(run).get("/runs/run?env=7").text


@pytest.mark.parametrize(
    "path",
    [
        "/runs/run/episodes/2",
        "/runs/run/episodes/99999999999999999999999",
        f"/runs/run/episodes/{'9' * 5000}",
        f"/runs/run/episodes/{'9' * 5000}/tokens",
        f"/runs/run/episodes/1/turns/{'9' * 5000}",
        "/runs/run/episodes/first",
        "/runs/run/episodes/1/turns/0",
        "/runs/run/episodes/1/turns/2",
        "/runs/run/episodes/5/turns/1",
    ],
)
def test_an_episode_or_turn_that_is_not_there_is_not_found(make_run: MakeRun, path: str) -> None:
    run = make_run(episode())

    answer = Client(run).get(path)

    assert answer.status_code == 404
    assert "has no such episode or turn" in answer.text


def test_a_log_that_went_away_is_told(make_run: MakeRun) -> None:
    run = make_run(episode())
    run.folder.episodes_path.unlink()

    for path in ("", "/turns/1", "/turns/1/images/0"):
        answer = Client(run).get(f"/runs/run/episodes/1{path}")
        assert answer.status_code == 503
        assert "The log may have changed." in answer.text


def test_tasks_and_repeats_are_told(make_run: MakeRun) -> None:
    run = make_run(
        episode(task=4, repeat=1, wrappers=({"id": "tools", "kwargs": {"n": [1]}}, "odd"))
    )

    text = words(page(run))

    assert "no. 0, repeat 1" in text
    assert "task 4" in text
    assert 'wrappers id tools, kwargs {"n": [1]}, "odd"' in text
