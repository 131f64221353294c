"""Lines on several seats: who earns, ends, is told and is shown what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gem.content import Message, observation_text
from gem.env._env import Env
from gem.env._seated import SeatedEnv
from gem.env._step import Step
from gem.testing._playing import MOST_TURNS, Sight, play, repeating, shown_text
from gem.testing._report import NotApplicableError, NotHeldError
from gem.testing._subject import Subject, drive

__all__ = [
    "all_that_is_told_is_shown",
    "every_seat_ends_once",
    "moves_of_a_round_are_hidden",
    "rewards_sum_to_zero",
    "secrets_are_kept",
]

_ROUNDING = 1e-9
_SEEDS_WITH_ROUNDS = 3  # of which rounds are played again with other moves
_MOST_ROUNDS = 3  # of an episode
_DRAWS = 16  # of an action, until another one comes


class _Moment(NamedTuple):
    """What one action led to. `action` is empty for the reset."""

    seat: int
    action: str
    step: Step


def _played(env: Env, seed: int, *, is_sampled: bool = True) -> Iterator[_Moment]:
    """Play an episode by sampled actions, or by empty ones; the environment is as of each step."""
    observation, info = env.reset(seed=seed)
    step = Step(observation, info=info)
    yield _Moment(step.seat, "", step)
    for turn in range(MOST_TURNS):
        seat = env.seat
        text = observation_text(step.observation)
        action = drive(env, Sight(turn, text)) if is_sampled else ""
        step = env.step(action)
        yield _Moment(seat, action, step)
        if step.terminated or step.truncated:
            return


def _every_episode(
    subject: Subject, *, is_wrapped: bool = True
) -> Iterator[tuple[str, Env, Iterator[_Moment]]]:
    for seed in subject.seeds:
        for is_sampled in (True, False):
            with subject.make() as made:
                env = made if is_wrapped else made.unwrapped
                what = f"seed {seed}, {'sampled' if is_sampled else 'empty'} actions"
                yield what, env, _played(env, seed, is_sampled=is_sampled)


def rewards_sum_to_zero(subject: Subject) -> str:
    """Add up the rewards of every step, where the environment declares `zero_sum`."""
    num_steps = 0
    for what, env, episode in _every_episode(subject):
        if not env.zero_sum:
            raise NotApplicableError("it does not declare zero_sum")
        for turn, moment in enumerate(episode):
            rewards = moment.step.rewards
            if abs(sum(rewards)) > _ROUNDING:
                raise NotHeldError(f"{what}, turn {turn}: the rewards are {rewards}")
            num_steps += 1
    return f"{num_steps} steps, the sum of each is 0"


def every_seat_ends_once(subject: Subject) -> str:
    """Look at which seats are out by each step, until the episode ends."""
    num_episodes = 0
    for what, env, episode in _every_episode(subject):
        ends: dict[int, int] = {}
        for turn, moment in enumerate(episode):
            if moment.seat in ends:
                raise NotHeldError(f"{what}, turn {turn}: seat {moment.seat} acted, and it is out")
            for seat in moment.step.ends:
                if seat in ends:
                    raise NotHeldError(
                        f"{what}: seat {seat} ended by turn {ends[seat]} and again by turn {turn}"
                    )
                ends[seat] = turn
        if not (moment.step.terminated or moment.step.truncated):
            continue
        missing = [name for seat, name in enumerate(env.seats) if seat not in ends]
        if missing:
            raise NotHeldError(f"{what}: it is over, and {', '.join(missing)} never ended")
        num_episodes += 1
    return f"{num_episodes} episodes, each of {len(subject.seats)} seats ended once"


def all_that_is_told_is_shown(subject: Subject) -> str:
    """Note what each seat is told, and look for it in what it is shown up to the end."""
    num_texts = 0
    # Of the environment alone: a wrapper may show other texts, or end the episode for it.
    for what, env, episode in _every_episode(subject, is_wrapped=False):
        if not isinstance(env, SeatedEnv):
            raise NotApplicableError("it is no gem.SeatedEnv, whose seats are told things")
        told = _note_told(env)
        shown: dict[int, str] = {}
        for moment in episode:
            for seat, observation in moment.step.observations.items():
                shown[seat] = f"{shown.get(seat, '')}\n{observation_text(observation)}"
        if not (moment.step.terminated or moment.step.truncated):
            continue
        # What is left untold at the end was told too late.
        seats = range(len(env.seats))
        left = [(seat, observation_text(env.peek(seat))) for seat in seats]
        unseen = [(seat, text) for seat, text in told if text not in shown.get(seat, "")]
        unseen += [(seat, text) for seat, text in left if text]
        if unseen:
            seat, text = unseen[0]
            raise NotHeldError(
                f"{what}: {env.seats[seat]} was told {text[:80]!r}, and it was never shown"
            )
        num_texts += len(told)
    return f"{num_texts} texts shown to whom they were told"


def _note_told(base: SeatedEnv) -> list[tuple[int, str]]:
    """Note what is told from now on, by seat."""
    told: list[tuple[int, str]] = []
    tell = base.tell

    def noted(seat: int, *texts: str | Message) -> None:
        tell(seat, *texts)
        told.extend((seat, observation_text(text)) for text in texts)

    # On the instance alone, which nothing else uses: `tell_all` comes here too.
    base.tell = noted  # type: ignore[method-assign]
    return told


def moves_of_a_round_are_hidden(subject: Subject) -> str:
    """Play rounds again with another move of one seat: until the last it changes nothing.

    The other move is the same with words added, and then another sampled one: an environment may
    show what it was told, or only what it took from that.
    """
    num_moves = 0
    for seed in subject.seeds[:_SEEDS_WITH_ROUNDS]:
        with subject.make() as env:
            moments = list(_played(env, seed))
        actions = [moment.action for moment in moments[1:]]
        rounds = [
            (turn, len(moment.step.observations))
            for turn, moment in enumerate(moments[:-1])
            if len(moment.step.observations) > 1
        ]
        for first, size in rounds[:_MOST_ROUNDS]:
            # The last move of a round ends it: only of those before it is nothing to be seen.
            for place in range(first, min(first + size, len(actions)) - 1):
                for other in _other_moves(subject, seed, actions[: place + 1]):
                    changed = [*actions[:place], other, *actions[place + 1 :]]
                    _require_unseen(subject, seed, actions, changed, place, first + size - 1)
                    num_moves += 1
    if not num_moves:
        raise NotApplicableError("no round of several seats was played")
    return f"{num_moves} moves changed, none was seen before its round was over"


def _other_moves(subject: Subject, seed: int, actions: Sequence[str]) -> Iterator[str]:
    """Yield moves that are not the last of these: it with words added, and one that is drawn."""
    *before, move = actions
    yield f"{move} or else"
    if not subject.has_samples:
        return
    with subject.make() as env:
        env.reset(seed=seed)
        for action in before:
            env.step(action)
        drawn = [env.sample_action() for _ in range(_DRAWS)]
    yield from [other for other in drawn if other != move][:1]


def _require_unseen(
    subject: Subject,
    seed: int,
    actions: Sequence[str],
    changed: Sequence[str],
    place: int,
    last: int,
) -> None:
    """Compare what two moves lead to, up to the last one of their round."""
    seen = []
    for taken in (actions, changed):
        with subject.make() as env:
            episode = play(env, repeating(taken[:last]), seed)
        seen.append(episode.moments[place + 1 :])  # the first of all is that of the reset
    for turn, (one, other) in enumerate(zip(*seen, strict=False), start=place + 1):
        if one != other:
            raise NotHeldError(
                f"seed {seed}: another move at turn {place + 1} changed what turn {turn} showed or "
                "earned, and its round was still being heard"
            )


def secrets_are_kept(subject: Subject) -> str:
    """Look for what `secrets()` gives one seat in all that the others are shown before the end."""
    num_secrets = 0
    for what, env, episode in _every_episode(subject):
        base = env.unwrapped
        shown: dict[int, str] = {}
        for turn, moment in enumerate(episode):
            step = moment.step
            if step.terminated or step.truncated:
                break  # at the end the cards may lie open
            for seat, observation in step.observations.items():
                info = step.info if seat == step.seat else {}
                shown[seat] = f"{shown.get(seat, '')}\n{shown_text(observation, info)}"
            secrets = base.secrets() if isinstance(base, SeatedEnv) else {}
            for owner, texts in secrets.items():
                num_secrets += len(texts)
                for seat, text in shown.items():
                    found = [secret for secret in texts if seat != owner and secret in text]
                    if found:
                        raise NotHeldError(
                            f"{what}, turn {turn}: {env.seats[seat]} was shown {found[0][:80]!r}, "
                            f"which is a secret of {env.seats[owner]}"
                        )
    if not num_secrets:
        raise NotApplicableError("secrets() names none")
    return f"{num_secrets} looks for a secret, none was shown to another"
