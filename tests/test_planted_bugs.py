"""The bugs that the doctor's benchmark plants are words of the trainer as it is now."""

from __future__ import annotations

from pathlib import Path

from benchmarks.doctor_parts.bugs import BUGS
from benchmarks.doctor_parts.planting import Bug, Change, unplantable

SOURCE = Path(__file__).parents[1] / "gem-baselines" / "src" / "gem_baselines"


def test_each_bug_can_be_planted_and_compiles() -> None:
    assert len(BUGS) >= 20
    assert unplantable(BUGS, SOURCE) == []
    for bug in BUGS:
        sources: dict[str, str] = {}
        for change in bug.changes:
            path = SOURCE / f"{change.module.replace('.', '/')}.py"
            text = sources.get(change.module) or path.read_text(encoding="utf-8")
            sources[change.module] = text.replace(change.old, change.new)
        for module, text in sources.items():
            compile(text, f"{bug.name}: {module}", "exec")


def test_a_bug_whose_words_are_gone_is_named() -> None:
    change = Change("learning._rows", "words of no source", "others")
    bug = Bug("a_bug", "something is wrong", ("mask",), "transformer", {}, [change])

    assert unplantable([bug], SOURCE) == ["a_bug: learning._rows has changed, write the bug anew."]
