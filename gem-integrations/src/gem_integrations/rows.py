"""Write the data set that trainers ask for, a row an episode; an environment writes the prompt.

    python -m gem_integrations.rows game:GuessTheNumber-v0-hard --count 1000 --out train.jsonl

The rows are the episodes that `gem.rollout` plays with the same seed. Knows nothing about any
framework but the names of the columns that its loader insists on.
"""

from __future__ import annotations

import argparse
import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import gem
from gem.errors import BadArguments, GemError
from gem.rollouts import plan_episodes

__all__ = ["Start", "main", "rows", "start_of"]


class Start(NamedTuple):
    """What fixes an episode, and the seat whose part of it is trained on.

    `task` is None where the seed chooses it, `seat` (a number or a name) where a row names none.
    """

    seed: int
    task: int | None
    seat: int | str | None = None


def rows(
    env_id: str,
    *,
    count: int | Literal["all"],
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    wrappers: Sequence[Any] = (),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each of `count` episodes; "all" is every task of a finite set once.

    `seed` and `task`, which is there where the tasks are finite, fix the episode; `label` is both
    in JSON. `prompt` and `input` only name it: no model sees them. The other columns are for the
    metrics that loaders keep by source. `env_kwargs` and `wrappers` are those of the training.

    Of several seats there is a row for each, one after the other, and `seat` is the name of its
    own, in the label too.

    Raises the errors of `gem.make` and `gem.rollout`.
    """
    with gem.make(env_id, wrappers=wrappers, **(env_kwargs or {})) as env:
        seats = env.seats
        num_tasks = env.num_tasks
    planned = plan_episodes(env_id, episodes=count, seed=seed, num_tasks=lambda _: num_tasks)
    parts = [(episode, seat) for episode in planned for seat in seats]
    for index, (episode, seat) in enumerate(parts):
        name = f"Episode {index // len(seats)} of {env_id} from seed {seed}"
        start: dict[str, Any] = {"seed": episode.seed}
        if episode.task is not None:
            start["task"] = episode.task
        if len(seats) > 1:
            start["seat"] = seat
            name = f"{name}, the seat {seat}"
        yield {
            "prompt": [{"role": "user", "content": name}],
            "input": name,
            "label": json.dumps(start),
            **start,
            "data_source": env_id,
            "datasource": env_id,
            "extra_info": {"index": index},
        }


def start_of(row: Mapping[str, Any], *, otherwise: str = "seed") -> Start:
    """Return the seed, task and seat of a row. `otherwise` is a column for a missing seed.

    Raises BadArguments where there is no seed, or what is there is no int. Whether there is such a
    seat is for `gem_integrations.seats.seat_of` to say.
    """
    seed: Any = row.get(otherwise) if row.get("seed") is None else row["seed"]
    task = row.get("task")
    seat = row.get("seat")
    try:
        return Start(
            operator.index(seed),
            None if task is None else operator.index(task),
            seat if seat is None or isinstance(seat, str) else operator.index(seat),
        )
    except TypeError:
        raise BadArguments(
            f"A row of the data set has seed={seed!r}, task={task!r} and seat={seat!r}, and they "
            "fix the episode: the seed is an int, the task is one or is not there, and so is the "
            "seat, which may be a name. `python -m gem_integrations.rows "
            "ENV --out FILE` writes such rows.",
            subject="row",
        ) from None


def main(arguments: Sequence[str] | None = None) -> None:
    """Write rows as JSON lines. Ends with status 2 and a line on stderr where it cannot."""
    parser = argparse.ArgumentParser(
        prog="python -m gem_integrations.rows", description="Write a data set of episodes."
    )
    parser.add_argument("env_id", metavar="ENV", help="an environment, as `gem-env list` has it")
    parser.add_argument("--count", type=_count, default=1000, help="1000 by default, or `all`")
    parser.add_argument("--seed", type=int, default=0, help="another one, other episodes")
    parser.add_argument(
        "--env-kwargs", type=_mapping, metavar="JSON", help="arguments of the environment"
    )
    parser.add_argument(
        "--wrappers", type=_list, metavar="JSON", default=[], help="those of the training"
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write, .jsonl")
    options = parser.parse_args(arguments)
    try:
        planned = rows(
            options.env_id,
            count=options.count,
            seed=options.seed,
            env_kwargs=options.env_kwargs,
            wrappers=options.wrappers,
        )
        lines = [json.dumps(row) + "\n" for row in planned]
        options.out.write_text("".join(lines), encoding="utf-8")
    except GemError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{options.out} cannot be written: {error.strerror}")


def _count(text: str) -> int | Literal["all"]:
    try:
        return "all" if text == "all" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number. Write one, or `all`") from None


def _mapping(text: str) -> dict[str, Any]:
    value = _from_json(text)
    if isinstance(value, dict):
        return value
    raise argparse.ArgumentTypeError(
        f"{text!r} is not a JSON object. Write it like '{{\"size\": 3}}'"
    )


def _list(text: str) -> list[Any]:
    value = _from_json(text)
    if isinstance(value, list):
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a JSON list. Write it like '[\"concat\"]'")


def _from_json(text: str) -> Any:
    """Return what JSON says; None where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


if __name__ == "__main__":
    main()
