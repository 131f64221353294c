"""What decides how a policy learns, as settings. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from gem.errors import BadArguments
from gem.registry import near
from gem_baselines.errors import rule_of, validator_words

__all__ = ["Aggregation", "LearningSettings", "settings_of"]

Settings = TypeVar("Settings", bound=BaseModel)

Aggregation = Literal["sum", "constant", "token-mean", "own-tokens"]


class LearningSettings(BaseModel):
    """How a policy learns from a batch of episodes.

    `lr` is of Adam, with betas 0.9 and 0.95 and no weight decay. A batch is gone through `epochs`
    times, in `minibatches` parts of whole episodes with a step each, and the norm of a gradient is
    cut to `max_grad_norm` (None: it is not). With `rows_at_once` so many episodes at most, of
    similar length, go through a forward and backward pass, and gradients accumulate: that takes
    less memory, and less time where lengths differ, and changes a step by rounding alone.

    `clip` bounds how far the ratio of new and old probability counts (arXiv 1707.06347); None
    leaves the ratio as it is. With `importance_cap` the old probabilities are the learner's own,
    computed anew, and a token's loss is weighted by what the learner's probability is in terms of
    the sampler's, at most the cap: for samplers that compute otherwise than the learner does.

    `aggregation` makes one number of the tokens' losses:

    - "constant": the sum over an episode's tokens, divided by `constant`; then the mean over the
      episodes. Its expectation is the estimator's own.
    - "sum": the sum over all tokens. The same but for the number of episodes and the clip of the
      gradient.
    - "token-mean": the mean over all tokens. It divides by the batch's tokens, a bias that falls
      with the number of episodes.
    - "own-tokens": the mean over an episode's own tokens, then over episodes. It follows the
      gradient of no objective, at any number of episodes, where episodes differ in length.

    `kl_weight` holds the policy to a reference, the weights that it began with, by the k3 estimate
    of the divergence; `entropy_weight` rewards entropy. Both are summed as the losses are.
    `value_weight` is of the critic's loss, half the squared error averaged over its values (one a
    turn, or one a token), and `value_clip` bounds how far from its old value a critic counts.

    `precision` "bf16" computes the learner's passes in bfloat16 where torch's autocast does; the
    weights and the sampler stay in float32.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    lr: float = Field(default=1e-3, gt=0)
    epochs: int = Field(default=2, ge=1)
    minibatches: int = Field(default=1, ge=1)
    rows_at_once: int | None = Field(default=None, ge=1)
    max_grad_norm: float | None = Field(default=1.0, gt=0)
    clip: float | None = Field(default=0.2, gt=0)
    importance_cap: float | None = Field(default=None, gt=0)
    aggregation: Aggregation = "constant"
    constant: float = Field(default=1.0, gt=0)
    kl_weight: float = Field(default=0.0, ge=0)
    entropy_weight: float = Field(default=0.0, ge=0)
    value_weight: float = Field(default=0.5, ge=0)
    value_clip: float | None = Field(default=None, gt=0)
    precision: Literal["float32", "bf16"] = "float32"


def settings_of(kind: type[Settings], subject: str, fields: Mapping[str, Any] | None) -> Settings:
    """Return settings from fields that a policy was given. BadArguments where they do not fit."""
    try:
        return kind.model_validate(dict(fields or {}))
    except ValidationError as error:
        known = list(kind.model_fields)
        problems = [_complaint(each, known) for each in error.errors(include_url=False)]
        raise BadArguments(
            f"{subject}={fields!r:.100} was given, and does not fit: {'; '.join(problems)}. "
            f"{kind.__name__} lists its fields: {', '.join(known)}.",
            subject=subject,
            problems=problems,
        ) from error


def _complaint(problem: ErrorDetails, known: Sequence[str]) -> str:
    """Return what pydantic found wrong with a field, in words of our own where we have them."""
    name = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        alike = near(name, list(known))
        return f"it has no {name!r}" + (f" (did you mean {alike[0]!r}?)" if alike else "")
    return validator_words(problem) or f"{name}={problem['input']!r:.40} {rule_of(problem)}"
