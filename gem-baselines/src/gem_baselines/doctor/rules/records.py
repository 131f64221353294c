"""Does the batch hold what was played: how episodes end, which are left out, how groups begin?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from gem.episode import Episode
from gem_baselines.doctor.finding import Check, Finding, Place
from gem_baselines.doctor.run import Played, Run, Sample, Shown

__all__ = ["CHECKS"]

_ROUNDING = 1e-6


def endings(run: Run) -> Iterator[Finding]:
    """Find episodes whose end, or sum of rewards, is not that of their turns."""
    seen: dict[str, list[tuple[Place, str]]] = {}
    for sample in run.samples:
        played = {_key(each): each for each in sample.played}
        for shown in sample.shown:
            episode = shown.episode
            key = (episode.env_index, episode.episode_index, episode.repeat)
            problem = _problem(episode, played.get(key))
            if problem:
                place = Place(
                    sample.update, shown.number, episode.seed, turn=len(episode.turns) - 1
                )
                kind = problem.partition(":")[0]
                seen.setdefault(kind, []).append((place, problem))
    for problems in seen.values():
        place, sentence = problems[0]
        updates = sorted({each.update for each, _ in problems})
        yield Finding(
            "endings",
            "wrong",
            f"{sentence} ({len(problems)} of {_num_shown(run)} episodes that are shown).",
            updates,
            {"episodes": float(len(problems))},
            place,
        )


def _problem(episode: Episode, played: Played | None) -> str:
    """Say how the end of an episode contradicts its turns, nothing where it does not."""
    if not episode.turns or episode.is_error:
        return ""
    last = episode.turns[-1]
    if episode.terminated and not last.terminated and last.truncated:
        return "A truncated episode counts as ended: its record says terminated, its last turn cut"
    if last.terminated and not episode.terminated:
        return "An ended episode counts as truncated: its last turn says terminated"
    if played is not None and played.stop_reason != episode.stop_reason:
        return (
            f"An episode was learnt from with another end than it had: played {played.stop_reason},"
            f" learnt as {episode.stop_reason}"
        )
    total = math.fsum(turn.reward for turn in episode.turns)
    if abs(total - episode.total_reward) > _ROUNDING * max(1.0, abs(total)):
        return (
            f"Rewards of turns and of their episode differ: the turns sum to {total:.6g}, the "
            f"episode says {episode.total_reward:.6g}"
        )
    said = last.info.get("success")
    if isinstance(said, bool) and episode.success is not None and said != episode.success:
        return (
            f"An episode counts as {'right' if episode.success else 'wrong'} and its last turn "
            f"says otherwise: success={said}"
        )
    return ""


def left_out(run: Run) -> Iterator[Finding]:
    """Find batches that lack episodes which no error ended."""
    missing: list[tuple[Sample, Played]] = []
    number = 0
    for sample in run.samples:
        number += len(sample.played)
        missing += [
            (sample, each) for each in sample.played if not each.is_learnt and not each.is_error
        ]
    if not missing:
        return
    cut = sum(each.is_cut for _, each in missing)
    sample, first = missing[0]
    if cut == len(missing):
        what = "all of them were cut off by a limit, so that the policy never pays for being slow"
    else:
        what = f"{cut} of them were cut off by a limit"
    yield Finding(
        "left_out",
        "wrong",
        f"{len(missing)} of {number} episodes were played and not learnt from, though no error "
        f"ended them; {what}.",
        sorted({sample.update for sample, _ in missing}),
        {"left_out": float(len(missing)), "cut_off": float(cut), "played": float(number)},
        Place(sample.update, seed=first.seed, text=first.stop_reason),
    )


def starts(run: Run) -> Iterator[Finding]:
    """Find groups whose episodes did not start alike, though they are compared."""
    odd: list[tuple[Sample, Played, Played]] = []
    number = 0
    for sample in run.samples:
        for members in _groups(sample).values():
            number += 1
            first = members[0]
            others = [e for e in members if (e.seed, e.task) != (first.seed, first.task)]
            if others:
                odd.append((sample, first, others[0]))
    odd_shown = list(_odd_openings(run))
    if odd:
        sample, first, other = odd[0]
        yield Finding(
            "starts",
            "wrong",
            f"{len(odd)} of {number} groups compare episodes of different starts: seeds "
            f"{first.seed} and {other.seed} are in one group.",
            sorted({sample.update for sample, _, _ in odd}),
            {"groups": float(len(odd))},
            Place(sample.update, seed=other.seed),
        )
    elif odd_shown:
        sample, shown = odd_shown[0]
        text = str(shown.episode.turns[0].observation)[:60]
        yield Finding(
            "starts",
            "wrong",
            f"{len(odd_shown)} episodes began otherwise than the others of their group, with the "
            "same seed: the environment keeps something between episodes, or draws elsewhere.",
            sorted({sample.update for sample, _ in odd_shown}),
            {"episodes": float(len(odd_shown))},
            Place(sample.update, shown.number, shown.episode.seed, 0, text=text),
        )


def _odd_openings(run: Run) -> Iterator[tuple[Sample, Shown]]:
    for sample in run.samples:
        openings: dict[tuple[int, ...], object] = {}
        for shown in sample.shown:
            episode = shown.episode
            if not episode.turns:
                continue
            # Each seat of one game is shown something else.
            seat = episode.turns[0].seat
            key = (episode.env_index, episode.episode_index, episode.seed, seat)
            opening = episode.turns[0].observation
            if openings.setdefault(key, opening) != opening:
                yield sample, shown


def same_episodes(run: Run) -> Iterator[Finding]:
    """Find updates that play the seeds of another update again."""
    first_update: dict[tuple[int, int | None], int] = {}
    again: list[tuple[int, int]] = []
    for sample in run.samples:
        seeds = {(each.seed, each.task) for each in sample.played}
        known = [key for key in seeds if first_update.get(key, sample.update) != sample.update]
        for key in seeds:
            first_update.setdefault(key, sample.update)
        # Seeds are of 63 bits: not one of them comes twice by chance.
        if len(known) * 2 > len(seeds):
            again.append((sample.update, first_update[known[0]]))
    if again:
        update, earlier = again[0]
        yield Finding(
            "same_episodes",
            "wrong",
            f"{len(again)} of {len(run.samples)} updates that are sampled played the starts of an "
            f"earlier one: update {update} those of update {earlier}. The policy learns these few "
            "by heart.",
            [update for update, _ in again],
            {"updates": float(len(again))},
            Place(update),
        )


def _groups(sample: Sample) -> dict[tuple[int, ...], list[Played]]:
    groups: dict[tuple[int, ...], list[Played]] = {}
    for episode in sample.played:
        groups.setdefault(episode.start, []).append(episode)
    return groups


def _key(played: Played) -> tuple[int, ...]:
    return (*played.start, played.repeat)


def _num_shown(run: Run) -> int:
    return sum(len(sample.shown) for sample in run.samples)


def _lacks_samples(run: Run) -> str:
    return "" if run.samples else "samples of updates"


def _lacks_own_samples(run: Run) -> str:
    # What another program names a start, or plays twice, is its own affair: a data set has epochs.
    return _lacks_samples(run) if run.kind == "training" else "starts that the run itself draws"


CHECKS = (
    Check("endings", "episodes end as their turns say", endings, _lacks_samples),
    Check("left_out", "every episode without an error is learnt from", left_out, _lacks_samples),
    Check("starts", "the episodes of a group start alike", starts, _lacks_own_samples),
    Check("same_episodes", "each update plays new starts", same_episodes, _lacks_own_samples),
)
