"""Make rooms whose goals can all be filled within the turns, with a solution as the proof."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from gem_envs_games.sokoban.board import Masks
from gem_envs_games.sokoban.search import Room, cells, flood, pull_back, push_on, room_of, way_back

__all__ = ["Deal", "deal_start"]

_ROOMS = 40
_WIDTH = 80
_LONGEST = 100


class Deal(NamedTuple):
    """A start, the moves that solve it, and how many pushes it needs at least."""

    start: Masks
    solution: str
    least_pushes: int


def deal_start(rng: Random, rows: int, cols: int, num_boxes: int, max_turns: int) -> Deal:
    """Return a start with a solution, each move of it legal, of at most `max_turns` moves.

    The boxes are pulled back from the goals, for at most four fifths of the turns. A room where
    that leads to no start with every box off the goals and pushes enough is made anew, 40 times
    at most, and then the best is taken.
    """
    inner = _inner(rows, cols)
    enough = max(1, min(2 * num_boxes, max_turns // 5))
    best = None
    for _ in range(_ROOMS):
        room = _draw_room(rng, inner, cols, num_boxes)
        if room is None or sum(sorted(room.pushes.values())[-num_boxes:]) < enough:
            continue
        deal = _deal_in(rng, room, max_turns, enough)
        if deal and (best is None or _merit(deal) > _merit(best)):
            best = deal
            if best.least_pushes >= enough and not best.start.boxes & room.goals:
                return best
    if best is None:
        best = _deal_in(rng, _plain_room(inner, cols, num_boxes), max_turns, enough)
        assert best is not None
    return best


def _merit(deal: Deal) -> tuple[int, int]:
    """Rank starts: the fewest boxes on goals first, then the most pushes."""
    return -(deal.start.boxes & deal.start.goals).bit_count(), deal.least_pushes


def _inner(rows: int, cols: int) -> int:
    line = (1 << cols - 1) - 2
    return sum([line << row * cols for row in range(1, rows - 1)])


def _draw_room(rng: Random, inner: int, cols: int, num_boxes: int) -> Room | None:
    """Draw a connected room with walls on a fourth or an eighth of it; None if it is too small."""
    draw = rng.getrandbits
    bits = inner.bit_length()
    size = inner.bit_count()
    walls = draw(bits) & draw(bits)
    if draw(1):
        walls &= draw(bits)
    empty = inner & ~walls
    among = draw(bits) & empty
    floor = flood(among & -among, empty, cols)
    if floor.bit_count() < min(size, max(size // 2, 2 * num_boxes + 3)):
        return None
    room = room_of(floor, sum(rng.sample(cells(floor), num_boxes)), cols)
    # With few cells that lead to a goal the boxes are soon stuck: not worth a search.
    return room if len(room.pushes) >= min(size // 2 - 1, 3 * num_boxes + 1) else None


def _plain_room(inner: int, cols: int, num_boxes: int) -> Room:
    """Return a room without walls where the box in the first corner can be pulled away."""
    corner, *others = cells(inner)
    return room_of(inner, sum(others[len(others) - num_boxes + 1 :], corner), cols)


def _deal_in(rng: Random, room: Room, max_turns: int, enough: int) -> Deal | None:
    """Draw a start among those with the boxes farthest from the goals; None if none can move."""
    most = min(_LONGEST, max_turns)
    depth = rng.randint((most + 1) // 2, max((most + 1) // 2, most * 4 // 5))
    layers, far = pull_back(room, depth, _WIDTH)
    moves_of: dict[int, int] = {}
    for moves in range(len(layers) - 1, 0, -1):
        for boxes in layers[moves]:
            moves_of.setdefault(boxes, moves)
    moves_of.pop(room.goals, None)
    starts = [boxes for boxes in moves_of if not boxes & room.goals] or list(moves_of)
    if not starts:
        return None
    farthest = max([far[boxes] for boxes in starts])
    least = max(min(farthest, enough), farthest * 3 // 4)
    boxes = rng.choice([boxes for boxes in starts if far[boxes] >= least])
    moves = moves_of[boxes]
    player = rng.choice(cells(layers[moves][boxes]))
    solution = way_back(room, layers[: moves + 1], boxes, player)
    if max(map(len, layers)) == _WIDTH:  # else these are the fewest moves
        solution = push_on(room, boxes, player, moves - 1, _WIDTH) or solution
    start = Masks(room.floor, room.goals, boxes, player, room.cols)
    return Deal(start, solution, far[boxes])
