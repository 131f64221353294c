"""Say what is odd in whole runs: counts with intervals, and the newest examples."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from gem import read_episodes
from gem_eval.errors import FindError
from gem_eval.finding.inspecting import Inspector
from gem_eval.finding.installed import InstalledFinder, chosen, installed
from gem_eval.finding.tally import Seen, Tally
from gem_eval.run_folder import RunFolder
from gem_eval.short_names import short_names

if TYPE_CHECKING:
    from gem_eval.frames import DataFrame

__all__ = ["Found", "FoundExample", "FoundShare", "find"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class FoundShare(_Frozen):
    """In how many episodes of a run, an environment and a policy a finder found something.

    Of several seats each counts as an episode, of the policy that sat there.
    `ci95` is the interval of `share`; it counts groups of tasks or seeds, as a summary's does.
    """

    finder: str
    run: str
    env_id: str
    policy: str
    found: int
    episodes: int
    share: float | None
    ci95: tuple[float, float] | None


class FoundExample(_Frozen):
    """One finding. `line` counts the lines of the run's log from 1, `turn` those of it from 0.

    A turn of None is the episode as a whole.
    """

    finder: str
    run: str
    line: int
    turn: int | None
    env_id: str
    policy: str
    seed: int
    task: int | None
    evidence: str


class Found(_Frozen):
    """What is odd in runs.

    `episodes` counts each once, by its last try; `with_findings` those in which anything was found.
    `shares` has every finder, run, environment and policy, also where nothing was found; `newest`
    the newest examples of each finder. `problems` are finders that failed, a line each, or that
    could not be loaded.
    """

    format: Literal[1] = 1
    runs: tuple[str, ...]
    finders: tuple[str, ...]
    episodes: int
    with_findings: int
    shares: tuple[FoundShare, ...]
    newest: tuple[FoundExample, ...]
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return self.model_dump(mode="json")

    def to_pandas(self) -> DataFrame:
        """Return a table with a row for each finder, run, environment and policy. Needs pandas."""
        from gem_eval.frames import data_frame

        return data_frame(share.model_dump(mode="json") for share in self.shares)


def find(
    runs: str | Path | Sequence[str | Path],
    *,
    finders: Sequence[str] | None = None,
    policies: Sequence[str] | None = None,
    env: str = "*",
    examples: int = 3,
) -> Found:
    """Let finders look at every episode of one run folder or of several. Changes nothing.

    `finders` and `policies` choose some by name, `env` environments by a shell pattern; `examples`
    are kept of each finder. One episode is in memory at a time. Raises RunFolderError, LogError,
    and FindError on what no run and no pack has.

        found = gem_eval.find("runs/games", finders=["loop"])
        print(found.newest[0].line, found.newest[0].evidence)
    """
    several = [runs] if isinstance(runs, (str, Path)) else runs
    looking = chosen(finders)
    folders = _each_once(several)
    wanted = _policies(folders, policies)
    _refuse_what_matches_nothing(folders, env)
    inspector = Inspector(looking)
    tally = Tally(examples)
    for number, folder in enumerate(folders):
        _look_at(folder, number, inspector, tally, wanted, env)
    tally.finish()
    problems = (*installed().problems, *map(str, inspector.failures))
    return _found(tally, [str(folder.path) for folder in folders], looking, problems)


def _look_at(
    folder: RunFolder,
    number: int,
    inspector: Inspector,
    tally: Tally,
    policies: set[str],
    env: str,
) -> None:
    if not folder.episodes_path.exists():  # a run that was just begun has no log
        return
    run = str(folder.path)
    for line, episode in enumerate(read_episodes(folder.episodes_path), start=1):
        is_wanted = episode.policy in policies
        seated = {outcome.policy for outcome in episode.seats}
        if (is_wanted or seated & policies) and fnmatchcase(episode.env_id, env):
            found = inspector.by_seat(episode, where=f"line {line:,} of {run}")
            by_policy = [
                (part.policy, findings)
                for part, findings in zip(episode.parts(), found, strict=True)
                if is_wanted or part.policy in policies
            ]
            tally.add(
                episode,
                by_policy,
                run=run,
                run_number=number,
                line=line,
                is_alone=folder.record.branch is not None,
            )


def _found(
    tally: Tally,
    runs: Sequence[str],
    looking: Sequence[InstalledFinder],
    problems: Sequence[str],
) -> Found:
    ids = [each.finder.id for each in looking]
    shares = []
    for finder in ids:
        for cell in tally.cells:
            estimate = tally.share(finder, cell)
            shares.append(
                FoundShare(
                    finder=finder,
                    **cell._asdict(),
                    found=tally.hits(finder, cell),
                    episodes=tally.size(cell),
                    share=estimate.value,
                    ci95=estimate.ci95,
                )
            )
    return Found(
        runs=tuple(runs),
        finders=tuple(ids),
        episodes=tally.episodes,
        with_findings=tally.with_findings,
        shares=tuple(shares),
        newest=tuple(_example(seen) for finder in ids for seen in tally.newest(finder)),
        problems=tuple(problems),
    )


def _example(seen: Seen) -> FoundExample:
    finding = seen.finding
    return FoundExample(
        finder=finding.finder,
        **seen.cell._asdict(),
        line=seen.place.line,
        turn=finding.turn,
        seed=seen.seed,
        task=seen.task,
        evidence=finding.evidence,
    )


def _each_once(runs: Sequence[str | Path]) -> list[RunFolder]:
    folders: dict[Path, RunFolder] = {}
    for run in runs:
        folder = RunFolder.open(run)
        folders.setdefault(folder.path.resolve(), folder)
    return list(folders.values())


def _policies(folders: Sequence[RunFolder], policies: Sequence[str] | None) -> set[str]:
    """Return the whole names of the policies to look at. Raises FindError on one that none has."""
    all_settings = [folder.record.settings for folder in folders]
    playing = {ref.name for settings in all_settings for ref in settings.policies}
    names = playing | {ref.name for settings in all_settings for ref in settings.members}
    if policies is None:
        return names
    short = short_names(sorted(names))
    chosen_names = {name for name in names if {name, short[name]} & set(policies)}
    strange = set(policies) - chosen_names - {short[name] for name in chosen_names}
    if strange:
        raise FindError(
            f"The policy {min(strange)!r} is in none of these runs. They have "
            f"{', '.join(sorted(short.values()))}."
        )
    return chosen_names


def _refuse_what_matches_nothing(folders: Sequence[RunFolder], env: str) -> None:
    ids = list(dict.fromkeys(spec.id for folder in folders for spec in folder.record.settings.envs))
    if not any(fnmatchcase(id, env) for id in ids):
        raise FindError(
            f"The pattern {env!r} matches no environment of these runs. They have {', '.join(ids)}."
        )
