"""Turn rewards into returns and advantages: pure numpy. Knows nothing about episodes or models.

One number a turn, unless a function says otherwise; computed in float64, and returned in the type
that came in where that is a floating one. Every normaliser takes a `mask`: what is False in it
(a truncated episode, padding) is as if it had not been given, and gets 0; it may be None or NaN.
All raise BadArguments on shapes that do not fit, on numbers that are not finite, and where the type
that came in cannot hold what comes out. Nothing here is random.

Each docstring says which gradient the advantages give, when each turn's is multiplied by the
gradient of the log-probability of its action, and how far from it they are:

- J, the discounted objective: the gradient of E[sum of gamma^t r_t].
- U, the turns' own returns: E[sum over turns of the gradient of the log-probability times G_t].
  It is J without the discount gamma^t of the state distribution, what REINFORCE and PPO follow in
  practice. For gamma below 1 and several turns it is the gradient of no function.
- J1, the undiscounted objective: the gradient of E[sum of r_t]. With gamma = 1 the three are one.

"Unbiased up to scale" is a positive multiple of the target: another step size, nothing else.
docs/estimators.md has the measured errors of all of them.
"""

from __future__ import annotations

from gem_train.returns._batches import rebn, rebn_leave_one_out
from gem_train.returns._episodes import discounted_returns, gae, signed_rewards
from gem_train.returns._groups import dr_grpo, grpo, rloo
from gem_train.returns._multi_turn import mt_grpo, mt_rloo
from gem_train.returns._shapes import to_tokens, to_turns

__all__ = [
    "discounted_returns",
    "dr_grpo",
    "gae",
    "grpo",
    "mt_grpo",
    "mt_rloo",
    "rebn",
    "rebn_leave_one_out",
    "rloo",
    "signed_rewards",
    "to_tokens",
    "to_turns",
]
