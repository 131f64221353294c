"""Open an evaluation: check what it asks for, and make or find its folder, before an episode runs.

Everything that can be wrong with the settings is found here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gem.errors import GemError
from gem.registry import provider, registration
from gem.rollouts import PlannedEpisode, check_rollout
from gem_eval.branching.origin import Origin
from gem_eval.branching.reading import origin_in
from gem_eval.errors import RunFolderError
from gem_eval.job import Job
from gem_eval.leagues.record import LeagueRecord
from gem_eval.live import live_of, planned_for, rollout_options
from gem_eval.run_folder import RunFolder
from gem_eval.settings import Settings, differences, resumed, settings_from
from gem_eval.tracking.installed import check_trackers
from gem_eval.variance.record import NoiseRecord
from gem_eval.variants import varied
from gem_eval.versions import versions_of

__all__ = ["branched", "continued", "started"]


def started(
    given: Mapping[str, Any],
    *,
    out: str | Path | None,
    command: Sequence[str],
    league: LeagueRecord | None = None,
    noise: NoiseRecord | None = None,
) -> Job:
    """Check a new evaluation, league or run that splits noise, and make its folder.

    Raises GemError, and then makes none.
    """
    given = varied(given)
    settings = settings_from(given)
    check_trackers(settings.track)
    live = live_of(settings, given)
    plan = planned_for(settings, live)
    check_rollout(settings.envs, rollout_options(settings, live))
    total = len(plan) * len(settings.policies)
    # The folder comes last: an evaluation that is refused leaves none behind.
    folder = RunFolder.create(out, settings, command, total=total, league=league, noise=noise)
    return Job(folder, settings, live, plan)


def branched(
    given: Mapping[str, Any], *, origin: Origin, out: str | Path | None, command: Sequence[str]
) -> Job:
    """Check a new run of children of one episode, and make its folder.

    Raises GemError, and then makes none.
    """
    settings = settings_from(given)
    live = live_of(settings, given, origin)
    plan = planned_for(settings, live, origin)
    check_rollout(settings.envs, rollout_options(settings, live))
    total = len(plan) * len(settings.policies)
    folder = RunFolder.create(
        out, settings, command, total=total, branch=origin.record, parent=origin.parent
    )
    return Job(folder, settings, live, plan)


def continued(path: str | Path, given: Mapping[str, Any]) -> Job:
    """Open an evaluation that was started before. What is given must be what it has.

    `concurrency` may differ, and where environments run. More `episodes` or `repeats` extend it.
    Raises GemError, and then changes nothing.
    """
    folder = RunFolder.open(path)
    stored = folder.record.settings
    if given.get("vary") is not None:
        raise RunFolderError(
            f"vary was given, and {folder.path} goes on with the variants that it began with. "
            "Leave it out.",
            path=str(folder.path),
        )
    different = differences(stored, given)
    if different:
        raise RunFolderError(
            f"{folder.path} is another evaluation: {'; '.join(different)}. Leave these options "
            "out to continue it, or start a new one with --out.",
            path=str(folder.path),
        )
    settings = resumed(stored, given)
    if folder.record.noise is not None and settings.repeats != stored.repeats:
        raise RunFolderError(
            f"{folder.path} crosses the seeds of players, and repeats={settings.repeats} would "
            "leave seeds that do not meet. Give more episodes, or start a new run with --out.",
            path=str(folder.path),
        )
    if "track" in given:  # of one that is on record the lack is told, and the run goes on
        check_trackers(settings.track)
    _refuse_lost(folder)
    changed = _changed_code(folder)
    origin = origin_in(folder)
    try:
        live = live_of(settings, given, origin)
        check_rollout(settings.envs, rollout_options(settings, live))
        plan = planned_for(settings, live, origin)
    except GemError as error:
        if folder.is_edited:  # what is there no longer works, and did when the run began
            raise folder.edited(str(error)) from error
        raise
    if (settings.episodes, settings.repeats) != (stored.episodes, stored.repeats):
        _refuse_to_shrink(folder, settings, plan, planned_for(stored, live, origin))
    return Job(folder, settings, live, plan, changed=changed)


def _refuse_lost(folder: RunFolder) -> None:
    """Refuse ids that a pack provided when the run began, and that none provides now.

    The record has their targets too, and could play what is there by now under the same name. An
    id that no pack ever provided is played by its target, and so is one of which an older record
    does not say who provided it.
    """
    then = folder.record.packs
    lost = {
        spec.id: then[spec.id]
        for spec in folder.record.settings.envs
        if spec.id in then and provider("envs", spec.id) is None and registration(spec.id) is None
    }
    if lost:
        packs = dict.fromkeys(lost.values())
        raise RunFolderError(
            f"{folder.path} is of {', '.join(lost)}, which no installed pack provides any more. "
            f"Install {' and '.join(packs)} again, or start a new run with --out.",
            path=str(folder.path),
        )


def _changed_code(folder: RunFolder) -> str:
    """Say what is another than when a run began: core, a pack, a file; "" where nothing is."""
    settings = folder.record.settings
    now = versions_of(settings.envs, settings.env_kwargs)
    then = folder.record.versions
    changed = [
        f"{name} (it was {then[name]}, and is {version})"
        for name, version in now.items()
        if then.get(name, version) != version
    ]
    if not changed:
        return ""
    return (
        f"{' and '.join(changed)} changed since {folder.path} began. The episodes that it has are "
        "of what was there then; `gem-env replay` shows where they differ."
    )


def _refuse_to_shrink(
    folder: RunFolder,
    settings: Settings,
    plan: Sequence[PlannedEpisode],
    before: Sequence[PlannedEpisode],
) -> None:
    stored = folder.record.settings
    if not set(before) <= set(plan):
        raise RunFolderError(
            f"{folder.path} has {_many(stored)}, and {_many(settings)} would leave some of them "
            "out. A run can be extended, not cut: give more, or start a new one with --out.",
            path=str(folder.path),
        )


def _many(settings: Settings) -> str:
    episodes = "the default episodes" if settings.episodes is None else settings.episodes
    return f"episodes={episodes} and repeats={settings.repeats}"
