"""The options of `gem-env eval`: argparse alone, so that setting `gem-env` up stays cheap.

An option that was not given is absent from the result: then a file, a resumed run or a default
decides.
"""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_command", "add_how", "add_which"]

_DESCRIPTION = """\
Run policies on environments, keep every episode in a run folder, and print the figures with
95% intervals. Killing it loses only unfinished episodes: --resume runs exactly the missing ones,
and those that ended by an error.
The exit status is 1 if the run could not go on, if every episode of a policy on an environment
ended by an error, with --fail-on-error if any did, or with --dry-run if an environment fails; 3 if
--until came to no decision; 130 after Ctrl-C.
"""
_EPILOGUE = """\
policies:
  solver                 the environment's own solution (the gold answer, an optimal move)
  random                 a valid action, drawn by the environment
  noop                   an empty answer
  scripted:MODULE:CLASS  a policy of your own, found from the current folder too; or of a file,
                         scripted:./try.py:Guess
  openai:MODEL@BASE_URL  a model behind any server that speaks the OpenAI API; its key is read
                         from the environment variable OPENAI_API_KEY
  hf:PATH                a model in a folder on this machine, by transformers
  baseline:PATH          what `gem-env train` left: a training folder or a checkpoint of it
  human                  you, on the screen of `gem-env play`; :quit leaves, --resume goes on
  and whatever an installed pack provides

examples:
  gem-env eval game:GuessTheNumber-v0-hard --policy solver --policy random --episodes 200
  gem-env eval 'game:*-easy' --policy openai:my-model@http://localhost:8000/v1 \\
      --policy-kwargs '{"temperature": 0.7}' --out runs/my-model
  gem-env eval ./try.py:Parity --policy scripted:./try.py:Guess
  gem-env eval game:Nim-v0 --policy first=random --policy second=solver
  gem-env eval game:Nim-v0 --policy random --policy solver --rotate --every-rotation
  gem-env eval agents:Service-v0 --policy first-reading --vary wording=0:20
  gem-env eval --resume runs/my-model
  gem-env eval --resume runs/my-model --episodes 500
  gem-env eval game:GuessTheNumber-v0-hard --policy random --seed-range 7:10
  gem-env eval game:Sudoku-v0-easy --policy openai:old@http://localhost:8000/v1 \\
      --policy openai:new@http://localhost:8001/v1 --until decided --tolerance 0.02
  gem-env eval 'math:*' --policy openai:my-model@https://models.example/v1 \\
      --max-cost 5 --prices prices.toml
  gem-env eval 'math:*' --policy openai:my-model@https://models.example/v1 --dry-run
  gem-env eval --config evaluation.toml --seed 1
"""


def add_command(commands: Any) -> None:
    """Add `eval` to the commands."""
    parser = commands.add_parser(
        "eval",
        help="evaluate policies on environments",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
        argument_default=argparse.SUPPRESS,
    )
    _add_what(parser)
    add_how(parser)
    _add_where(parser)
    parser.set_defaults(run=_run)


def _add_what(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "envs",
        nargs="*",
        metavar="ID|PATTERN|TARGET",
        help="environments: ids or shell patterns, or your own, ./try.py:Parity of a file or "
        "acme.words:Spell of a module",
    )
    add(
        "--policy",
        action="append",
        metavar="[SEAT=]P",
        help="a policy; may be given several times, and is evaluated by itself, at every seat that "
        "there is. With the names of seats they play together, each at its own: --policy first=P "
        "--policy second=Q",
    )
    add(
        "--rotate",
        action="store_true",
        help="the policies play together and change seats from episode to episode: policy i is at "
        "the seat (i + number of the episode) modulo the seats",
    )
    add(
        "--every-rotation",
        action="store_true",
        help="with --rotate: each seed in every rotation, so that --episodes counts seeds",
    )
    add(
        "--vary",
        metavar="NAME=VALUES",
        help="play every task with each of these values of an argument, and show how much the "
        "returns depend on it: wording=0:20, or a JSON list",
    )
    add(
        "--until",
        choices=("decided",),
        help="play side by side until it is proven of each policy whether it is better or worse "
        "than the first, or the same within --tolerance; at most --episodes (10000)",
    )
    add(
        "--tolerance",
        type=float,
        metavar="T",
        help="with --until: a difference of success that does not matter, 0.02 is two points",
    )
    add_which(parser)


def add_which(parser: argparse.ArgumentParser, *, has_repeats: bool = True) -> None:
    """Add the options that say which episodes are played, and with what arguments."""
    add = parser.add_argument
    add(
        "--policy-kwargs",
        metavar="JSON",
        help='arguments of policies, by name: \'{"openai": {"temperature": 0}}\'; those of an '
        "only policy may stand alone: '{\"temperature\": 0}'",
    )
    add(
        "--episodes",
        type=_count_or_all,
        metavar="N|all",
        help="for each environment and policy; `all` is every task once. Default: 100, or every "
        "task once where there are fewer",
    )
    add(
        "--task",
        action="append",
        type=_numbers,
        metavar="N[,N...]",
        help="these tasks of a finite set alone, each the same episode as among all; may be given "
        "several times",
    )
    add(
        "--seed-range",
        type=_seed_range,
        metavar="A:B",
        help="the environment's own seeds from A to before B (`gem-env play --seed A`), or A alone",
    )
    if has_repeats:
        again = "the same seeds K times, for pass@k. Default: 1"
        add("--repeats", type=int, metavar="K", help=again)
    add("--seed", type=int, metavar="S", help="the run's seed. Default: 0")
    add(
        "--wrappers",
        metavar="A,B",
        help="wrappers by id, the innermost first, or a JSON list of ids and objects with an id",
    )
    add("--env-kwargs", metavar="JSON", help="arguments of every environment, a JSON object")
    add("--max-turns", type=int, metavar="N", help="turns after which an episode is cut off")


def add_how(parser: argparse.ArgumentParser) -> None:
    """Add the options that change no episode, and those of budgets."""
    add = parser.add_argument
    add("--concurrency", type=int, metavar="C", help="episodes in flight at once. Default: 64")
    add(
        "--backend",
        metavar="B",
        help="where environments run: inline, thread, process, or what a pack adds. Default: "
        "inline",
    )
    add(
        "--workers",
        type=int,
        metavar="N",
        help="processes of the backend, of `thread` its threads. Default: one process a processor",
    )
    add("--backend-options", metavar="JSON", help="options of the backend, a JSON object")
    add(
        "--step-timeout",
        type=float,
        metavar="S",
        help="seconds after which a step is given up, and its episode an error",
    )
    add(
        "--policy-timeout",
        type=float,
        metavar="S",
        help="seconds after which an answer of a policy that waits (`async def`) is given up; a "
        "plain function cannot be interrupted",
    )
    add(
        "--episode-timeout",
        type=float,
        metavar="S",
        help="seconds after which an episode is given up, and is an error",
    )
    add(
        "--policy-retries",
        type=int,
        metavar="N",
        help="ask a policy again that fails or is late, so often. Default: 0",
    )
    add(
        "--retry-wait",
        type=float,
        metavar="S",
        help="seconds before the first of these, and twice as long before each later one. "
        "Default: 0",
    )
    add(
        "--wait-for-server",
        type=float,
        metavar="S",
        help="seconds to wait for a model's server that is away, or fails at whatever it is asked, "
        "also before the first episode (600 for one that goes away, 0 for one that was never "
        "there)",
    )
    add(
        "--max-refusals",
        type=int,
        metavar="K",
        help="stop when a server refuses or fails alike so often in a row, with no answer between "
        "and beside what is in flight: key, model, quota, option, 500 (5)",
    )
    add(
        "--cache",
        metavar="DIR",
        help="a folder of answers: what was asked before, in this run or another, is not asked "
        "again",
    )
    add(
        "--track",
        action="append",
        metavar="T",
        help="tell a tracker how the run goes while it goes on: mlflow, wandb or trackio (each an "
        "extra of gem-eval); may be given several times. A resumed run goes on with the same",
    )
    _add_budgets(parser)


def _add_budgets(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--max-requests",
        type=int,
        metavar="N",
        help="stop after so many answers of policies that may ask a model (all but random, solver, "
        "noop and human); --resume with more goes on",
    )
    add(
        "--max-total-tokens",
        type=int,
        metavar="N",
        help="stop after so many tokens of prompts and answers, as the servers count them",
    )
    add(
        "--max-cost",
        type=float,
        metavar="X",
        help="stop when these tokens cost so much, by --prices",
    )
    add(
        "--prices",
        metavar="FILE",
        help="what a million tokens cost, by model: a TOML file with lines such as "
        '"my-model" = {prompt = 0.15, completion = 0.6}, or the same as JSON',
    )


def _add_where(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--out", metavar="DIR", help="the run folder, new or empty. Default: runs/DATE-TIME")
    add(
        "--resume",
        metavar="DIR",
        help="run what this folder lacks and what ended by an error there, with its settings; a "
        "larger --episodes or --repeats extends the run",
    )
    add("--config", metavar="FILE", help="a TOML file with these options; the command line wins")
    add(
        "--dry-run",
        action="store_true",
        help="play nothing: print the plan, the first prompt of each environment as a model gets "
        "it, and an estimate of requests, tokens and, with --prices, money",
    )
    add(
        "--fail-on-error",
        action="store_true",
        help="exit with status 1 if an episode ended by an error",
    )
    add(
        "--json",
        action="store_true",
        help="print the summary, or the dry run, as JSON, and nothing else",
    )


def _count_or_all(text: str) -> int | str:
    if text == "all":
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor 'all'") from None


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no task's number; write 7, or 3,7,9"
        ) from None


def _seed_range(text: str) -> tuple[int, int]:
    first, colon, end = text.partition(":")
    try:
        return (int(first), int(end) if colon else int(first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no range of seeds; write 0:50 for those from 0 to 49, or 7"
        ) from None


def _run(options: argparse.Namespace) -> int:
    from gem_eval.cli.eval import run  # everything else: 0.3 s

    return run(options)
