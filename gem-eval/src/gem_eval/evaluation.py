"""`evaluate` and its kin: run policies on environments, keep every episode, sum up."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from gem.episode import Episode
from gem.rollouts import RunKeywords, read_last_tries
from gem_eval import opening
from gem_eval.errors import EvalError
from gem_eval.interrupts import run_to_end
from gem_eval.job import Job
from gem_eval.line_ups import Policies, policy_list
from gem_eval.run_folder import RunFolder
from gem_eval.settings import Envs, Settings
from gem_eval.summary import Summary

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gem_eval.frames import DataFrame

__all__ = [
    "EvaluateKeywords",
    "Evaluation",
    "blocking",
    "evaluate",
    "evaluate_async",
    "finished",
    "resume",
    "resume_async",
]

T = TypeVar("T")
OnEpisode = Callable[[Episode], None]
_COMMAND = ("gem_eval.evaluate",)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finished evaluation: its folder and its figures.

    `tracking_problems` has a line for each tracker that failed.
    """

    folder: RunFolder
    summary: Summary
    tracking_problems: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.folder.path

    @property
    def settings(self) -> Settings:
        """What was evaluated, and how."""
        return self.folder.record.settings

    def episodes(self) -> Iterator[Episode]:
        """Read the episodes from the log, each once: its last try. Those with an error come last.

        `gem.read_episodes(run.folder.episodes_path)` reads first tries too.
        """
        return read_last_tries(self.folder.episodes_path)

    def to_pandas(self) -> DataFrame:
        """Return a table with a row for each episode, of several seats for each seat. Needs pandas.

        `summary.to_pandas()` has a row for each environment and policy, and
        `summary.seats_to_pandas()` for each seat.
        """
        from gem_eval.frames import data_frame, episode_rows

        return data_frame(row for episode in self.episodes() for row in episode_rows(episode))


class EvaluateKeywords(RunKeywords, total=False):
    """The options of an evaluation by name, for type checkers. `evaluate` explains them."""

    episodes: int | Literal["all"] | None
    tasks: Iterable[int] | None
    seed_range: tuple[int, int] | range | None
    every_rotation: bool
    vary: Mapping[str, Iterable[Any]] | None
    policy_kwargs: Mapping[str, Any] | None
    until: Literal["decided"] | None
    tolerance: float | None
    wait_for_server_s: float | None
    max_refusals: int
    cache: str | Path | None
    track: str | Sequence[str] | None
    max_requests: int | None
    max_total_tokens: int | None
    max_cost: float | None
    prices: str | Path | Mapping[str, Any] | None


async def evaluate_async(
    envs: Envs,
    policies: Policies,
    *,
    out: str | Path | None = None,
    on_episode: OnEpisode | None = None,
    **options: Unpack[EvaluateKeywords],
) -> Evaluation:
    """Await `evaluate`, for code that already runs on an event loop."""
    values = {"envs": envs, "policies": policy_list(policies), **_read_once(options)}
    for name in ("env_kwargs", "policy_kwargs", "backend_options", "prices"):
        if values.get(name) is None:  # another way to say that there are none
            values.pop(name, None)
    return await finished(opening.started(values, out=out, command=_COMMAND), on_episode)


def evaluate(
    envs: Envs,
    policies: Policies,
    *,
    out: str | Path | None = None,
    on_episode: OnEpisode | None = None,
    **options: Unpack[EvaluateKeywords],
) -> Evaluation:
    """Evaluate policies on environments and keep the run in a folder.

    `envs`: ids, shell patterns or specs. `policies`: names (`"random"`, `"openai:M@URL"`) or
    policies themselves, told apart by their `name`. In an environment of several seats a policy
    sits at all of them; a mapping from the names of seats is a line-up, and so is a tuple, which
    rotates: policy `i` is at the seat `(i + rotation) % seats`, the rotation being the episode's
    number. `out` is a new folder; without it one is made
    below `runs/`. `on_episode` is called with each episode that was kept.

    Which episodes: `episodes` counts for each environment and policy: 100, or every task once where
    there are fewer, unless it is given; `"all"` is every task of a finite set. Instead of it,
    `tasks` plays these of a finite set, as the run of all of them would, and `seed_range` the
    environment's own seeds, from the first to before the second. With `every_rotation` line-ups
    that rotate play each of these episodes in every rotation.

    `vary` maps one argument of the environments to its values: every task is played with each of
    them, and `summary.sensitivities` says how much the returns depend on it.

    With `until="decided"` the policies play side by side until it is proven of each but the first
    whether its success is higher or lower than the first's, or differs by at most `tolerance`;
    at most `episodes` (10,000), or every task once. The run looks after every episode, and its
    decisions are wrong with a chance of at most 5% all the same: `summary.decisions`.

    For the policies: `policy_kwargs` maps a policy's name to its arguments; those of an only policy
    may stand alone. A model's server that goes away is waited for, `wait_for_server_s` (None: as
    long as the policy says, and not before the first episode); a run stops after `max_refusals` (5)
    in a row, beside as many as are in flight, where no request was answered between them.

    With `cache`, a folder, what was asked before (the same model, address, messages, options and
    seed) is answered from there, by every run that has it.

    `track` names trackers (`"mlflow"`, `"wandb"`, `"trackio"`) that are told the figures while the
    run goes on. What fails there stops nothing, and is in `tracking_problems`.

    What it may spend: `max_requests` are answers of policies that may ask a model (all but
    `random`, `solver`, `noop` and `human`), `max_total_tokens` those of their prompts and answers
    together, and `max_cost` what these cost by `prices`: a mapping, or a TOML or JSON file, from a
    model's name to what a million tokens of `prompt` and `completion` cost. A run whose budget is
    spent stops, and `resume` with a larger one goes on. What was spent before counts.

    As of `gem.rollout`, and explained at `gem.RolloutOptions`: `repeats`, `seed`; `wrappers`,
    `env_kwargs`, `max_turns`; `concurrency`, `backend`, `num_workers`, `backend_options`;
    `step_timeout_s`, `policy_timeout_s`, `episode_timeout_s`, `policy_retries`, `retry_wait_s`.

    Of environments whose scores say little alone, packs declare reference policies: these are
    played too, once on each episode, and stand in `summary.references`.

    The same settings give the same episodes on every backend and at any concurrency. An episode
    that fails is an error in the summary, never a wrong answer. Raises GemError before the first
    episode on settings that cannot work; RunStopped if the folder can no longer be written, or a
    server did not come back or refused for good: before the first episode, or (as one that fails
    alike does) `max_refusals` times in a row; or where a budget is spent. What such an error ended
    is not kept.

        run = gem_eval.evaluate("math:Arithmetic-v0", ["solver", "random"], episodes=200)
        print(run.summary.results[0].success_rate, run.path)
    """
    return blocking(evaluate_async(envs, policies, out=out, on_episode=on_episode, **options))


async def resume_async(
    folder: str | Path,
    *,
    policies: Policies | None = None,
    on_episode: OnEpisode | None = None,
    **options: Unpack[EvaluateKeywords],
) -> Evaluation:
    """Await `resume`, for code that already runs on an event loop."""
    values = {name: value for name, value in _read_once(options).items() if value is not None}
    if policies is not None:
        values["policies"] = policy_list(policies)
    return await finished(opening.continued(folder, values), on_episode)


def resume(
    folder: str | Path,
    *,
    policies: Policies | None = None,
    on_episode: OnEpisode | None = None,
    **options: Unpack[EvaluateKeywords],
) -> Evaluation:
    """Run exactly the episodes that an evaluation lacks, with the settings it was started with.

    Live objects (a policy, a table in memory) are not in its record: pass them again. Episodes
    that ended by an error are run again; their first tries stay in the log. More `episodes` or
    `repeats` extend the run: what it has stays, and belongs to the longer one.

    `concurrency` may differ, and so may `policy_timeout_s`, `episode_timeout_s`, `policy_retries`,
    `retry_wait_s`, `wait_for_server_s`, `max_refusals`, `cache`, `track`, the budgets
    (`max_requests`, `max_total_tokens`, `max_cost`, `prices`) and where environments run: another
    `backend` takes its own `num_workers` and `backend_options`, which are not in the record. Other
    options of `evaluate` must be what the run has. None stands for what it has. Raises
    RunFolderError where what is given is not what the run has.
    """
    return blocking(resume_async(folder, policies=policies, on_episode=on_episode, **options))


def _read_once(options: EvaluateKeywords) -> dict[str, Any]:
    """Return options as a dictionary, with wrappers that can be read more than once."""
    values: dict[str, Any] = {**options}
    if values.get("wrappers") is not None:
        values["wrappers"] = tuple(values["wrappers"])
    return values


async def finished(ready: Job, on_episode: OnEpisode | None = None) -> Evaluation:
    """Run what a job lacks, and let go of its log, whatever becomes of it."""
    if ready.changed:
        warnings.warn(ready.changed, RuntimeWarning, stacklevel=2)
    try:
        summary = await ready.run(on_episode)
        return Evaluation(ready.folder, summary, ready.tracking.problems)
    finally:
        ready.close()


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns. Raises EvalError on a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_to_end(work)
    work.close()
    raise EvalError(
        "This was called on a running event loop (a notebook has one), which it would block. "
        "There, use `await gem_eval.evaluate_async(...)` or `await gem_eval.resume_async(...)`, "
        "or `await gem_eval.branch_async(...)`."
    )
