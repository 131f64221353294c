"""An evaluation that is ready to run: checked, its folder open, its missing episodes known."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

from gem import EpisodeLog, read_episodes
from gem.episode import Episode
from gem.errors import LogError, in_one_line
from gem.hooks import announce
from gem.rollouts import PlannedEpisode, RolloutStats, rollout
from gem_eval.budgets import Amount, Metered, Spending, Waiting
from gem_eval.comparing.race import Race
from gem_eval.errors import (
    BudgetError,
    HumanLeftError,
    PolicyError,
    RunFolderError,
    RunStopped,
    ServerAwayError,
)
from gem_eval.expectations import Expectations
from gem_eval.live import Live, rollout_options
from gem_eval.playing import Playing, amounts_of
from gem_eval.policies import NamedPolicy
from gem_eval.policy_endings import ended_by, error_text, refusal_in
from gem_eval.reading import stored_summary
from gem_eval.references import play_references, read_references
from gem_eval.run_folder import RunFolder
from gem_eval.settings import BUDGETS, GROWING, Settings
from gem_eval.summary import Counters, Outcome, Summary, Tries, summarise
from gem_eval.tracking.listening import Tracking
from gem_eval.variance.cells import Cell, Cells
from gem_eval.variance.grading import grade_again

__all__ = ["Job"]


class Job:
    """An evaluation between its start and its end. Holds the log, which nobody else may write.

    `stats` count what it runs. `changed` says which code is another since it began, "" for none.
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
        self._cells = Cells(folder)
        self._afterwards = ""  # how far it is with what follows the last episode of its policies
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
        return len(self._plan) * len(self._live.playing)

    @property
    def command(self) -> str:
        """The command that goes on with it."""
        if self.folder.record.noise is not None:
            return "gem-env noise"
        return "gem-env eval" if self.folder.record.league is None else "gem-env league"

    @property
    def policies(self) -> Sequence[NamedPolicy]:
        """Every policy that plays, alone or in a line-up, each once."""
        return self._live.policies

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
        states += [self.tracking.state, self._afterwards]
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
                for playing in self._live.playing:
                    for cell in self._cells.of(self._missing(playing)):
                        await self._evaluate(playing, cell, on_episode)
            else:
                await self._evaluate_until_decided(self._race, on_episode)
            await self._play_references()
            await self._grade_again()
        except (LogError, PolicyError) as error:
            raise self._stopped(error) from error
        finally:
            self._note_unlogged()
            for policy in self._live.policies:
                await _close(policy)
        return self._summed_up()

    async def _play_references(self) -> None:
        """Play what scores of these environments are to be read beside. A branch has none."""
        if self.folder.record.branch is not None:
            return

        def note(done: int, of: int) -> None:
            self._afterwards = f"references: {done:,} of {of:,}"

        outcomes = self._tries.last
        try:
            await play_references(
                self.folder, self.settings, self._live, self._plan, outcomes, on_played=note
            )
        finally:
            self._afterwards = ""

    async def _grade_again(self) -> None:
        """Have a run that splits noise score its episodes anew, as often as it asks for."""

        def note(done: int, of: int) -> None:
            self._afterwards = f"grading again: {done} of {of}"

        try:
            await grade_again(self.folder, self.settings, self._live, note)
        except OSError as error:
            raise self._stopped(f"A grading cannot be written ({error.strerror}).") from error
        finally:
            self._afterwards = ""

    def close(self) -> None:
        """Release the log, the answers of players and the cache."""
        self._log.close()
        self._cells.close()
        if self._live.cache is not None:
            self._live.cache.close()

    async def _evaluate_until_decided(
        self, race: Race, on_episode: Callable[[Episode], None] | None
    ) -> None:
        """Let the policies play one block of the plan after another, as long as nothing is sure."""
        for numbers in race.blocks(self.settings.concurrency):
            runners = race.runners
            for playing in self._live.playing:
                if playing.name not in runners or race.is_decided:
                    continue
                missing = [
                    planned
                    for planned in self._missing(playing)
                    if planned.episode_index in numbers
                ]
                await self._evaluate(playing, Cell(missing), on_episode)

    async def _evaluate(
        self,
        playing: Playing,
        cell: Cell,
        on_episode: Callable[[Episode], None] | None,
    ) -> None:
        options = replace(
            rollout_options(self.settings, self._live), plan=cell.plan, stats=self.stats
        )
        if playing.uses_screen:
            options = replace(options, concurrency=1)
        waiting = Waiting(episodes=len(cell.plan), at_once=options.concurrency)
        metered = {
            policy.name: Metered(policy, self._spending, waiting)
            for policy in playing.members
            if self._metered(policy.name)
        }
        seated = cell.seated(playing.seated(metered))
        episodes = rollout(seated, self.settings.envs, options=options)
        # A server that refuses everything would use the whole plan up. So refusals of one kind
        # are held back until a request is answered. The order in which episodes end would not
        # tell: what a server refuses for what is in it ends before all that it is answering.
        refused: list[Episode] = []
        last: str | None = None
        in_flight = options.concurrency - 1  # beside a refusal, that may be answered yet
        async with aclosing(episodes):
            async for played in episodes:
                episode = cell.recorded(playing.recorded(played))
                if ended_by(episode, BudgetError):
                    raise BudgetError(error_text(episode))
                waiting.ended()
                if ended_by(episode, HumanLeftError):
                    raise HumanLeftError(error_text(episode))
                if ended_by(episode, ServerAwayError):
                    raise PolicyError(error_text(episode))
                refusal = None if self._was_refused_so(episode) else refusal_in(episode)
                if refusal not in (None, last):
                    self._keep(refused, on_episode)
                    refused.clear()
                    last = refusal
                if refusal is not None:
                    refused.append(episode)
                # A request may fail more than once for one episode, and never less.
                settled = max(0, len(refused) - playing.failures_in_a_row)
                self._keep(refused[:settled], on_episode)
                del refused[:settled]
                self._stop_if_refused(refused, self.settings.max_refusals + in_flight)
                if refusal is None:
                    self._keep([episode], on_episode)
                    playing.end(episode)
                    if self._race is not None and self._race.is_decided:
                        return
        self._stop_if_refused(refused, self.settings.max_refusals)
        self._keep(refused, on_episode)

    def _was_refused_so(self, episode: Episode) -> bool:
        """Say whether it ended by the same words when it was played before, in this run.

        Others were answered then, or it would not have been kept: so it is about this one alone.
        """
        before = self._tries.error_of((episode.policy, *_place(episode)))
        return before is not None and episode.error == before

    def _stop_if_refused(self, refused: Sequence[Episode], most: int) -> None:
        """Raise PolicyError where so many episodes were refused and no request was answered."""
        if len(refused) >= most:
            raise PolicyError(
                f"{error_text(refused[-1])} So it was {len(refused)} times in a row, and no "
                "request was answered between them (--max-refusals)."
            )

    def _metered(self, name: str) -> bool:
        """Say whether answers of a policy are counted as they come."""
        asking = {policy.name for policy in self._live.policies if policy.asks_model}
        return self._spending.is_limited and name in asking

    def _amounts(self, episode: Episode) -> Mapping[str, Amount]:
        """Return what an episode has spent: of a branch, from where it parts from its parent."""
        branch = self.folder.record.branch
        return amounts_of(episode, 0 if branch is None else branch.turn)

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
        asking = {policy.name for policy in self._live.policies if policy.asks_model}
        spent = self._spending.spent
        if spent and asking & self._will_play():
            raise BudgetError(spent)

    def _will_play(self) -> set[str]:
        """Return the names of the policies that there is anything to ask."""
        return {
            policy.name
            for playing in self._live.playing
            if (self._race is None or playing.name in self._race.runners) and self._missing(playing)
            for policy in playing.members
        }

    async def _probe(self) -> None:
        """Raise PolicyError where a server that is to be asked would answer nothing.

        A server that was never there is not waited for, unless that was asked for.
        """
        wait_s = self.settings.wait_for_server_s
        will_play = self._will_play()
        for policy in self._live.policies:
            if wait_s is not None:
                policy.wait_for_server(wait_s)
            if policy.name in will_play:
                await policy.probe(wait_s=wait_s or 0.0)

    def _keep(
        self, episodes: Sequence[Episode], on_episode: Callable[[Episode], None] | None
    ) -> None:
        for episode in episodes:
            self._log.append(episode)  # on disk before it counts and before anybody is told
            outcome = Outcome.of(episode)
            self._tries.add(outcome)
            for policy, amount in self._amounts(episode).items():
                if self._metered(policy):
                    self._spending.log(policy, amount)
            if self._race is not None:
                self._race.add(outcome)
            if on_episode is not None:
                on_episode(episode)

    def _missing(self, playing: Playing) -> list[PlannedEpisode]:
        name = playing.name
        return [planned for planned in self._plan if self._tries.is_missing((name, *planned[:3]))]

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
            is_crossed=self.folder.record.is_crossed,
        ).model_copy(update={"references": read_references(self.folder)})

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
        command = f"{self.command} --resume {shlex.quote(str(path))}"
        go_on = f" Once the cause is gone, go on with: {command}"
        if not self.kept:
            # To resume keeps what the command said, so a mistyped address would stay for ever.
            go_on = f" Where the command was wrong, remove the folder and begin anew.{go_on}"
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
        all_playing = {playing.name: playing for playing in self._live.playing}
        asking = {policy.name for policy in self._live.policies if policy.asks_model}
        expectations = Expectations(self.settings, self._live.env_kwargs, self._live.wrappers)
        for episode in read_episodes(self.folder.episodes_path):
            planned = expected.get(_place(episode))
            playing = all_playing.get(episode.policy)
            if planned is None or playing is None:
                raise self._strange(
                    episode, "its log has an episode that its run.json does not ask for"
                )
            conflict = expectations.conflict(episode, planned)
            conflict = conflict or playing.conflict(episode, planned)
            if conflict is not None:
                raise self._strange(episode, conflict)
            self._tries.add(Outcome.of(episode))
            for policy, amount in self._amounts(episode).items():
                if policy in asking:
                    self._spending.count(policy, amount)
                    self._spending.log(policy, amount)
        if self.kept and self.folder.is_edited:
            raise self.folder.edited(f"{self.kept} episodes were played with those before.")

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
        names = [playing.name for playing in self._live.playing]
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


def _place(episode: Episode) -> tuple[int, int, int]:
    return (episode.env_index, episode.episode_index, episode.repeat)
