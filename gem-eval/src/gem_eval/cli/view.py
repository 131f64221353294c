"""`gem-env view`: runs as pages in a browser, or as one file. It only reads."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gem_eval.viewing.runs import Run
    from gem_eval.viewing.token_text import TokenTexts
    from gem_eval.viewing.trainings.logs import EvaluationLogs
    from gem_eval.viewing.trainings.training import ViewedTraining

__all__ = ["add_command"]

_DESCRIPTION = """\
Show run folders and training folders, finished or still being written, as pages in a browser:
figures, every episode, every turn; learning curves over seeds. A folder stands for all that are in
it. It prints the address and serves this machine alone, until Ctrl-C. It changes no run;
what it has read of a log it keeps in the user's cache, so that it reads it once.
"""
_EPILOGUE = """\
examples:
  gem-env view runs/my-model
  gem-env view runs/* --port 9000 --open
  gem-env view runs/my-model --tokenizer models/my-model
  gem-env view runs/my-model --export my-model.html
  gem-env view runs/guess-seed-0 runs/guess-seed-1 --export guess.html
"""
_PORT = 8500
_NEEDED = ("jinja2>=3.1", "starlette>=0.40", "uvicorn>=0.30")
_MEGABYTE = 1_000_000


def add_command(commands: Any) -> None:
    """Add `view` to the commands."""
    parser = commands.add_parser(
        "view",
        help="look at runs and trainings in a browser, or write one as a file",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
    )
    add = parser.add_argument
    add(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a folder of a run or a training, or one that holds some",
    )
    add("--port", type=_port, default=_PORT, metavar="N", help=f"default {_PORT}; 0 for a free one")
    add("--host", default="127.0.0.1", help="where to listen (default: this machine alone)")
    add("--open", action="store_true", help="open the address in a browser")
    add("--export", metavar="FILE.html", help="write the run as one file instead, for anybody")
    add(
        "--export-limit",
        type=_megabytes,
        default=20.0,
        metavar="MB",
        help="how large that file may be: episodes that do not fit are left out (default 20)",
    )
    add(
        "--tokenizer",
        metavar="PATH",
        help="show the texts of recorded token ids, by the tokenizer.json of this folder",
    )
    add(
        "--solve",
        action="store_true",
        help="offer to play an episode again, on this machine, and show what the environment's "
        "solve() would have answered in each turn",
    )
    add("--no-cache", action="store_true", help="keep no index of the logs in the user's cache")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem.cli import one_line
    from gem.registry import check_requirements
    from gem_eval.viewing.log_index import cache_folder

    check_requirements(_NEEDED, subject="gem-env view", of="gem-eval")
    from gem_eval.viewing.runs import open_runs  # heavy, with what it imports: 0.4 s
    from gem_eval.viewing.trainings.logs import EvaluationLogs
    from gem_eval.viewing.trainings.opening import found_in, left_out, open_trainings

    texts = _texts(options)
    cache = None if options.no_cache else cache_folder()
    run_paths, training_paths = found_in(options.runs)
    bad = left_out([*run_paths, *training_paths], named=[*map(Path, options.runs)])
    for problem in bad.values():
        print(f"gem-env view: left out: {one_line(str(problem))}", file=sys.stderr)
    runs = open_runs([path for path in run_paths if path not in bad], cache)
    try:
        paths = [path for path in training_paths if path not in bad]
        trainings = open_trainings(paths, [run.name for run in runs])
        logs = EvaluationLogs(trainings, cache)
        try:
            if options.export is not None:
                return _export(options, runs, trainings)
            return _serve(options, runs, texts, trainings, logs)
        finally:
            logs.close()
    finally:
        for run in runs:
            run.close()


def _export_trainings(options: argparse.Namespace, trainings: list[ViewedTraining]) -> int:
    from gem_eval.viewing.trainings.export import export_trainings
    from gem_eval.wording import counted

    size = export_trainings(trainings, Path(options.export))
    what = counted(len(trainings), "training")
    print(f"Wrote {options.export}: {what}, {size / _MEGABYTE:.1f} MB.")
    return 0


def _export(options: argparse.Namespace, runs: list[Run], trainings: list[ViewedTraining]) -> int:
    from gem_eval.errors import ViewError
    from gem_eval.viewing.export import export
    from gem_eval.wording import counted

    if trainings and runs:
        raise ViewError(
            "Runs and trainings were to be exported, and a file holds one run, or trainings alone. "
            "Export them to files of their own."
        )
    if trainings:
        return _export_trainings(options, trainings)
    if len(runs) != 1:
        raise ViewError(
            f"{len(runs)} runs were to be exported, and a file holds one. Name one run, and export "
            "the others to files of their own."
        )
    most_bytes = int(options.export_limit * _MEGABYTE)
    found = export(runs[0], Path(options.export), most_bytes=most_bytes)
    what = counted(found.episodes, "episode")
    if found.episodes < found.of:
        what = f"the first {found.episodes:,} of {counted(found.of, 'episode')}"
        what = f"{what} (a larger --export-limit has more)"
    print(f"Wrote {options.export}: {what}, {found.size / _MEGABYTE:.1f} MB.")
    return 0


def _texts(options: argparse.Namespace) -> TokenTexts | None:
    """Load the tokenizer that was named, before anything is read or served."""
    if options.tokenizer is None:
        return None
    from gem.registry import check_requirements
    from gem_eval.errors import ViewError
    from gem_eval.viewing.token_text import NEEDED, load_texts

    if options.export is not None:
        raise ViewError(
            "--tokenizer was given with --export, and a file has no token page. Leave one of the "
            "two out."
        )
    check_requirements(NEEDED, subject="gem-env view --tokenizer", of="gem-eval")
    return load_texts(Path(options.tokenizer))


def _serve(
    options: argparse.Namespace,
    runs: list[Run],
    texts: TokenTexts | None,
    trainings: list[ViewedTraining],
    logs: EvaluationLogs,
) -> int:
    from gem_eval.errors import ViewError
    from gem_eval.viewing.app import viewer_app
    from gem_eval.viewing.runs import Follower, Looker
    from gem_eval.viewing.serving import address_of, is_local, listening, serve
    from gem_eval.viewing.solving import Solver
    from gem_eval.wording import counted

    solver = Solver() if options.solve else None
    with listening(options.host, options.port) as listener:
        if solver is not None and not is_local(listener):
            raise ViewError(
                f"--solve was given with --host {options.host}, and whoever reached that could run "
                "environments here. Leave out one of them."
            )
        address = address_of(listener)
        counts = {"run": len(runs), "training": len(trainings)}
        what = " and ".join(counted(number, noun) for noun, number in counts.items() if number)
        print(f"Showing {what} at {address} . Ctrl-C ends it.", flush=True)
        if not is_local(listener):
            print(
                f"gem-env view: {options.host} can be reached from other machines, and anybody "
                "there may read the runs.",
                file=sys.stderr,
            )
        follower = Follower([*runs, *trainings])
        looker = Looker(runs)
        follower.start()
        looker.start()
        try:
            if options.open:
                import webbrowser

                webbrowser.open(address)
            app = viewer_app(
                runs,
                host=options.host,
                texts=texts,
                solver=solver,
                trainings=trainings,
                logs=logs,
            )
            serve(app, listener)
        finally:
            follower.stop()
            looker.stop()
    return 0


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:6]) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port: a whole number from 0 to 65535")
    return int(text)


def _megabytes(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no size in megabytes, such as 20")
    return size
