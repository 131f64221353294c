"""What there is to see of an episode: of an environment that is played, or of a record.

Knows nothing about who plays it, or about screens.
"""

from __future__ import annotations

from collections.abc import Sequence

from gem.cli._screen import Exchange, View
from gem.cli._seats import addressed, ending, message, said
from gem.cli._text import counted
from gem.content import observation_text
from gem.env._env import Env
from gem.env._step import Step
from gem.episode._episode import Episode
from gem.errors import GemError
from gem.registry._catalogue import is_provided, spec
from gem.registry._importing import load_target

__all__ = ["first_view", "next_view", "outcome_of", "recorded_views"]


def first_view(env: Env, heading: str, start: Step) -> View:
    """Return what there is to see after a reset: `start` has what that returned."""
    view = View(
        heading,
        (Exchange("", message(env.seats, start)),),
        _board(start),
        turn=env.turn,  # of one seat of several: others may have moved before it
        max_turns=env.max_turns,
        highlights=env.unwrapped.highlights,
    )
    return view.of_seats(env.seats)


def next_view(view: View, env: Env, seat: int, typed: str, step: Step) -> View:
    """Return what there is to see after a step, which a seat's answer led to."""
    view = view.after(
        Exchange(said(env.seats, seat, typed), message(env.seats, step)),
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
        addressed(names, {turn.seat: observation_text(turn.observation)}) for turn in episode.turns
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
            Exchange(said(names, turn.seat, turn.action), messages[number]),
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
    return addressed(names, shown)


def _highlights(episode: Episode) -> Sequence[tuple[str, str, str]]:
    """Return what its environment marks in colour, where that is installed."""
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
