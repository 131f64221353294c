"""Is the learner given the tokens that were played, each with the credit of its turn?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gem.episode import Episode
from gem_baselines.doctor.finding import Check, Finding, Place
from gem_baselines.doctor.run import Run, Sample, Shown, ShownRow
from gem_baselines.learning_policy import Floats

__all__ = ["CHECKS", "PlayedRow", "rows_played"]

_TOLERANCE = 1e-6


class PlayedRow(NamedTuple):
    """A sequence of tokens by the record: which are the policy's own, and of which turn.

    `places`, `turns` and `logprobs` have an entry for each own token. `logprobs` is None where the
    record has none.
    """

    ids: tuple[int, ...]
    places: tuple[int, ...]
    turns: tuple[int, ...]
    logprobs: Floats | None


_NOTHING_PLAYED = PlayedRow((), (), (), None)
_NO_ROW = ShownRow((), (), np.zeros(0), None, np.zeros(0), np.zeros(0), None)


class _Pair(NamedTuple):
    sample: Sample
    shown: Shown
    row: ShownRow
    played: PlayedRow


def rows_played(episode: Episode) -> list[PlayedRow]:
    """Return the tokens of an episode, of one sequence after another; none where it has none."""
    sequences: list[list[int]] = []
    for number, turn in enumerate(episode.turns):
        if turn.token_ids is None or turn.mask is None:
            return []
        if turn.new_sequence or not sequences:
            sequences.append([])
        sequences[-1].append(number)
    return [_row(episode, turns) for turns in sequences]


def _row(episode: Episode, numbers: Sequence[int]) -> PlayedRow:
    ids: list[int] = []
    places: list[int] = []
    turns: list[int] = []
    logprobs: list[float] = []
    has_logprobs = True
    for number in numbers:
        turn = episode.turns[number]
        own = [place for place, is_own in enumerate(turn.mask or ()) if is_own]
        places += [len(ids) + place for place in own]
        turns += [number] * len(own)
        ids += turn.token_ids or ()
        if turn.logprobs is None:
            has_logprobs = False
        else:
            logprobs += [turn.logprobs[place] for place in own]
    known = np.array(logprobs) if has_logprobs else None
    return PlayedRow(tuple(ids), tuple(places), tuple(turns), known)


def tokens(run: Run) -> Iterator[Finding]:
    """Find rows whose ids are not those that were played."""

    def problem(pair: _Pair) -> tuple[int, str] | None:
        given = pair.row.ids
        due = pair.played.ids
        if given is None or given == due:
            return None
        first = next(
            (n for n, ids in enumerate(zip(given, due, strict=False)) if ids[0] != ids[1]),
            min(len(given), len(due)),
        )
        there = run.token_text(given[first]) if first < len(given) else "nothing"
        played = run.token_text(due[first]) if first < len(due) else "nothing"
        return first, f"{there} in place of {played}, {len(given)} tokens in place of {len(due)}"

    yield from _found(
        run,
        "tokens",
        "The learner is given other tokens than were played, as where an answer is tokenised again",
        problem,
    )


def mask(run: Run) -> Iterator[Finding]:
    """Find rows that learn tokens which the policy did not say, or leave out what it said."""
    kinds: dict[str, int] = {}

    def problem(pair: _Pair) -> tuple[int, str] | None:
        due = pair.played.places
        given = pair.row.places
        if pair.row.ids is None:
            due = tuple(range(len(pair.shown.episode.turns)))
        elif pair.row.ids != pair.played.ids:
            return None  # another finding: places of other tokens say nothing
        if given == due:
            return None
        extra = sorted(set(given) - set(due))
        missing = sorted(set(due) - set(given))
        kinds[_kind(pair, given, due)] = kinds.get(_kind(pair, given, due), 0) + 1
        parts = []
        if extra:
            parts.append(f"{_text(run, pair, extra[0])} is learnt and was not said by the policy")
        if missing:
            parts.append(f"{_text(run, pair, missing[0])} was said and is not learnt")
        return (extra or missing or [0])[0], "; ".join(parts) or "tokens are learnt twice"

    found = list(
        _found(run, "mask", "The learner learns other tokens than the policy said", problem)
    )
    for finding in found:
        kind = max(kinds, key=lambda name: kinds[name])
        sentence = f"{finding.sentence} {kind}." if kind else finding.sentence
        yield Finding(
            finding.check,
            finding.severity,
            sentence,
            finding.updates,
            finding.figures,
            finding.place,
        )


def _kind(pair: _Pair, given: tuple[int, ...], due: tuple[int, ...]) -> str:
    """Say what is typical of a wrong mask, nothing where nothing is."""
    if len(given) == len(due) and len({a - b for a, b in zip(given, due, strict=True)}) == 1:
        return f"The mask is shifted by {given[0] - due[0]}"
    if set(given) > set(due):
        return "What the environment said is learnt too"
    if set(given) < set(due):
        missing = set(due) - set(given)
        turns = dict(zip(pair.played.places, pair.played.turns, strict=True))
        last_of_turn = {turn: place for place, turn in turns.items()}
        if missing <= set(last_of_turn.values()):
            if {turns[place] for place in missing} == {max(last_of_turn)}:
                return "The end of the last answer is left out"
            return "The last token of answers, their end, is left out"
        return "Whole parts of what the policy said are left out"
    return ""


def token_advantages(run: Run) -> Iterator[Finding]:
    """Find tokens whose advantage is not their turn's, or by token not their own."""
    credits_tokens = run.credits_tokens

    def problem(pair: _Pair) -> tuple[int, str] | None:
        credit = pair.shown.advantages
        is_same = pair.row.ids is None or pair.row.places == pair.played.places
        if credit is None or not is_same:
            return None
        if credits_tokens:
            # An episode has one row, or more in order: only one row can be laid beside all of it.
            is_whole = len(credit) == len(pair.row.advantages)
            due = credit if is_whole else pair.row.advantages
        else:
            turns = pair.played.turns if pair.row.ids is not None else range(len(credit))
            due = credit[list(turns)]
        return _first_apart(pair, pair.row.advantages, due, "advantage")

    yield from _found(
        run,
        "token_advantages",
        "Tokens have an advantage that is not their turn's",
        problem,
    )


def handed_logprobs(run: Run) -> Iterator[Finding]:
    """Find rows whose logprobs are not those that the sampler recorded."""

    def problem(pair: _Pair) -> tuple[int, str] | None:
        given = pair.row.sampler
        due = pair.played.logprobs
        if given is None or due is None or pair.row.places != pair.played.places:
            return None
        return _first_apart(pair, given, due, "logprob")

    yield from _found(
        run,
        "handed_logprobs",
        "The learner is handed other logprobs than the sampler recorded",
        problem,
    )


def _first_apart(pair: _Pair, given: Floats, due: Floats, name: str) -> tuple[int, str] | None:
    if len(given) != len(due):
        return 0, f"{len(given)} of them in place of {len(due)}"
    apart = np.abs(given - due) > _TOLERANCE * np.maximum(1.0, np.abs(due))
    if not apart.any():
        return None
    first = int(apart.argmax())
    text = f"{name} {given[first]:.4g} in place of {due[first]:.4g}"
    return pair.row.places[first], text


def _found(
    run: Run, name: str, sentence: str, problem: Callable[[_Pair], tuple[int, str] | None]
) -> Iterator[Finding]:
    """Make one finding of all rows that have a problem, the first of them as its example."""
    wrong: list[tuple[_Pair, int, str]] = []
    looked = 0
    for pair in _pairs(run):
        looked += 1
        found = problem(pair)
        if found is not None:
            wrong.append((pair, *found))
    if not wrong:
        return
    pair, token, text = wrong[0]
    turns = dict(zip(pair.played.places, pair.played.turns, strict=True))
    yield Finding(
        name,
        "wrong",
        f"{sentence}, in {len(wrong)} of {looked} rows: {text}.",
        sorted({each.sample.update for each, _, _ in wrong}),
        {"rows": float(len(wrong)), "looked_at": float(looked)},
        Place(
            pair.sample.update,
            pair.shown.number,
            pair.shown.episode.seed,
            turns.get(token, token if pair.row.ids is None else None),
            None if pair.row.ids is None else token,
            _around(run, pair, token),
        ),
    )


def _pairs(run: Run) -> Iterator[_Pair]:
    """Yield each row with what was played there; where one of the two is absent it is empty."""
    for sample in run.samples:
        for shown in sample.shown:
            if shown.rows is None:
                continue
            played = rows_played(shown.episode)
            for number in range(max(len(shown.rows), len(played))):
                row = shown.rows[number] if number < len(shown.rows) else _NO_ROW
                own = played[number] if number < len(played) else _NOTHING_PLAYED
                yield _Pair(sample, shown, row, own)


def _text(run: Run, pair: _Pair, place: int) -> str:
    ids = pair.row.ids
    if ids is None or not 0 <= place < len(ids):
        return f"place {place}"
    return f"{run.token_text(ids[place])} at {place}"


def _around(run: Run, pair: _Pair, token: int) -> str:
    """Show a token between its neighbours."""
    ids = pair.row.ids
    if ids is None:
        return ""
    words = []
    for place in range(max(0, token - 3), min(len(ids), token + 4)):
        text = run.token_text(ids[place])
        words.append(f">>{text}<<" if place == token else text)
    return " ".join(words)


def _lacks(run: Run) -> str:
    return "" if run.has_rows else "the rows that its learner was given"


def _lacks_tokens(run: Run) -> str:
    if _lacks(run):
        return _lacks(run)
    has_ids = any(
        row.ids is not None
        for sample in run.samples
        for shown in sample.shown
        for row in shown.rows or ()
    )
    return "" if has_ids else "a policy that plays by tokens"


CHECKS = (
    Check("tokens", "the learner is given the tokens that were played", tokens, _lacks_tokens),
    Check("mask", "it learns what the policy said, all of it and nothing else", mask, _lacks),
    Check("token_advantages", "each token has the advantage of its turn", token_advantages, _lacks),
    Check(
        "handed_logprobs", "it is handed the sampler's own logprobs", handed_logprobs, _lacks_tokens
    ),
)
