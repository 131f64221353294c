"""Search a room, back from its goals or on from a position. Knows nothing of text or turns.

Both searches go move by move. At each number of moves they hold, for every placing of the boxes,
the set of cells where the player may stand, so that all of these take their next step at once.
Sets of cells are numbers, bit `i` for cell `i`, and a cell is a set of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Layer", "Room", "flood", "pull_back", "push_on", "room_of", "way_back"]

Layer = dict[int, int]
"""The positions that are so many moves away: from the boxes to the cells of the player."""


class _Moving(NamedTuple):
    """How boxes are shifted: the cells a player does it from, and (boxes, player) afterwards."""

    spots: Callable[[int, int, int], int]
    shifts: Callable[[int, int, int, int], list[tuple[int, int]]]


class Room(NamedTuple):
    """What no move changes: walls are all around `floor`. Made by `room_of`.

    `pushes` maps cells to the fewest pushes from there to a goal, for a box alone. A box on a
    cell that is not there is lost, and the sum over all boxes is a lower bound on the moves.
    """

    floor: int
    goals: int
    cols: int
    pushes: dict[int, int]


def room_of(floor: int, goals: int, cols: int) -> Room:
    """Return the room, its pushes counted. Linear in the cells times the longest way."""
    pushes: dict[int, int] = {}
    right = floor & floor >> 1
    left = floor & floor << 1
    down = floor & floor >> cols
    up = floor & floor << cols
    known = goals
    new = goals
    count = 0
    while new:
        left_over = new
        while left_over:
            cell = left_over & -left_over
            left_over ^= cell
            pushes[cell] = count
        new = new << 1 & right | new >> 1 & left | new << cols & down | new >> cols & up
        new &= ~known
        known |= new
        count += 1
    return Room(floor, goals, cols, pushes)


def flood(start: int, free: int, cols: int) -> int:
    """Return the cells that can be walked to from `start`, through free cells."""
    reached = start
    new = start
    while new:
        new = (new << 1 | new >> 1 | new << cols | new >> cols) & free & ~reached
        reached |= new
    return reached


class _Frontier:
    """What a search has met so far: the cells that players have not, and how far boxes are."""

    def __init__(self, room: Room, boxes: int, players: int, moving: _Moving) -> None:
        self.room = room
        self.moving = moving
        self.far = {boxes: sum([room.pushes[cell] for cell in cells(boxes)])}
        self._unmet = {boxes: room.floor ^ boxes ^ players}
        self._spots = {boxes: moving.spots(boxes, room.floor ^ boxes, room.cols)}

    def next(self, layer: Layer) -> Layer:
        """Return the positions first met one move after those of `layer`."""
        floor, _, cols, pushes = self.room
        far = self.far
        unmet = self._unmet
        spots = self._spots
        find_spots, shifts = self.moving
        entered: Layer = {}
        for boxes, players in layer.items():
            # The boxes stay: the player walks to where none has stood with these boxes.
            walked = players << 1 | players >> 1 | players << cols | players >> cols
            walked &= unmet[boxes]
            if walked:
                unmet[boxes] ^= walked
                entered[boxes] = entered[boxes] | walked if boxes in entered else walked
            shifting = players & spots[boxes]
            if not shifting:
                continue
            for shifted, player in shifts(boxes, shifting, floor ^ boxes, cols):
                if shifted not in unmet:  # a placing of the boxes that is new
                    changed = boxes ^ shifted  # the cell that one box left, and its new one
                    ahead = pushes.get(changed & shifted)
                    if ahead is not None:  # else that box can reach no goal any more
                        far[shifted] = far[boxes] + ahead - pushes[changed & boxes]
                        free = floor ^ shifted
                        unmet[shifted] = free ^ player
                        spots[shifted] = find_spots(shifted, free, cols)
                        entered[shifted] = player
                elif unmet[shifted] & player:
                    unmet[shifted] ^= player
                    entered[shifted] = entered[shifted] | player if shifted in entered else player
        return entered


def cells(mask: int) -> list[int]:
    """List the cells of a set, as sets of one."""
    single_cells = []
    while mask:
        cell = mask & -mask
        mask ^= cell
        single_cells.append(cell)
    return single_cells


def _pull_spots(boxes: int, free: int, cols: int) -> int:
    return (
        boxes << 1 & free >> 1
        | boxes >> 1 & free << 1
        | boxes << cols & free >> cols
        | boxes >> cols & free << cols
    )


def _pulls(boxes: int, players: int, free: int, cols: int) -> list[tuple[int, int]]:
    """Let the players step back from boxes, which take their places."""
    pulls = []
    while players:
        cell = players & -players
        players ^= cell
        right = cell << 1
        left = cell >> 1
        down = cell << cols
        up = cell >> cols
        if boxes & left and free & right:
            pulls.append((boxes ^ left ^ cell, right))
        if boxes & right and free & left:
            pulls.append((boxes ^ right ^ cell, left))
        if boxes & up and free & down:
            pulls.append((boxes ^ up ^ cell, down))
        if boxes & down and free & up:
            pulls.append((boxes ^ down ^ cell, up))
    return pulls


def _push_spots(boxes: int, free: int, cols: int) -> int:
    return (
        (boxes & free >> 1) >> 1
        | (boxes & free << 1) << 1
        | (boxes & free >> cols) >> cols
        | (boxes & free << cols) << cols
    )


def _pushes(boxes: int, players: int, free: int, cols: int) -> list[tuple[int, int]]:
    """Let the players take the places of boxes, which go one on."""
    pushes = []
    while players:
        cell = players & -players
        players ^= cell
        right = cell << 1
        left = cell >> 1
        down = cell << cols
        up = cell >> cols
        if boxes & right and free & right << 1:
            pushes.append((boxes ^ right ^ right << 1, right))
        if boxes & left and free & left >> 1:
            pushes.append((boxes ^ left ^ left >> 1, left))
        if boxes & down and free & down << cols:
            pushes.append((boxes ^ down ^ down << cols, down))
        if boxes & up and free & up >> cols:
            pushes.append((boxes ^ up ^ up >> cols, up))
    return pushes


_PULLING = _Moving(_pull_spots, _pulls)
_PUSHING = _Moving(_push_spots, _pushes)


def pull_back(room: Room, depth: int, width: int) -> tuple[list[Layer], dict[int, int]]:
    """Return the positions by their moves to the goals, up to `depth`, and how far boxes are.

    Where more than `width` placings of the boxes are met at once, the farthest are kept. As long
    as that does not happen the moves are the fewest; after it they are enough.
    """
    players = room.floor ^ room.goals
    frontier = _Frontier(room, room.goals, players, _PULLING)
    layers = [{room.goals: players}]
    while len(layers) <= depth:
        layer = frontier.next(layers[-1])
        if not layer:
            break
        if len(layer) > width:
            farthest = sorted(layer, key=frontier.far.__getitem__, reverse=True)[:width]
            layer = {boxes: layer[boxes] for boxes in farthest}
        layers.append(layer)
    return layers, frontier.far


def way_back(room: Room, layers: list[Layer], boxes: int, player: int) -> str:
    """Return moves from a position of the last layer to the first, each played by the rules."""
    floor, _, cols, _ = room
    ways = (("u", -cols), ("d", cols), ("l", -1), ("r", 1))
    moves = []
    for layer in layers[-2::-1]:
        for move, by in ways:
            there = _shift(player, by)
            after = boxes
            if there & boxes:
                beyond = _shift(there, by)
                if not beyond & (floor ^ boxes):
                    continue
                after = boxes ^ there ^ beyond
            if layer.get(after, 0) & there:
                moves.append(move)
                boxes = after
                player = there
                break
    return "".join(moves)


def push_on(room: Room, boxes: int, player: int, most: int, width: int) -> str | None:
    """Return at most `most` moves to the goals from a position, None if none were found.

    The fewest there are, unless more than `width` placings of the boxes were met at once, of
    which the nearest to the goals are kept.
    """
    if any(cell not in room.pushes for cell in cells(boxes)):
        return None
    frontier = _Frontier(room, boxes, player, _PUSHING)
    layers = [{boxes: player}]
    while room.goals not in layers[-1]:
        left = most - len(layers)
        layer = frontier.next(layers[-1])
        layer = {boxes: layer[boxes] for boxes in layer if frontier.far[boxes] <= left}
        if not layer:
            return None
        if len(layer) > width:
            nearest = sorted(layer, key=frontier.far.__getitem__)[:width]
            layer = {boxes: layer[boxes] for boxes in nearest}
        layers.append(layer)
    return _way_on(room, layers)


def _way_on(room: Room, layers: list[Layer]) -> str:
    """Return the moves from the only position of the first layer to the goals in the last."""
    boxes = room.goals
    players = layers[-1][boxes]
    player = players & -players
    ways = (("u", -room.cols), ("d", room.cols), ("l", -1), ("r", 1))
    moves = []
    for layer in layers[-2::-1]:
        for move, by in ways:
            before = _shift(player, -by)
            ahead = _shift(player, by)
            pulled = boxes ^ ahead ^ player if ahead & boxes else boxes
            came_from = next(
                (earlier for earlier in (boxes, pulled) if layer.get(earlier, 0) & before), 0
            )
            if came_from:
                moves.append(move)
                boxes = came_from
                player = before
                break
    return "".join(reversed(moves))


def _shift(cell: int, by: int) -> int:
    return cell << by if by > 0 else cell >> -by
