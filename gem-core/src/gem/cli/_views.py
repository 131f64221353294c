"""What there is to see of an episode: of an environment that is played, or of a record.

Of several seats it says whose everything is; where there is one, or none is named, nothing does.
Knows nothing about who plays, or about screens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gem.cli._screen import Exchange, View
from gem.cli._text import counted
from gem.content import observation_text
from gem.errors import GemError

if TYPE_CHECKING:
    from gem.env._env import Env
    from gem.env._step import Step
    from gem.episode._episode import Episode

__all__ = ["ending", "first_view", "next_view", "outcome_of", "recorded_views"]


def first_view(env: Env, heading: str, start: Step) -> View:
    """Return what there is to see after a reset: `start` has what that returned."""
    view = View(
        heading,
        (Exchange("", _message(env.seats, start)),),
        _board(start),
        turn=env.turn,  # of one seat of several: others may have moved before it
        max_turns=env.max_turns,
        highlights=env.unwrapped.highlights,
    )
    return view.of_seats(env.seats)


def next_view(view: View, env: Env, seat: int, typed: str, step: Step) -> View:
    """Return what there is to see after a step, which a seat's answer led to."""
    view = view.after(
        Exchange(_signed_answer(env.seats, seat, typed), _message(env.seats, step)),
        _board(step),
        step.reward,
        replaces=env.rewrites_history,
        rewards=step.rewards if view.seats else (),
    )
    view = view._replace(max_turns=env.max_turns)
    # The limit is one of all seats: so is the number beside it.
    return view if len(env.unwrapped.seats) == 1 else view._replace(turn=env.turn)


def _board(step: Step) -> str:
    return str(step.info.get("suffix") or "")


def recorded_views(episode: Episode) -> list[View]:
    """Return what there was to see: how it began, and after each turn that was answered."""
    names = [outcome.name for outcome in episode.seats]
    turns = episode.played_turns
    messages = [
        _addressed(names, {turn.seat: observation_text(turn.observation)}) for turn in episode.turns
    ]
    boards = [turn.suffix or "" for turn in episode.turns]
    if len(messages) == len(turns):  # else what follows the last answer is a turn that failed
        messages.append(_last_message(episode, names))
        boards.append("")
    policies = ", ".join(f"{outcome.name}={outcome.policy}" for outcome in episode.seats)
    heading = f"{episode.env_id} seed {episode.seed}, {policies or f'policy {episode.policy}'}"
    view = View(heading, (Exchange("", messages[0]),), boards[0], highlights=_highlights(episode))
    views = [view.of_seats(names)]
    for number, turn in enumerate(turns, 1):
        view = views[-1].after(
            Exchange(_signed_answer(names, turn.seat, turn.action), messages[number]),
            boards[number],
            turn.reward,
            replaces=episode.rewrites_history,
            rewards=turn.rewards or (),
        )
        views.append(view)
    # The outcome comes with the last view alone: who watches wants to be surprised.
    views[-1] = views[-1]._replace(outcome=outcome_of(episode))
    return views


def _last_message(episode: Episode, names: Sequence[str]) -> str:
    """Return what was shown at the end and not answered, to each seat."""
    finals = [outcome.final_observation for outcome in episode.seats]
    finals = finals or [episode.final_observation]
    shown = {seat: observation_text(final) for seat, final in enumerate(finals) if final}
    return _addressed(names, shown)


def _highlights(episode: Episode) -> Sequence[tuple[str, str, str]]:
    """Return what its environment marks in colour, where that is installed."""
    from gem.registry._catalogue import is_provided, spec  # heavy: 0.2 s
    from gem.registry._importing import load_target

    # A run may be watched where its pack is not installed: then without colours. So is one whose
    # environment no pack provides: a run may be a stranger's, and to watch it runs nothing.
    if not is_provided(episode.env_id):
        return ()
    try:
        return getattr(load_target(spec(episode.env_id).target), "highlights", ())
    except GemError:
        return ()


def outcome_of(episode: Episode) -> str:
    """Say how an episode ended, in one line."""
    how: str = episode.stop_reason
    if len(episode.seats) > 1 and episode.stopped_by is not None:
        how = f"{how} of {episode.seats[episode.stopped_by].name}"
    if episode.error is not None:
        return f"Ended by {how}: {episode.error}"
    return ending(
        f"{counted(len(episode.turns), 'turn')} ({how})",
        [outcome.name for outcome in episode.seats],
        [outcome.total_reward for outcome in episode.seats] or [episode.total_reward],
        [outcome.success for outcome in episode.seats] or [episode.success],
    )


def ending(
    played: str, names: Sequence[str], totals: Sequence[float], successes: Sequence[bool | None]
) -> str:
    """Say how an episode ended: after what was played, whether each seat succeeded, and its total.

    >>> ending("1 turn", ("X", "O"), (1.0, -1.0), (True, False))
    'Over after 1 turn. X: success, total reward 1; O: no success, total reward -1.'
    >>> ending("1 turn", (), (1.0,), (True,))
    'Success after 1 turn, total reward 1.'
    """
    won = ["success" if success else "no success" for success in successes]
    if len(names) < 2:
        return f"{won[0].capitalize()} after {played}, total reward {totals[0]:g}."
    results = "; ".join(
        f"{name}: {how}, total reward {total:g}"
        for name, how, total in zip(names, won, totals, strict=True)
    )
    return f"Over after {played}. {results}."


def _addressed(names: Sequence[str], texts: Mapping[int, str]) -> str:
    """Return what seats are shown, each text behind whose it is, and one for several once.

    >>> print(_addressed(("X", "O"), {1: "Your move."}))
    [O] Your move.
    >>> print(_addressed(("X", "O"), {0: "O wins.", 1: "O wins."}))
    [X, O] O wins.
    >>> _addressed((), {0: "Your move."})
    'Your move.'
    """
    if len(names) < 2:
        return "".join(texts.values())
    owners: dict[str, list[str]] = {}
    for seat, text in texts.items():
        owners.setdefault(text, []).append(names[seat])
    return "\n".join(f"[{', '.join(seats)}] {text}".rstrip() for text, seats in owners.items())


def _signed_answer(names: Sequence[str], seat: int, text: str) -> str:
    """Return what a seat answered, behind whose it is."""
    return f"[{names[seat]}] {text}" if len(names) > 1 else text


def _message(names: Sequence[str], step: Step) -> str:
    """Return what a step shows: at the end to each seat, before that to the one whose turn it is.

    In a round the others are shown theirs when it is their turn.
    """
    if len(names) < 2:  # its info may use the names of several for its own things
        return observation_text(step.observation)
    if not (step.terminated or step.truncated):
        return _addressed(names, {step.seat: observation_text(step.observation)})
    shown = {seat: observation_text(each) for seat, each in step.observations.items()}
    return _addressed(names, {seat: text for seat, text in shown.items() if text})
