"""A single-player game of TextArena as an environment."""

from __future__ import annotations

from typing import Any

from gem.env import Env, Step
from gem.errors import BadArguments, in_one_line
from gem_envs_games.textarena.answers import bracketed
from gem_envs_games.textarena.listing import family_of
from gem_envs_games.textarena.listing.family import Family
from gem_envs_games.textarena.loading import load_game
from gem_envs_games.textarena.playing import Message, Outcome, Playing, caught_up, started_anew
from gem_envs_games.textarena.sampling import SAMPLERS

__all__ = ["TextArenaGame"]

_HOW_TO_ANSWER = (
    "Write what you like, but give your answer in square brackets, [like this], or in \\boxed{}. "
    "Only the last one counts."
)


class TextArenaGame(Env):
    r"""Play TextArena's game `name`, raw, and see what it says since the last action.

    The answer is the last `[answer]` or `\boxed{answer}` of an action, or the whole action where
    it has neither. Rewards come at the end, as TextArena gives them; TextArena's own limits, and
    `max_turns` turns in all, truncate. `info["messages"]` has what was said, with sender and
    kind, and the last info TextArena's own facts under `"game_info"`. A game that raises is
    truncated, with the error in `info["error"]`.

    A snapshot holds the seed and the answers so far, and what is restored from it plays them
    again before its next step: that takes as long as they took.
    """

    shared = ("_playing",)  # each state finds out by its answers whether this is its own

    def __init__(self, name: str, max_turns: int | None = 200) -> None:
        family = _family(name)
        if max_turns is not None and max_turns < 1:
            raise BadArguments(
                f"ta:{name} was given max_turns={max_turns}, and needs a turn at least. Pass a "
                "positive number, or None to leave it to the game.",
                subject=name,
            )
        load_game(name)
        self.name = name
        self.max_turns = max_turns
        self.reward_range = (family.lowest, family.highest)
        self._playing: Playing | None = None

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        playing = started_anew(self.name, 1, lambda: self.rng.getrandbits(31))
        self._playing = playing
        self._seed = playing.seed
        self._answers = playing.answers
        messages = playing.messages(0)
        text = f"{_text(messages)}\n\n{_HOW_TO_ANSWER}"
        return text, {"messages": _plain(messages)}

    def step(self, action: str) -> Step:
        playing = self._caught_up()
        try:
            playing.tell(bracketed(action))
            messages = playing.messages(0)
            outcome = playing.outcome()
        except Exception as error:  # noqa: BLE001 - a game of theirs may raise anything
            return _broken(error)
        info: dict[str, Any] = {"success": False, "messages": _plain(messages)}
        if _is_refused(family_of(self.name), messages, outcome):
            info["action_error"] = "invalid"
        if outcome is not None:
            return self._ended(outcome, _text(messages), info)
        is_over = self.turn + 1 == self.max_turns
        text = _text(messages)
        if is_over:
            text += "\nYou have reached the maximum number of turns."
        return Step(text, 0.0, False, is_over, info)

    def _ended(self, outcome: Outcome, text: str, info: dict[str, Any]) -> Step:
        family = family_of(self.name)
        info["success"] = (
            not outcome.was_refused[0]
            and family.won in outcome.reason
            and outcome.rewards[0] >= family.success_at
        )
        info["game_info"] = {
            "reason": outcome.reason,
            "invalid_move": outcome.was_refused[0],
            "turn_count": outcome.turns[0],
        }
        is_limit = not info["success"] and _is_limit(outcome)
        observation = f"{text}\n{outcome.reason}".strip()
        return Step(observation, outcome.rewards[0], not is_limit, is_limit, info)

    def sample_action(self) -> str:
        playing = self._caught_up()
        return f"[{SAMPLERS[family_of(self.name).name](playing.game, self.sample_rng)}]"

    def _caught_up(self) -> Playing:
        """Return the game in this state; after a restore or a fork it is copied or replayed."""
        playing = caught_up(self._playing, self.name, self._seed, self._answers)
        self._playing = playing
        self._answers = playing.answers
        return playing


def _family(name: str) -> Family:
    try:
        family = family_of(name)
    except KeyError:
        family = None
    if family is not None and not family.has_seats:
        return family
    raise BadArguments(
        f"{name!r} was asked for, and is no single-player game of TextArena 0.7.4. Run "
        "`gem-env list 'ta:*'` to see them.",
        subject=name,
    )


def _is_refused(family: Family, messages: tuple[Message, ...], outcome: Outcome | None) -> bool:
    reasons = [message.text for message in messages if message.kind == "GAME_ADMIN"]
    if outcome is not None and outcome.was_refused[0]:
        reasons.append(outcome.reason)
    return any(not family.miss or family.miss not in reason for reason in reasons)


def _is_limit(outcome: Outcome) -> bool:
    """Tell a turn limit from an end of the game's own: TextArena says so in words alone."""
    return not outcome.was_refused[0] and any(
        words in outcome.reason for words in ("limit", "You used all")
    )


def _text(messages: tuple[Message, ...]) -> str:
    """Return the messages as one text, without the echo of the player's own action."""
    return "\n".join(
        message.text for message in messages if message.kind != "PLAYER_ACTION"
    ).strip()


def _plain(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    return [
        {"sender": message.sender, "kind": message.kind, "text": message.text}
        for message in messages
    ]


def _broken(error: Exception) -> Step:
    message = in_one_line(error)
    text = f"The game failed on this action and is over ({message})."
    return Step(text, 0.0, False, True, {"success": False, "messages": [], "error": message})
