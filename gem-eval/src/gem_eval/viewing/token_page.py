"""What the token page of an episode shows, as values for its template. Knows no requests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem.errors import MissingRequirement
from gem_eval.short_names import short_names
from gem_eval.viewing import credit, token_colours
from gem_eval.viewing.batches import Batch, read_batch
from gem_eval.viewing.credit import ESTIMATORS, NORMALISERS, Credit, CreditError
from gem_eval.viewing.episodes import TurnPage, read_turns
from gem_eval.viewing.facets import env_name
from gem_eval.viewing.rendering import fixed, render
from gem_eval.viewing.rows import Row
from gem_eval.viewing.runs import Run
from gem_eval.viewing.scanning import TURNS_AT_ONCE
from gem_eval.viewing.seats import SeatFigures, seat_named
from gem_eval.viewing.text import family
from gem_eval.viewing.token_columns import ENTROPY, LEARNER, Token, TokenTurn, token_turn
from gem_eval.viewing.token_query import COLOURINGS, TokenQuery
from gem_eval.viewing.token_text import TokenTexts
from gem_eval.wording import counted

__all__ = ["MANY", "MOST_TOKENS", "TokenCredit", "token_credit", "token_page", "token_values"]

MOST_TOKENS = 40_000
"""How many tokens a page has at most: of one turn with more it has the first."""

MANY = 5000
"""From how many tokens on a browser draws only the blocks that are in view."""

_BLOCK = 250  # tokens that are drawn together, or not at all
_RATIO = 0.2  # how far the logprobs of two columns may part before a clipped ratio stops learning
_UNKNOWN = {
    "lp": "These turns have no logprobs on record. `hf:` records them, a TokenPolicy too, and "
    "`openai:` with logprobs=true.",
    "ent": "This log has no entropies. They are read from info["
    f'"{ENTROPY}"] of a turn, one number a token.',
    "diff": "This log has one column of logprobs. A second one, of the learner, is read from info["
    f'"{LEARNER}"] of a turn, one number a token.',
}


class TokenCredit(NamedTuple):
    """The credit of an episode and a sentence on how it was made, or why there is none.

    `places` has where a turn stands in it, by the turn's number.
    """

    credit: Credit | None
    sentence: str
    places: Mapping[int, int] = {}

    def of(self, number: int) -> tuple[float, float, float] | None:
        """Return the return, advantage and coefficient of a turn, by its number, if there are."""
        at = self.places.get(number)
        if self.credit is None or at is None:
            return None
        found = self.credit
        return found.returns[at], found.advantages[at], found.coefficients[at]


class Shown(NamedTuple):
    """A token as a page shows it. `facts` is a line about it, `text` None where only the id is."""

    token: Token
    css: str
    facts: str
    text: str | None


class Section(NamedTuple):
    """A turn on the page. `blocks` cut its tokens, so that a browser can leave some out."""

    turn: TokenTurn
    blocks: tuple[tuple[Shown, ...], ...]
    mean_logprob: float | None
    credit: tuple[float, float, float] | None


def token_page(
    run: Run,
    line: int,
    query: TokenQuery,
    texts: TokenTexts | None,
    *,
    theme: str = "",
    several: bool = False,
) -> str | None:
    """Return the token page of an episode. None where no episode is."""
    values = token_values(run, line, query, texts)
    return None if values is None else render("tokens.html", **values, theme=theme, several=several)


def token_values(
    run: Run, line: int, query: TokenQuery, texts: TokenTexts | None
) -> dict[str, Any] | None:
    """Return what the page shows. Raises OSError and ValueError where the log has changed."""
    found = read_turns(run.folder.episodes_path, run.index, line, query.turn)
    if found is None:
        return None
    row, page = found
    seats = row.seats
    seat = seat_named(query.seat, seats) if query.seat else None
    turns, later = _window(page, query.turn, None if seat is None else seat.number)
    episode_credit = TokenCredit(None, "")
    if query.by == "adv":
        episode_credit = token_credit(run, row, query, seat)
    sections = [_section(turn, query, episode_credit, texts) for turn in turns]
    tokens = [(turn.number, token) for turn in turns for token in turn.tokens]
    values = [
        token_colours.value_of(token, query.by, _advantage(episode_credit, number))
        for number, token in tokens
        if token.is_generated
    ]
    is_known = query.by == "mask" or any(value is not None for value in values)
    unknown = episode_credit.sentence if query.by == "adv" and episode_credit.credit is None else ""
    env_id = env_name(run.env_ids, row.env)
    names = short_names([*run.policies, row.policy, *(each.policy for each in seats)])
    first = turns[0].number if turns else 1
    before = [
        each
        for each in range(page.first, first)
        if seat is None or _seat_at(page, each) == seat.number
    ]
    return {
        "title": f"Tokens of {family(env_id)}, {names[row.policy]}, no. {row.number}",
        "run": run,
        "row": row,
        "seats": seats,
        "seat": seat,
        "env_id": env_id,
        "names": names,
        "query": query,
        "sections": sections,
        "texts": texts,
        "count": len(tokens),
        "generated_count": len(values),
        "is_many": len(tokens) > MANY,
        "colourings": COLOURINGS,
        "legend": token_colours.legend(query.by),
        "unknown": "" if is_known else unknown or _UNKNOWN.get(query.by, "No token was said."),
        "sentence": episode_credit.sentence if episode_credit.credit is not None else "",
        "bars": None if query.by == "mask" else token_colours.bars_of(values, query.by),
        "outliers": _outliers(tokens, query.by, texts),
        "difference": _difference([token for _, token in tokens]),
        "estimators": ESTIMATORS,
        "normalisers": NORMALISERS,
        "turn": min(max(query.turn, 1), max(row.turns, 1)),
        "earlier": first - 1 if before or page.first > 1 else None,
        "later": later if later <= row.turns else None,
        "path": f"/runs/{run.name}/episodes/{row.line}",
        "is_export": False,
    }


def token_credit(
    run: Run, row: Row, query: TokenQuery, seat: SeatFigures | None = None
) -> TokenCredit:
    """Return what the tokens of each turn of an episode get, in the batch that it is in.

    Of several seats it is that of one.
    """
    if seat is None and row.seats:
        return TokenCredit(None, "Each seat is trained for itself: choose one, for its credit.")
    estimator = ESTIMATORS[query.estimator]
    of_task = estimator.batch == "task"
    batch = read_batch(run.folder.episodes_path, run.index, row, of_task=of_task, seat=seat)
    if batch is None:
        why = "it ended by an error" if row.outcome == "error" else "another try of it counts"
        return TokenCredit(None, f"This episode is in no batch, and has no credit: {why}.")
    try:
        found = credit.credit_of(
            batch.episodes,
            batch.place,
            estimator=query.estimator,
            gamma=query.gamma,
            lam=query.lam,
            normaliser=query.norm,
        )
    except (CreditError, MissingRequirement) as error:
        return TokenCredit(None, str(error))
    places = {number: at for at, number in enumerate(batch.numbers)}
    return TokenCredit(found, _sentence(query, batch), places)


def _sentence(query: TokenQuery, batch: Batch) -> str:
    """Say what was computed, over which episodes, and what is known of its bias."""
    estimator = ESTIMATORS[query.estimator]
    normaliser = NORMALISERS[query.norm]
    number = len(batch.episodes)
    whose = "this policy on this task, one group" if estimator.batch == "task" else "this policy"
    which = f"{counted(number, 'episode')} of {whose}"
    if number < batch.of:
        which += f", a block of the {batch.of:,} in the log"
    if batch.unreadable:
        which += f" ({batch.unreadable:,} more cannot be read)"
    parts = [f"gamma {query.gamma:g}"]
    if query.estimator == "gae":
        parts.append(f"lambda {query.lam:g}")
    divisor = "" if query.norm == "sum" else f" divided by {normaliser.title}"
    biases = [f"{estimator.title} is {estimator.bias}"]
    if normaliser.bias:
        biases.append(f"this division is {normaliser.bias}")
    return (
        f"{estimator.title}, {', '.join(parts)}: {estimator.about}, over the "
        f"{counted(batch.turns, 'turn')} of {which}. The coefficient of a token is this advantage"
        f"{divisor}: the loss is minus the sum of coefficients times log-probabilities. "
        f"{'; '.join(biases)}."
    )


def _window(page: TurnPage, asked: int, seat: int | None) -> tuple[list[TokenTurn], int]:
    """Return the turns around one that fit on a page, and the turn behind them.

    With a seat, its turns alone.

    The pages of a block of turns are cut from its first on: a turn is always on the same one.
    """
    turns: list[TokenTurn] = []
    size = 0
    number = page.first
    for number, plain in enumerate(page.turns, start=page.first):
        turn = token_turn(plain, number)
        if seat is not None and turn.seat != seat:
            continue
        length = len(turn.tokens)
        if turns and size + length > MOST_TOKENS:
            if asked < number:
                return turns, number
            turns = []
            size = 0
        cut = turn.tokens[:MOST_TOKENS]
        turns.append(turn._replace(tokens=cut, left_out=length - len(cut)))
        size += len(cut)
    return turns, page.first + TURNS_AT_ONCE


def _seat_at(page: TurnPage, number: int) -> int:
    """Return whose turn it is that has a number, of a page that has it."""
    return token_turn(page.turns[number - page.first], number).seat


def _section(
    turn: TokenTurn, query: TokenQuery, found: TokenCredit, texts: TokenTexts | None
) -> Section:
    advantage = _advantage(found, turn.number)
    of_turn = found.of(turn.number)
    shown = [_shown(token, query.by, advantage, of_turn, texts) for token in turn.tokens]
    blocks = [tuple(shown[at : at + _BLOCK]) for at in range(0, len(shown), _BLOCK)]
    logprobs = [token.logprob for token in turn.tokens if token.logprob is not None]
    mean = math.fsum(logprobs) / len(logprobs) if logprobs else None
    return Section(turn, tuple(blocks), mean, of_turn)


def _shown(
    token: Token,
    by: str,
    advantage: float | None,
    of_turn: tuple[float, float, float] | None,
    texts: TokenTexts | None,
) -> Shown:
    value = token_colours.value_of(token, by, advantage)
    css = token_colours.colour(token, by, value)
    text = None if texts is None else texts.text(token.id)
    return Shown(token, css, _facts(token, of_turn), text)


def _facts(token: Token, of_turn: tuple[float, float, float] | None) -> str:
    """Say in a line what is known of a token: names and numbers."""
    facts = [f"id {token.id}", f"mask {int(token.is_generated)}"]
    if token.logprob is not None:
        facts.append(f"logprob {fixed(token.logprob, 4)}")
        facts.append(f"probability {math.exp(min(token.logprob, 0.0)):.4g}")
    if token.learner is not None:
        facts.append(f"learner {fixed(token.learner, 4)}")
    if token.difference is not None:
        facts.append(f"difference {fixed(token.difference, 4)}")
    if token.entropy is not None:
        facts.append(f"entropy {fixed(token.entropy, 4)}")
    if of_turn is not None:
        # What the model did not say gets no gradient, whatever its turn earned.
        coefficient = of_turn[2] if token.is_generated else 0.0
        facts.append(f"coefficient {coefficient:.10g}")
    return " · ".join(facts)


def _advantage(found: TokenCredit, number: int) -> float | None:
    of_turn = found.of(number)
    return None if of_turn is None else of_turn[1]


class Outlier(NamedTuple):
    """A token of the list beside the page."""

    turn: int
    place: int
    text: str
    value: float


def _outliers(
    tokens: Sequence[tuple[int, Token]], by: str, texts: TokenTexts | None
) -> list[Outlier]:
    return [
        Outlier(turn, token.place, str(token.id) if texts is None else texts.text(token.id), value)
        for turn, token, value in token_colours.outliers(tokens, by)
    ]


def _difference(tokens: Sequence[Token]) -> str:
    """Say in a line how far two columns of logprobs part; nothing where there is one."""
    parted = [token.difference for token in tokens if token.difference is not None]
    if not parted:
        return ""
    mean = math.fsum(map(abs, parted)) / len(parted)
    outside = sum(abs(each) > _RATIO for each in parted)
    # The estimator k3 of the divergence of learner from sampler, which is never below 0.
    divergence = math.fsum(math.exp(min(each, 500.0)) - 1 - each for each in parted) / len(parted)
    return (
        f"Learner and sampler differ by {mean:.4g} on average; {outside:,} of "
        f"{counted(len(parted), 'token')} lie outside ±{_RATIO:g}, where a clipped ratio stops "
        f"learning. KL (k3) {divergence:.4g}."
    )
