"""What finders find is shown at its turn and in the list, and no page waits for a finder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gem import Episode, registry
from gem.testing import fake_plugin
from gem_eval.finding import Finder
from gem_eval.finding.installed import GROUP, InstalledFinder
from gem_eval.viewing import finding_index, finding_rows
from gem_eval.viewing.query import Query
from gem_eval.viewing.runs import Looker, Run, open_runs

from .conftest import Client, append_line, episode, failed, turn, write
from .reading import listed, page, words

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

MakeRun = Callable[..., Run]
Install = Callable[[str, str], None]


def looping(**changes: object) -> Episode:
    """Return an episode whose policy says the same again and again."""
    said = tuple(turn(action="\\boxed{3}", observation="Too low.") for _ in range(4))
    return episode(turns=said, success=False, **changes)


def looked(run: Run) -> Run:
    assert run.look_on(budget_s=60) is False
    return run


def found_at(run: Run, line: int) -> list[tuple[str, int | None]]:
    with run.index.reading() as db:
        return [(each.finder, each.turn) for each in finding_rows.findings_of(db, line)]


FINDER = """
    from pathlib import Path

    from gem_eval.finding import Evidence, Finder
    from gem_eval.viewing.runs import open_runs


    def rule(episode):
        {rule}


    plugin = Finder(id={id!r}, summary="a rule of a test", rule=rule, examples=list)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a finder of a pack, by its id and the body of its rule."""

    def install_finder(id: str, rule: str) -> None:
        folder = tmp_path / id
        source = FINDER.format(id=id, rule=rule.replace("\n", "\n        "))
        fake_plugin(folder, f"acme-view-{id}", group=GROUP, manifest=source)
        monkeypatch.syspath_prepend(str(folder))
        registry.refresh()

    yield install_finder
    monkeypatch.undo()
    registry.refresh()


def test_a_finding_stands_at_its_turn_and_in_the_side_with_a_link(make_run: MakeRun) -> None:
    run = looked(make_run(episode(), looping(episode_index=1)))

    text = Client(run).get("/runs/run/episodes/2").text

    [(_, at), *_] = found_at(run, 2)
    assert at is not None
    assert f'<a class="inline" href="/runs/run/episodes/2?turn={at + 1}#t{at + 1}">' in text
    article = text.partition(f'<article class="turn" id="t{at + 1}"')[2].partition("</article>")[0]
    assert '<span class="chip note">loop</span>' in article
    assert '<b class="note">Loop</b>: ' in article
    assert "Findings" not in words(Client(run).get("/runs/run/episodes/1").text)


def test_the_finder_filter_leaves_what_it_found_and_counts_under_the_others(
    make_run: MakeRun,
) -> None:
    run = looked(
        make_run(
            episode(),
            looping(episode_index=1),
            looping(episode_index=1, policy="random"),
            failed(episode_index=2),
        )
    )

    assert listed(run, "?finder=loop") == [2, 3]
    assert listed(run, "?finder=loop&policy=random") == [3]
    assert listed(run, "?finder=loop&finder=environment_error") == [2, 3]
    facet = words(page(run, "?policy=random").partition('id="finders"')[2].partition("<h2")[0])
    assert "loop 1" in facet
    assert "finders found nothing" in facet
    assert "Remove the filter loop" in page(run, "?finder=loop")
    rows = page(run, "?finder=loop").partition('<table class="list"')[2]
    assert rows.count('<span class="chip note">loop</span>') == 2


def test_what_no_finder_found_offers_the_filter_to_drop(make_run: MakeRun) -> None:
    run = looked(make_run(episode()))

    assert "Without the filter on finder: 1 episode." in words(page(run, "?finder=loop"))


def test_a_page_does_not_wait_for_finders_and_says_how_far_they_are(make_run: MakeRun) -> None:
    run = make_run(episode(), looping(episode_index=1))
    client = Client(run)

    assert "Looked at 0 of 2 lines so far." in page(run)
    assert "have not come to this episode yet" in client.get("/runs/run/episodes/2").text
    live = client.get("/runs/run/live").json()
    assert live["finders"] == {"are_done": False, "text": "Looked at 0 of 2 lines so far."}

    looked(run)

    assert "so far" not in words(page(run).partition('id="finders"')[2].partition("<h2")[0])
    assert client.get("/runs/run/live").json()["finders"] == {"are_done": True, "text": ""}


def test_findings_grow_with_the_log(make_run: MakeRun) -> None:
    run = looked(make_run(episode()))
    write(run.folder.episodes_path, looping(episode_index=1))
    append_line(run, "no episode\n")

    run.refresh()
    looked(run)

    assert found_at(run, 1) == []
    assert {finder for finder, _ in found_at(run, 2)} == {"loop"}
    assert run.findings.state.is_done


def test_another_viewer_has_what_was_found(make_run: MakeRun, tmp_path: Path) -> None:
    before = looked(make_run(looping()))

    [run] = open_runs([str(before.folder.path)], tmp_path / "cache")

    assert found_at(run, 1) == found_at(before, 1) != []
    assert run.findings.state.is_done
    run.close()


def test_a_log_that_was_replaced_is_looked_at_again(make_run: MakeRun) -> None:
    run = looked(make_run(looping()))
    run.folder.episodes_path.write_text(f"{episode(seed=5).to_json()}\n", encoding="ascii")

    run.refresh()
    assert not run.findings.state.has_seen(1)
    looked(run)

    assert found_at(run, 1) == []


def test_what_was_found_in_a_log_that_was_replaced_meanwhile_is_thrown_away(
    make_run: MakeRun, install: Install, tmp_path: Path
) -> None:
    run = make_run(episode(seed=1))
    replacement = tmp_path / "replacement"
    write(replacement, episode(seed=2))
    log = str(run.folder.episodes_path)
    cache = str(tmp_path / "cache")
    lines = [
        "if episode.seed == 1:",
        f"    Path({log!r}).write_bytes(Path({str(replacement)!r}).read_bytes())",
        f"    [run] = open_runs([{str(run.folder.path)!r}], Path({cache!r}))",
        "    run.refresh()",
        "    run.close()",
        "return [Evidence(None, f'It has seed {episode.seed}.')]",
    ]
    install("replacing", "\n".join(lines))

    looked(run)

    text = Client(run).get("/runs/run/episodes/1").text
    assert "It has seed 2." in text
    assert "It has seed 1." not in text


def test_other_finders_look_at_everything_again(make_run: MakeRun, install: Install) -> None:
    run = looked(make_run(episode()))
    assert found_at(run, 1) == []

    install("everything", "return [Evidence(0, 'Here.')]")
    looked(run)

    assert found_at(run, 1) == [("everything", 0)]


def test_the_version_follows_the_file_of_a_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "def rule(episode):\n    return []\n"
    module = tmp_path / "rules_of_a_pack.py"
    module.write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import rules_of_a_pack  # type: ignore[import-not-found]

    rule = Finder("mine", "a rule of a test", rules_of_a_pack.rule, list)
    installed = [InstalledFinder(rule, "pack")]
    before = finding_index.version_of(installed)
    assert finding_index.version_of(installed) == before

    module.write_text(f"{code}# another\n", encoding="utf-8")

    assert finding_index.version_of(installed) != before


def test_a_finder_that_raises_is_named_and_the_others_go_on(
    make_run: MakeRun, install: Install
) -> None:
    install("raising", "raise SystemExit('<b>no</b>')")
    run = looked(make_run(*(looping(episode_index=number) for number in range(3))))

    shown = page(run)
    assert "The finder raising of acme-view-raising failed at line 1 and at 2 more" in words(shown)
    assert "&lt;b&gt;no&lt;/b&gt;" in shown
    assert listed(run, "?finder=loop") == [1, 2, 3]


def test_failures_are_counted_over_all_looks(make_run: MakeRun, install: Install) -> None:
    install("failing", "raise ValueError('no')")
    run = looked(make_run(episode()))
    write(run.folder.episodes_path, episode(episode_index=1))
    run.refresh()

    looked(run)

    [problem] = run.findings.state.problems
    assert problem.startswith(
        "The finder failing of acme-view-failing failed at line 1 and at 1 more"
    )


def test_what_evidence_says_is_text(make_run: MakeRun, install: Install) -> None:
    hostile = "<script>1</script>\u202e"
    install("hostile", f"return [Evidence(0, {hostile!r}), Evidence(None, {hostile!r})]")
    run = looked(make_run(episode()))

    text = Client(run).get("/runs/run/episodes/1").text

    assert "<script>1" not in text
    assert text.count("&lt;script&gt;1&lt;/script&gt;") == 3
    assert "\u202e" not in text


def test_an_episode_that_is_too_large_is_left_out_and_said(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding_index, "LONGEST_AS_OBJECTS", 5000)
    run = looked(make_run(looping(), episode(episode_index=1, final_observation="x" * 5000)))

    assert "1 episode too long to look at here: gem-env find does." in words(page(run))
    assert found_at(run, 1) != []


def test_a_log_that_cannot_be_read_is_named(make_run: MakeRun) -> None:
    run = make_run(episode())
    run.folder.episodes_path.rename(run.folder.path / "elsewhere")

    assert run.look_on() is False

    assert "No such file or directory" in page(run)


def test_a_thread_looks_at_every_run(make_run: MakeRun) -> None:
    runs = [make_run(looping(), name=name) for name in ("one", "two")]
    looker = Looker(runs)

    looker.start()
    deadline = time.monotonic() + 60
    try:
        while not all(run.findings.state.is_done for run in runs):
            assert time.monotonic() < deadline
            time.sleep(0.01)  # the thread that is waited for needs the interpreter more
    finally:
        looker.stop()

    assert [found_at(run, 1) != [] for run in runs] == [True, True]


def test_a_query_with_a_finder_comes_back_from_its_address() -> None:
    query = Query(finder=("loop", "truncated"), q="x")

    assert query.filters() == ["finder", "q"]
    assert Query.read(query.pairs()) == query
    assert query.without("finder") == Query(q="x")
