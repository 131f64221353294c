"""The page that compares: the verdict of `gem-env compare`, flips, episodes side by side."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable

import pytest

from gem_eval import compare
from gem_eval.viewing import compared
from gem_eval.viewing.runs import Run

from .conftest import Client, append_line, episode, failed, turn, write

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

MakeRun = Callable[..., Run]
HOSTILE = "<script>alert(1)</script>\u202e"


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def played(run: Run, number: int, *actions: str, **changes: object) -> None:
    """Add an episode of some actions, of a seed of its own."""
    turns = tuple(turn(action=action) for action in actions)
    usual = {"episode_index": number, "seed": 1000 + number, "turns": turns}
    write(run.folder.episodes_path, episode(**{**usual, **changes}))


@pytest.fixture
def mixed(make_run: MakeRun) -> Run:
    """Return a run of which the random policy lost 12 tasks and gained one."""
    run = make_run(policies=["solver", "random"])
    for number in range(20):
        played(run, number, "same", "a", success=number != 0)
        played(run, number, "same", "b", success=number in {0, *range(13, 20)}, policy="random")
    write(run.folder.episodes_path, failed(episode_index=99, seed=5, policy="random"))
    write(run.folder.episodes_path, episode(episode_index=99, seed=5))
    run.refresh()
    return run


def test_the_verdict_is_that_of_the_command(mixed: Run) -> None:
    difference = compare(mixed.folder.path).differences[0]

    text = words(Client(mixed).get("/compare").text)

    assert difference.verdict in text
    assert "On the same 20 tasks random succeeds in 0.400, and solver in 0.950" in text
    low, high = difference.over_all.ci95 or (0, 0)
    figures = f"-0.550 [{low:.3f}, {high:.3f}]".replace("-", "\N{MINUS SIGN}")
    assert f"a difference of {figures}" in text
    assert "It won 1 task and lost 12 tasks" in text
    assert "12 tasks lost, 1 task gained" in text
    assert "Ended by an error Some of them tiny:Guess" in text


def test_a_log_that_was_replaced_by_one_of_as_many_lines_is_compared_anew(mixed: Run) -> None:
    client = Client(mixed)
    before = words(client.get("/compare").text)
    log = mixed.folder.episodes_path
    lines = log.read_text(encoding="ascii").replace('"success":false', '"success":true')

    log.unlink()
    log.write_text(lines, encoding="ascii")
    mixed.refresh()
    after = words(client.get("/compare").text)

    assert "random succeeds in 0.400, and solver in 0.950" in before
    assert "random succeeds in 1.000, and solver in 1.000" in after


def test_flips_are_listed_what_is_lost_first_and_shown_side_by_side(mixed: Run) -> None:
    first = Client(mixed).get("/compare").text
    last = Client(mixed).get("/compare?flip=13").text
    beyond = Client(mixed).get("/compare?flip=999").text

    assert re.findall(r"<span>(lost|gained)</span>", first) == ["lost"] * 12 + ["gained"]
    assert "The same through turn 1, apart from turn 2 on." in first
    assert re.search(r'<tr class="same">\s*<th scope="row">Turn 1<', first)
    assert re.search(r'<tr class="first">\s*<th scope="row">Turn 2<', first)
    assert 'seed <span class="mono">1000</span>' in last
    assert last == beyond
    for line in re.findall(r'<p><span class="mark".*?episodes/(\d+)"', last, re.DOTALL):
        assert Client(mixed).get(f"/runs/run/episodes/{line}").status_code == 200


def test_sides_can_be_exchanged(mixed: Run) -> None:
    text = words(Client(mixed).get("/compare?baseline=random&candidate=nobody").text)

    assert "solver beside random" in text
    assert "BETTER" in text


def test_each_environment_has_a_row_and_all_of_them(make_run: MakeRun) -> None:
    run = make_run(envs=["tiny:Guess", "tiny:Echo"])
    for number in range(3):
        for env_index, env_id in enumerate(["tiny:Guess", "tiny:Echo"]):
            env = {"env_index": env_index, "env_id": env_id}
            played(run, number, "a", **env)
            played(run, number, "b", policy="random", success=False, **env)
    run.refresh()

    text = Client(run).get("/compare").text

    assert re.findall(r'<th scope="row" title="([^"]*)"', text) == [
        "tiny:Guess",
        "tiny:Echo",
        "all",
    ]


def test_any_number_of_names_may_be_asked_for(mixed: Run) -> None:
    client = Client(mixed)

    for number in range(40):
        assert "is none of those that are compared" in words(
            client.get(f"/compare?baseline=nobody{number}").text
        )
    assert "random beside solver" in client.get("/compare").text


def test_many_flips_come_in_pages(make_run: MakeRun) -> None:
    run = make_run()
    for number in range(120):
        played(run, number, "a")
        played(run, number, "a", success=False, policy="random")
    run.refresh()

    text = Client(run).get("/compare?flip=60").text

    assert len(re.findall("<span>lost</span>", text)) == 50
    assert re.findall(r'flip=(\d+)#flips">(Before|After)', text) == [
        ("50", "Before"),
        ("101", "After"),
    ]
    assert "The same as far as it is shown." in text


def test_several_runs_are_compared_and_can_be_chosen(make_run: MakeRun) -> None:
    runs = [make_run(name=name, policies=["solver"]) for name in ("before", "after", "other")]
    for number in range(6):
        played(runs[0], number, "a")
        played(runs[1], number, "b", "c", success=number > 2)
        played(runs[2], number, "a", env_kwargs={"highest": 3})
    for run in runs:
        run.refresh()

    all_of_them = words(Client(*runs).get("/compare").text)
    two = words(Client(*runs).get("/compare?run=before&run=after").text)
    none = words(Client(*runs).get(f"/compare?baseline={runs[2].folder.path}").text)

    assert "3 tasks lost, 0 tasks gained" in all_of_them
    assert (
        "other: an environment, its arguments, its seed or its task differs; 6 tasks of "
        'tiny:Guess {"highest": 15} left out; 6 tasks of tiny:Guess {"highest": 3} left out'
    ) in all_of_them
    assert "3 tasks lost, 0 tasks gained" in two
    assert "UNDECIDED" in two
    assert "would find a difference of" in two
    assert "Nothing can be compared." in none
    assert "have no task in common" in none


def test_three_policies_are_grouped(make_run: MakeRun) -> None:
    names = ["solver", "random", "noop"]
    run = make_run(policies=names)
    for number in range(8):
        for name in names:
            played(run, number, "a", policy=name, success=number % 2 == 0)
    run.refresh()

    text = words(Client(run).get("/compare?candidate=noop").text)

    assert "noop beside solver" in text
    assert "Holm for 2" in text
    assert "solver, random, noop" in text
    assert "No task came out differently." in text


def test_errors_as_failures_and_caveats_are_told(make_run: MakeRun) -> None:
    run = make_run(until="decided")
    for number in range(6):
        played(run, number, "a")
        played(run, number, "a", policy="random", success=False)
    write(run.folder.episodes_path, episode(episode_index=7, seed=7))
    write(run.folder.episodes_path, failed(episode_index=7, seed=7, policy="random"))
    run.refresh()

    text = words(Client(run).get("/compare").text)

    assert "With errors as failures:" in text
    assert "Mind that" in text


def test_a_log_that_is_damaged_is_told(mixed: Run) -> None:
    append_line(mixed, "nonsense\n")
    mixed.refresh()

    text = words(Client(mixed).get("/compare").text)

    assert "Nothing can be compared." in text
    assert "is not an episode" in text


def test_a_comparison_that_fails_by_any_error_is_told_and_not_begun_again(
    mixed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []

    def out_of_memory(*runs: object, **_: object) -> None:
        begun.append(runs)
        raise MemoryError("no room for it")

    monkeypatch.setattr(compared, "compare", out_of_memory)
    client = Client(mixed)

    texts = [words(client.get("/compare").text) for _ in range(2)]

    why = "MemoryError: no room for it. Start the viewer again to compare once more."
    assert [f"Nothing can be compared. {why}" in text for text in texts] == [True, True]
    assert len(begun) == 1


def test_what_is_known_is_kept_until_the_log_grows(mixed: Run) -> None:
    client = Client(mixed)
    first = client.get("/compare").text
    played(mixed, 50, "a")
    played(mixed, 50, "b", policy="random", success=False)
    unread = client.get("/compare").text
    mixed.refresh()
    deadline = time.monotonic() + 60
    while (grown := client.get("/compare").text) == first and time.monotonic() < deadline:
        time.sleep(0.01)  # the thread that is waited for needs the interpreter more

    assert unread == first
    assert "On the same 21 tasks" in words(grown)


def test_a_large_log_is_compared_beside_the_pages(make_run: MakeRun) -> None:
    run = make_run()
    for number in range(1001):
        played(run, number, "a")
        played(run, number, "a", policy="random", success=number > 5)
    run.refresh(60)
    client = Client(run)

    first = client.get("/compare").text
    deadline = time.monotonic() + 60
    while "being worked out" in (text := client.get("/compare").text):
        assert time.monotonic() < deadline
        time.sleep(0.01)  # as above

    assert '<meta http-equiv="refresh" content="2">' in first
    assert "On the same 1,001 tasks" in words(text)
    assert "refresh" not in text


def test_hostile_text_is_text_side_by_side_too(make_run: MakeRun) -> None:
    run = make_run()
    bad = {"final_observation": HOSTILE, "env_kwargs": {HOSTILE: HOSTILE}}
    for number in range(3):
        played(run, number, HOSTILE, **bad)
        played(run, number, HOSTILE, "x", policy="random", success=False, **bad)
    played(run, 9, "x", **bad)
    run.refresh()

    text = Client(run).get(f"/compare?run=nobody&flip=x&baseline=&candidate={HOSTILE[:8]}").text

    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert text.count("U+202E") >= 2


def test_a_turn_that_cannot_be_read_spoils_no_other(make_run: MakeRun) -> None:
    run = make_run()
    for number in range(3):
        played(run, number, "a", "b")
        played(run, number, "a", "b", policy="random", success=False)
    path = run.folder.episodes_path
    lines = path.read_text().splitlines(keepends=True)
    lines[-1] = lines[-1].replace('"action":"a"', '"action":7  ')
    path.write_text("".join(lines))
    run.refresh()

    text = Client(run).get("/compare").text + Client(run).get("/compare?flip=3").text

    assert "This turn cannot be read." in text


def test_a_pair_that_is_not_indexed_yet_is_told(mixed: Run) -> None:
    with mixed.index.reading() as db:
        db.execute("DELETE FROM tries")

    assert "These episodes are not read yet." in Client(mixed).get("/compare").text
    assert "No task came out differently." not in Client(mixed).get("/compare").text
