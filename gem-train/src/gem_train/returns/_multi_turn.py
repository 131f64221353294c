"""Advantages of turns against the same turn of others of their group: MT-GRPO and its repair.

One entry a turn. `episodes` names the episode that each turn is of, `groups` its group: tries of
one task from one start. Turns of one episode are given in order; those of others may stand between.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gem_train.returns._cells import (
    Cells,
    Integers,
    Numbers,
    cells_of,
    centred,
    crossed,
    means,
    places_within,
    standardised,
)
from gem_train.returns._checks import (
    Floats,
    Labels,
    at_their_places,
    counted_numbers,
    eps_of,
    labels,
    unfit,
)
from gem_train.returns._groups import against_others


class _Turns(NamedTuple):
    """The turns that count: their numbers, and where each is.

    `values` has shape (turns,), and so has `turn_index`, the place of each in its episode, from 0.
    `groups` and `episodes` are cells of them, `group_of_episode` one of episodes.
    """

    values: Numbers
    groups: Cells
    episodes: Cells
    turn_index: Integers
    group_of_episode: Cells


def mt_rloo(
    returns: ArrayLike,
    groups: Labels,
    episodes: Labels,
    *,
    ended: Literal["left_out", "zero"] = "left_out",
    mask: ArrayLike | None = None,
) -> Floats:
    """Subtract from each turn's return the mean of the group's other episodes at that turn index.

    `returns`, `groups` and `episodes` have shape (turns of all episodes,); every episode of the
    batch has a name of its own. Turns of one episode stand in order; turns of others may stand
    between them.

    `ended` says what becomes of others that were over by then: with "left_out" the mean is over
    those still alive, with "zero" they count as a return of 0. Where no other is left nothing is
    subtracted. Such a turn keeps its return: to drop it would bias the rest.

    Either way it is unbiased for U, without the discount of the state distribution, at any group
    size: what is subtracted depends on other episodes alone. "left_out" has as a rule the lower
    variance where lengths differ. It is the repair of `mt_grpo` (verl issue 7244), and leaves the
    EPISODE out, where `rloo` of turns leaves out a turn. O(turns log turns).

    >>> mt_rloo([1.0, 2.0, 3.0], ["g"] * 3, ["a", "a", "b"]).tolist()
    [-2.0, 2.0, 2.0]
    """
    if ended not in ("left_out", "zero"):
        raise unfit(f"ended is {ended!r}, and must be 'left_out' or 'zero'")
    return_array, counts = counted_numbers("returns", returns, mask)
    turns = _turns(return_array, groups, episodes, counts)
    peers = crossed(turns.groups, turns.turn_index)  # turns of one group at one index
    if ended == "zero":
        found = _against_padded(turns, peers)
    else:
        is_alone = peers.sizes[peers.of] == 1
        found = np.where(is_alone, turns.values, against_others(turns.values, peers))
    return at_their_places(found, counts, return_array)


def mt_grpo(
    rewards: ArrayLike,
    groups: Labels,
    episodes: Labels,
    *,
    std: bool = True,
    later_turns: bool = False,
    turn_weight: float = 1.0,
    mask: ArrayLike | None = None,
) -> Floats:
    """Credit a turn with its own reward and the episode's outcome (MT-GRPO, arXiv 2505.11821).

    `rewards`, not returns, `groups` and `episodes` have shape (turns of all episodes,); every
    episode of the batch has a name of its own, and its turns stand in order.

    The last reward of an episode is its outcome, normalised over the group. Each reward before it
    is normalised over the group's episodes that have one at the same turn index, and multiplied by
    `turn_weight`. A turn gets the outcome's part and its own, and with `later_turns` those of the
    turns after it as well. `std` divides each part by its population deviation. There is no
    discount.

    Aims at J1, the undiscounted objective, and is biased at any number and size of groups. Where
    the policy decides how long an episode is and earlier rewards are not 0, an episode that goes on
    is charged what its turns earn on average. Without `later_turns` the credit for what an action
    earns later is missing. With `std` the parts are weighed by their deviations, which `grpo`'s
    bias comes from too. Without `std` and with `later_turns` it is 1 - 1/M of the gradient, in
    groups of M, if every episode has as many turns. It is here to be compared with: `mt_rloo` is
    what to train with.

    >>> mt_grpo([1.0, 0.0, 3.0, 2.0], ["g"] * 4, ["a", "a", "b", "b"], std=False).tolist()
    [-2.0, -1.0, 2.0, 1.0]
    """
    if not math.isfinite(turn_weight):
        raise unfit(f"turn_weight is {turn_weight}, and must be finite")
    reward_array, counts = counted_numbers("rewards", rewards, mask)
    turns = _turns(reward_array, groups, episodes, counts)
    normalised = partial(standardised, eps=eps_of(reward_array)) if std else centred
    is_last = turns.turn_index == turns.episodes.sizes[turns.episodes.of] - 1
    outcomes = np.zeros(len(turns.episodes.sizes))
    outcomes[turns.episodes.of[is_last]] = turns.values[is_last]
    # An episode's last turn is no member here: its peers are those that go on after this index.
    peers = crossed(turns.groups, turns.turn_index)
    own_parts = np.zeros(len(turns.values))
    own_parts[~is_last] = normalised(turns.values[~is_last], cells_of(peers.of[~is_last]))
    turn_parts = _with_later(own_parts, turns) if later_turns else own_parts
    outcome_parts = normalised(outcomes, turns.group_of_episode)
    found = turn_weight * turn_parts + outcome_parts[turns.episodes.of]
    return at_their_places(found, counts, reward_array)


def _turns(values: Floats, groups: Labels, episodes: Labels, counts: NDArray[np.bool_]) -> _Turns:
    """Return the turns that count. Raises BadArguments where an episode is of two groups."""
    group_names = labels("groups", groups, len(values))[counts]
    episode_names = labels("episodes", episodes, len(values))[counts]
    by_group = cells_of(group_names)
    by_episode = cells_of(episode_names)
    group_of_episode = by_group.of[by_episode.firsts]
    is_elsewhere = group_of_episode[by_episode.of] != by_group.of
    if is_elsewhere.any():
        # As it was given: a label may be a number in place of a name.
        given: Any = episodes.tolist() if isinstance(episodes, np.ndarray) else episodes
        name = given[np.flatnonzero(counts)[is_elsewhere][0]]
        raise unfit(f"episodes has {name!r} in two groups, and each needs a name of its own")
    return _Turns(
        values=values[counts].astype(np.float64),
        groups=by_group,
        episodes=by_episode,
        turn_index=places_within(by_episode),
        group_of_episode=cells_of(group_of_episode),
    )


def _against_padded(turns: _Turns, peers: Cells) -> Numbers:
    """Return each number less the mean of all others of its group, 0 for those that have ended."""
    members = turns.group_of_episode.sizes[turns.groups.of]
    alive = peers.sizes[peers.of]
    mean_of_all = means(turns.values, peers)[peers.of] * (alive / members)
    # r - (sum - r) / (M - 1) is (r - mean) * M / (M - 1); alone in the group nothing is subtracted.
    against_all = (turns.values - mean_of_all) * (members / np.maximum(members - 1, 1))
    return np.where(members == 1, turns.values, against_all)


def _with_later(parts: Numbers, turns: _Turns) -> Numbers:
    """Add to the part of each turn those of the turns after it in its episode."""
    found = np.zeros(len(parts))
    totals = np.zeros(len(turns.episodes.sizes))
    order = np.argsort(turns.turn_index, kind="stable")
    cuts = np.flatnonzero(np.diff(turns.turn_index[order])) + 1
    # From the last index to the first: no episode has two turns at one index, so that adding to
    # the totals by episode misses none.
    for places in reversed(np.split(order, cuts)):
        owners = turns.episodes.of[places]
        totals[owners] += parts[places]
        found[places] = totals[owners]
    return found
