"""Preference pairs for direct preference optimisation: a better and a worse play of one seed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from gem.content import Message
from gem.episode import Episode
from gem_eval.comparing.contenders import Task
from gem_eval.exporting.chat import chat_rows, conversation, prompts_and_answers, write_lines
from gem_eval.exporting.choosing import ROUNDING, Source
from gem_eval.exporting.formats import Written

__all__ = ["write"]

_MOST_LOOKS = 16
"""Pairs of one seed that are looked at, until one has answers that part."""


class _Play(NamedTuple):
    """How one episode ended, and where it is in the log."""

    success: bool
    total_return: float
    start: int
    line: int
    seat: int | None


class _Pair(NamedTuple):
    """Two plays that began alike: `prompt`, and what followed in each."""

    prompt: Sequence[Message]
    chosen: Sequence[Message]
    rejected: Sequence[Message]


def write(source: Source, draft: Path) -> Written:
    """Write a pair for each seed that has one, of all policies and repeats that are chosen.

    Of several seats there is a pair for each: two plays of one seat. The log is read once for how
    episodes ended, and then the two of each pair. Episodes that an error ended are in none.
    """
    plays: dict[tuple[Task, str | None], list[_Play]] = defaultdict(list)
    for entry in source.without_errors(part=0.5):
        episode = entry.episode
        success = bool(episode.success)
        play = _Play(success, episode.total_reward, entry.start, entry.line, entry.seat)
        plays[Task.of(episode), entry.seat_name].append(play)
    without: Counter[str] = Counter()

    def rows(with_parts: bool) -> Iterator[dict[str, Any]]:
        without.clear()
        for number, ((task, seat), of_task) in enumerate(plays.items(), start=1):
            source.tell(0.5 + 0.5 * number / len(plays))
            found = _pair(source, of_task)
            if isinstance(found, str):
                without[found] += 1
            else:
                row = _row(task, *found, with_parts=with_parts)
                yield row if seat is None else {**row, "seat": seat}

    num_pairs = write_lines(draft, rows)
    notes = [f"seeds {reason}: {count}" for reason, count in sorted(without.items())]
    return Written(2 * num_pairs, num_pairs, tuple(notes))


def _row(
    task: Task, pair: _Pair, better: Episode, worse: Episode, *, with_parts: bool
) -> dict[str, Any]:
    return {
        "prompt": chat_rows(pair.prompt, with_parts=with_parts),
        "chosen": chat_rows(pair.chosen, pair.prompt, with_parts=with_parts),
        "rejected": chat_rows(pair.rejected, pair.prompt, with_parts=with_parts),
        "env_id": task.env_id,
        "seed": str(task.seed),
        "chosen_policy": better.policy,
        "rejected_policy": worse.policy,
        "chosen_return": better.total_reward,
        "rejected_return": worse.total_reward,
    }


def _pair(source: Source, plays: Sequence[_Play]) -> tuple[_Pair, Episode, Episode] | str:
    """Return the pair of a seed with its two episodes, or say why there is none."""
    if len(plays) == 1:
        return "played once"
    margin = source.choice.margin
    looked_at = list(islice(_better_and_worse(plays, margin), _MOST_LOOKS))
    if not looked_at:
        return "without a better and a worse play"
    for better, worse in looked_at:
        chosen = source.at(better.start, line=better.line, seat=better.seat)
        rejected = source.at(worse.start, line=worse.line, seat=worse.seat)
        pair = _parted(chosen, rejected)
        if pair is not None:
            return pair, chosen, rejected
    return "whose plays do not part in an answer"


def _better_and_worse(
    plays: Sequence[_Play], margin: float | None
) -> Iterator[tuple[_Play, _Play]]:
    """Yield pairs, the best play with the worst one first. Who takes few has made no others."""
    # Of equal ones the one that finished first: the same pair each time.
    best_first = sorted(plays, key=lambda play: (-play.total_return, play.start))
    worst_first = sorted(plays, key=lambda play: (play.total_return, play.start))
    if margin is None:
        failed = [play for play in worst_first if not play.success]
        for better in best_first:
            if better.success:
                for worse in failed:
                    yield better, worse
        return
    for better in best_first:
        if not _is_better(better, worst_first[0], margin):
            return  # nor is any after it
        for worse in takewhile(partial(_is_better, better, margin=margin), worst_first):
            yield better, worse


def _is_better(better: _Play, worse: _Play, margin: float) -> bool:
    gap = better.total_return - worse.total_return
    # Rounding must not part equal returns, however small the margin.
    return gap > ROUNDING and gap >= margin - ROUNDING


def _parted(chosen: Episode, rejected: Episode) -> _Pair | None:
    """Return where two plays part, or None where that is not in an answer.

    What the environment said was the same until then, or they are no answers to one prompt.
    """
    if chosen.rewrites_history or rejected.rewrites_history:
        return _parted_turn(chosen, rejected)
    ours = conversation(chosen)
    others = conversation(rejected)
    shared = 0
    for one, other in zip(ours, others, strict=False):
        if _said(one) != _said(other):
            break
        shared += 1
    firsts = [*ours[shared : shared + 1], *others[shared : shared + 1]]
    is_answered_twice = [message.role for message in firsts] == ["assistant", "assistant"]
    if not (shared and is_answered_twice):
        return None
    return _Pair(ours[:shared], ours[shared:], others[shared:])


def _parted_turn(chosen: Episode, rejected: Episode) -> _Pair | None:
    """Do so where each prompt was written anew: the pair is of the first turn that differs."""
    turns = zip(prompts_and_answers(chosen), prompts_and_answers(rejected), strict=False)
    for (prompt, answer), (other_prompt, other_answer) in turns:
        if list(map(_said, prompt)) != list(map(_said, other_prompt)):
            return None
        if _said(answer) != _said(other_answer):
            return _Pair(prompt, [answer], [other_answer])
    return None


def _said(message: Message) -> tuple[Any, ...]:
    """Return what a message says: without the ids of calls, which are others in each play."""
    calls = [(call.name, dict(call.arguments)) for call in message.tool_calls]
    return message.role, message.content, calls
