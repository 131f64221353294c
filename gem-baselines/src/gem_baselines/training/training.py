"""The loop: play whole episodes, turn rewards into advantages, update the policy, keep it all.

What it does is decided by the experiment alone. A training that is killed, at any moment, and
resumed has the same metrics as one that was not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from hashlib import blake2b
from typing import Any

import gem
from gem.episode import Episode
from gem.errors import GemError
from gem_baselines.errors import FolderError
from gem_baselines.learning_policy import Batch, LearningPolicy
from gem_baselines.self_play.averages import MovingAverages
from gem_baselines.self_play.self_play import Games, Seated, SelfPlay, own_parts
from gem_baselines.self_play.settings import SelfPlaySettings
from gem_baselines.training.advantages import Terms, discounted, estimator_named
from gem_baselines.training.checkpoints import Progress
from gem_baselines.training.checks import checked_credit, checked_learning, checked_values, stopping
from gem_baselines.training.experiment import Experiment
from gem_baselines.training.figures import figures_of, without_errors
from gem_baselines.training.folder import TrainingFolder
from gem_baselines.training.interrupts import HeldBack
from gem_baselines.training.reporters import Reporters
from gem_baselines.training.samples import Sample, is_sampled
from gem_baselines.training.trajectories import played_by

__all__ = ["Training", "run_seed", "train"]

_DECAY = 0.95
"""Of the moving average of the estimator `seat_average`, where the experiment has no self-play."""

OnUpdate = Callable[[Mapping[str, Any]], None]


def train(
    experiment: Experiment,
    out: str | os.PathLike[str] | None = None,
    *,
    command: Sequence[str] = (),
    on_update: OnUpdate | None = None,
    track: Sequence[str] = (),
) -> Training:
    """Train a new policy, in a folder of its own, and return the training when it is done.

    `out` is an empty or absent folder; without it, it is a new one below `runs/`. `on_update` is
    called with the line of metrics of each update. `track` names trackers (`"mlflow"`, `"wandb"`,
    `"trackio"`, of gem-eval) that are told the figures while it goes on; what fails there stops
    nothing, and is in `reporters.problems`. Ctrl-C makes a checkpoint before it is raised.
    Raises ExperimentError, FolderError, TrainingStopped, and what core says of the settings.

        train(Experiment(env="game:GuessTheNumber-v0", policy_kwargs={"view": "interval"}))
    """
    training = Training.begun(experiment, out, command=command, track=track)
    training.run(on_update)
    return training


def run_seed(seed: int, purpose: str, update: int = 0) -> int:
    """Return the seed of one rollout: fixed by these alone, and another for each of them."""
    digest = blake2b(f"{seed}/{purpose}/{update}".encode("ascii"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1  # 63 bits: a seed that any store of numbers holds


class Training:
    """A training in a folder, at the update where it stands."""

    def __init__(
        self,
        folder: TrainingFolder,
        policy: LearningPolicy,
        progress: Progress,
        reporters: Reporters,
    ) -> None:
        self.folder = folder
        self.reporters = reporters
        self.policy = policy
        self.progress = progress
        self._experiment = folder.experiment
        self._estimate = estimator_named(
            self._experiment.estimator, self._experiment.estimator_kwargs
        )
        self._saved: Progress | None = None
        self._decay = _DECAY
        self.self_play: SelfPlay | None = None
        if self._experiment.self_play is not None:
            self._decay = self._experiment.self_play.decay
            self.self_play = self._self_play(self._experiment.self_play)

    def _self_play(self, settings: SelfPlaySettings) -> SelfPlay:
        """Return the self-play at its beginning, or as the checkpoint to go on from has it."""
        experiment = self._experiment
        self_play = SelfPlay(settings, experiment.policy, experiment.num_seats())
        if self.folder.start is None:
            self_play.begin(self.policy)
            self.progress = self.progress.model_copy(update={"best_update": self_play.best_update})
        else:
            self.folder.start.restore_self_play(self_play)
        return self_play

    @classmethod
    def begun(
        cls,
        experiment: Experiment,
        out: str | os.PathLike[str] | None = None,
        *,
        command: Sequence[str] = (),
        track: Sequence[str] = (),
    ) -> Training:
        """Make a new training; nothing is played before `run`. Raises as `train` does."""
        # First what may be wrong with the settings: it leaves no folder behind.
        reporters = Reporters(track)
        policy = experiment.beginner()
        folder = TrainingFolder.create(out, experiment, command)
        return cls(folder, policy, Progress(), reporters)

    @classmethod
    def resumed(
        cls,
        path: str | os.PathLike[str],
        changes: Mapping[str, Any] | None = None,
        *,
        track: Sequence[str] = (),
    ) -> Training:
        """Open a training to go on from its last checkpoint.

        `changes` are settings that change no episode and no update. It is told to the trackers
        that are named, and to those that it was told to before. Where core, a pack or a file of
        one's own is another since it began, `folder.changed` says so. Raises as `train` does.
        """
        reporters = Reporters(track)
        folder = TrainingFolder.open(path, changes or {})
        reporters.go_on(folder.path)
        try:
            if folder.start is None:
                return cls(folder, folder.experiment.beginner(), Progress(), reporters)
            # Whoever goes on with a training has its experiment run, whose policy this is.
            policy = folder.start.policy(trust_kind=True)
            training = cls(folder, policy, folder.start.progress, reporters)
        except GemError:
            folder.close()
            raise
        training._saved = training.progress
        return training

    @property
    def kept(self) -> int:
        """The update of the last checkpoint, 0 before the first one."""
        return 0 if self._saved is None else self._saved.update

    def run(self, on_update: OnUpdate | None = None) -> None:
        """Do what is left to do. Ctrl-C makes a checkpoint before it is raised.

        Where that cannot be made, what was wrong is the cause of the KeyboardInterrupt.
        """
        with (
            closing(self.folder),
            self.reporters.reporting_on(self.folder.path),
            HeldBack() as interrupts,
        ):
            try:
                self._go_on(interrupts, on_update)
            except KeyboardInterrupt as interrupt:
                # The policy is as after a whole update: episodes of the next one are forgotten.
                try:
                    self._save()
                except FolderError as error:
                    raise interrupt from error
                raise

    def _go_on(self, interrupts: HeldBack, on_update: OnUpdate | None) -> None:
        experiment = self._experiment
        while True:
            update = self.progress.update
            is_last = update >= experiment.updates
            if self._is_evaluated_here(is_last=is_last):
                self._evaluate(interrupts)
                self._save()
            elif is_last or update % experiment.checkpoint_every == 0 or self._is_best():
                self._save()
            if is_last:
                return
            figures = self._update(interrupts)
            if on_update is not None:
                on_update(figures)

    def _is_evaluated_here(self, *, is_last: bool) -> bool:
        every = self._experiment.eval_every
        if every == 0 or self.progress.evaluated == self.progress.update:
            return False
        return self.progress.update % every == 0 or is_last

    def _update(self, interrupts: HeldBack) -> Mapping[str, Any]:
        """Play the episodes of one update, learn from them, and note what came of it."""
        experiment = self._experiment
        update = self.progress.update + 1
        began_s = time.perf_counter()
        cpu_began_s = time.process_time()
        seed_of = partial(run_seed, experiment.seed, update=update)

        def play(seated: Seated, starts: int, purpose: str) -> list[Episode]:
            return self._played(interrupts, seated, starts, seed_of(purpose), experiment.repeats)

        starts = experiment.episodes // experiment.repeats
        played = played_by(self.policy, self.self_play, number=starts, update=update, play=play)
        whole = without_errors(played.episodes, update=update, purpose="the update")
        played_s = time.perf_counter()
        turn_returns = [discounted(episode, experiment.gamma) for episode in whole]
        turns = self.progress.turns + sum(map(len, turn_returns))
        return_sum = self.progress.return_sum + sum(float(own.sum()) for own in turn_returns)
        # The baseline is of earlier batches: this one's own would not be independent of it.
        baseline = self.progress.return_sum / max(self.progress.turns, 1)
        sample = Sample(update, baseline) if is_sampled(experiment, update) else None
        values = checked_values(self.policy, update=update)
        if sample is not None:
            values = sample.noting(values)
        # New ones: those of the progress stay as they are until the update is done.
        averages = MovingAverages(self._decay, self.progress.averages)
        terms = Terms(experiment.gamma, experiment.lam, baseline, values, averages, played.roles)
        with stopping(update):
            credit = checked_credit(
                self._estimate(whole, terms), whole, estimator=experiment.estimator, update=update
            )
            batch = Batch(whole, credit.advantages, credit.value_targets, credit.per)
            if sample is not None:
                sample.note_before(self.policy, batch)
            learnt = self.policy.update(batch)
            if sample is not None:
                sample.note_after(self.policy, batch)
        figures = {
            "update": update,
            "episodes": played.num_episodes,
            "errors": played.num_errors,
            **figures_of(whole, experiment.gamma),
            "total_turns": turns,
            "learning": checked_learning(learnt, self.policy, update=update),
        }
        if played.games is not None:
            figures["self_play"] = self._watched(update, played.games, averages.values)
        ended_s = time.perf_counter()
        timings = {
            "update": update,
            "rollout_s": played_s - began_s,
            "learning_s": ended_s - played_s,
            "cpu_s": time.process_time() - cpu_began_s,
        }
        # First the sample: an update whose line is there has one.
        if sample is not None:
            numbers = sample.numbers(played.episodes)
            self.folder.add_sample(update, numbers, sample.lines())
        self.folder.add_update(figures, timings)
        changes = {
            "update": update,
            "turns": turns,
            "return_sum": return_sum,
            "averages": averages.values,
        }
        if self._watched_best() is not None:
            changes["best_update"] = self._watched_best()
        self.progress = self.progress.model_copy(update=changes)
        return figures

    def _watched_best(self) -> int | None:
        """Return the update of the best policy that the monitor of self-play knows, if any."""
        return None if self.self_play is None else self.self_play.best_update

    def _is_best(self) -> bool:
        """Say whether the policy is the best so far, of which there is a checkpoint."""
        return self.progress.best_update == self.progress.update

    def _watched(self, update: int, games: Games, averages: Mapping[str, float]) -> dict[str, Any]:
        """Return the figures of self-play, once a copy is made or a collapse undone."""
        assert self.self_play is not None, "there are games of self-play"
        figures = {**self.self_play.note(games), "baselines": averages}
        if not self.self_play.is_due(update):
            return figures
        seed_of = partial(run_seed, self._experiment.seed, update=update)

        def play(seated: Seated, starts: int, purpose: str) -> list[Episode]:
            # Ctrl-C is held back: the policy has learnt from an update that is not yet noted.
            return self._run(seated, starts, seed_of(purpose), 1)

        seen = self.self_play.look(self.policy, update, play)
        return {**figures, **seen}

    def _evaluate(self, interrupts: HeldBack) -> None:
        """Play the held-out seeds with drawn and with greedy actions, and note the better policy.

        The best policy is the one whose drawn actions earn the highest discounted return; of
        equals it is the later one. Where self-play has a monitor, that one knows the best.
        """
        experiment = self._experiment
        update = self.progress.update
        seed = run_seed(experiment.seed, "evaluation")
        played: dict[str, Sequence[Episode]] = {}
        figures: dict[str, Any] = {"update": update}
        try:
            for mode in ("sampled", "greedy"):
                self.policy.is_greedy = mode == "greedy"
                seated: Seated = self.policy
                if self.self_play is not None:
                    seated = self.self_play.evaluation(self.policy)
                episodes = self._played(interrupts, seated, experiment.eval_episodes, seed, 1)
                whole = without_errors(episodes, update=update, purpose="its evaluation")
                if self.self_play is not None:
                    whole = own_parts(whole)
                played[mode] = episodes
                figures[mode] = {
                    "episodes": len(episodes),
                    "errors": sum(episode.is_error for episode in episodes),
                    **figures_of(whole, experiment.gamma),
                }
        finally:
            self.policy.is_greedy = False
        score = figures["sampled"]["discounted_return"]
        self.folder.add_evaluation(figures, played)
        changes: dict[str, Any] = {"evaluated": update}
        is_best = self.progress.best_score is None or score >= self.progress.best_score
        if is_best and self._watched_best() is None:
            changes |= {"best_update": update, "best_score": score}
        self.progress = self.progress.model_copy(update=changes)

    def _played(
        self, interrupts: HeldBack, seated: Seated, starts: int, seed: int, repeats: int
    ) -> list[Episode]:
        """Play whole episodes, which Ctrl-C may end."""
        with interrupts.let_through():
            return self._run(seated, starts, seed, repeats)

    def _run(self, seated: Seated, starts: int, seed: int, repeats: int) -> list[Episode]:
        """Play whole episodes and return them in the order of their plan."""
        experiment = self._experiment
        options = experiment.options(episodes=starts, seed=seed, repeats=repeats)
        return gem.run(seated, experiment.env, options=options)

    def _save(self) -> None:
        """Make a checkpoint, unless there is one of just this."""
        if self._saved != self.progress:
            self.folder.save(self.policy, self.progress, self.self_play)
            self._saved = self.progress
