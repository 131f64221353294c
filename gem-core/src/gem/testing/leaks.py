"""The line on leaks: nobody wins by copying what stands in the observation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gem.env import Env
from gem.episode import is_success
from gem.errors import SnapshotError
from gem.testing.formats import asked_formats
from gem.testing.playing import shown_text
from gem.testing.report import NotHeldError
from gem.testing.subject import Subject

__all__ = ["observation_holds_no_answer"]

_SEEDS = range(50)
_LUCK = 11  # three standard deviations of heads in fifty tosses
_MOST_PLACES = 60
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
        pieces = _PIECES[self.kind].findall(text)
        inside = -len(pieces) <= self.place < len(pieces)
        return self.form % (pieces[self.place].strip() if inside else "")

    def __str__(self) -> str:
        end = "start" if self.place >= 0 else "end"
        number = self.place + 1 if self.place >= 0 else -self.place
        return f"{self.kind} {number} from the {end}, as {self.form % '...'!r}"


def observation_holds_no_answer(subject: Subject) -> str:
    """Let every copier play; one that wins half of the seeds, where random does not, has a leak.

    A copier that says the same with every seed copies no answer: it counts as a guess unless it
    wins four times as often as random. Where random wins often too, one of many copiers wins half
    by luck: a leak wins more often than luck explains.
    """
    with _Worlds(subject) as worlds:
        copiers = list(_copiers(subject, worlds))
        for copier in copiers:
            winning = worlds.winning(copier)
            won = len(winning)
            if won * 2 < len(_SEEDS):
                continue
            by_chance = worlds.random_wins()
            is_guess = len(set(winning)) == 1 and won < 4 * by_chance
            is_luck = won - by_chance < _LUCK
            if by_chance * 2 < len(_SEEDS) and not is_guess and not is_luck:
                raise NotHeldError(
                    f"copying {copier} wins {won} of {len(_SEEDS)} seeds, sampled actions "
                    f"{by_chance}"
                )
    return f"{len(copiers)} copying players, none wins half of {len(_SEEDS)} seeds"


def _copiers(subject: Subject, worlds: _Worlds) -> Iterator[_Copier]:
    texts = [worlds.start(seed) for seed in _SEEDS]
    forms = asked_formats(texts[0], *subject.driven(subject.seeds[0]).actions[:1])
    for kind, pattern in _PIECES.items():
        places = min(max(len(pattern.findall(text)) for text in texts), _MOST_PLACES)
        for place in range(-places, places):
            yield from (_Copier(kind, place, form) for form in forms)


class _Worlds:
    """The first state of each seed, made once; plays start from forks of it."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._starts: dict[int, tuple[Env, str]] = {}
        self._first_steps: dict[tuple[int, str], _Outcome] = {}
        self._random_wins: int | None = None

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

    def winning(self, copier: _Copier) -> list[tuple[str, ...]]:
        """Return its winning plays, as their actions; cut short once they are too few."""
        won: list[tuple[str, ...]] = []
        for done, seed in enumerate(_SEEDS):
            if (len(won) + len(_SEEDS) - done) * 2 < len(_SEEDS):
                break
            actions, is_win = self._outcome(copier, seed)
            if is_win:
                won.append(actions)
        return won

    def _outcome(self, copier: _Copier, seed: int) -> _Outcome:
        action = copier.answer(self.start(seed))
        if (seed, action) not in self._first_steps:
            # Most copies end an episode at once, and many copiers say the same.
            self._first_steps[seed, action] = self._play(copier, seed, most_turns=1)
        known = self._first_steps[seed, action]
        return known if known[1] is not None else self._play(copier, seed, most_turns=_MOST_TURNS)

    def _play(self, copier: _Copier, seed: int, *, most_turns: int) -> _Outcome:
        text, total, actions = self.start(seed), 0.0, list[str]()
        with self._copy(seed) as env:
            for _ in range(most_turns):
                actions.append(copier.answer(text))
                step = env.step(actions[-1])
                text, total = shown_text(step.observation, step.info), total + step.reward
                if step.terminated or step.truncated:
                    return tuple(actions), is_success(step.info, total, env.spec)
        return tuple(actions), None

    def _copy(self, seed: int) -> Env:
        try:
            return self._starts[seed][0].fork()
        except SnapshotError:
            env = self._subject.make()
            env.reset(seed=seed)
            return env

    def random_wins(self) -> int:
        """Count the wins of sampled actions on the same seeds."""
        if self._random_wins is None:
            plays = (self._subject.driven(seed) for seed in _SEEDS)
            self._random_wins = sum(each.is_success for each in plays)
        return self._random_wins
