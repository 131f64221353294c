"""Write docs/baselines.md and its pictures from the committed results, or check that they are so.

Run it with `python benchmarks/baselines/page.py [--check]`. The words are in page.md, with a mark
for each table, claim and picture. With --check nothing is written: it says what differs from the
committed page, and exits with status 1 where something does, or where a sentence no longer holds.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# The parts are modules.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.baselines.alike import alike_sentence
from benchmarks.baselines.arms import EXPERIMENTS, FOLDER
from benchmarks.baselines.findings import (
    CLAIMS,
    PAIRS,
    NoLongerTrue,
    compared,
    of_game,
    of_unmoved,
    sentence_of,
)
from benchmarks.baselines.measured import Measured, measured
from benchmarks.baselines.pictures import pictures
from benchmarks.baselines.tables import LEARNERS, OF_ENVIRONMENTS, learners, table

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "baselines.md"
PICTURES = DOCS / "baselines"
MARK = re.compile(r"\{\{(table|claim|pairs|game|alike|unmoved|picture|doctor) ?(\w*)\}\}")


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    try:
        files = written()
    except NoLongerTrue as error:
        print(f"No longer true, and nothing to say in its place: {error}", file=sys.stderr)
        return 1
    if not options.check:
        PICTURES.mkdir(exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        return 0
    different = [path for path, text in files.items() if _read(path) != text]
    for path in different:
        print(
            f"{path.relative_to(DOCS.parent)} is not what the results say. "
            "Run python benchmarks/baselines/page.py.",
            file=sys.stderr,
        )
        _show_first_difference(_read(path), files[path])
    return 1 if different else 0


def written() -> dict[Path, str]:
    """Return every file of the page, as the results have it. Raises NoLongerTrue."""
    words = (FOLDER / "page.md").read_text(encoding="utf-8")
    files = {PAGE: MARK.sub(lambda mark: _filled(mark[1], mark[2]), words)}
    for name, picture in pictures().items():
        files[PICTURES / f"{name}.svg"] = picture
    return files


def _filled(kind: str, name: str) -> str:
    """Return what stands in place of a mark."""
    if kind == "table":
        return "\n".join(table(name))
    if kind == "claim":
        return sentence_of(CLAIMS[name])
    if kind == "pairs":
        experiment = measured(name)
        return "\n".join(f"- {compared(experiment, *pair)}" for pair in PAIRS)
    if kind == "game":
        return of_game(measured("b_many_turns"), name)
    if kind == "alike" and name in EXPERIMENTS:
        return alike_sentence(measured(name), measured(name).tasks)
    if kind == "alike":
        return alike_sentence(measured("b_many_turns"), [name])
    if kind == "unmoved":
        return of_unmoved(measured("b_many_turns"), name)
    if kind == "doctor":
        return _doctor()
    return f"![{name.replace('_', ' ')}](baselines/{name}.svg)"


def _doctor() -> str:
    """Return what the doctor says of trainings that did not learn, and of which it says so."""
    arms: dict[str, dict[str, list[str]]] = {}  # what is said, then the tasks, then the estimators
    for experiment in map(measured, OF_ENVIRONMENTS):
        for task in experiment.tasks:
            learnt = learners(experiment, task)
            if learnt is None:  # not decided yet
                continue
            for name in LEARNERS:
                if name not in learnt:
                    for text in _words(experiment, task, name):
                        arms.setdefault(text, {}).setdefault(task, []).append(f"`{name}`")
    if not arms:
        return ""
    head = "What the doctor says of arms that learn nothing, by the first training it looked at:"
    return "\n".join([head, "", *(f"- {_listed(of)}: {text}" for text, of in arms.items())])


def _listed(arms: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{task} ({', '.join(names)})" for task, names in arms.items())


def _words(experiment: Measured, task: str, name: str) -> list[str]:
    """Return at most two findings. A line from before there was a doctor has no `doctor`."""
    looked_at = [line["doctor"] for line in experiment.of(task, name) if "doctor" in line]
    if not looked_at:
        return ["not looked at."]
    return looked_at[0][:2] or ["nothing is wrong with how it was trained."]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _show_first_difference(committed: str, wanted: str) -> None:
    for number, (old, new) in enumerate(
        zip(committed.splitlines(), wanted.splitlines(), strict=False), start=1
    ):
        if old != new:
            print(f"  line {number}\n  - {old:.200}\n  + {new:.200}", file=sys.stderr)
            return


if __name__ == "__main__":
    sys.exit(main())
