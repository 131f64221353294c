"""The line on leaks: nobody wins by copying what stands in the observation."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gem.env._env import Env
from gem.episode._episode import is_success
from gem.errors import SnapshotError
from gem.testing._formats import asked_formats
from gem.testing._playing import shown_text
from gem.testing._report import NotHeldError
from gem.testing._subject import Subject

__all__ = ["observation_holds_no_answer"]

_SEEDS = range(50)
_LUCK = 11  # three standard deviations of heads in fifty tosses
_FIRST_SEEDS = 10  # who wins half of all seeds loses each of these once in a thousand times
_MOST_PLACES = 60  # pieces from each end that are copied; more take longer than they find
_MOST_TURNS = 50

_PIECES = {
    "number": re.compile(r"[-+]?\d+(?:[.,]\d+)*"),
    "word": re.compile(r"\w+"),
    "line": re.compile(r"[^\n]*\S[^\n]*"),
}


_Outcome = tuple[tuple[str, ...], "bool | None"]
"""The actions, and whether they won; None where the episode went on."""


class _Copier(NamedTuple):
    """A player that copies the piece at one place, counted from the end where negative."""

    kind: str
    place: int
    form: str

    def answer(self, text: str) -> str:
        """Return its action; what is not there is copied as nothing."""
        pieces = _pieces_of(self.kind, text)
        inside = -len(pieces) <= self.place < len(pieces)
        return self.form % (pieces[self.place].strip() if inside else "")

    def __str__(self) -> str:
        end = "start" if self.place >= 0 else "end"
        number = self.place + 1 if self.place >= 0 else -self.place
        return f"{self.kind} {number} from the {end}, as {self.form % '...'!r}"


@functools.lru_cache(maxsize=256)  # hundreds of copiers look at the same first texts in turn
def _pieces_of(kind: str, text: str) -> list[str]:
    found: list[str] = _PIECES[kind].findall(text)
    return found


def observation_holds_no_answer(subject: Subject) -> str:
    """Let every copier play; one that wins half of the seeds, and more than chance, has a leak.

    Chance is what sampled actions win; it is half of the seeds where the text names two answers
    ("even or odd", "Ann or Bob"), of which one is right: to copy either is to toss a coin.

    Where the best play mixes, any move may win and the rules name the moves. There a copier has a
    leak that wins nine of ten seeds, and by moves that the seeds decide.
    """
    is_mixed = subject.hints.mixes
    most_losses = len(_SEEDS) // (10 if is_mixed else 2)
    with _Worlds(subject) as worlds:
        copiers = list(_copiers(subject, worlds))
        for copier in copiers:
            winning = worlds.winning(copier, most_losses)
            actions = list(winning.values())
            if len(actions) < len(_SEEDS) - most_losses:
                continue
            if is_mixed and _is_one_line_of_play(actions):
                continue
            # Only now: the random plays cost as much as a copier's, and few need the comparison.
            by_chance = worlds.random_wins()
            if by_chance * 2 >= len(_SEEDS) or not _is_leak(actions, by_chance):
                continue
            lost = [seed for seed in _SEEDS if seed not in winning]
            names_two = any(worlds.wins_nearly_all(other, lost) for other in copiers)
            if names_two and not _is_leak(actions, len(_SEEDS) // 2):
                continue
            raise NotHeldError(
                f"copying {copier} wins {len(actions)} of {len(_SEEDS)} seeds, sampled actions "
                f"{by_chance}"
            )
    share = "nine of ten" if is_mixed else "half"
    return f"{len(copiers)} copying players, none wins {share} of {len(_SEEDS)} seeds"


def _is_leak(winning: Sequence[tuple[str, ...]], by_chance: int) -> bool:
    """Say whether so many wins, with these actions, are more than guessing and luck explain.

    A copier that says the same with every seed copies no answer: it counts as a guess unless it
    wins four times as often as chance. And of many copiers one wins more often than chance by luck.
    """
    is_guess = len(set(winning)) == 1 and len(winning) < 4 * by_chance
    is_luck = len(winning) - by_chance < _LUCK
    return not is_guess and not is_luck


def _is_one_line_of_play(winning: Sequence[tuple[str, ...]]) -> bool:
    """Say whether these are the same moves in the same order, some played on for longer."""
    longest = max(winning, key=len)
    return all(actions == longest[: len(actions)] for actions in winning)


def _copiers(subject: Subject, worlds: _Worlds) -> Iterator[_Copier]:
    texts = [worlds.start(seed) for seed in _SEEDS]
    forms = asked_formats(texts[0], *subject.driven(subject.seeds[0]).actions[:1])
    for kind, pattern in _PIECES.items():
        # As many places as the longest text has: one that is not there is copied as nothing.
        most_pieces = max(len(pattern.findall(text)) for text in texts)
        places = min(most_pieces, _MOST_PLACES)
        for place in range(-places, places):
            for form in forms:
                yield _Copier(kind, place, form)


class _Worlds:
    """The first state of each seed, made once; plays start from forks of it."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._starts: dict[int, tuple[Env, str]] = {}
        self._first_steps: dict[tuple[int, str], _Outcome] = {}

    def __enter__(self) -> _Worlds:
        return self

    def __exit__(self, *_: object) -> None:
        for env, _text in self._starts.values():
            env.close()

    def start(self, seed: int) -> str:
        """Return what a player sees first."""
        if seed not in self._starts:
            env = self._subject.make()
            self._starts[seed] = (env, shown_text(*env.reset(seed=seed)))
        return self._starts[seed][1]

    def winning(self, copier: _Copier, most_losses: int) -> dict[int, tuple[str, ...]]:
        """Return the actions of its winning plays by seed, cut short after too many losses.

        Most copiers win nothing, and to play on with them is most of the work of a check: one that
        has lost all of the first ten is not played on.
        """
        won: dict[int, tuple[str, ...]] = {}
        for done, seed in enumerate(_SEEDS):
            if done - len(won) > most_losses or (done == _FIRST_SEEDS and not won):
                break
            actions, is_win = self._outcome(copier, seed)
            if is_win:
                won[seed] = actions
        return won

    def wins_nearly_all(self, copier: _Copier, seeds: Sequence[int]) -> bool:
        """Say whether a copier wins nine of ten of these seeds. False where there are none."""
        losses = 0
        for seed in seeds:
            _actions, is_win = self._outcome(copier, seed)
            losses += not is_win
            if losses * 10 > len(seeds):
                return False
        return bool(seeds)

    def _outcome(self, copier: _Copier, seed: int) -> _Outcome:
        action = copier.answer(self.start(seed))
        if (seed, action) not in self._first_steps:
            # Most copies end an episode at once, and many copiers say the same.
            self._first_steps[seed, action] = self._play(copier, seed, most_turns=1)
        known = self._first_steps[seed, action]
        return known if known[1] is not None else self._play(copier, seed, most_turns=_MOST_TURNS)

    def _play(self, copier: _Copier, seed: int, *, most_turns: int) -> _Outcome:
        text = self.start(seed)
        total = 0.0
        actions: list[str] = []
        with self._copy(seed) as env:
            for _ in range(most_turns):
                actions.append(copier.answer(text))
                step = env.step(actions[-1])
                text = shown_text(step.observation, step.info)
                total += step.reward
                if step.terminated or step.truncated:
                    return tuple(actions), is_success(step.info, total, env.spec)
        return tuple(actions), None

    def _copy(self, seed: int) -> Env:
        try:
            return self._starts[seed][0].fork()
        except SnapshotError:  # what cannot be forked is made and reset anew, which is slower
            env = self._subject.make()
            env.reset(seed=seed)
            return env

    def random_wins(self) -> int:
        """Count the wins of sampled actions on the same seeds. They are played once, and kept."""
        return sum(self._subject.driven(seed).is_success for seed in _SEEDS)
