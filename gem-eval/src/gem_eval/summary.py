"""Sum up the episodes of a run: pure functions from outcomes to figures with intervals.

An episode that ended by an error is counted in `errors` and `stop_reasons`, and nowhere else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from gem.conversation import Usage
from gem.episode import Episode
from gem_eval import intervals
from gem_eval.prices import Prices, price_of
from gem_eval.seat_results import (
    SeatPlay,
    SeatResult,
    Tokens,
    seat_plays,
    seat_results,
    usage_of,
)
from gem_eval.settings import Settings
from gem_eval.variants import Sensitivity, sensitivities

if TYPE_CHECKING:
    from gem_eval.frames import DataFrame

__all__ = [
    "Counters",
    "Decision",
    "Outcome",
    "Result",
    "Summary",
    "Tokens",
    "Tries",
    "Verdict",
    "summarise",
]

Interval = tuple[float, float] | None
Verdict = Literal["BETTER", "WORSE", "SAME", "UNDECIDED"]
"""Whether one policy is better than another; SAME is within a tolerance that was asked for."""


class Outcome(NamedTuple):
    """What a summary needs of an episode. `seats` is empty where there is one.

    `seed` is None there: then each number of the plan has a seed of its own.
    """

    env_index: int
    policy: str
    episode_index: int
    repeat: int
    success: bool
    total_return: float
    turns: int
    stop_reason: str
    error: str | None
    usage: Usage | None
    policy_s: float
    environment_s: float
    task: int | None = None
    answers: int = 0
    cut_answers: int = 0
    seed: int | None = None
    seats: tuple[SeatPlay, ...] = ()

    @classmethod
    def of(cls, episode: Episode) -> Outcome:
        """Reduce an episode to its outcome."""
        return cls(
            env_index=episode.env_index,
            policy=episode.policy,
            episode_index=episode.episode_index,
            repeat=episode.repeat,
            success=bool(episode.success),
            total_return=episode.total_reward,
            turns=len(episode.turns),
            stop_reason=episode.stop_reason,
            error=(episode.error or episode.stop_reason) if episode.is_error else None,
            usage=usage_of(episode),
            policy_s=sum(turn.policy_s for turn in episode.turns),
            environment_s=sum(turn.step_s for turn in episode.turns),
            task=episode.task,
            answers=sum(turn.finish_reason is not None for turn in episode.turns),
            cut_answers=sum(turn.finish_reason == "length" for turn in episode.turns),
            seed=episode.seed if episode.seats else None,
            seats=seat_plays(episode),
        )

    @property
    def place(self) -> tuple[str, int, int, int]:
        """Which episode of its run it is of."""
        return (self.policy, self.env_index, self.episode_index, self.repeat)

    @property
    def group(self) -> int:
        """What it shares with the outcomes that are like it: its task, or else its seed."""
        if self.task is not None:
            return self.task
        # Where every rotation is played, several numbers of the plan have one seed.
        return self.episode_index if self.seed is None else self.seed


class Tries:
    """The last try of each episode of a run. One that no error ended stays whatever comes later.

    `retried` counts the tries that ended by an error and were made again.
    """

    def __init__(self) -> None:
        self.retried = 0
        self._last: dict[tuple[str, int, int, int], Outcome] = {}

    def __len__(self) -> int:
        return len(self._last)

    @property
    def last(self) -> Iterable[Outcome]:
        """The outcome of each episode, once."""
        return self._last.values()

    def add(self, outcome: Outcome) -> None:
        """Let another try count."""
        before = self._last.get(outcome.place)
        if before is not None and before.error is None:
            return
        self._last[outcome.place] = outcome
        if before is not None:
            self.retried += 1

    def is_missing(self, place: tuple[str, int, int, int]) -> bool:
        """Say whether an episode has to be run: it never ended, or its last try by an error."""
        outcome = self._last.get(place)
        return outcome is None or outcome.error is not None

    def error_of(self, place: tuple[str, int, int, int]) -> str | None:
        """Return the error that ended an episode's last try; None where there is none."""
        outcome = self._last.get(place)
        return None if outcome is None else outcome.error


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Seconds(_Frozen):
    """Time spent waiting for the policy and for the environment, summed over episodes."""

    policy: float
    environment: float


class Result(_Frozen):
    """One policy on one environment.

    `episodes` counts every episode, `errors` those that an error ended; rates and means are
    over the rest. `success_rate_with_errors` alone is over all, an error counted as a failure.
    An interval is 95%, or None where there is too little to tell; what was played on one task
    counts as alike. Under repeats, `pass_at_k_bootstrap_ci95` is another interval of pass@k, by
    a bootstrap over tasks. `tasks` is how many tasks of a finite set were played. `cost` is that of
    `tokens`, where the settings have the model's price. `answers` are those of which a server said
    why they ended, `cut_answers` those of them that reached a limit of tokens.
    """

    env_id: str
    policy: str
    episodes: int
    tasks: int | None = None
    errors: int
    success_rate: float | None
    success_rate_ci95: Interval
    success_rate_with_errors: float | None = None
    success_rate_with_errors_ci95: Interval = None
    mean_return: float | None
    mean_return_ci95: Interval
    mean_turns: float | None
    mean_turns_ci95: Interval
    pass_at_k: Mapping[str, float | None]
    pass_at_k_ci95: Mapping[str, Interval]
    pass_at_k_bootstrap_ci95: Mapping[str, Interval] = {}
    pass_hat_k: Mapping[str, float | None] = {}
    pass_hat_k_ci95: Mapping[str, Interval] = {}
    pass_hat_k_bootstrap_ci95: Mapping[str, Interval] = {}
    stop_reasons: Mapping[str, int]
    first_error: str | None
    tokens: Tokens | None
    cost: float | None = None
    answers: int = 0
    cut_answers: int = 0
    seconds: Seconds


class Counters(_Frozen):
    """What `gem.rollouts.RolloutStats` counted, at the end. Times are in seconds.

    `cache_hits` are answers that came from the cache.
    """

    steps: int
    episodes: int
    errors: int
    retries: int
    deadline_hits: int
    restarts: int
    elapsed_s: float
    steps_per_s: float | None
    episodes_per_s: float | None
    step_p50_s: float | None
    step_p99_s: float | None
    successes: int = 0
    calls: int = 0
    call_p50_s: float | None = None
    call_p99_s: float | None = None
    lag_p50_s: float | None = None
    lag_p99_s: float | None = None
    longest_lag_s: float = 0.0
    cache_hits: int = 0


class Decision(_Frozen):
    """What a run with `until="decided"` came to about a candidate beside the first policy.

    `tasks` is how many numbers of the plan it stands on, `difference` the candidate's success less
    the other's, over these. `interval` is 95% (over all candidates), and holds although the run
    looked after every episode and stopped when it was decided.
    """

    candidate: str
    baseline: str
    verdict: Verdict
    tolerance: float | None
    tasks: int
    difference: float | None
    interval: tuple[float, float]


_LEFT_OUT_EMPTY = ("references", "seats", "sensitivities")


class Summary(_Frozen):
    """What `summary.json` holds. `run` is the run's folder, `planned` counts what it asks for.

    `errors` are the episodes whose last try ended by an error; `retried` counts the tries before
    that were made again, which are in the log alone. `counters` are of what ran after the run was
    started, or resumed for the last time; they are None where no episode of it was run to the end.
    `decisions` has one for each policy but the first, where the run was to go on until decided.
    `references` are policies beside whose scores those of some environments are to be read, on the
    same episodes: see `gem_eval.references`.
    `seats` has the figures by seat, where there are several; the success of a result is there that
    of all seats, and its return the sum of theirs. `sensitivities` has the figures by the value of
    an argument that was varied; a result is then over all values, each task a group.
    """

    format: Literal[1] = 1
    run: str
    episodes: int
    errors: int
    retried: int = 0
    planned: int | None = None
    results: tuple[Result, ...]
    counters: Counters | None = None
    decisions: tuple[Decision, ...] = ()
    references: tuple[Result, ...] = ()
    seats: tuple[SeatResult, ...] = ()
    sensitivities: tuple[Sensitivity, ...] = ()

    @model_serializer(mode="wrap")
    def _without_nothing(self, serialised: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Where there is one seat nothing is said of seats, nor of references where there are none.
        plain: dict[str, Any] = serialised(self)
        return {
            name: value for name, value in plain.items() if value or name not in _LEFT_OUT_EMPTY
        }

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON data."""
        return self.model_dump(mode="json")

    def to_pandas(self) -> DataFrame:
        """Return a table with a row for each environment and policy. Needs pandas."""
        from gem_eval.frames import data_frame

        return data_frame(result.model_dump(mode="json") for result in self.results)

    def seats_to_pandas(self) -> DataFrame:
        """Return a table with a row for each environment, line-up, seat and policy. Needs pandas.

        Where there is one seat it is empty.
        """
        from gem_eval.frames import data_frame

        return data_frame(result.model_dump(mode="json") for result in self.seats)


def summarise(
    settings: Settings,
    outcomes: Iterable[Outcome],
    *,
    run: str,
    counters: Counters | None = None,
    retried: int = 0,
    planned: int | None = None,
    decisions: Sequence[Decision] = (),
    is_branch: bool = False,
    is_crossed: bool = False,
) -> Summary:
    """Sum outcomes up, for each environment and policy in the order of the settings.

    The children of a branch have one task, and yet none is like another: what is asked is how
    often the policy succeeds from there on, and each is a draw of its own. Repeats that cross seeds
    are no attempts of their own: there is no pass@k of them beyond the first.
    """
    # Nor are those of several variants of a task.
    is_one_attempt = is_crossed or settings.varied is not None
    attempts = 1 if is_one_attempt else settings.repeats
    by_cell: dict[tuple[int, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        counted = outcome._replace(task=None, seed=None) if is_branch else outcome
        by_cell[outcome.env_index // settings.variants, outcome.policy].append(counted)
    results = tuple(
        _result(spec.id, ref.name, by_cell[env_index, ref.name], settings.prices, attempts)
        for env_index, spec in enumerate(settings.envs[:: settings.variants])
        for ref in settings.policies
    )
    return Summary(
        run=run,
        episodes=sum(result.episodes for result in results),
        errors=sum(result.errors for result in results),
        retried=retried,
        planned=planned,
        results=results,
        counters=counters,
        decisions=tuple(decisions),
        seats=tuple(_by_seat(settings, by_cell)),
        sensitivities=sensitivities(settings, [each for cell in by_cell.values() for each in cell]),
    )


def _by_seat(
    settings: Settings, by_cell: Mapping[tuple[int, str], Sequence[Outcome]]
) -> Iterator[SeatResult]:
    for env_index, spec in enumerate(settings.envs[:: settings.variants]):
        for ref in settings.policies:
            # In the order of the plan, as below.
            outcomes = sorted(by_cell.get((env_index, ref.name), ()), key=_planned)
            plays = [play for outcome in outcomes for play in outcome.seats]
            yield from seat_results(spec.id, ref, plays, settings.prices)


def _planned(outcome: Outcome) -> tuple[int, int, int]:
    return (outcome.episode_index, outcome.env_index, outcome.repeat)


def _result(
    env_id: str, policy: str, outcomes: Sequence[Outcome], prices: Prices, attempts: int
) -> Result:
    # In the order of the plan: sums of floats depend on the order, and so does the first error.
    outcomes = sorted(outcomes, key=_planned)
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    scored = [outcome for outcome in outcomes if outcome.error is None]
    rate = intervals.rate(_grouped(scored, lambda outcome: outcome.success))
    # A server that fails where an answer is long would else flatter the rate.
    with_errors = intervals.rate(
        _grouped(outcomes, lambda outcome: outcome.success and outcome.error is None)
    )
    tasks = {outcome.task for outcome in outcomes if outcome.task is not None}
    returns = intervals.mean(_grouped(scored, lambda outcome: outcome.total_return))
    turns = intervals.mean(_grouped(scored, lambda outcome: float(outcome.turns)))
    by_task = _grouped(scored, lambda outcome: outcome.success)
    passes = {k: intervals.pass_at_k(by_task, k) for k in _attempts(attempts)}
    # Without repeats pass@1 is the rate, which has its interval, and pass^1 is the same.
    resampled = [k for k in passes if attempts > 1]
    always = {k: intervals.pass_hat_k(by_task, k) for k in resampled}
    tokens = _tokens(outcomes)
    return Result(
        env_id=env_id,
        policy=policy,
        episodes=len(outcomes),
        tasks=len(tasks) or None,
        errors=len(errors),
        success_rate=rate.value,
        success_rate_ci95=rate.ci95,
        success_rate_with_errors=with_errors.value,
        success_rate_with_errors_ci95=with_errors.ci95,
        mean_return=returns.value,
        mean_return_ci95=returns.ci95,
        mean_turns=turns.value,
        mean_turns_ci95=turns.ci95,
        pass_at_k={str(k): estimate.value for k, estimate in passes.items()},
        pass_at_k_ci95={str(k): estimate.ci95 for k, estimate in passes.items()},
        pass_at_k_bootstrap_ci95={
            str(k): intervals.pass_at_k_bootstrap(by_task, k) for k in resampled
        },
        pass_hat_k={str(k): estimate.value for k, estimate in always.items()},
        pass_hat_k_ci95={str(k): estimate.ci95 for k, estimate in always.items()},
        pass_hat_k_bootstrap_ci95={
            str(k): intervals.pass_hat_k_bootstrap(by_task, k) for k in resampled
        },
        stop_reasons=dict(sorted(Counter(outcome.stop_reason for outcome in outcomes).items())),
        first_error=errors[0] if errors else None,
        tokens=tokens,
        cost=_cost(policy, tokens, outcomes, prices),
        answers=sum(outcome.answers for outcome in outcomes),
        cut_answers=sum(outcome.cut_answers for outcome in outcomes),
        seconds=Seconds(
            policy=sum(outcome.policy_s for outcome in outcomes),
            environment=sum(outcome.environment_s for outcome in outcomes),
        ),
    )


def _grouped(outcomes: Iterable[Outcome], of: Callable[[Outcome], Any]) -> list[list[Any]]:
    """Group one figure by task, or else by seed: what is alike belongs together."""
    groups: dict[int, list[Any]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.group].append(of(outcome))
    return list(groups.values())


def _attempts(repeats: int) -> list[int]:
    """Return the k of pass@k: powers of two up to the number of repeats, and that number."""
    powers = {2**exponent for exponent in range(repeats.bit_length())}
    return sorted({*powers, repeats})


def _tokens(outcomes: Iterable[Outcome]) -> Tokens | None:
    counted = [outcome.usage for outcome in outcomes if outcome.usage is not None]
    if not counted:
        return None
    return Tokens(
        prompt=sum(usage.prompt_tokens for usage in counted),
        completion=sum(usage.completion_tokens for usage in counted),
    )


def _cost(
    policy: str, tokens: Tokens | None, outcomes: Iterable[Outcome], prices: Prices
) -> float | None:
    plays = [play for outcome in outcomes for play in outcome.seats if play.usage is not None]
    if plays:  # each of a line-up has a price of its own
        return _cost_of_seats(plays, prices)
    price = price_of(policy, prices)
    if price is None or tokens is None:
        return None
    return price.cost(tokens.prompt, tokens.completion)


def _cost_of_seats(plays: Iterable[SeatPlay], prices: Prices) -> float | None:
    costs = []
    for play in plays:
        price = price_of(play.policy, prices)
        if price is not None and play.usage is not None:
            costs.append(price.cost(play.usage.prompt_tokens, play.usage.completion_tokens))
    return sum(costs) if costs else None
