"""Push boxes onto goals in a room of walls."""

from __future__ import annotations

from gem.env import Step
from gem.errors import BadArguments
from gem_envs_games.game import Game
from gem_envs_games.parsing import reader
from gem_envs_games.rewards import PUBLISHED, Rewards
from gem_envs_games.sokoban.board import ahead, board_of, legal_moves, masks_of, moved
from gem_envs_games.sokoban.deal import deal_start
from gem_envs_games.sokoban.search import push_on, room_of

__all__ = ["Sokoban"]

_Size = tuple[int, int, int]

_WORDS = {"u": "up", "d": "down", "l": "left", "r": "right"}
_LETTERS = {word: letter for letter, word in _WORDS.items()}
_SIZES = ((6, 6, 2), (8, 8, 5))
_TURNS = {(6, 6, 2): 20, (8, 8, 4): 50, (8, 8, 5): 50}
_LONGEST_SIDE = 20
_MOST_BOXES = 12
_WIDTH = 500
_FARTHEST = 150


class Sokoban(Game):
    """Push `num_boxes` boxes onto as many goals, in a room of `dim_room` (rows, columns).

    The walls around count in `dim_room`. Every start can be solved within `max_turns`, for a
    solution is played when it is dealt. An argument that is None is drawn anew for every
    episode from the published sizes (6x6 with 2 boxes, 8x8 with 5), and the turns then go with
    the size. When the turns run out, every box on a goal earns its share of the reward.
    """

    shared = (*Game.shared, "_sizes")

    def __init__(
        self,
        dim_room: tuple[int, int] | None = (6, 6),
        num_boxes: int | None = 2,
        max_turns: int | None = 20,
        rewards: Rewards = PUBLISHED,
    ) -> None:
        super().__init__(max_turns, rewards)
        self._sizes = _sizes(dim_room, num_boxes)

    def deal(self) -> None:
        rows, cols, self.num_boxes = size = self.rng.choice(self._sizes)
        turns = self._given_turns or _TURNS.get(size, rows + cols + 4 * self.num_boxes)
        dealt = deal_start(self.rng, rows, cols, self.num_boxes, turns)
        self.max_turns = turns
        self._board = self._start = board_of(dealt.start, rows)
        self._solution = dealt.solution

    def instructions(self) -> str:
        return (
            "You are playing Sokoban.\n"
            "Push every box onto a goal, any box onto any goal. There are as many goals as boxes: "
            f"{self.num_boxes}. You have {self.max_turns} turns.\n"
            "Each turn you go one cell up, down, left or right. Going into a box pushes it one "
            "cell on, if the cell behind it is floor or a goal without a box. You cannot pull "
            "boxes, nor push two at once. A move into a wall, or into a box that cannot be "
            "pushed, is refused and still costs a turn.\n"
            "In the room, # is a wall, _ floor, O a goal, X a box, √ a box on a goal, P you, "
            "and + you on a goal.\n"
            "Write what you like, but give your move as up, down, left or right in \\boxed{}, "
            "for example \\boxed{up}. Only the last one counts. An answer without it ends the "
            "game."
        )

    def expected(self) -> str:
        return "up, down, left or right in \\boxed{}, for example \\boxed{up}"

    def suffix(self) -> str:
        return f"The room:\n{self._board}\nEnter your next move."

    def consolation(self) -> dict[str, float]:
        share = self._board.count("√") / self.num_boxes
        return {"boxes_on_goals": self.rewards.success * share}

    def step(self, action: str) -> Step:
        move = _read_move(action)
        if move is None:
            return self._malformed()
        board = self._board
        after = moved(board, move)
        met = ahead(board, move)
        if after is None:
            what = "a wall is there" if met == "#" else "the box there cannot be pushed"
            return self._refuse(f"you tried to go {_WORDS[move]}, but {what}.")
        self._board = after
        if met in "_O":
            return self._go_on(f"you went {_WORDS[move]}.")
        pushed = f"you pushed a box {_WORDS[move]}."
        if "X" not in after:
            return self._win(
                f"{pushed} Every box is on a goal. Congratulations!\n{after}",
                {"success": self.rewards.success},
            )
        return self._go_on(pushed)

    def sample_action(self) -> str:
        return _boxed(self.sample_rng.choice(legal_moves(self._board)))

    def solve(self) -> str | None:
        """Make the next move of the start's solution, or of one searched from here.

        None where neither fits in the turns left, as after a push that cannot be undone.
        """
        turns = (self.max_turns or 0) - self.turn
        moves = self._rest_of_solution()
        if moves is None or len(moves) > turns:
            floor, goals, boxes, player, cols = masks_of(self._board)
            most = min(turns, _FARTHEST)  # a search takes about a second at the very most
            moves = push_on(room_of(floor, goals, cols), boxes, player, most, _WIDTH)
        return _boxed(moves[0]) if moves else None

    def _rest_of_solution(self) -> str | None:
        """Return the moves left of the solution, None where the board is none of its boards."""
        board = self._start
        for number, move in enumerate(self._solution):
            if board == self._board:
                return self._solution[number:]
            board = moved(board, move) or board
        return None


def _read(words: list[str]) -> str | None:
    return _LETTERS.get(words[0].lower()) if len(words) == 1 else None


_read_move = reader(_read)


def _boxed(move: str) -> str:
    return f"\\boxed{{{_WORDS[move]}}}"


def _sizes(dim_room: tuple[int, int] | None, num_boxes: int | None) -> list[_Size]:
    """List (rows, cols, boxes) an episode may have, what is not given taken from published ones."""
    sizes = {
        (*(dim_room or (rows, cols)), boxes if num_boxes is None else num_boxes)
        for rows, cols, boxes in _SIZES
    }
    possible = sorted(size for size in sizes if _is_possible(*size))
    if not possible:
        size_text = "x".join(map(str, dim_room or ())) or None
        raise BadArguments(
            f"Sokoban was given dim_room={size_text} and num_boxes={num_boxes}, and there is no "
            f"such room. Pass sides from 3 to {_LONGEST_SIDE}, one of them at least 5, and at most "
            f"{_MOST_BOXES} boxes, each with four cells inside the walls (one box fits in any "
            "room).",
            subject="Sokoban",
        )
    return possible


def _is_possible(rows: int, cols: int, num_boxes: int) -> bool:
    shortest, longest = sorted((rows, cols))
    room_for = max(1, (rows - 2) * (cols - 2) // 4)
    return (
        shortest >= 3
        and 5 <= longest <= _LONGEST_SIDE
        and 1 <= num_boxes <= min(_MOST_BOXES, room_for)
    )
