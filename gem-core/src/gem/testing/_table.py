"""Every line of a check, in the order in which a report shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gem._python.places import raised
from gem.testing import _actions as actions
from gem.testing import _backends as backends
from gem.testing import _costs as costs
from gem.testing import _declarations as declarations
from gem.testing import _determinism as determinism
from gem.testing import _leaks as leaks
from gem.testing import _lifecycle as lifecycle
from gem.testing import _limits as limits
from gem.testing import _seats as seats
from gem.testing import _solving as solving
from gem.testing import _state as state
from gem.testing._report import CheckLine, NotApplicableError, NotHeldError, State
from gem.testing._subject import Subject

__all__ = ["CHECKS", "SEAT_CHECKS", "Check"]


class Check(NamedTuple):
    """One line. `run` returns figures, or raises NotHeldError or NotApplicableError."""

    name: str
    claim: str
    run: Callable[[Subject], str]

    def line(self, subject: Subject) -> CheckLine:
        """Run it. Whatever the environment raises is evidence against it."""
        try:
            return self._line("passed", self.run(subject))
        except NotApplicableError as reason:
            return self._line("skipped", str(reason))
        except NotHeldError as failure:
            return self._line("failed", str(failure))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - an environment may raise anything, SystemExit too
            return self._line("failed", raised(error))

    def _line(self, state: State, evidence: str) -> CheckLine:
        return CheckLine(self.name, self.claim, state, evidence)


CHECKS: tuple[Check, ...] = (
    Check("same_seed", "the same seed gives the same episode", determinism.same_seed_same_episode),
    Check("different_seeds", "different seeds differ", determinism.different_seeds_differ),
    Check(
        "second_reset",
        "a second reset is as good as the first, free of residue",
        determinism.reset_leaves_no_residue,
    ),
    Check("global_chance", "no use of the global random state", determinism.no_global_chance),
    Check(
        "step_before_reset", "step before reset is refused", lifecycle.step_before_reset_is_refused
    ),
    Check(
        "step_after_end", "step after the end is refused", lifecycle.step_after_the_end_is_refused
    ),
    Check("closing_twice", "closing twice is fine", lifecycle.closing_twice_is_fine),
    Check("sampled_actions", "sampled actions are valid", actions.sampled_actions_are_valid),
    Check("sampling", "sampling an action changes nothing", determinism.sampling_changes_nothing),
    Check(
        "malformed_actions",
        "malformed, empty, NUL, surrogate and right-to-left actions never raise",
        actions.malformed_actions_do_not_raise,
    ),
    Check("long_actions", "actions of 1 MB end in time", actions.long_actions_end_in_time),
    Check("flags", "flags and limits are consistent", limits.flags_and_limits_agree),
    Check("rewards", "rewards stay in the declared range", limits.rewards_stay_in_range),
    Check("solve_succeeds", "solve() succeeds", solving.solve_succeeds),
    Check("solve_beats_noop", "solve() beats an empty answer", solving.solve_beats_noop),
    Check("solve_beats_random", "solve() beats sampled actions", solving.solve_beats_random),
    Check("solve_beats_echo", "solve() beats an echo of the prompt", solving.solve_beats_echo),
    Check("solve_beats_plea", "solve() beats a plea to the grader", solving.solve_beats_a_plea),
    Check("solving", "calling solve() changes nothing", determinism.solving_changes_nothing),
    Check(
        "solve_is_fair",
        "solve() knows only what a player has seen",
        solving.solve_knows_only_what_was_seen,
    ),
    Check("snapshots", "snapshot and restore continue identically", state.snapshots_continue_alike),
    Check("forks", "a fork continues identically, and apart", state.forks_are_independent),
    Check("another_process", "another process agrees", state.another_process_agrees),
    Check("rollouts", "rollouts agree at any concurrency", backends.rollouts_agree),
    Check("vectors", "a vector of environments agrees with one alone", backends.vectors_agree),
    Check("manifest", "the manifest sets known fields only", declarations.manifest_is_exact),
    Check("spec", "the spec survives JSON and rebuilds it", declarations.spec_survives_json),
    Check("tasks", "tasks can be picked by number", declarations.tasks_can_be_picked),
    Check("leaks", "the observation does not hold the answer", leaks.observation_holds_no_answer),
    Check("costs", "time and memory are known", costs.costs_are_known),
)


SEAT_CHECKS: tuple[Check, ...] = (
    Check("zero_sum", "rewards sum to 0 where that is declared", seats.rewards_sum_to_zero),
    Check("seat_ends", "every seat ends once", seats.every_seat_ends_once),
    Check("told", "all that is told is shown", seats.all_that_is_told_is_shown),
    Check(
        "rounds",
        "another move of one seat in a round changes nothing for the rest",
        seats.moves_of_a_round_are_hidden,
    ),
    Check("secrets", "nobody is shown another's secrets", seats.secrets_are_kept),
)
"""The lines that an environment of several seats has beside the others."""
