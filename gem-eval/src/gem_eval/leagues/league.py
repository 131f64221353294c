"""`league` and its kin: policies play each other, in every rotation of the same seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem.conversation import name_of
from gem.episode import Episode
from gem.registry import check_requirements
from gem.rollouts import EnvLike, seats_of
from gem_eval import opening
from gem_eval.errors import LeagueError, RunFolderError
from gem_eval.evaluation import EvaluateKeywords, Evaluation, blocking, finished
from gem_eval.job import Job
from gem_eval.leagues.exploitability import exploitabilities
from gem_eval.leagues.pairings import MOST_LINE_UPS, line_ups_of
from gem_eval.leagues.reading import league_in, read_standings
from gem_eval.leagues.record import Forfeits, LeagueRecord
from gem_eval.leagues.results import Standings
from gem_eval.leagues.skill import REQUIRES
from gem_eval.leagues.standings import with_exploitability
from gem_eval.line_ups import PolicyLike, named_policies
from gem_eval.live import live_of, rollout_options
from gem_eval.plan import asked
from gem_eval.run_folder import RunFolder
from gem_eval.settings import settings_from

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "League",
    "continued",
    "league",
    "league_async",
    "resume_league",
    "standings",
    "started",
    "stood",
]

OnEpisode = Callable[[Episode], None]
_COMMAND = ("gem_eval.league",)
_NOT_OF_LEAGUES = ("until", "tolerance", "every_rotation", "vary")


@dataclass(frozen=True, slots=True)
class League:
    """A finished league: where its policies stand, and the evaluation that it is."""

    evaluation: Evaluation
    standings: Standings

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.evaluation.path


async def league_async(
    env: EnvLike,
    policies: Sequence[PolicyLike],
    *,
    out: str | Path | None = None,
    on_episode: OnEpisode | None = None,
    forfeits: Forfeits = "apart",
    line_ups: int = MOST_LINE_UPS,
    **options: Unpack[EvaluateKeywords],
) -> League:
    """Await `league`, for code that already runs on an event loop."""
    values = {name: value for name, value in options.items() if value is not None}
    values |= {"envs": env, "policies": policies}
    job = started(values, out=out, command=_COMMAND, forfeits=forfeits, line_ups=line_ups)
    return stood(await finished(job, on_episode), job)


def league(
    env: EnvLike,
    policies: Sequence[PolicyLike],
    *,
    out: str | Path | None = None,
    on_episode: OnEpisode | None = None,
    forfeits: Forfeits = "apart",
    line_ups: int = MOST_LINE_UPS,
    **options: Unpack[EvaluateKeywords],
) -> League:
    """Let policies play each other, and say where they stand.

    All pairs of `policies` play `env`, each seed in every rotation, so that all have sat at every
    seat equally often and have had the same luck. It is an evaluation whose line-ups are these
    pairs: options, run folder, budgets, trackers and `gem_eval.resume` are those of
    `gem_eval.evaluate`, and `episodes` counts seeds.

    Of more than two seats all line-ups of so many policies play, `line_ups` (500) of them at most,
    chosen so that all policies play equally often; ratings then need openskill.

    A policy that fails forfeits the game. With `forfeits="apart"` that game counts nothing but a
    forfeit; with `"lose"` it is lost. Raises GemError before the first episode on what cannot be
    played; LeagueError on one policy alone, one that is given twice, or a single seat.

        found = gem_eval.league("game:Nim-v0", ["solver", "random"], episodes=50)
        print(found.standings.standings[0].policy, found.standings.warning)
    """
    return blocking(
        league_async(
            env,
            policies,
            out=out,
            on_episode=on_episode,
            forfeits=forfeits,
            line_ups=line_ups,
            **options,
        )
    )


def resume_league(
    folder: str | Path,
    *,
    policies: Sequence[PolicyLike] | None = None,
    on_episode: OnEpisode | None = None,
    **options: Unpack[EvaluateKeywords],
) -> League:
    """Play what a league lacks, as `gem_eval.resume` does, and say where its policies stand.

    Policies that were given as objects are to be given again. What a forfeit ended is played
    again. Raises LeagueError where the run is no league.
    """
    values = {name: value for name, value in options.items() if value is not None}
    if policies is not None:
        values["policies"] = policies
    job = continued(folder, values)
    return stood(blocking(finished(job, on_episode)), job)


def standings(run: str | Path, *, forfeits: Forfeits | None = None) -> Standings:
    """Return where a league stands by its folder, finished or not. Changes nothing.

    Raises RunFolderError, LeagueError where the run is no league, and LogError.
    """
    return read_standings(RunFolder.open(run), forfeits)


def started(
    given: Mapping[str, Any],
    *,
    out: str | Path | None,
    command: Sequence[str],
    forfeits: Forfeits = "apart",
    line_ups: int = MOST_LINE_UPS,
) -> Job:
    """Check a new league and make its folder. Raises GemError, and then makes none."""
    _refuse_others(given, forfeits, line_ups)
    policies = _checked(given.get("policies", ()))
    env = given["envs"]
    settings = settings_from({**given, "policies": list(policies.values())})
    if len(settings.envs) != 1:
        raise LeagueError(
            f"A league is of one environment, and {len(settings.envs)} were given, "
            f"{settings.envs[0].id} first. Give one of them."
        )
    live = live_of(settings, {**given, "policies": list(policies.values())})
    [seats] = asked(seats_of, settings, rollout_options(settings, live))
    _refuse_seats(settings.envs[0].id, seats, list(policies))
    every = math.comb(len(policies), len(seats))
    most = line_ups if len(seats) > 2 else every
    if most * len(seats) < len(policies):
        raise LeagueError(
            f"{line_ups} line-ups of {len(seats)} seats were asked for, and {len(policies)} "
            "policies do not all have a seat in them. Give more line-ups."
        )
    chosen = line_ups_of(list(policies.values()), len(seats), most)
    record = LeagueRecord(
        policies=tuple(policies), is_sample=every > len(chosen), forfeits=forfeits
    )
    values = {**given, "envs": env, "policies": chosen, "every_rotation": True}
    return opening.started(values, out=out, command=command, league=record)


def continued(path: str | Path, given: Mapping[str, Any]) -> Job:
    """Open a league that was started before. Raises GemError, and then changes nothing."""
    folder = RunFolder.open(path)
    league_in(folder)
    values = dict(given)
    if "policies" in values:
        values["policies"] = _line_ups_on_record(folder, _checked(values["policies"]))
    return opening.continued(path, values)


def _line_ups_on_record(
    folder: RunFolder, by_name: Mapping[str, PolicyLike]
) -> list[tuple[PolicyLike, ...]]:
    """Return the line-ups of a league with the policies that are given again, by their names.

    They are not drawn again: another version may draw a sample otherwise. Raises RunFolderError
    where these are not the league's policies.
    """
    settings = folder.record.settings
    names = [member.name for member in settings.members]
    if set(names) != set(by_name):
        raise RunFolderError(
            f"{folder.path} is another league: it is of {', '.join(names)}, and "
            f"{', '.join(by_name)} were given. Give its policies, or start another with --out.",
            path=str(folder.path),
        )
    return [tuple(by_name[member.name] for member in ref.members) for ref in settings.policies]


def stood(evaluation: Evaluation, job: Job) -> League:
    """Return a league that has been played, and write where it stands into its folder.

    Raises RunFolderError where that cannot be written.
    """
    folder = evaluation.folder
    found = read_standings(folder)
    found = with_exploitability(found, exploitabilities(evaluation.settings, job.policies))
    try:
        folder.write_standings(found.model_dump(mode="json"))
    except OSError as error:
        raise RunFolderError(
            f"The standings cannot be written into {folder.path} ({error.strerror}). All games are "
            f"in its log: `gem-env report {folder.path}` shows them.",
            path=str(folder.path),
        ) from error
    return League(evaluation, found)


def _refuse_others(given: Mapping[str, Any], forfeits: str, line_ups: int) -> None:
    for name in _NOT_OF_LEAGUES:
        if given.get(name):
            raise LeagueError(
                f"{name} was given, and a league plays all pairs in every rotation. Leave it out."
            )
    if forfeits not in ("apart", "lose"):
        raise LeagueError(
            f"forfeits={forfeits!r} was given. Forfeits are counted 'apart', or they 'lose'."
        )
    if line_ups < 1:
        raise LeagueError(f"line_ups={line_ups} was given, and a league plays one at least.")


def _checked(policies: Any) -> dict[str, PolicyLike]:
    """Return policies by name. Raises LeagueError where they are not two or more, each another."""
    several = [policies] if isinstance(policies, str) or callable(policies) else list(policies)
    by_name: dict[str, PolicyLike] = {}
    for policy in several:
        if not isinstance(policy, str) and not callable(policy):
            raise LeagueError(
                f"{policy!r:.60} was given to a league, and is no policy. A league makes the "
                "line-ups itself: give each policy alone."
            )
        name = policy if isinstance(policy, str) else name_of(policy)
        seat, own_name = named_policies(policy)[0] if isinstance(policy, str) else ("", name)
        if seat:
            raise LeagueError(
                f"{name!r} names a seat, and in a league each policy sits at every seat in turn. "
                f"Give {own_name!r} alone."
            )
        if name in by_name:
            raise LeagueError(
                f"The policy {name!r} was given twice, and a league tells policies apart by name. "
                "Give it once, or give another a `name`."
            )
        by_name[name] = policy
    if len(by_name) < 2:
        count = "one policy was" if by_name else "none was"
        raise LeagueError(
            f"A league needs two policies or more, and {count} given. Give another, --policy A "
            "--policy B."
        )
    return by_name


def _refuse_seats(env_id: str, seats: Sequence[str], policies: Sequence[str]) -> None:
    if len(seats) == 1:
        raise LeagueError(
            f"{env_id} has one seat, and nobody to play against. `gem-env eval {env_id}` evaluates "
            "policies there, side by side."
        )
    if len(policies) < len(seats):
        raise LeagueError(
            f"{env_id} has {len(seats)} seats ({', '.join(seats)}), and {len(policies)} policies "
            "were given. Give one for each seat or more."
        )
    if len(seats) > 2:
        check_requirements((REQUIRES,), subject="a league of more than two seats", of="gem-eval")
