"""An evaluation that is ready to run: checked, its folder open, its missing episodes known.

Everything that can be wrong with the settings is found here, before the first episode.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from gem import EpisodeLog, RolloutOptions, read_episodes
from gem.conversation import name_of
from gem.episode import Episode
from gem.errors import GemError, LogError, in_one_line
from gem.hooks import announce
from gem.registry import versions
from gem.rollouts import Assignment, RolloutStats, WrapperLike, check_rollout, rollout
from gem_eval.errors import (
    PolicyError,
    RequestRefusedError,
    RunFolderError,
    RunStopped,
    ServerAwayError,
    ServerFailureError,
    ServerRefusalError,
    SettingsError,
    UnreadableReplyError,
)
from gem_eval.expectations import Expectations
from gem_eval.plan import plan_of
from gem_eval.policies import NamedPolicy, make_policy
from gem_eval.run_folder import RunFolder
from gem_eval.settings import (
    PolicyLike,
    PolicyRef,
    Settings,
    differences,
    kwargs_by_policy,
    policy_list,
    resumed,
    settings_from,
)
from gem_eval.summary import Counters, Outcome, Summary, Tries, summarise

_DIGEST = "sha256:"  # how the version of a file begins

__all__ = ["Job", "continued", "started"]


class _Live(NamedTuple):
    """What a run needs and JSON cannot hold: policies, and arguments as they were given."""

    policies: Sequence[NamedPolicy]
    env_kwargs: Mapping[str, Any]
    wrappers: Sequence[WrapperLike]
    backend_options: Mapping[str, Any]


def started(given: Mapping[str, Any], *, out: str | Path | None, command: Sequence[str]) -> Job:
    """Check a new evaluation and make its folder. Raises GemError, and then makes none."""
    settings = settings_from(given)
    live = _live(settings, given)
    plan = _plan(settings, live)
    check_rollout(settings.envs, _rollout_options(settings, live))
    total = len(plan) * len(settings.policies)
    return Job(RunFolder.create(out, settings, command, total=total), settings, live, plan)


def continued(path: str | Path, given: Mapping[str, Any]) -> Job:
    """Open an evaluation that was started before. What is given must be what it has.

    `concurrency` may differ, and where environments run. More `episodes` or `repeats` extend it.
    Raises GemError, and then changes nothing.
    """
    folder = RunFolder.open(path)
    there = folder.record.settings
    different = differences(there, given)
    if different:
        raise RunFolderError(
            f"{folder.path} is another evaluation: {'; '.join(different)}. Leave these options "
            "out to continue it, or start a new one with --out.",
            path=str(folder.path),
        )
    settings = resumed(there, given)
    changed = _changed_files(folder)
    try:
        live = _live(settings, given)
        check_rollout(settings.envs, _rollout_options(settings, live))
        plan = _plan(settings, live)
    except GemError as error:
        if folder.is_edited:  # what is there no longer works, and did when the run began
            raise _edited(folder, str(error)) from error
        raise
    if (settings.episodes, settings.repeats) != (there.episodes, there.repeats):
        _refuse_to_shrink(folder, settings, plan, _plan(there, live))
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
    plan: Sequence[Assignment],
    before: Sequence[Assignment],
) -> None:
    there = folder.record.settings
    if not set(before) <= set(plan):
        raise RunFolderError(
            f"{folder.path} has {_many(there)}, and {_many(settings)} would leave some of them "
            "out. A run can be extended, not cut: give more, or start a new one with --out.",
            path=str(folder.path),
        )


def _many(settings: Settings) -> str:
    episodes = "the default episodes" if settings.episodes is None else settings.episodes
    return f"episodes={episodes} and repeats={settings.repeats}"


class Job:
    """An evaluation between its start and its end. Holds the log, which nobody else may write.

    `stats` count what it runs. `changed` says what was edited since it began, "" for nothing.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: Settings,
        live: _Live,
        plan: Sequence[Assignment],
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
        self._log = EpisodeLog(folder.episodes_path)
        try:
            self._read()
            self._extend()
        except BaseException:
            self._log.close()
            raise

    def _extend(self) -> None:
        """Put on record that the run has grown, before its first new episode is in the log."""
        there = self.folder.record.settings
        growth = {"episodes": self.settings.episodes, "repeats": self.settings.repeats}
        settings = there.model_copy(update=growth)
        if settings != there or self.folder.is_edited:
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
        return next((policy.state for policy in self._live.policies if policy.state), "")

    async def run(self, on_episode: Callable[[Episode], None] | None = None) -> Summary:
        """Run what is missing and sum up.

        Raises RunStopped where the log cannot be written, or a policy's server will not answer.
        """
        announce("gem_run_started", run=self.folder)
        try:
            await self._probe()
            for policy in self._live.policies:
                await self._evaluate(policy, on_episode)
        except (LogError, PolicyError) as error:
            raise self._stopped(str(error)) from error
        finally:
            for policy in self._live.policies:
                await _close(policy)
        summary = self._summed_up()
        announce("gem_run_finished", run=self.folder)
        return summary

    def close(self) -> None:
        """Release the log."""
        self._log.close()

    async def _evaluate(
        self, policy: NamedPolicy, on_episode: Callable[[Episode], None] | None
    ) -> None:
        missing = self._missing(policy)
        options = replace(
            _rollout_options(self.settings, self._live), plan=missing, stats=self.stats
        )
        episodes = rollout(policy, self.settings.envs, options=options)
        refused: list[Episode] = []  # alike, in a row: not kept unless another one follows
        last: str | None = None
        async with aclosing(episodes):
            async for episode in episodes:
                if _ended_by(episode, ServerAwayError):
                    raise PolicyError(_told(episode))
                refusal = _refusal(episode)
                if refusal != last:
                    self._keep(refused, on_episode)
                    refused.clear()
                last = refusal
                if refusal is None:
                    self._keep([episode], on_episode)
                    continue
                refused.append(episode)
                if len(refused) == self.settings.max_refusals:
                    raise PolicyError(f"{_told(episode)} So it was {len(refused)} times in a row.")
        self._keep(refused, on_episode)

    async def _probe(self) -> None:
        """Raise PolicyError where a server that is to be asked would answer nothing.

        A server that was never there is not waited for, unless that was asked for.
        """
        wait_s = self.settings.wait_for_server_s
        for policy in self._live.policies:
            if wait_s is not None:
                policy.wait_for_server(wait_s)
            if self._missing(policy):
                await policy.probe(wait_s=wait_s or 0.0)

    def _keep(
        self, episodes: Sequence[Episode], on_episode: Callable[[Episode], None] | None
    ) -> None:
        for episode in episodes:
            self._log.append(episode)
            self._tries.add(Outcome.of(episode))
            if on_episode is not None:
                on_episode(episode)

    def _missing(self, policy: NamedPolicy) -> list[Assignment]:
        return [each for each in self._plan if self._tries.is_missing((policy.name, *each[:3]))]

    def so_far(self) -> Summary:
        """Sum up the episodes that are in the log. Writes nothing."""
        return summarise(
            self.settings,
            self._tries.last,
            run=str(self.folder.path),
            counters=self._counters(),
            retried=self._tries.retried,
            planned=self.total,
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
            return Counters.model_validate(self.stats.as_dict())
        try:
            return Summary.model_validate_json(self.folder.summary_path.read_bytes()).counters
        except (OSError, ValidationError):
            return None

    def _stopped(self, why: str) -> RunStopped:
        path = self.folder.path
        return RunStopped(
            f"{why} {self.kept} of {self.total} episodes are kept in {path}. Once the cause is "
            f"gone, go on with: gem-env eval --resume {shlex.quote(str(path))}",
            path=str(path),
        )

    def _read(self) -> None:
        expected = {assignment[:3]: assignment for assignment in self._plan}
        names = {policy.name for policy in self._live.policies}
        expectations = Expectations(self.settings, self._live.env_kwargs, self._live.wrappers)
        for episode in read_episodes(self.folder.episodes_path):
            planned = expected.get(_place(episode))
            if planned is None or episode.policy not in names:
                raise self._strange(
                    episode, "its log has an episode that its run.json does not ask for"
                )
            conflict = expectations.conflict(episode, planned)
            if conflict is not None:
                raise self._strange(episode, conflict)
            self._tries.add(Outcome.of(episode))
        if self.kept and self.folder.is_edited:
            raise _edited(self.folder, f"{self.kept} episodes were played with those before.")

    def _strange(self, episode: Episode, what: str) -> RunFolderError:
        path = self.folder.path
        return RunFolderError(
            f"{path} cannot go on: {what} ({episode.env_id}, policy {episode.policy!r}, episode "
            f"{episode.episode_index}). Its run.json was edited, or its log or data are of another "
            "evaluation: undo that, or start a new run with --out.",
            path=str(path),
        )


def _rollout_options(settings: Settings, live: _Live) -> RolloutOptions:
    """Return how each policy's episodes are run. The plan, which chooses them, is not in it."""
    return RolloutOptions(
        concurrency=settings.concurrency,
        backend=settings.backend,
        num_workers=settings.num_workers,
        backend_options=live.backend_options,
        wrappers=live.wrappers,
        env_kwargs=live.env_kwargs,
        max_turns=settings.max_turns,
        step_timeout_s=settings.step_timeout_s,
        policy_timeout_s=settings.policy_timeout_s,
        episode_timeout_s=settings.episode_timeout_s,
        policy_retries=settings.policy_retries,
        retry_wait_s=settings.retry_wait_s,
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
    told = f"{kind.__module__}.{kind.__qualname__}: "
    return episode.stop_reason == "policy_error" and (episode.error or "").startswith(told)


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


def _told(episode: Episode) -> str:
    return (episode.error or "").partition(": ")[2]


def _place(episode: Episode) -> tuple[int, int, int]:
    return (episode.env_index, episode.episode_index, episode.repeat)


def _live(settings: Settings, given: Mapping[str, Any]) -> _Live:
    given_policies = {name_of_any(each): each for each in policy_list(given.get("policies", ()))}
    kwargs = kwargs_by_policy(given.get("policy_kwargs", settings.policy_kwargs), settings.policies)
    return _Live(
        [_policy(ref, given_policies.get(ref.name), kwargs) for ref in settings.policies],
        dict(given.get("env_kwargs", settings.env_kwargs)),
        list(given.get("wrappers", settings.wrappers)),
        dict(given.get("backend_options", settings.backend_options)),
    )


def name_of_any(policy: PolicyLike) -> str:
    """Return the name under which a policy, or its name, is recorded."""
    return policy if isinstance(policy, str) else name_of(policy)


def _policy(
    ref: PolicyRef, given: PolicyLike | None, kwargs: Mapping[str, Mapping[str, Any]]
) -> NamedPolicy:
    if given is not None and not isinstance(given, str):
        return NamedPolicy(ref.name, given)
    if ref.live is not None:
        raise SettingsError(
            f"The policy {ref.name!r} of this run was a live {ref.live}, which its record does "
            "not hold. Continue it from Python: gem_eval.resume(folder, policies=[...]).",
            option="policies",
        )
    id = ref.name.partition(":")[0]
    return make_policy(ref.name, **{**kwargs.get(id, {}), **kwargs.get(ref.name, {})})


def _plan(settings: Settings, live: _Live) -> list[Assignment]:
    return plan_of(
        settings,
        env_kwargs=live.env_kwargs,
        wrappers=live.wrappers,
        backend_options=live.backend_options,
    )
