"""What a comparison of policies comes to, as plain data. Knows nothing about how it is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from gem_eval.summary import Verdict

if TYPE_CHECKING:
    from gem_eval.frames import DataFrame

__all__ = [
    "Comparison",
    "Difference",
    "Estimated",
    "Flip",
    "Metric",
    "Side",
    "Unmatched",
    "Unpaired",
]

Metric = Literal["success", "return"]
Interval = tuple[float, float] | None


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Side(_Frozen):
    """A policy that is compared. `run` is its folder, `policy` its whole name there."""

    name: str
    policy: str
    run: str


class Estimated(_Frozen):
    """What the pairs of one environment, or of all, say of a candidate beside the baseline.

    `difference` is the candidate's mean less the baseline's, over `tasks` that both have played;
    each task counts once, as the mean of its repeats, and over all of what was varied. `wins` are
    tasks on which the candidate has the higher figure. `p_value` is of a `test` that counts all
    flips of signs, "exact", or samples 9,999 of them, "sampled"; with `p_is_bound` none of these
    was as far out, and the true value is below. `detectable` is the least true difference that as
    many tasks would find 4 times of 5, and None where that is more than rates can differ by.
    `saved` is the share of the variance that the common tasks took away, `correlation` that of the
    two figures. Each is None where it cannot be told.
    """

    tasks: int
    baseline_mean: float
    candidate_mean: float
    difference: float | None
    ci95: Interval
    wins: int
    losses: int
    p_value: float
    detectable: float | None
    correlation: float | None
    saved: float | None
    test: Literal["exact", "sampled"] = "exact"
    p_is_bound: bool = False


class Flip(_Frozen):
    """An episode that one of two policies solved and the other did not.

    `baseline_line` and `candidate_line` are its lines in the logs of the two runs, from 1.
    """

    env_id: str
    env_kwargs: str
    seed: int
    task: int | None
    repeat: int
    is_regression: bool
    baseline_line: int
    candidate_line: int
    seat: str | None = None


class Unpaired(_Frozen):
    """Tasks of one environment that do not pair, and why.

    `only_baseline` and `only_candidate` count tasks that only one of them has; `ended_by_error`
    those that both have, of which one has ended by errors alone. `examples` names some of them.
    """

    env_id: str
    env_kwargs: str
    only_baseline: int
    only_candidate: int
    ended_by_error: int
    examples: tuple[str, ...]


class Unmatched(_Frozen):
    """A policy that has no pair with the baseline at all: `why`, and which tasks do not pair."""

    name: str
    why: str
    unpaired: tuple[Unpaired, ...]


class Difference(_Frozen):
    """A candidate beside the baseline.

    `verdict` says whether it is better, by `p_holm`: the p-value, corrected for the number of
    candidates. It is SAME where the whole interval of `over_all` is within the tolerance.
    `with_errors` counts an error as a failure, as far as both have tried: None without errors, and
    of returns. `caveats` say what the two runs have differently and may change an episode, and what
    makes the test too sure.
    """

    candidate: str
    verdict: Verdict
    p_holm: float
    over_all: Estimated
    with_errors: Estimated | None
    by_env: Mapping[str, Estimated]
    flips: tuple[Flip, ...]
    unpaired: tuple[Unpaired, ...]
    caveats: tuple[str, ...]


class Comparison(_Frozen):
    """Policies compared with the first of them, `baseline`, on the tasks that they share.

    `groups` are the largest groups of policies of which no two can be told apart; they are given
    for three policies and more. `seat` is the one that they are compared at, where one was chosen;
    `elsewhere` are those that were not compared, since they sat where the baseline never sat, and
    `unmatched` those of which no task that they played to its end is one of the baseline's.
    `pairs_of` is what pairs and counts once: a task, or where only branches are compared a child,
    which is beside the child that its number's seed sampled for the other policy.
    `verdict` is the worst of all: WORSE, else UNDECIDED, SAME, BETTER. Of who is unmatched nothing
    is known, and so it counts as UNDECIDED.
    """

    format: Literal[1] = 1
    metric: Metric
    tolerance: float | None
    sides: tuple[Side, ...]
    baseline: str
    differences: tuple[Difference, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    seat: str | None = None
    elsewhere: tuple[str, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    pairs_of: Literal["task", "child"] = "task"

    @property
    def verdict(self) -> Verdict:
        """The first of WORSE, UNDECIDED, SAME and BETTER that is said of any candidate."""
        words = {difference.verdict for difference in self.differences}
        if self.unmatched:
            words.add("UNDECIDED")
        order: tuple[Verdict, ...] = ("WORSE", "UNDECIDED", "SAME", "BETTER")
        return next(word for word in order if word in words)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain JSON data, with its verdict."""
        return {**self.model_dump(mode="json"), "verdict": self.verdict}

    def to_pandas(self) -> DataFrame:
        """Return a table with a row for each candidate and environment. Needs pandas."""
        from gem_eval.frames import data_frame

        return data_frame(
            {
                "candidate": difference.candidate,
                "baseline": self.baseline,
                "env_id": env_id,
                **estimated.model_dump(mode="json"),
            }
            for difference in self.differences
            for env_id, estimated in difference.by_env.items()
        )
