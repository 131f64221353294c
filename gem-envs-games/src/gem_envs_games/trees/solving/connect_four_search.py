"""Play ConnectFour by a bounded search. Exact only where the search reaches every end."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gem_envs_games.trees.connect_four import ConnectFour, has_four

__all__ = ["Found", "search_connect_four"]

_WIN = 10_000  # above every estimate
_EXACT = 0
_AT_LEAST = 1
_AT_MOST = 2


class Found(NamedTuple):
    """A move and what is known of it, seen by the seat that moves.

    `outcome` is 1 if it wins, -1 if every move loses, 0 if the best is a draw, against every
    play of the other; None where the search ended before it knew.
    """

    move: str
    outcome: int | None
    depth: int


class _OutOfPositions(Exception):
    """The search has looked at as many positions as it may."""


def search_connect_four(position: ConnectFour, *, max_positions: int = 20_000) -> Found:
    """Return the best move of the deepest search that `max_positions` positions allow.

    Alpha-beta with a table of positions, deepened by one move at a time; where a search ends
    early, a position is estimated by the lines of four that are still open. 20,000 positions
    take some 0.2 s, and look 8 moves ahead from the empty board, so this is a strong
    player and no proof: the perfect play of an empty board of 6x7, a win for the first seat, is
    beyond it. Of wins it takes the quickest, of losses the slowest. Deterministic: it counts
    positions, not time.
    """
    search = _Search(position, max_positions)
    found = Found(position.legal(position.seat)[0], None, 0)
    cells = position.rows * position.columns
    empty = cells - position.taken.bit_count()
    for depth in range(1, empty + 1):
        try:
            move, score = search.best(depth)
        except _OutOfPositions:
            break
        outcome = None
        if abs(score) > _WIN // 2:
            outcome = 1 if score > 0 else -1
        elif depth == empty:
            outcome = 0
        found = Found(move, outcome, depth)
        if outcome is not None:
            break  # deeper searches find the same
    return found


class _Search:
    """A search of one board's size. Scores are seen by the seat that moves."""

    def __init__(self, root: ConnectFour, max_positions: int) -> None:
        self._root = root
        self._pitch = root.rows + 1
        self._left = max_positions
        self._lines = _lines(root.rows, root.columns)
        middle = (root.columns - 1) / 2
        # Middle columns first: they are in most lines, and good moves first cut most.
        order = sorted(range(root.columns), key=lambda column: (abs(column - middle), column))
        self._bottoms = [1 << column * self._pitch for column in order]
        self._tops = {bottom: bottom << root.rows - 1 for bottom in self._bottoms}
        # By (own, taken): how deep the search was, the kind of its score, the score, its move.
        self._table: dict[tuple[int, int], tuple[int, int, int, int]] = {}

    def best(self, depth: int) -> tuple[str, int]:
        """Return the best move and its score, by a search of this depth."""
        score = self._score(self._root.own, self._root.taken, depth, -_WIN, _WIN)
        bottom = self._table[self._root.own, self._root.taken][3]
        column = (bottom.bit_length() - 1) // self._pitch
        return str(column), score

    def _score(self, own: int, taken: int, depth: int, low: int, high: int) -> int:
        """Return the score, or a bound on it that lies outside of `low` to `high`.

        A win in `n` moves from here scores `_WIN - n`, so that quick ones count more.
        """
        if self._left == 0:
            raise _OutOfPositions
        self._left -= 1
        known_move = 0
        known = self._table.get((own, taken))
        if known is not None:
            known_depth, kind, score, known_move = known
            is_final = known_depth >= depth
            if is_final and (
                kind == _EXACT
                or (kind == _AT_LEAST and score >= high)
                or (kind == _AT_MOST and score <= low)
            ):
                return score
        moves = [bottom for bottom in self._bottoms if not taken & self._tops[bottom]]
        if not moves:
            return 0
        for bottom in moves:
            if has_four(own | taken + bottom & ~taken, self._pitch):
                self._table[own, taken] = (_WIN, _EXACT, _WIN - 1, bottom)
                return _WIN - 1
        if depth == 0:
            return self._estimate(own, own ^ taken)
        if known_move:
            moves.remove(known_move)
            moves.insert(0, known_move)
        best = -_WIN
        best_move = moves[0]
        bound = low
        for bottom in moves:
            disc = taken + bottom & ~taken
            # The window is seen from the other side, and one move later.
            after = -self._score(
                own ^ taken, taken | disc, depth - 1, -_earlier(high), -_earlier(bound)
            )
            score = _later(after)
            if score > best:
                best = score
                best_move = bottom
            bound = max(bound, best)
            if bound >= high:
                break
        kind = _AT_LEAST if best >= high else _AT_MOST if best <= low else _EXACT
        self._table[own, taken] = (depth, kind, best, best_move)
        return best

    def _estimate(self, own: int, other: int) -> int:
        """Return how many more lines are open to the seat that moves than to the other one."""
        score = 0
        for line in self._lines:
            if not line & other:
                score += (line & own).bit_count()
            elif not line & own:
                score -= (line & other).bit_count()
        return score


def _later(score: int) -> int:
    """Return what a score one move later is worth here: wins and losses are one move farther."""
    if score > _WIN // 2:
        return score - 1
    if score < -_WIN // 2:
        return score + 1
    return score


def _earlier(score: int) -> int:
    """Return the score that is `score` one move later: what `_later` undoes."""
    if score > _WIN // 2:
        return score + 1
    if score < -_WIN // 2:
        return score - 1
    return score


@lru_cache(16)
def _lines(rows: int, columns: int) -> tuple[int, ...]:
    """Return the cells of every line of four."""
    pitch = rows + 1
    lines = []
    for column in range(columns):
        for height in range(rows):
            for across, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                ends_inside = column + 3 * across < columns and 0 <= height + 3 * up < rows
                if ends_inside:
                    cells = [(column + i * across, height + i * up) for i in range(4)]
                    lines.append(sum(1 << each * pitch + high for each, high in cells))
    return tuple(lines)
