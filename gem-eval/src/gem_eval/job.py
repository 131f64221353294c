"""An evaluation that is ready to run: checked, its folder open, its missing episodes known.

Everything that can be wrong with the settings is found here, before the first episode.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from gem import EpisodeLog, read_episodes
from gem.episode import Episode
from gem.errors import GemError, LogError, in_one_line
from gem.hooks import announce
from gem.registry import versions
from gem.rollouts import PlannedEpisode, RolloutStats, check_rollout, rollout
from gem_eval.branching.origin import Origin
from gem_eval.branching.reading import origin_in
from gem_eval.budgets import Amount, Metered, Spending
from gem_eval.comparing.race import Race
from gem_eval.errors import (
    BudgetError,
    HumanLeftError,
    PolicyError,
    RequestRefusedError,
    RunFolderError,
    RunStopped,
    ServerAwayError,
    ServerFailureError,
    ServerRefusalError,
    UnreadableReplyError,
)
from gem_eval.expectations import Expectations
from gem_eval.live import Live, live_of, planned_for, rollout_options
from gem_eval.policies import NamedPolicy
from gem_eval.reading import stored_summary
from gem_eval.run_folder import RunFolder
from gem_eval.settings import (
    BUDGETS,
    GROWING,
    Settings,
    differences,
    resumed,
    settings_from,
)
from gem_eval.summary import Counters, Outcome, Summary, Tries, summarise
from gem_eval.tracking.installed import check_trackers
from gem_eval.tracking.listening import Tracking

_DIGEST = "sha256:"  # how the version of a file begins

__all__ = ["Job", "branched", "continued", "started"]


def started(given: Mapping[str, Any], *, out: str | Path | None, command: Sequence[str]) -> Job:
    """Check a new evaluation and make its folder. Raises GemError, and then makes none."""
    settings = settings_from(given)
    check_trackers(settings.track)
    live = live_of(settings, given)
    plan = planned_for(settings, live)
    check_rollout(settings.envs, rollout_options(settings, live))
    total = len(plan) * len(settings.policies)
    # The folder comes last: an evaluation that is refused leaves none behind.
    return Job(RunFolder.create(out, settings, command, total=total), settings, live, plan)


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
    different = differences(stored, given)
    if different:
        raise RunFolderError(
            f"{folder.path} is another evaluation: {'; '.join(different)}. Leave these options "
            "out to continue it, or start a new one with --out.",
            path=str(folder.path),
        )
    settings = resumed(stored, given)
    if "track" in given:  # of one that is on record the lack is told, and the run goes on
        check_trackers(settings.track)
    changed = _changed_files(folder)
    origin = origin_in(folder)
    try:
        live = live_of(settings, given, origin)
        check_rollout(settings.envs, rollout_options(settings, live))
        plan = planned_for(settings, live, origin)
    except GemError as error:
        if folder.is_edited:  # what is there no longer works, and did when the run began
            raise _edited(folder, str(error)) from error
        raise
    if (settings.episodes, settings.repeats) != (stored.episodes, stored.repeats):
        _refuse_to_shrink(folder, settings, plan, planned_for(stored, live, origin))
    return Job(folder, settings, live, plan, changed=changed)


def _changed_files(folder: RunFolder) -> str:
    """Say which files with environments of their own were edited since a run began; "" for none."""
    specs = folder.record.settings.envs
    now = {name: version for spec in specs for name, version in versions(spec.id).items()}
    then = folder.record.versions
    changed = [
        f"{name} (it was {then[name]}, and is {version})"
        for name, version in now.items()
        if version.startswith(_DIGEST) and then.get(name, version) != version
    ]
    if not changed:
        return ""
    return (
        f"{' and '.join(changed)} changed since {folder.path} began. The episodes that it has are "
        "of the file as it was; `gem-env replay` shows where they differ."
    )


def _edited(folder: RunFolder, what: str) -> RunFolderError:
    return RunFolderError(
        f"{folder.path} cannot go on: the settings in its run.json were edited after it was "
        f"started. {what} Undo the edit, or start a new run with --out.",
        path=str(folder.path),
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


class Job:
    """An evaluation between its start and its end. Holds the log, which nobody else may write.

    `stats` count what it runs. `changed` says what was edited since it began, "" for nothing.
    `tracking` is who listens, and what failed there.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: Settings,
        live: Live,
        plan: Sequence[PlannedEpisode],
        *,
        changed: str = "",
    ) -> None:
        self.changed = changed
        self.folder = folder
        self.settings = settings
        self.stats = RolloutStats()
        self._live = live
        self._plan = plan
        self._tries = Tries()
        self._unlogged = folder.unlogged()
        self._spending = Spending(settings, self._unlogged)
        self._race: Race | None = None
        asking = [policy.name for policy in live.policies if policy.asks_model]
        self.tracking = Tracking(folder, settings.track, asking=asking)
        self._log = EpisodeLog(folder.episodes_path)
        try:
            # Extended after it was read: a folder that is refused stays as it was.
            self._read()
            self._race = self._race_so_far()
            self._extend()
        except BaseException:
            self._log.close()
            raise

    def _extend(self) -> None:
        """Put on record that the run has grown, before its first new episode is in the log.

        So are its budgets: who resumes it next goes on with those given last.
        """
        stored = self.folder.record.settings
        growth = {name: getattr(self.settings, name) for name in GROWING | BUDGETS}
        settings = stored.model_copy(update=growth)
        if settings != stored or self.folder.is_edited:
            try:
                self.folder = self.folder.extended(settings, total=self.total)
            except OSError as error:
                raise self._stopped(f"run.json cannot be written ({error.strerror}).") from error

    @property
    def total(self) -> int:
        """Episodes of the whole evaluation."""
        return len(self._plan) * len(self._live.policies)

    @property
    def finished(self) -> int:
        """Episodes that ended by anything but an error. The others are run, or run again."""
        return sum(outcome.error is None for outcome in self._tries.last)

    @property
    def kept(self) -> int:
        """Episodes that are in the log, each counted once."""
        return len(self._tries)

    @property
    def state(self) -> str:
        """What the run waits for beside answers and environments; empty where that is nothing."""
        states = [policy.state for policy in self._live.policies]
        states.append(self.tracking.state)
        if self._race is not None:
            states.append(self._race.state)
        return next(filter(None, states), "")

    @property
    def uses_screen(self) -> bool:
        """Whether a policy asks at the terminal, so that nothing else may write there meanwhile."""
        return any(policy.uses_screen for policy in self._live.policies)

    async def run(self, on_episode: Callable[[Episode], None] | None = None) -> Summary:
        """Run what is missing and sum up.

        Raises RunStopped where the log cannot be written, or a policy's server will not answer.
        """
        announce("gem_run_started", run=self.folder)
        is_finished = False
        self.tracking.start()
        try:
            summary = await self._run(on_episode)
            is_finished = True
        finally:
            await self.tracking.end(is_finished=is_finished)
        announce("gem_run_finished", run=self.folder)
        return summary

    async def _run(self, on_episode: Callable[[Episode], None] | None) -> Summary:
        try:
            self._refuse_if_spent()
            await self._probe()
            if self._race is None:
                for policy in self._live.policies:
                    await self._evaluate(policy, self._missing(policy), on_episode)
            else:
                await self._evaluate_until_decided(self._race, on_episode)
        except (LogError, PolicyError) as error:
            raise self._stopped(error) from error
        finally:
            self._note_unlogged()
            for policy in self._live.policies:
                await _close(policy)
        return self._summed_up()

    def close(self) -> None:
        """Release the log and the cache."""
        self._log.close()
        if self._live.cache is not None:
            self._live.cache.close()

    async def _evaluate_until_decided(
        self, race: Race, on_episode: Callable[[Episode], None] | None
    ) -> None:
        """Let the policies play one block of the plan after another, as long as nothing is sure."""
        for numbers in race.blocks(self.settings.concurrency):
            runners = race.runners
            for policy in self._live.policies:
                if policy.name not in runners or race.is_decided:
                    continue
                missing = [
                    planned for planned in self._missing(policy) if planned.episode_index in numbers
                ]
                await self._evaluate(policy, missing, on_episode)

    async def _evaluate(
        self,
        policy: NamedPolicy,
        missing: Sequence[PlannedEpisode],
        on_episode: Callable[[Episode], None] | None,
    ) -> None:
        options = replace(
            rollout_options(self.settings, self._live), plan=missing, stats=self.stats
        )
        if policy.uses_screen:
            options = replace(options, concurrency=1)
        metered = None
        if self._metered(policy.name):
            at_once = self.settings.concurrency
            metered = Metered(policy, self._spending, episodes=len(missing), at_once=at_once)
        asked = policy if metered is None else metered
        episodes = rollout(asked, self.settings.envs, options=options)
        # A server that refuses everything would use the whole plan up. So refusals of one kind
        # are held back while they are in a row, and kept once an episode ends in another way.
        refused: list[Episode] = []
        last: str | None = None
        async with aclosing(episodes):
            async for episode in episodes:
                if _ended_by(episode, BudgetError):
                    raise BudgetError(_error_text(episode))
                if metered is not None:
                    metered.ended()
                if _ended_by(episode, HumanLeftError):
                    raise HumanLeftError(_error_text(episode))
                if _ended_by(episode, ServerAwayError):
                    raise PolicyError(_error_text(episode))
                refusal = _refusal(episode)
                if refusal != last:
                    self._keep(refused, on_episode)
                    refused.clear()
                last = refusal
                if refusal is None:
                    self._keep([episode], on_episode)
                    policy.end(episode)
                    if self._race is not None and self._race.is_decided:
                        return
                    continue
                refused.append(episode)
                if len(refused) == self.settings.max_refusals:
                    raise PolicyError(
                        f"{_error_text(episode)} So it was {len(refused)} times in a row."
                    )
        self._keep(refused, on_episode)

    def _metered(self, name: str) -> bool:
        """Say whether answers of a policy are counted as they come."""
        asking = {policy.name for policy in self._live.policies if policy.asks_model}
        return self._spending.is_limited and name in asking

    def _amount(self, episode: Episode) -> Amount:
        """Return what an episode has spent: of a branch, from where it parts from its parent."""
        branch = self.folder.record.branch
        first = 0 if branch is None else branch.turn
        return Amount.of(turn.usage for turn in episode.turns[first:])

    def _note_unlogged(self) -> None:
        """Keep what was spent on episodes that are not in the log: it counts when the run goes on.

        A disk that is full has stopped the run already, or is about to.
        """
        unlogged = self._spending.unlogged()
        if self._spending.is_limited and unlogged != self._unlogged:
            with suppress(OSError):
                self.folder.write_unlogged(unlogged)

    def _refuse_if_spent(self) -> None:
        """Raise BudgetError where nothing may be spent any more, and something is missing."""
        asking = [policy for policy in self._live.policies if policy.asks_model]
        spent = self._spending.spent
        if spent and any(map(self._will_play, asking)):
            raise BudgetError(spent)

    def _will_play(self, policy: NamedPolicy) -> bool:
        """Say whether there is anything to ask a policy."""
        is_running = self._race is None or policy.name in self._race.runners
        return is_running and bool(self._missing(policy))

    async def _probe(self) -> None:
        """Raise PolicyError where a server that is to be asked would answer nothing.

        A server that was never there is not waited for, unless that was asked for.
        """
        wait_s = self.settings.wait_for_server_s
        for policy in self._live.policies:
            if wait_s is not None:
                policy.wait_for_server(wait_s)
            if self._will_play(policy):
                await policy.probe(wait_s=wait_s or 0.0)

    def _keep(
        self, episodes: Sequence[Episode], on_episode: Callable[[Episode], None] | None
    ) -> None:
        for episode in episodes:
            self._log.append(episode)  # on disk before it counts and before anybody is told
            outcome = Outcome.of(episode)
            self._tries.add(outcome)
            if self._metered(episode.policy):
                self._spending.log(episode.policy, self._amount(episode))
            if self._race is not None:
                self._race.add(outcome)
            if on_episode is not None:
                on_episode(episode)

    def _missing(self, policy: NamedPolicy) -> list[PlannedEpisode]:
        return [
            planned for planned in self._plan if self._tries.is_missing((policy.name, *planned[:3]))
        ]

    def so_far(self) -> Summary:
        """Sum up the episodes that are in the log. Writes nothing."""
        return summarise(
            self.settings,
            self._tries.last,
            run=str(self.folder.path),
            counters=self._counters(),
            retried=self._tries.retried,
            planned=self.total,
            decisions=() if self._race is None else self._race.decisions(),
            is_branch=self.folder.record.branch is not None,
        )

    def _summed_up(self) -> Summary:
        summary = self.so_far()
        try:
            self.folder.write_summary(summary.to_json())
        except OSError as error:
            raise self._stopped(f"The summary cannot be written ({error.strerror}).") from error
        return summary

    def _counters(self) -> Counters | None:
        """Return what was counted here, or what the last summary has where nothing was left."""
        if self.stats.episodes:
            cache = self._live.cache
            hits = 0 if cache is None else cache.hits
            return Counters.model_validate({**self.stats.as_dict(), "cache_hits": hits})
        stored = stored_summary(self.folder)
        return None if stored is None else stored.counters

    def _stopped(self, why: str | LogError | PolicyError) -> RunStopped:
        """Return the error of a run that stops, with how to go on."""
        path = self.folder.path
        command = f"gem-env eval --resume {shlex.quote(str(path))}"
        go_on = f" Once the cause is gone, go on with: {command}"
        if isinstance(why, HumanLeftError):
            go_on = f" Go on with: {command}"
        if isinstance(why, BudgetError):
            # Where nobody knows what is spent, to go on would end the same way.
            larger = self._spending.larger
            go_on = f" Go on with more: {command} {larger}" if larger else ""
        return RunStopped(
            f"{why} {self.kept} of {self.total} episodes are kept in {path}.{go_on}",
            path=str(path),
        )

    def _read(self) -> None:
        expected = {planned[:3]: planned for planned in self._plan}
        policies = {policy.name: policy for policy in self._live.policies}
        expectations = Expectations(self.settings, self._live.env_kwargs, self._live.wrappers)
        for episode in read_episodes(self.folder.episodes_path):
            planned = expected.get(_place(episode))
            if planned is None or episode.policy not in policies:
                raise self._strange(
                    episode, "its log has an episode that its run.json does not ask for"
                )
            conflict = expectations.conflict(episode, planned)
            if conflict is not None:
                raise self._strange(episode, conflict)
            self._tries.add(Outcome.of(episode))
            if policies[episode.policy].asks_model:
                amount = self._amount(episode)
                self._spending.count(episode.policy, amount)
                self._spending.log(episode.policy, amount)
        if self.kept and self.folder.is_edited:
            raise _edited(self.folder, f"{self.kept} episodes were played with those before.")

    def _race_so_far(self) -> Race | None:
        """Return what the episodes that there are decide, where the run is to go on until then."""
        if self.settings.until is None:
            return None
        outcomes = list(self._tries.last)
        race = self._new_race(outcomes)
        if race.is_decided:
            return race
        # What an error ended is played again, and counts as it ends then: for those candidates of
        # whom nothing is decided yet.
        again = self._new_race([outcome for outcome in outcomes if outcome.error is None])
        again.keep_decided(race)
        return again

    def _new_race(self, outcomes: Sequence[Outcome]) -> Race:
        names = [policy.name for policy in self._live.policies]
        race = Race(names, self._plan, self.settings.tolerance)
        for outcome in outcomes:
            race.add(outcome)
        return race

    def _strange(self, episode: Episode, what: str) -> RunFolderError:
        path = self.folder.path
        return RunFolderError(
            f"{path} cannot go on: {what} ({episode.env_id}, policy {episode.policy!r}, episode "
            f"{episode.episode_index}). Its run.json was edited, or its log or data are of another "
            "evaluation: undo that, or start a new run with --out.",
            path=str(path),
        )


async def _close(policy: NamedPolicy) -> None:
    try:
        await policy.aclose()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the run is over: nothing else may be lost
        warnings.warn(
            f"Closing {policy.name} failed: {in_one_line(error)}", RuntimeWarning, stacklevel=2
        )


def _ended_by(episode: Episode, kind: type[PolicyError]) -> bool:
    """Say whether this error ended the episode: its record has the error's class and text."""
    prefix = f"{kind.__module__}.{kind.__qualname__}: "
    return episode.stop_reason == "policy_error" and (episode.error or "").startswith(prefix)


def _refusal(episode: Episode) -> str | None:
    """Return what is alike in episodes that the same refusal ended; None for any other end.

    Refusals for good may differ in their text, by the number of the request. A request may be
    refused, or be what a server fails at, for what is in it, or its answer be unreadable: only the
    same words, again and again, are about all requests.
    """
    if _ended_by(episode, ServerRefusalError):
        return ServerRefusalError.__name__
    about_one_request = (RequestRefusedError, ServerFailureError, UnreadableReplyError)
    return episode.error if any(_ended_by(episode, kind) for kind in about_one_request) else None


def _error_text(episode: Episode) -> str:
    return (episode.error or "").partition(": ")[2]


def _place(episode: Episode) -> tuple[int, int, int]:
    return (episode.env_index, episode.episode_index, episode.repeat)
