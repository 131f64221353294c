"""Split the noise of a run by its folder alone, also while another process writes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from gem.episode import Episode
from gem.rollouts import read_last_tries
from gem_eval.errors import NoiseError
from gem_eval.intervals import Estimate, mean
from gem_eval.run_folder import RunFolder
from gem_eval.variance.components import (
    ENVIRONMENT,
    FIRST,
    SECOND,
    TOGETHER,
    Cube,
    Estimates,
    components,
)
from gem_eval.variance.grading import Graded, read_gradings, score_of
from gem_eval.variance.record import NoiseRecord
from gem_eval.variance.results import Noise, NoisePart, points_of
from gem_eval.wording import counted

__all__ = ["JUDGE", "noise_in", "read_noise"]

JUDGE = "environment (judge)"
_LEAST = 2  # tasks: one alone shows no spread, and has no interval


class Reason(NamedTuple):
    """Why a part of the noise is 0: there is none, or nobody has looked."""

    text: str = ""
    is_unseen: bool = False


class _Played(NamedTuple):
    """What an episode scored, and a digest of who did what in it; None by an error."""

    score: float | None
    actions: bytes


class _Whole(NamedTuple):
    """The tasks of a run that can be compared, and how many cannot."""

    cubes: Sequence[Cube]
    actions: Sequence[Sequence[bytes]]
    left_out: int
    unfinished: int
    judges: int


def noise_in(folder: RunFolder) -> NoiseRecord:
    """Return the design of a run that splits noise. Raises NoiseError where it is none."""
    design = folder.record.noise
    if design is None:
        raise NoiseError(
            f"{folder.path} does not cross the seeds of players, so its noise cannot be split. "
            "`gem-env noise` plays a run that does."
        )
    return design


def read_noise(folder: RunFolder) -> Noise:
    """Work out whose noise the score of a run has, by its log. Changes nothing.

    Raises LogError, and NoiseError where the run is another or has too few whole tasks.
    """
    design = noise_in(folder)
    whole = _whole_tasks(folder, design)
    if len(whole.cubes) < _LEAST:
        raise NoiseError(_too_few(whole))
    settings = folder.record.settings
    reasons = _reasons(design, whole)
    # What plays alike adds nothing, where an estimate would have some of the judge's noise.
    estimates = components(whole.cubes, [part for part in reasons if part != ENVIRONMENT])
    players = design.seats or ("agent", "user")
    names = {players[0]: FIRST, players[1]: SECOND}
    if design.seats:
        names[f"{players[0]} x {players[1]}"] = TOGETHER
    names[JUDGE] = ENVIRONMENT
    tasks = len(whole.cubes)
    total = sum(max(each.value or 0.0, 0.0) for each in estimates.variances.values())
    first, leader = _ranked(names, estimates)
    return Noise(
        env_id=settings.envs[0].id,
        policy=settings.policies[0].name,
        mean=estimates.mean.value or 0.0,
        mean_ci95=estimates.mean.ci95,
        tasks=tasks,
        left_out=whole.left_out,
        unfinished=whole.unfinished,
        agents=design.agents,
        users=design.users,
        judges=whole.judges,
        parts={
            name: _part(estimates.variances[part], tasks, total, reasons.get(part))
            for name, part in names.items()
        },
        tasks_drawn=_part(estimates.between_tasks, tasks),
        same_tasks=_part(estimates.same_tasks, tasks),
        new_tasks=_part(estimates.new_tasks, tasks),
        first=first,
        leader=leader,
    )


def _too_few(whole: _Whole) -> str:
    errors = ""
    if whole.left_out:
        errors = f", {whole.left_out} had an episode or a grading that ended by an error"
    if whole.unfinished:
        errors = f"{errors}, {whole.unfinished} are not finished"
    return (
        f"Nothing is left to compare: {counted(len(whole.cubes), 'task')} of {_LEAST} at least "
        f"were played with every seed and graded{errors}. Go on with --resume, or give more "
        "--episodes."
    )


def _whole_tasks(folder: RunFolder, design: NoiseRecord) -> _Whole:
    played: dict[int, dict[int, _Played]] = defaultdict(dict)
    seat = design.seats[0] if design.seats else None
    if folder.episodes_path.exists():  # a run that was just begun has no log
        for episode in read_last_tries(folder.episodes_path):
            score = None if episode.is_error else score_of(episode, seat)
            played[episode.episode_index][episode.repeat] = _Played(score, _actions(episode))
    known = read_gradings(folder.gradings_path)
    # Before the first is graded again, what there is counts as graded once.
    judges = design.judges if known else 1
    cubes: list[Cube] = []
    actions = []
    left_out = 0
    unfinished = 0
    for number, repeats in sorted(played.items()):
        graded = {repeat: known.get((number, repeat), Graded()) for repeat in repeats}
        has_error = any(each.score is None for each in repeats.values()) or any(
            each.error is not None for each in graded.values()
        )
        if has_error:
            left_out += 1
            continue
        scores = {
            repeat: [each.score or 0.0, *graded[repeat].scores[: judges - 1]]
            for repeat, each in repeats.items()
        }
        is_whole = len(scores) == design.repeats and all(
            len(row) == judges for row in scores.values()
        )
        if not is_whole:
            unfinished += 1
            continue
        cubes.append(_square(scores, design))
        actions.append([repeats[repeat].actions for repeat in range(design.repeats)])
    return _Whole(cubes, actions, left_out, unfinished, judges)


def _square(scores: Mapping[int, Sequence[float]], design: NoiseRecord) -> Cube:
    """Return the scores of a task by the first player's seed, and then the second's."""
    users = design.users
    return [
        [scores[first * users + second] for second in range(users)]
        for first in range(design.agents)
    ]


def _actions(episode: Episode) -> bytes:
    """Hash who did what: two episodes that are equal in this were played alike."""
    digest = blake2b(digest_size=16)
    for turn in episode.turns:
        done = repr((turn.seat, turn.action, turn.tool_calls))
        digest.update(done.encode("utf-8", "surrogatepass"))
    return digest.digest()


def _reasons(design: NoiseRecord, whole: _Whole) -> dict[str, Reason]:
    """Say of a part why there is none, or why it was not looked for."""
    users = design.users
    alike = Reason("it plays alike under every seed, as what is scripted does")
    one = Reason("it was played with one seed", is_unseen=True)
    reasons: dict[str, Reason] = {}
    by_agent = [
        [row[first * users :][:users] for first in range(design.agents)] for row in whole.actions
    ]
    if design.agents == 1:
        reasons[FIRST] = one
    elif all(row == rows[0] for rows in by_agent for row in rows):
        reasons[FIRST] = alike
    if not design.seats:
        by_environment = "the environment plays it, which draws from the task's seed alone"
        reasons[SECOND] = Reason(by_environment)
    elif users == 1:
        reasons[SECOND] = one
    elif all(len(set(row)) == 1 for rows in by_agent for row in rows):
        reasons[SECOND] = alike
    only = reasons.get(FIRST) or reasons.get(SECOND)
    if only is not None:
        reasons[TOGETHER] = Reason("one of the two adds nothing", is_unseen=only.is_unseen)
    if whole.judges == 1:
        once = "each episode was graded once, so what a judge draws counts with the players"
        reasons[ENVIRONMENT] = Reason(once, is_unseen=True)
    elif all(_is_alike(cube) for cube in whole.cubes):
        reasons[ENVIRONMENT] = Reason("every grading of an episode is the same: no judge draws")
    return reasons


def _is_alike(cube: Cube) -> bool:
    return all(len(set(gradings)) == 1 for row in cube for gradings in row)


def _ranked(names: Mapping[str, str], estimates: Estimates) -> tuple[str | None, str | None]:
    """Return the largest part, and it again where it is told from each other by an interval."""
    values = {name: estimates.variances[part].value or 0.0 for name, part in names.items()}
    first = max(values, key=lambda name: values[name])
    if values[first] <= 0.0:
        return None, None
    for name, part in names.items():
        if name != first:
            own = estimates.by_task[names[first]]
            others = estimates.by_task[part]
            difference = [one - other for one, other in zip(own, others, strict=True)]
            ci95 = mean([[each] for each in difference]).ci95
            if ci95 is None or ci95[0] <= 0.0:
                return first, None
    return first, first


def _part(
    estimate: Estimate, tasks: int, total: float | None = None, reason: Reason | None = None
) -> NoisePart:
    why = reason or Reason()
    value = estimate.value or 0.0
    points = None
    if estimate.ci95 is not None:
        low, high = estimate.ci95
        points = (points_of(low, tasks), points_of(high, tasks))
    return NoisePart(
        variance=value,
        variance_ci95=estimate.ci95,
        points=points_of(value, tasks),
        points_ci95=points,
        share=max(value, 0.0) / total if total else None,
        why_zero=why.text,
        is_unseen=why.is_unseen,
    )
