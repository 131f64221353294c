"""Estimators by name: from episodes to advantages of turns, or of tokens, by `gem.returns`.

Plain functions on records. Knows nothing about policies, but that a critic returns values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from gem import returns
from gem.episode import Episode
from gem.errors import BadArguments
from gem.registry import checked, load_target
from gem.tokens import Trajectory
from gem_baselines.errors import did_you_mean
from gem_baselines.learning_policy import Floats, Per
from gem_baselines.self_play.averages import MovingAverages

__all__ = [
    "ESTIMATORS",
    "Credit",
    "Estimator",
    "Terms",
    "Values",
    "discounted",
    "estimator_named",
    "estimator_of",
    "num_entries",
    "start_of",
]


class Values(Protocol):
    """What a critic expects before each turn of each episode, or before each token of its own."""

    def __call__(self, episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]: ...


class Terms(NamedTuple):
    """What an estimator may look at beside the episodes.

    `baseline` is the mean discounted return of all turns of earlier batches, 0 in the first.
    `values` is that of a policy with a critic. `roles` has a name an episode, whose moving average
    is in `averages`: the estimator `seat_average` moves it on. Without roles all have one, and
    without averages they begin at 0.
    """

    gamma: float
    lam: float
    baseline: float
    values: Values
    averages: MovingAverages | None = None
    roles: Sequence[str] | None = None


class Credit(NamedTuple):
    """An array an episode with an entry a turn, or a token: advantages, and a critic's targets."""

    advantages: Sequence[Floats]
    value_targets: Sequence[Floats] | None = None
    per: Per = "turn"


class Estimator(NamedTuple):
    """A function to credit, and what it needs. Its options are its keyword arguments.

    `compares_repeats` says that without several episodes of one start every advantage is 0, and
    `compares_episodes` that it is without several episodes. `per` is what it gives an advantage to,
    and asks the critic's values for. `depends_on_order` says that the order of the episodes counts.
    `shares` names the options that must be from 0 to 1.
    """

    function: Callable[..., Credit]
    compares_repeats: bool = False
    compares_episodes: bool = False
    needs_critic: bool = False
    per: Per = "turn"
    depends_on_order: bool = False
    shares: Sequence[str] = ()


def estimator_of(name: str) -> Estimator:
    """Return one of ESTIMATORS, or your own by `module:name` or `./file.py:name`.

    That is a function to credit, or an Estimator that says what it needs. Raises BadArguments and
    TargetError.
    """
    if name in ESTIMATORS:
        return ESTIMATORS[name]
    if ":" not in name:
        raise BadArguments(
            f"The estimator {name!r} was asked for, and there is none of that name. "
            f"{did_you_mean(name, ESTIMATORS)}The estimators are {', '.join(ESTIMATORS)}, or name "
            "your own as MODULE:NAME.",
            subject="estimator",
        )
    found = load_target(name)
    if isinstance(found, Estimator):
        return found
    if not callable(found):
        raise BadArguments(
            f"The estimator {name!r} was asked for, and that is {found!r:.60}. Name a function of "
            "the episodes and the terms, or an Estimator of "
            "gem_baselines.training.advantages.",
            subject="estimator",
        )
    return Estimator(found)


def estimator_named(
    name: str, options: Mapping[str, Any]
) -> Callable[[Sequence[Episode], Terms], Credit]:
    """Return an estimator with its options set. Raises BadArguments on any that there is not."""
    estimator = estimator_of(name)
    values = checked(estimator.function, options, subject=f"The estimator {name!r}", skip=2)
    for option in estimator.shares:
        if option in values and not 0 <= values[option] <= 1:
            raise BadArguments(
                f"The estimator {name!r} was asked for with {option}={values[option]}, and that "
                "must be from 0 to 1. Change it in estimator_kwargs.",
                subject=option,
            )
    return partial(estimator.function, **values)


def discounted(episode: Episode, gamma: float) -> Floats:
    """Return the discounted return from each turn of an episode, shape (turns,)."""
    return returns.discounted_returns(_rewards(episode), gamma)


def _raw(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Plain returns to go: REINFORCE without a baseline."""
    return Credit([discounted(episode, terms.gamma) for episode in episodes])


def _constant(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Returns to go less one number that earlier batches decide, independent of this one."""
    credit = _raw(episodes, terms)
    return Credit([own - terms.baseline for own in credit.advantages])


def _seat_average(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Returns to go less the moving average of its role, as it was before this episode."""
    advantages = []
    averages = terms.averages or MovingAverages()
    roles = terms.roles if terms.roles is not None else [""] * len(episodes)
    for episode, role in zip(episodes, roles, strict=True):
        own = discounted(episode, terms.gamma)
        advantages.append(own - averages.read_then_add(role, float(own[:1].sum())))
    return Credit(advantages)


def _signed(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Returns to go of rewards of +1 and -1."""
    advantages = []
    for episode in episodes:
        signed = returns.signed_rewards(_rewards(episode), succeeded=bool(episode.success))
        advantages.append(returns.discounted_returns(signed, terms.gamma))
    return Credit(advantages)


def _rebn(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Returns to go, normalised over every turn of the batch."""
    return Credit(_normalised(_raw(episodes, terms).advantages))


def _rebn_leave_one_out(episodes: Sequence[Episode], terms: Terms, *, std: bool = True) -> Credit:
    """Returns to go, normalised by every turn of the other episodes of the batch."""
    to_go = _raw(episodes, terms).advantages
    turns = [len(own) for own in to_go]
    own_episode = np.repeat(np.arange(len(turns)), turns)
    found = returns.rebn_leave_one_out(np.concatenate(to_go), own_episode, std=std)
    return Credit(_split(found, turns))


def _mt_rloo(
    episodes: Sequence[Episode],
    terms: Terms,
    *,
    ended: Literal["left_out", "zero"] = "left_out",
) -> Credit:
    """Returns to go less those of the others of the same start at the same turn."""
    to_go = _raw(episodes, terms).advantages
    return _compared_by_turn(partial(returns.mt_rloo, ended=ended), to_go, episodes)


def _mt_grpo(
    episodes: Sequence[Episode],
    terms: Terms,
    *,
    std: bool = True,
    later_turns: bool = False,
    turn_weight: float = 1.0,
) -> Credit:
    """Each turn's own reward and the last one, beside those of the others of the same start."""
    compare = partial(returns.mt_grpo, std=std, later_turns=later_turns, turn_weight=turn_weight)
    return _compared_by_turn(compare, [_rewards(episode) for episode in episodes], episodes)


def _rloo(episodes: Sequence[Episode], terms: Terms, *, discounted: bool = False) -> Credit:
    return _compared(returns.rloo, episodes, terms, is_discounted=discounted)


def _grpo(episodes: Sequence[Episode], terms: Terms, *, discounted: bool = False) -> Credit:
    return _compared(returns.grpo, episodes, terms, is_discounted=discounted)


def _dr_grpo(episodes: Sequence[Episode], terms: Terms, *, discounted: bool = False) -> Credit:
    return _compared(returns.dr_grpo, episodes, terms, is_discounted=discounted)


def _ppo(episodes: Sequence[Episode], terms: Terms, *, normalise: bool = True) -> Credit:
    """Generalised advantages by turn, normalised over the batch; nothing follows a cut-off."""
    advantages = []
    targets = []
    for episode, expected in zip(episodes, terms.values(episodes), strict=True):
        own = returns.gae(_rewards(episode), expected, terms.gamma, terms.lam)
        advantages.append(own)
        targets.append(own + expected)
    return Credit(_normalised(advantages) if normalise else advantages, targets)


def _ppo_token(
    episodes: Sequence[Episode],
    terms: Terms,
    *,
    token_gamma: float = 1.0,
    token_lam: float = 1.0,
    normalise: bool = True,
) -> Credit:
    """Generalised advantages by token, normalised over the batch's tokens; as `_ppo` otherwise.

    A token is a step, and its turn's reward comes with the last one. `gamma` and `lam` discount
    from one turn to the next, `token_gamma` and `token_lam` from one token to the next within a
    turn: by default an answer's length discounts nothing.
    """
    discounts = _TokenDiscounts(terms.gamma, terms.lam, token_gamma, token_lam)
    advantages = []
    targets = []
    for episode, expected in zip(episodes, terms.values(episodes, per="token"), strict=True):
        own = _token_advantages(episode, expected, discounts)
        advantages.append(own)
        targets.append(own + expected)
    credited = _normalised(advantages) if normalise else advantages
    return Credit(credited, targets, per="token")


class _TokenDiscounts(NamedTuple):
    """From one turn to the next, and from one token to the next within a turn."""

    gamma: float
    lam: float
    token_gamma: float
    token_lam: float


def _token_advantages(episode: Episode, expected: Floats, discounts: _TokenDiscounts) -> Floats:
    """Return the generalised advantage of each token of an episode's answers (arXiv 1506.02438).

    `expected` is what the critic expected before each of them. The steps and their discounts are
    those of `_ppo_token`, and nothing follows the last token.
    """
    advantages = np.zeros(len(expected))
    at = len(expected)
    following_value = 0.0
    following_advantage = 0.0
    for num_tokens, reward in reversed(_answers(episode)):
        # From the last token of a turn the next step is the next turn's first token.
        gamma = discounts.gamma
        lam = discounts.lam
        earned = reward
        for _ in range(num_tokens):
            at -= 1
            surprise = earned + gamma * following_value - expected[at]
            following_advantage = surprise + gamma * lam * following_advantage
            advantages[at] = following_advantage
            following_value = expected[at]
            earned = 0.0
            gamma = discounts.token_gamma
            lam = discounts.token_lam
    return advantages


def num_entries(episode: Episode, per: Per) -> int:
    """Return how many advantages an episode has: one a turn, or one a token that was answered."""
    if per == "turn":
        return len(episode.turns)
    return sum(num_tokens for num_tokens, _ in _answers(episode))


def _answers(episode: Episode) -> list[tuple[int, float]]:
    """Return how many tokens each answer has, and what its turn earned. BadArguments: no tokens."""
    if not episode.turns:
        return []
    answers = []
    for sequence in Trajectory.of(episode).sequences:
        for (start, stop), reward in zip(sequence.spans, sequence.rewards, strict=True):
            answers.append((stop - start, reward))
    return answers


def _compared(
    compare: Callable[..., Floats],
    episodes: Sequence[Episode],
    terms: Terms,
    *,
    is_discounted: bool,
) -> Credit:
    """Give every turn what its episode earned beside the others of the same start.

    What an episode earned is the sum of its rewards, or discounted from its first turn.
    """
    gamma = terms.gamma if is_discounted else 1.0
    earned = [float(discounted(episode, gamma)[:1].sum()) for episode in episodes]
    by_episode = compare(earned, _starts(episodes))
    turns = [len(episode.turns) for episode in episodes]
    return Credit(_split(returns.to_turns(by_episode, turns), turns))


def _compared_by_turn(
    compare: Callable[..., Floats], by_episode: Sequence[Floats], episodes: Sequence[Episode]
) -> Credit:
    """Compare numbers of turns, an array an episode, with those of others of the same start."""
    turns = [len(own) for own in by_episode]
    groups = np.repeat(_starts(episodes), turns)
    own_episode = np.repeat(np.arange(len(turns)), turns)
    return Credit(_split(compare(np.concatenate(by_episode), groups, own_episode), turns))


def _starts(episodes: Sequence[Episode]) -> list[int]:
    """Return the number of each episode's start: the repeats of one seed have one number."""
    numbers: dict[tuple[int, ...], int] = {}
    starts = [start_of(episode) for episode in episodes]
    return [numbers.setdefault(start, len(numbers)) for start in starts]


def start_of(episode: Episode) -> tuple[int, ...]:
    """Return what the repeats of one start have in common: of several seats also the seat."""
    if not episode.seats:
        return episode.env_index, episode.episode_index
    seat = episode.turns[0].seat if episode.turns else -1
    # Games against several opponents are numbered anew for each: their seeds tell them apart.
    return episode.env_index, episode.episode_index, episode.seed, seat


def _normalised(by_episode: Sequence[Floats]) -> list[Floats]:
    lengths = [len(own) for own in by_episode]
    return _split(returns.rebn(np.concatenate(by_episode)), lengths)


def _split(line: Floats, lengths: Sequence[int]) -> list[Floats]:
    ends = np.cumsum(lengths)
    return np.split(line, ends[:-1])


def _rewards(episode: Episode) -> Floats:
    return np.array([turn.reward for turn in episode.turns], np.float64)


ESTIMATORS: Mapping[str, Estimator] = {
    "raw": Estimator(_raw),
    "constant": Estimator(_constant),
    "seat_average": Estimator(_seat_average, depends_on_order=True),
    "signed": Estimator(_signed),
    "rebn": Estimator(_rebn),
    "rebn_leave_one_out": Estimator(_rebn_leave_one_out, compares_episodes=True),
    "rloo": Estimator(_rloo, compares_repeats=True),
    "grpo": Estimator(_grpo, compares_repeats=True),
    "dr_grpo": Estimator(_dr_grpo, compares_repeats=True),
    "mt_rloo": Estimator(_mt_rloo, compares_repeats=True),
    "mt_grpo": Estimator(_mt_grpo, compares_repeats=True),
    "ppo": Estimator(_ppo, needs_critic=True),
    "ppo_token": Estimator(
        _ppo_token, needs_critic=True, per="token", shares=("token_gamma", "token_lam")
    ),
}
"""Every estimator by its name. A new one of ours is a function and one more entry."""
