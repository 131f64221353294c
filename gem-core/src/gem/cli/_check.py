"""`gem-env check`: does an environment behave? One line for each claim."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from gem.cli._options import OWN, add_making, find_modules_here
from gem.cli._text import counted, one_line
from gem.errors import GemError, UnknownId

if TYPE_CHECKING:
    from gem.testing._apart import ApartCheck
    from gem.testing._report import CheckLine, CheckReport

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env check acme:Backwards-v0
  gem-env check 'acme:*' --json
  gem-env check acme-words
  gem-env check ./try.py:Parity
"""
_MARKS = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}


def add_command(commands: Any) -> None:
    """Add `check` to the commands."""
    parser = commands.add_parser(
        "check",
        help="does an environment behave?",
        description="Check how environments behave, line by line: passed, failed with the "
        "evidence, or skipped with the reason. The exit status is 1 if a line failed.",
        epilog=_EPILOGUE,
    )
    parser.add_argument(
        "subject",
        metavar="ID|PATTERN|DISTRIBUTION|TARGET",
        help="an id, a shell pattern over ids, or a distribution: all that it provides; or an "
        f"environment of your own, {OWN}",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--backend",
        metavar="B",
        action="append",
        help="compare vectors on this backend; may be given again (default: all installed)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=120.0,
        metavar="S",
        help="seconds after which a check has failed, and the others of its environment are not "
        "run (default: 120)",
    )
    add_making(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem._python.quantities import check_timeout
    from gem.registry._catalogue import executor_spec, wrapper_spec
    from gem.registry._making import ref_of
    from gem.testing._apart import ApartCheck, CheckRequest
    from gem.testing._report import CheckReport

    find_modules_here()
    # All that is typed wrongly is refused before the first check, which takes seconds.
    ids = _ids(options.subject)
    for layer in options.wrappers:
        wrapper_spec(ref_of(layer).id)
    for backend in options.backend or ():
        executor_spec(backend)
    check_timeout("--timeout", options.timeout)
    reports = []
    for number, env_id in enumerate(ids, start=1):
        request = CheckRequest(env_id, options.env_kwargs, options.wrappers, options.backend)
        with ApartCheck(request, timeout_s=options.timeout) as check:
            lines = _lines(check, is_alone=len(ids) == 1)
            if not options.json:
                lines = _printed(lines, f"{number}/{len(ids)} {one_line(env_id)}")
            reports.append(CheckReport(env_id, tuple(lines)))
    if options.json:
        print(json.dumps([report.plain() for report in reports], indent=2))
    else:
        print(_summary(reports))
    return int(not all(report.is_good for report in reports))


def _lines(check: ApartCheck, *, is_alone: bool) -> Iterator[CheckLine]:
    """Yield each line as it comes. An interrupt says what it interrupted."""
    from gem.testing._apart import NotMadeError
    from gem.testing._report import CheckLine

    try:
        yield from check.lines()
    except NotMadeError as error:
        # Of many, one that cannot be made is a line of the report; alone it is the answer.
        if is_alone or error.state is None:
            raise
        yield CheckLine("made", "it can be made here", error.state, str(error))
    except KeyboardInterrupt:
        print(
            f"gem-env: interrupted in the check of {one_line(check.env_id)}, at the line "
            f"{check.running!r}. Run the same command to start again.",
            file=sys.stderr,
        )
        raise SystemExit(130) from None


def _printed(lines: Iterable[CheckLine], title: str) -> Iterator[CheckLine]:
    """Print each line as it comes, the first below the title."""
    failed: dict[str, str] = {}
    for number, line in enumerate(lines):
        if number == 0:
            print(title)
        evidence = one_line(line.evidence)
        if line.state == "failed":
            # One fault fails many lines. It is told once, so that the others can be seen.
            first = failed.setdefault(evidence, line.claim)
            if first != line.claim:
                evidence = f"as under {first!r}"
        print(f"  {_MARKS[line.state]}  {line.claim}: {evidence}", flush=True)
        yield line


def _ids(subject: str) -> list[str]:
    """Return the ids that a word names. Raises UnknownEnv, with near ids, where there are none."""
    from gem import registry
    from gem.registry._env_targets import names_a_target

    ids = [spec.id for spec in registry.list_envs(subject)] or _of_distribution(subject)
    if not ids and ":" not in subject and not names_a_target(subject):
        raise _no_pack(subject)
    return ids or [registry.spec(subject).id]


def _no_pack(subject: str) -> GemError:
    """Return the error for a word that names no pack with environments: what is wrong with it."""
    from packaging.utils import canonicalize_name

    from gem import registry

    packs = []
    for record in registry.plugins():
        is_meant = canonicalize_name(record.distribution) == canonicalize_name(subject)
        if is_meant and record.error is not None:
            return GemError(
                f"The distribution {record.distribution!r} was to be checked. It is installed, and "
                f"its plugin has a problem: {record.error.rstrip('.')}. Mend it, or see where with "
                "`gem-env plugins --traceback`."
            )
        if record.manifest is not None and record.manifest.envs:
            packs.append(record.distribution)
    packs = sorted(set(packs))
    return UnknownId(
        f"No installed distribution with environments is named {subject!r}. There are: "
        f"{', '.join(packs) or 'none'}. Or give an environment's id, or a pattern of ids.",
        id=subject,
        suggestions=packs,
    )


def _of_distribution(name: str) -> list[str]:
    from packaging.utils import canonicalize_name

    from gem import registry

    ids = []
    for spec in registry.list_envs():
        record = registry.owner(spec.id)
        if record is not None and canonicalize_name(record.distribution) == canonicalize_name(name):
            ids.append(spec.id)
    return ids


def _summary(reports: list[CheckReport]) -> str:
    states = Counter[str](line.state for report in reports for line in report.lines)
    counts = ", ".join(f"{states[state]} {state}" for state in _MARKS)
    bad = [report.env_id for report in reports if not report.is_good]
    verdict = f". Failed: {', '.join(bad)}" if bad else ""
    return f"{counted(len(reports), 'environment')}: {counts}{verdict}"
