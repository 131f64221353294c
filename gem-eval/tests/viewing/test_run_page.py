"""The page of a run: figures, filters, order, pages, and its states."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import gem_eval
from gem_eval import Evaluation
from gem_eval.variants import varied
from gem_eval.viewing.runs import Follower, Run, open_runs

from .conftest import Client, append_line, episode, failed, turn, write
from .reading import listed, page, words

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

from gem_eval.viewing.rendering import date

MakeRun = Callable[..., Run]


@pytest.fixture
def mixed(make_run: MakeRun) -> Run:
    """Return a run of six episodes, one of each kind."""
    return make_run(
        episode(seed=111, duration_s=3.0),
        episode(episode_index=1, success=False, total_reward=0.25, turns=(turn(),) * 2, seed=22),
        episode(policy="random", success=False, total_reward=0, stop_reason="max_turns", seed=111),
        failed(policy="random", episode_index=1, error="TypeError: 50% <b>bold</b>", seed=22),
        episode(env_index=1, env_id="tiny:Echo", turns=(turn(action="\\boxed{zebra}"),)),
        episode(env_index=1, env_id="tiny:Echo", policy="random", total_reward=-1.0, success=False),
        envs=["tiny:Guess", "tiny:Echo"],
        total=6,
    )


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("?outcome=failed", [2, 3, 6]),
        ("?outcome=failed&outcome=error", [2, 3, 4, 6]),
        ("?env=1", [5, 6]),
        ("?policy=random&env=0", [3, 4]),
        ("?stop=max_turns", [3]),
        ("?return_min=0.1&return_max=0.9", [2]),
        ("?turns_min=2", [2]),
        ("?turns_max=0", [4]),
        ("?q=ZEBRA", [5]),
        ("?q=50%25", [4]),
        ("?q=_", []),
        ("?q=111", [1, 3]),
        ("?q=echo", [5, 6]),
        ("?q=random", [3, 4, 6]),
        ("?sort=return", [6, 3, 4, 2, 1, 5]),
        ("?sort=-return", [1, 5, 2, 3, 4, 6]),
        ("?sort=seed", [2, 4, 1, 3, 5, 6]),
        ("?sort=-duration&outcome=succeeded", [1, 5]),
        ("?sort=policy&env=1", [6, 5]),
        ("?page=2", []),
        ("?upto=3", [1, 2, 3]),
    ],
)
def test_an_address_chooses_and_orders(mixed: Run, query: str, lines: list[int]) -> None:
    assert listed(mixed, query) == lines


def test_a_facet_counts_under_all_the_other_filters(mixed: Run) -> None:
    text = page(mixed, "?outcome=failed&policy=random")

    counts = dict(
        re.findall(r'name="(?:outcome|policy)" value="(\w+)".*?<span class="n">(\d+)', text)
    )
    assert counts == {"succeeded": "0", "failed": "2", "error": "1", "solver": "1", "random": "2"}


def test_results_are_those_of_the_report(run: Callable[..., Evaluation], tmp_path: Path) -> None:
    evaluation = run(episodes=12)
    (evaluation.path / "summary.json").unlink()
    [shown] = open_runs([str(evaluation.path)], None)
    shown.refresh(60)

    overview = shown.overview()

    assert overview.summary.results == evaluation.summary.results
    shown.close()


def test_a_stored_summary_is_taken_where_it_is_of_these_episodes(
    run: Callable[..., Evaluation],
) -> None:
    evaluation = run(episodes=12)
    path = evaluation.path / "summary.json"
    stored = json.loads(path.read_text())
    stored["results"][0]["success_rate"] = 0.123  # nobody would work that out
    path.write_text(json.dumps(stored))
    [shown] = open_runs([str(evaluation.path)], None)
    shown.refresh(60)
    before = shown.overview().summary.results[0].success_rate
    write(evaluation.path / "episodes.jsonl", episode(episode_index=99))
    shown.refresh(60)

    after = shown.overview(is_fresh=True).summary.results[0].success_rate

    assert before == 0.123
    assert after is not None
    assert after != 0.123
    shown.close()


def test_errors_are_grouped_by_their_text(make_run: MakeRun) -> None:
    run = make_run(
        *(failed(episode_index=number) for number in range(5)),
        failed(episode_index=5, error="KeyError: 'x'"),
        total=6,
    )

    text = page(run)

    table = words(text.partition('aria-label="Table of errors"')[2].partition("</table>")[0])
    assert table.index("503") < table.index("KeyError")
    assert re.search(r"server answered 503 policy error .* 5 ", table)


def test_the_number_of_an_error_leads_to_the_episodes_that_have_it(make_run: MakeRun) -> None:
    run = make_run(
        *(failed(episode_index=number) for number in range(5)),
        *(failed(episode_index=number, error="50%_\x1b: 'x' & y") for number in (5, 6)),
        total=7,
    )

    table = page(run).partition('aria-label="Table of errors"')[2].partition("</table>")[0]
    links = re.findall(r'href="([^"]*)#episodes">(\d+)</a>', table)

    assert [number for _, number in links] == ["5", "2"]
    for address, number in links:
        assert len(listed(run, html.unescape(address))) == int(number)


def test_the_number_of_an_error_leads_to_no_other_that_holds_its_text(make_run: MakeRun) -> None:
    errors = ("E1", "E10", "e1", "solver", "before E1 and after")
    run = make_run(*(failed(episode_index=n, error=error) for n, error in enumerate(errors)))

    table = page(run).partition('aria-label="Table of errors"')[2].partition("</table>")[0]
    links = re.findall(r'href="([^"]*)#episodes">1</a>', table)

    assert [listed(run, html.unescape(address)) for address in links] == [[1], [2], [3], [4], [5]]


def test_many_errors_are_cut_and_counted(make_run: MakeRun) -> None:
    run = make_run(*(failed(episode_index=n, error=f"E{n}") for n in range(25)), total=25)

    assert "The 20 most frequent of 25." in page(run)


def test_above_200_seeds_a_column_stands_for_several(make_run: MakeRun) -> None:
    run = make_run(
        *(episode(episode_index=n, success=n % 2 == 0) for n in range(450)),
        total=450,
        policies=["solver"],
    )

    text = page(run)

    assert "A column stands for several seeds" in text
    assert "<title>3 seeds: 0 of 3 succeeded</title>" in text
    assert len(re.findall(r"<title>\d seeds", text)) == 150


def test_a_column_of_several_shows_their_share(make_run: MakeRun) -> None:
    run = make_run(
        episode(), episode(repeat=1, success=False), failed(repeat=2), repeats=3, total=3
    )

    assert "<title>no. 0: 1 of 2 succeeded, 1 ended by an error</title>" in page(run)


def test_turns_are_scaled_to_the_limit_of_the_run(make_run: MakeRun) -> None:
    run = make_run(
        episode(turns=(turn(),) * 99), episode(episode_index=1), max_turns=100, policies=["solver"]
    )

    text = page(run)

    assert "Turns, 1 to 100" in text
    assert "turns 1 to 3: 1, 97 to 99: 1" in text


@pytest.fixture
def varied_run(make_run: MakeRun) -> Run:
    """Return a run of two environments, each with two limits of turns: two episodes of each."""
    settings = varied({"envs": ["tiny:Guess", "tiny:Lamps"], "vary": {"max_turns": [1, 20]}})
    return make_run(
        *(
            episode(env_index=env, episode_index=number, turns=(turn(),) * (1 + 18 * (env % 2)))
            for env in range(4)
            for number in range(2)
        ),
        total=8,
        **settings,
        policies=["solver"],
    )


def test_results_of_what_was_varied_lead_to_the_episodes_of_all_its_values(
    varied_run: Run,
) -> None:
    text = html.unescape(page(varied_run))

    assert '<a href="?env=2&env=3#episodes">Lamps</a>' in text
    assert '<a href="?env=2&env=3&policy=solver#episodes" title="solver">solver</a>' in text
    assert listed(varied_run, "?env=2&env=3") == [5, 6, 7, 8]


def test_what_was_varied_is_told_apart_by_its_value(varied_run: Run) -> None:
    text = page(varied_run, "?env=3")

    assert '<span title="3">Lamps, max_turns 20</span><span class="n">2</span>' in text
    assert 'aria-label="Remove the filter Lamps, max_turns 20"' in text


def test_turns_of_what_was_varied_are_on_one_scale(varied_run: Run) -> None:
    text = page(varied_run)

    assert text.count("Turns, 1 to 20") == 2
    assert len(re.findall('aria-label="turns 10.000,[^"]* on a scale of 0 to 20"', text)) == 2


def test_a_return_of_many_digits_has_an_exponent(make_run: MakeRun) -> None:
    text = page(make_run(episode(total_reward=-1e300), total=1))

    assert "\N{MINUS SIGN}1.000e+300" in text
    assert "0" * 20 not in text


def test_no_match_offers_the_filter_whose_removal_brings_back_most(mixed: Run) -> None:
    text = words(page(mixed, "?outcome=succeeded&policy=random&env=0"))

    assert "No episode matches." in text
    assert "Without the filter on outcome: 2 episodes." in text


def test_filters_that_leave_nothing_alone_offer_to_clear_all(mixed: Run) -> None:
    text = words(page(mixed, "?q=nowhere&turns_min=50"))

    assert "Without the filter" not in text
    assert "Clear all" in text


def test_a_page_beyond_the_last_leads_there(mixed: Run) -> None:
    assert "There is no page 7." in page(mixed, "?page=7")


def test_an_empty_run_says_so(make_run: MakeRun) -> None:
    assert "No episode has ended yet." in page(make_run(total=10))


def test_a_page_sends_no_more_than_its_rows(make_run: MakeRun) -> None:
    run = make_run(*(episode(episode_index=number) for number in range(120)), total=120)

    assert listed(run) == list(range(1, 51))
    assert listed(run, "?page=3") == list(range(101, 121))
    assert "51 to 100 of 120" in words(page(run, "?page=2"))


def test_filters_in_use_can_be_removed_one_by_one(mixed: Run) -> None:
    text = page(mixed, "?env=0&policy=random&q=x&return_min=0.5&turns_max=3&stop=max_turns")

    removed = re.findall(r'class="chip sel" href="([^"]*)"[^>]*aria-label="([^"]*)"', text)
    names = [html.unescape(label).removeprefix("Remove the filter ") for _, label in removed]
    assert names == [
        "Guess",
        "random",
        "max turns",
        "“x”",
        "return 0.5 to any",
        "turns any to 3",
    ]
    assert "env=" not in removed[0][0]
    assert "return_min" not in removed[4][0]


def test_a_line_that_is_no_episode_is_named(make_run: MakeRun) -> None:
    run = make_run(episode(), total=2)
    append_line(run, "<script>alert(1)</script>\n")
    append_line(run, "nonsense\n")
    run.refresh()

    text = words(page(run))

    assert "This run could be read only in part. Line 2 of episodes.jsonl is not an episode" in text
    assert "Nor is 1 other." in text


def test_a_log_that_cannot_be_read_on_is_told(make_run: MakeRun) -> None:
    run = make_run(episode(), total=2)
    run.problem = "OSError: the disk is gone"

    assert "Not all of this run can be read just now." in page(run)


def test_an_edited_record_is_told(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(episode(), total=1)
    path = run.folder.path / "run.json"
    record = json.loads(path.read_text())
    record["settings"]["seed"] = 5
    path.write_text(json.dumps(record))
    [edited] = open_runs([str(run.folder.path)], None)

    assert "The run.json of this run was edited." in page(edited)
    edited.close()


def test_several_runs_are_listed_and_told_apart(make_run: MakeRun, tmp_path: Path) -> None:
    first = make_run(episode(), name="games", total=1)
    other = make_run(failed(), name="other/games", total=3)
    runs = open_runs([str(first.folder.path), str(other.folder.path)], None)
    for run in runs:
        run.refresh()
    runs[0].overview()

    text = Client(*runs).get("/").text
    second = Client(*runs).get("/runs/games-2").text

    assert [run.name for run in runs] == ["games", "games-2"]
    assert '<a href="/runs/games">games</a>' in text
    assert "1.000" in text
    assert '<a href="/">Runs</a>' in second
    for run in runs:
        run.close()


def test_many_results_of_a_listed_run_are_cut(make_run: MakeRun) -> None:
    policies = [f"scripted:m:P{number}" for number in range(15)]
    runs = [make_run(name="a", policies=policies), make_run(name="b")]
    runs[0].overview()

    assert "3 more rows are on its page." in Client(*runs).get("/").text


def test_a_run_that_is_named_twice_is_there_once(make_run: MakeRun) -> None:
    path = str(make_run(name="a b&c").folder.path)

    runs = open_runs([path, path], None)

    assert [run.name for run in runs] == ["a-b-c"]
    runs[0].close()


def test_one_run_alone_is_the_first_page(make_run: MakeRun) -> None:
    run = make_run(episode())

    answer = Client(run).get("/")

    assert answer.headers["location"] == f"/runs/{run.name}"


@pytest.mark.parametrize(
    "path",
    [
        "/runs/nothing",
        "/nowhere",
        "/static/run.html",
        "/static/..%2Fpages.py",
        "/runs/run/episodes",
    ],
)
def test_an_address_where_nothing_is_says_so(make_run: MakeRun, path: str) -> None:
    answer = Client(make_run(episode())).get(path)

    assert answer.status_code == 404
    assert "Not here" in answer.text


@pytest.mark.parametrize(
    ("created", "text"),
    [
        ("2026-11-22T14:15:31+02:00", "22 Nov 2026, 12:15 UTC"),
        ("2026-11-22T12:15:31", "2026-11-22T12:15:31"),
        ("<b>soon</b>", "<b>soon</b>"),
    ],
)
def test_a_time_is_written_for_people_if_it_is_one(created: str, text: str) -> None:
    assert date(created) == text


def test_a_theme_can_be_asked_for(make_run: MakeRun) -> None:
    run = make_run(episode())

    assert '<html lang="en" data-theme="dark">' in page(run, "?theme=dark")
    assert '<html lang="en">' in page(run, "?theme=x")


def test_a_decided_run_is_finished_and_shows_what_it_came_to(
    run: Callable[..., Evaluation],
) -> None:
    evaluation = run(
        envs="tiny:Guess", policies=["random", "solver"], until="decided", episodes=200
    )
    [shown] = open_runs([str(evaluation.path)], None)
    shown.refresh(60)

    text = words(page(shown))

    assert "Finished." in text
    assert "BETTER : solver beside random" in text
    shown.close()


def test_children_of_a_branch_count_as_the_report_counts_them(
    run: Callable[..., Evaluation], tmp_path: Path
) -> None:
    parent = run("parent", policies="random", episodes=1)
    children = gem_eval.branch(parent.path, 1, "random", turn=0, repeats=12, out=tmp_path / "kids")
    (children.path / "summary.json").unlink()
    [shown] = open_runs([str(children.path)], None)
    shown.refresh(60)

    assert shown.overview().summary.results == children.summary.results
    shown.close()


def test_a_limit_beyond_any_float_is_drawn(make_run: MakeRun) -> None:
    run = make_run(episode(), max_turns=10**400)

    assert run.overview().plots


def test_a_run_that_fails_stops_no_other(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = make_run(episode(), name="broken")
    good = make_run(episode(), name="good")

    def fail() -> None:
        raise ArithmeticError("no figure")

    monkeypatch.setattr(broken, "refresh_overview", fail)
    follower = Follower([broken, good])
    follower.start()
    write(good.folder.episodes_path, episode(episode_index=1))
    try:
        for _ in range(1200):  # a minute at most
            if good.progress().line == 2:
                break
            time.sleep(0.05)
    finally:
        follower.stop()

    assert good.progress().line == 2


def test_one_folder_by_two_spellings_is_one_run(make_run: MakeRun) -> None:
    path = str(make_run(episode()).folder.path)

    runs = open_runs([path, f"{path}/"], None)

    assert [each.name for each in runs] == ["run"]
    runs[0].close()


def test_a_text_of_any_length_is_searched_for(mixed: Run) -> None:
    assert Client(mixed).get(f"/runs/{mixed.name}?q={'x' * 50_001}").status_code == 200
