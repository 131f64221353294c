"""Turn what is known of a run into HTML: one environment of templates, in which text stays text."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.resources import files
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from gem_eval.viewing import plots
from gem_eval.viewing.text import duration, family, hidden_apart, hidden_named, value_text
from gem_eval.wording import counted

__all__ = ["asset", "render", "seen"]

_LARGE = 1e15  # whose digits would be more than a column is wide
_REPEATS = 4  # of one hidden character in a row: so many have one mark, which counts them
_MOST_MARKS = 100  # of hidden characters in a row: more are one mark, which counts them all
_MOST_KINDS = 4  # of hidden characters that such a mark names
_MINUS = "\N{MINUS SIGN}"
_REASONS = {
    "terminated": "its task",
    "truncated": "its own limit",
    "max_turns": "the run's limit of turns",
    "max_tokens": "the run's limit of tokens",
    "model_length": "the end of the model's context",
    "env_error": "a failure of the environment",
    "step_timeout": "a step that took too long",
    "worker_lost": "the loss of its worker",
    "policy_error": "a failure of the policy",
}
# Not by the locale of whoever runs the viewer.
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_ROLES = {
    "user": "Environment",
    "system": "System",
    "assistant": "Assistant",
    "tool": "Tool",
}


def render(template: str, **values: Any) -> str:
    """Return a page. Whatever a value holds is shown as text, its hidden characters by name."""
    return _templates().get_template(template).render(values)


@functools.cache
def asset(name: str) -> str:
    """Return the text of one of the viewer's own files."""
    return (files("gem_eval.viewing") / "static" / name).read_text(encoding="utf-8")


@functools.cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("gem_eval.viewing"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        counted=counted,
        date=date,
        duration=duration,
        family=family,
        fixed=fixed,
        reward=reward,
        role=lambda role: _ROLES.get(role, role),
        seen=seen,
        tail=lambda text, most: text if len(text) <= most else f"…{text[-most:]}",
        value_text=value_text,
        why=lambda stop: _REASONS.get(stop, stop),
        words=lambda stop: stop.replace("_", " "),
    )
    templates.globals.update(plots=plots)
    return templates


def seen(text: str) -> Markup:
    r"""Return text as HTML, hidden characters as marks of their own.

    >>> str(seen("<b>\x00"))
    '&lt;b&gt;<span class="ctl">U+0000</span>'
    >>> str(seen("\u200b" * 9000))
    '<span class="ctl">9,000 times U+200B</span>'
    >>> str(seen("\u200b\u200c" * 4500))
    '<span class="ctl">9,000 hidden characters: U+200B, U+200C</span>'
    """
    shown: list[Markup] = []
    for plain, hidden in hidden_apart(text):
        shown.append(escape(plain))
        shown += map(_mark, _labels(hidden))
    return Markup("").join(shown)


def _mark(label: str) -> Markup:
    return Markup('<span class="ctl">{}</span>').format(label)


def _labels(hidden: str) -> list[str]:
    """Return what the marks say of hidden characters that stand in a row."""
    labels = []
    for character, same in groupby(hidden):
        name = hidden_named(character)
        times = len([*same])
        labels += [f"{times:,} times {name}"] if times >= _REPEATS else [name] * times
    # A page of a model that repeats some without end would be thirty times as long as its text.
    if len(labels) > _MOST_MARKS:
        return [f"{len(hidden):,} hidden characters{_of_kinds([*dict.fromkeys(hidden)])}"]
    return labels


def _of_kinds(kinds: Sequence[str]) -> str:
    if len(kinds) > _MOST_KINDS:
        return f" of {len(kinds):,} kinds"
    return f": {', '.join(map(hidden_named, kinds))}"


def fixed(value: float | None, digits: int) -> str:
    """Write a number with so many digits, or a dash for one that is not known.

    >>> fixed(0.5, 2), fixed(None, 2), fixed(1e300, 2)
    ('0.50', '-', '1.00e+300')
    """
    if value is None:
        return "-"
    kind = "f" if abs(value) < _LARGE else "e"
    text = f"{value:.{digits}{kind}}".replace("-", _MINUS)
    # What rounds to nothing has no sign.
    return text.removeprefix(_MINUS) if not text.strip(f"{_MINUS}0.") else text


def date(text: str) -> str:
    """Write a time of a record for people. What is no time stays as it is.

    >>> date("2026-11-22T12:15:31+00:00"), date("some day")
    ('22 Nov 2026, 12:15 UTC', 'some day')
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return text
    if found.tzinfo is None:
        return text
    found = found.astimezone(timezone.utc)
    return f"{found.day} {_MONTHS[found.month - 1]} {found.year}, {found:%H:%M} UTC"


def reward(value: float) -> str:
    """Write a reward with its sign and without needless zeros.

    >>> reward(0.5), reward(0.0)
    ('+0.5', '0')
    """
    if value == 0:
        return "0"
    return f"{value:+.4g}".replace("-", _MINUS)


def _shown(value: Any) -> Any:
    """Name hidden characters, in attributes too; marks for them are of the filter `seen` alone."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return hidden_named(value)
    return value
