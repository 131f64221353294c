"""Every finder does what its examples say, and what a pack brings stops nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

import gem_eval
from gem import registry
from gem.testing import fake_plugin
from gem_eval import FindError
from gem_eval.finding import (
    Evidence,
    Example,
    Finder,
    example_episode,
    example_turn,
    finder_failures,
)
from gem_eval.finding.installed import GROUP, chosen, installed
from gem_eval.finding.self_test import hostile_episodes

OURS = [
    "environment_error",
    "truncated",
    "format_struggle",
    "hollow_answer",
    "loop",
    "repeated_tool_call",
    "runaway_generation",
    "answer_in_the_prompt",
    "missing_tokens",
]
EVERY = [each.finder for each in installed().finders]  # those of packs too
FINDER = """
    from gem_eval.finding import Evidence, Example, Finder, example_episode, example_turn


    def rule(episode):
        for place, turn in enumerate(episode.turns):
            if {condition}:
                yield Evidence(place, "It was shouted.")


    def examples():
        loud = example_episode(example_turn("HELP"))
        return [Example("loud", loud, (0,)), Example("still", example_episode())]


    plugin = Finder(id={id!r}, summary="shouting", rule=rule, examples=examples)
"""
Install = Callable[..., None]


def finder_source(id: str, condition: str = "turn.action.isupper()") -> str:
    return FINDER.format(id=id, condition=condition)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs packs, each with finders of its own, by name and source."""

    def install_packs(**sources: str) -> None:
        for name, source in sources.items():
            folder = tmp_path / name
            pack = name.replace("_", "-")
            fake_plugin(folder, pack, group=GROUP, manifest=source)
            monkeypatch.syspath_prepend(str(folder))
        registry.refresh()

    yield install_packs
    monkeypatch.undo()
    registry.refresh()


def ids() -> list[str]:
    return [each.finder.id for each in installed().finders]


def always(episode: object) -> Iterator[Evidence]:
    yield Evidence(None, "Something is odd.")


def never(episode: object) -> Iterator[Evidence]:
    return iter(())


def made(rule: object = always, *examples: Example) -> Finder:
    given = examples or (
        Example("odd", example_episode(), (None,)),
        Example("even", example_episode(example_turn("7"))),
    )
    return Finder("made", "made up", rule, lambda: given)  # type: ignore[arg-type]


@pytest.mark.parametrize("finder", EVERY, ids=[finder.id for finder in EVERY])
def test_a_finder_does_what_its_examples_say(finder: Finder) -> None:
    assert finder_failures(finder) == []


@pytest.mark.parametrize("unit", ["a", "\\boxed{ab", "\u202e\x00"])
@pytest.mark.parametrize("finder", EVERY, ids=[finder.id for finder in EVERY])
def test_ten_megabytes_stop_no_finder(finder: Finder, unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    turn = example_turn(text, text, info={"gold": text}, reasoning=text)
    episode = example_episode(turn, turn, turn, success=True)

    found = list(finder.rule(episode))

    assert all(len(evidence.text) < 500 for evidence in found)


def test_the_box_of_a_very_long_answer_is_looked_for_near_its_end() -> None:
    opened = r"\boxed{" + "{" * 200_000
    near = example_turn(rf"{opened} \boxed{{jane austen}} and on", "Not by Jane Austen.")
    far = example_turn(rf"\boxed{{jane austen}}, {'x' * 100_000}", "Not by Jane Austen.")
    only = ["answer_in_the_prompt"]

    found_near = gem_eval.findings(example_episode(near, success=True), finders=only)
    found_far = gem_eval.findings(example_episode(far, success=True), finders=only)

    assert (len(found_near), found_far) == (1, [])


def test_there_is_one_table_of_ours() -> None:
    assert ids()[: len(OURS)] == OURS
    assert all(each.distribution == "gem-eval" for each in installed().finders[: len(OURS)])


def test_findings_of_an_episode_say_where_and_how_many() -> None:
    turn = example_turn("", finish_reason="length")

    found = gem_eval.findings(example_episode(example_turn("7"), turn, turn))

    assert found == [
        ("truncated", 1, "2 of 3 answers reached a limit of tokens (turns 2 and 3)."),
        ("hollow_answer", 1, "2 of 3 answers had nothing in them (turns 2 and 3)."),
    ]
    assert gem_eval.findings(example_episode(turn), finders=["loop"]) == []


def test_evidence_is_printable_and_one_line() -> None:
    bait = "\x1b[2J\u202e\n" * 10 + "<script>"
    turn = example_turn(bait, info={"action_error": "format"})

    [finding] = gem_eval.findings(example_episode(turn))

    assert finding.evidence.isprintable()
    assert "\\x1b[2J\\u202e" in finding.evidence


def test_a_pack_adds_a_finder(install: Install) -> None:
    install(acme_shouting=finder_source("shouting"))

    assert ids() == [*OURS, "shouting"]
    assert installed().finders[-1].distribution == "acme-shouting"
    [finding] = gem_eval.findings(example_episode(example_turn("HELP")))
    assert finding == ("shouting", 0, "It was shouted.")


def test_a_pack_may_bring_several(install: Install) -> None:
    source = (
        finder_source("shouting_a")
        + """
    import dataclasses

    plugin = [plugin, dataclasses.replace(plugin, id="shouting_b")]
    """
    )

    install(acme_several=source)

    assert ids() == [*OURS, "shouting_a", "shouting_b"]


def test_a_finder_that_raises_is_named_and_left_out(install: Install) -> None:
    install(acme_raising=finder_source("shouting_c", condition="1 / 0"))
    episode = example_episode(example_turn(""))

    with pytest.warns(RuntimeWarning, match="finder shouting_c of acme-raising failed") as warned:
        found = gem_eval.findings(episode)

    assert "ZeroDivisionError: division by zero" in str(warned[0].message)
    assert [finding.finder for finding in found] == ["hollow_answer"]


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("acme_absent", "import acme_nowhere", "No module named 'acme_nowhere'"),
        ("acme_leaving", "raise SystemExit('gone')", "SystemExit: gone"),
        ("acme_number", "plugin = 7", "is a int, and must be a Finder or several"),
        ("acme_texts", "plugin = ['loop']", "holds a str, and must hold Finders"),
        ("acme_spelling", finder_source("Shouting!"), "'Shouting!' is no id of a finder"),
        ("acme_typed", finder_source("x").replace("'x'", "7"), "7 is no id of a finder"),
    ],
)
def test_a_pack_that_cannot_be_loaded_is_named(
    install: Install, name: str, source: str, message: str
) -> None:
    install(**{name: source}, **{f"{name}_beside": finder_source("beside")})

    [problem] = installed().problems
    assert problem.startswith(f"The finders of {name.replace('_', '-')} cannot be loaded: ")
    assert message in problem
    assert ids() == [*OURS, "beside"]


def test_control_c_is_no_fault_of_a_pack(install: Install) -> None:
    install(acme_stopping="raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        installed()


def test_no_pack_takes_an_id_of_ours(install: Install) -> None:
    install(acme_taking=finder_source("loop"))

    [problem] = installed().problems
    assert "'loop' is claimed by gem-eval and acme-taking; that of acme-taking is left" in problem
    assert ids() == OURS


def test_an_id_that_two_packs_claim_is_of_neither(install: Install) -> None:
    install(acme_first=finder_source("twice"), acme_second=finder_source("twice"))

    [problem] = installed().problems
    assert "claimed by acme-first and acme-second; that of acme-first and acme-second" in problem
    assert ids() == OURS


def test_damaged_metadata_of_others_is_passed_over(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "damaged" / "damaged-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: damaged\nVersion: 1.0\n")
    (about / "entry_points.txt").write_bytes(b"\xff\xfe\x00" + GROUP.encode())
    monkeypatch.syspath_prepend(str(tmp_path / "damaged"))

    install(acme_whole=finder_source("whole"))

    assert ids() == [*OURS, "whole"]


def test_what_is_first_on_the_path_counts(install: Install, tmp_path: Path) -> None:
    install(acme_older=finder_source("older"))
    fake_plugin(tmp_path / "again", "acme-older", group=GROUP, manifest=finder_source("newer"))

    assert version("acme-older") == "1.0"
    assert ids() == [*OURS, "older"]


def test_an_unknown_finder_is_answered_by_the_nearest(install: Install) -> None:
    install(acme_broken="import acme_nowhere_else")

    with pytest.raises(FindError, match="No finder is called 'lop'") as error:
        chosen(["lop"])

    assert "'lop'. Did you mean 'loop'? There are environment_error, trunc" in str(error.value)
    assert "The finders of acme-broken cannot be loaded" in str(error.value)
    with pytest.raises(FindError, match=r"'zzz'\. There are environment_error"):
        gem_eval.findings(example_episode(), finders=["zzz"])


def test_a_finder_is_chosen_once() -> None:
    assert [each.finder.id for each in chosen(["loop", "truncated", "loop"])] == [
        "loop",
        "truncated",
    ]


def failing_examples() -> list[Example]:
    raise ValueError("there are none")


@pytest.mark.parametrize(
    ("finder", "message"),
    [
        (made(always), "'even': it found [None], and not []"),
        (made(never), "'odd': it found [], and not [None]"),
        (made(never, Example("a", example_episode())), "it has no example that it finds"),
        (made(always, Example("a", example_episode(), (None,))), "no example that it spares"),
        (made(lambda _: [(0, "odd")]), "'odd': it found it raised TypeError: its rule gave"),
        (made(lambda _: [Evidence(5, "odd")]), "TypeError: its rule found turn 5 of 0"),
        (made(lambda _: [Evidence(True, "odd")]), "TypeError: its rule found turn True of 0"),
        (made(lambda _: [Evidence(None, 7)]), "TypeError: its rule gave"),  # type: ignore[arg-type]
        (made(lambda episode: int(episode.turns[0].action)), "IndexError"),
        (Finder("made", "", always, failing_examples), "cannot be made: ValueError: there are"),
    ],
)
def test_what_a_finder_does_otherwise_is_said(finder: Finder, message: str) -> None:
    assert any(message in line for line in finder_failures(finder)), finder_failures(finder)


def test_a_finder_that_remembers_is_no_rule() -> None:
    seen: list[object] = []

    def first_alone(episode: object) -> Iterator[Evidence]:
        if not seen:
            seen.append(episode)
            yield Evidence(None, "Something is odd.")

    finder = made(first_alone)

    assert finder_failures(finder) == ["'odd': it found [], and not [None]"]


def test_hostile_episodes_can_be_logged() -> None:
    for example in hostile_episodes():
        if "figures" not in example.label:
            assert example.episode.to_json()


def test_a_rule_that_never_ends_is_cut_off() -> None:
    def endless(episode: object) -> Iterator[Evidence]:
        while True:
            yield Evidence(None, "odd " * 1_000)

    from gem_eval.finding.evidence import MOST_CHARACTERS, MOST_FINDINGS, found_by

    found = found_by(made(endless), example_episode())

    assert len(found) == MOST_FINDINGS
    assert {len(finding.evidence) for finding in found} == {MOST_CHARACTERS - 1}
