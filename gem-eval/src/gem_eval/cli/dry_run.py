"""`gem-env eval --dry-run`: print what an evaluation would do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from rich.text import Text

from gem.cli import one_line
from gem_eval.interrupts import run_to_end
from gem_eval.preview import Forecast, Preview, PreviewedEnv, preview
from gem_eval.short_names import short_names
from gem_eval.tables import Row, console_for, print_table, tables_within
from gem_eval.wording import counted

__all__ = ["dry_run"]

_NAMES = ("environment", "line-up", "policy")
# Of an image only the beginning is shown; --json has all of it.
_IMAGE = re.compile(r"(data:[\w/.+-]{1,60};base64,[\w/+]{40})[\w/+=]+", re.ASCII)


def dry_run(given: Mapping[str, Any], out: IO[str], *, as_json: bool) -> int:
    """Print the preview to `out`. The status is 1 where an environment fails before it asks."""
    found = run_to_end(preview(given))
    if as_json:
        print(json.dumps(found.to_json(), indent=2), file=out)
    else:
        _print(found, out)
    return int(any(env.error is not None for env in found.environments))


def _print(found: Preview, file: IO[str]) -> None:
    console = console_for(file)
    names = short_names(
        [
            *(forecast.policy for forecast in found.forecasts),
            *(forecast.line_up for forecast in found.forecasts if forecast.line_up is not None),
        ]
    )
    repeats = "" if found.repeats == 1 else f", each seed {found.repeats} times"
    title = f"A dry run of {counted(found.episodes, 'episode')}, seed {found.seed}{repeats}."
    console.print(Text(title), soft_wrap=True)
    console.print()
    has_costs = any(forecast.cost is not None for forecast in found.forecasts)
    plays_together = any(forecast.line_up is not None for forecast in found.forecasts)
    rows = [
        _row(forecast, names, has_costs=has_costs, plays_together=plays_together)
        for forecast in found.forecasts
    ]
    there = [name for name in _NAMES if name in rows[0]]
    for table in tables_within(console.width, rows, there):
        print_table(console, table, there)
    console.print()
    for line in _estimate(found):
        console.print(Text(line), soft_wrap=True)
    for env in found.environments:
        console.print()
        own = [forecast for forecast in found.forecasts if forecast.env_id == env.env_id]
        for line in _first_prompt(env, own, names):
            console.print(Text(line), soft_wrap=True)
    console.print()
    console.print(Text("No model was asked, and no folder was made."), soft_wrap=True)


def _row(
    forecast: Forecast, names: Mapping[str, str], *, has_costs: bool, plays_together: bool
) -> Row:
    line_up = names[forecast.line_up or forecast.policy]
    row = {
        "environment": one_line(forecast.env_id),
        **({"line-up": one_line(line_up)} if plays_together else {}),
        "policy": one_line(names[forecast.policy]),
        "episodes": str(forecast.episodes),
        "requests": _figure(forecast.requests),
        "prompt tokens": _figure(forecast.prompt_tokens),
        "answer tokens": _figure(forecast.completion_tokens),
    }
    if has_costs:
        row["cost"] = "-" if forecast.cost is None else f"{forecast.cost:.4g}"
    return row


def _figure(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def _estimate(found: Preview) -> Iterator[str]:
    if any(forecast.requests is not None for forecast in found.forecasts):
        yield _total(found.forecasts)
        yield found.how
    for env in found.environments:
        if env.max_turns is None and env.error is None:
            yield f"{one_line(env.env_id)} has no limit of turns. --max-turns gives it one."


def _total(forecasts: Sequence[Forecast]) -> str:
    requests = sum(forecast.requests or 0 for forecast in forecasts)
    tokens = sum(forecast.prompt_tokens or 0 for forecast in forecasts)
    answers = sum(forecast.completion_tokens or 0 for forecast in forecasts)
    costs = [forecast.cost for forecast in forecasts if forecast.cost is not None]
    money = f", for {sum(costs):.4g}" if costs else ""
    return (
        f"Altogether at most {requests:,} requests, about {tokens:,} tokens of prompts and at most "
        f"{answers:,} of answers, as far as they are known{money}."
    )


def _first_prompt(
    env: PreviewedEnv, forecasts: Sequence[Forecast], names: Mapping[str, str]
) -> Iterator[str]:
    """Yield what the first request of an environment's first episode has, as lines."""
    first = env.starts[0]
    task = "" if first.task is None else f", task {first.task}"
    limit = (
        "no limit of turns"
        if env.max_turns is None
        else f"at most {counted(env.max_turns, 'turn')}"
    )
    seeds = ", ".join(str(start.seed) for start in env.starts)
    more = ", ..." if env.episodes > len(env.starts) else ""
    yield f"{one_line(env.env_id)}: {limit}; seeds {seeds}{more}"
    if env.error is not None:
        yield f"It fails: {one_line(env.error)}"
    for seat, prompt in env.prompts.items():
        yield f"The first request to {one_line(seat)}, of seed {first.seed}{task}:"
        yield from _readable(prompt)
    if env.prompt is not None and not env.prompts:
        yield f"The first request, of seed {first.seed}{task}:"
        yield from _readable(env.prompt)
    for forecast in forecasts:
        if forecast.request is not None:
            yield f"{one_line(names[forecast.policy])}: POST {one_line(forecast.request['url'])}"
            yield _without_images(json.dumps(forecast.request["body"], indent=2))


def _readable(prompt: Mapping[str, Any]) -> Iterator[str]:
    for message in prompt.get("messages", ()):
        yield f"[{one_line(message['role'])}]"
        content = message["content"]
        yield (
            _escaped(content) if isinstance(content, str) else _without_images(json.dumps(content))
        )
    if "prompt" in prompt:
        yield _escaped(prompt["prompt"])
    for tool in prompt.get("tools", ()):
        yield f"[tool] {json.dumps(tool)}"


def _escaped(text: str) -> str:
    r"""Escape what a text could do to a terminal, and leave its lines as they are.

    >>> _escaped("gone\n\x1b[2J")
    'gone\n\\x1b[2J'
    """
    safe = (
        character if character.isprintable() or character == "\n" else ascii(character)[1:-1]
        for character in text
    )
    return "".join(safe)


def _without_images(text: str) -> str:
    return _IMAGE.sub(r"\1...", text)
