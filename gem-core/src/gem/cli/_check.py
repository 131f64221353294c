"""`gem-env check`: does an environment behave? One line for each claim."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gem.cli._options import OWN, add_making, env_kwargs, find_modules_here, wrapper_list
from gem.cli._text import one_line

if TYPE_CHECKING:
    from gem.errors import GemError, UnknownId
    from gem.registry._discovery import PluginRecord
    from gem.testing._report import CheckLine, CheckReport, State

__all__ = ["add_command"]

_EPILOGUE = """\
examples:
  gem-env check acme:Backwards-v0
  gem-env check 'acme:*' --json
  gem-env check acme-words
  gem-env check ./try.py:Parity
"""


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
    add_making(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    find_modules_here()
    # All that is typed wrongly is refused before the first check, which takes seconds.
    ids = _ids(options.subject)
    kwargs = env_kwargs(options.env_kwargs)
    layers = wrapper_list(options.wrappers)
    reports = []
    for number, env_id in enumerate(ids, start=1):
        report = _checked(env_id, kwargs, layers, options.backend, is_alone=len(ids) == 1)
        reports.append(report)
        if not options.json:
            # Each as it comes: a pack of a hundred environments takes minutes.
            print("\n".join(_page(report, f"{number}/{len(ids)} ")), flush=True)
    if options.json:
        print(json.dumps([report.plain() for report in reports], indent=2))
    else:
        print(_summary(reports))
    return int(not all(report.is_good for report in reports))


def _ids(subject: str) -> list[str]:
    """Return the ids that a word names. Raises UnknownEnv, with near ids, where there are none."""
    from gem import registry
    from gem.registry._env_targets import names_a_target

    ids = [spec.id for spec in registry.list_envs(subject)] or _of_distribution(subject)
    if not ids and ":" not in subject and not names_a_target(subject):
        raise _broken_pack(subject) or _no_pack(subject)
    return ids or [registry.spec(subject).id]


def _broken_pack(subject: str) -> GemError | None:
    """Return what is wrong with an installed distribution; None where none is named so."""
    from gem import registry
    from gem.errors import GemError

    for record in registry.plugins():
        if record.error is not None and _folded(record.distribution) == _folded(subject):
            return GemError(
                f"The distribution {record.distribution!r} was to be checked. It is installed, and "
                f"its plugin has a problem: {record.error.rstrip('.')}. Mend it, or see where with "
                "`gem-env plugins --traceback`."
            )
    return None


def _no_pack(subject: str) -> UnknownId:
    from gem import registry
    from gem.errors import UnknownId

    packs = sorted({record.distribution for record in registry.plugins() if _provides_envs(record)})
    return UnknownId(
        f"No installed distribution with environments is named {subject!r}. There are: "
        f"{', '.join(packs) or 'none'}. Or give an environment's id, or a pattern of ids.",
        id=subject,
        suggestions=packs,
    )


def _provides_envs(record: PluginRecord) -> bool:
    return record.manifest is not None and bool(record.manifest.envs)


def _of_distribution(name: str) -> list[str]:
    from gem import registry

    wanted = _folded(name)
    ids = []
    for spec in registry.list_envs():
        record = registry.owner(spec.id)
        if record is not None and _folded(record.distribution) == wanted:
            ids.append(spec.id)
    return ids


def _folded(distribution: str) -> str:
    # As package indexes compare names.
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _checked(
    env_id: str,
    kwargs: dict[str, Any],
    layers: list[Any],
    backends: list[str] | None,
    *,
    is_alone: bool,
) -> CheckReport:
    from gem.errors import GemError
    from gem.testing._checking import check_env
    from gem.testing._report import CheckLine, CheckReport

    try:
        return check_env(env_id, wrappers=layers, backends=backends, **kwargs)
    except GemError as error:
        state = _state_of(error, layers)
        # Of many, one that cannot be made is a line of the report; alone it is the answer.
        if is_alone or state is None:
            raise
        line = CheckLine("made", "it can be made here", state, str(error))
        return CheckReport(env_id, (line,))


def _state_of(error: GemError, layers: list[Any]) -> State | None:
    """Return the state of a line on why one of many was not made; None where none could be."""
    from gem.errors import BadArguments, DataError, MissingRequirement, TargetError
    from gem.registry._making import ref_of

    if isinstance(error, (DataError, MissingRequirement)):
        return "skipped"
    typed = {"wrappers", *(ref_of(layer).id for layer in layers)}
    is_its_own = isinstance(error, BadArguments) and error.subject not in typed
    return "failed" if is_its_own or isinstance(error, TargetError) else None


_MARKS = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}


def _page(report: CheckReport, number: str) -> Iterator[str]:
    yield f"{number}{one_line(report.env_id)}"
    for line in report.lines:
        yield _line(line)


def _line(line: CheckLine) -> str:
    return f"  {_MARKS[line.state]}  {line.claim}: {one_line(line.evidence)}"


def _summary(reports: list[CheckReport]) -> str:
    states = Counter[str](line.state for report in reports for line in report.lines)
    counts = ", ".join(f"{states[state]} {state}" for state in _MARKS)
    bad = [report.env_id for report in reports if not report.is_good]
    verdict = f". Failed: {', '.join(bad)}" if bad else ""
    what = "environment" if len(reports) == 1 else "environments"
    return f"{len(reports)} {what}: {counts}{verdict}"
