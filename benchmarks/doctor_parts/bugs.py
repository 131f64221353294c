"""Bugs that are planted in the shipped trainer: each a few words of its source, and their change.

A bug is planted before its module is imported, in a process of its own. Knows nothing about what
finds it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["BUGS", "Bug", "Change", "plant", "unplantable"]


class Change(NamedTuple):
    """Words of a module of `gem_baselines`, and what stands in their place.

    The words have to be there as often as `times` says.
    """

    module: str
    old: str
    new: str
    times: int = 1


class Bug(NamedTuple):
    """A bug by its name: what is wrong, which checks name it, on which experiment, and the changes.

    `task` is a name of `doctor_parts.tasks.TASKS`, `settings` are those that differ from it.
    """

    name: str
    words: str
    checks: tuple[str, ...]
    task: str
    settings: Mapping[str, Any]
    changes: Sequence[Change]


def plant(changes: Sequence[Change]) -> None:
    """Have modules that were not imported yet run a changed source.

    As one is imported that has not the words as often as it should, ValueError is raised.
    """
    sys.meta_path.insert(0, _Planter(changes))


def unplantable(bugs: Sequence[Bug], folder: Path) -> list[str]:
    """Say which bugs have words that the source in a folder no longer has as often as they say."""
    problems = []
    for bug in bugs:
        for change in bug.changes:
            source = (folder / f"{change.module.replace('.', '/')}.py").read_text(encoding="utf-8")
            if source.count(change.old) != change.times:
                problems.append(f"{bug.name}: {change.module} has changed, write the bug anew.")
    return problems


class _Planter:
    """Finds the modules that are to be changed, and leaves all others to who comes next."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes: dict[str, list[Change]] = {}
        for change in changes:
            self._changes.setdefault(f"gem_baselines.{change.module}", []).append(change)

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module that is to be changed, None of any other."""
        if name not in self._changes:
            return None
        spec = PathFinder.find_spec(name, path)
        assert spec is not None, name
        assert spec.origin is not None, name
        spec.loader = _ChangedSource(name, spec.origin, self._changes[name])
        return spec


class _ChangedSource(SourceFileLoader):
    """Loads a module from its source with some words changed."""

    def __init__(self, name: str, path: str, changes: Sequence[Change]) -> None:
        super().__init__(name, path)
        self._changes = changes

    def get_code(self, fullname: str) -> CodeType:
        """Compile the changed source; a cache of the unchanged one is not looked at."""
        source = self.get_data(self.path).decode("utf-8")
        for change in self._changes:
            if source.count(change.old) != change.times:
                raise ValueError(f"{fullname} has not {change.times} times: {change.old!r}")
            source = source.replace(change.old, change.new)
        return compile(source, self.path, "exec")


_PLACES = "places = np.flatnonzero(sequence.mask)"
_REPEATED = "advantages=np.repeat(advantages, lengths)"
_LENGTHS = "lengths = [stop - start for start, stop in sequence.spans]"
_ROWS = "learning._rows"
_ADVANTAGES = "training.advantages"
_TRAINING = "training.training"
_POLICY = "transformer.policy"
_RAW = "Credit([discounted(episode, terms.gamma) for episode in episodes])"
_UPDATE = "            return self._learner.update(rows)"
_PLAYED = "        experiment = self._experiment\n        options = experiment.options("

BUGS: tuple[Bug, ...] = (
    Bug(
        "mask_shifted",
        "the mask is shifted by one token",
        ("mask",),
        "transformer",
        {},
        [Change(_ROWS, _PLACES, f"{_PLACES} - 1")],
    ),
    Bug(
        "prompt_learnt",
        "the mask is forgotten, and the prompt learnt as well",
        ("mask",),
        "transformer",
        {},
        [
            Change(_ROWS, _PLACES, "places = np.arange(1, len(sequence.ids))"),
            Change(
                _ROWS,
                _LENGTHS,
                "lengths = np.diff([1, *(stop for _, stop in sequence.spans)]).tolist()",
            ),
        ],
    ),
    Bug(
        "last_turn_masked",
        "the last turn is masked out",
        ("mask",),
        "transformer",
        {},
        [
            Change(_ROWS, _PLACES, f"{_PLACES}[:-1]"),
            Change(_ROWS, _REPEATED, f"{_REPEATED}[:-1]"),
        ],
    ),
    Bug(
        "missing_end",
        "the end token of each answer is not learnt",
        ("mask",),
        "say",
        {},
        [
            Change(
                _ROWS,
                _PLACES,
                "ends = [b - 1 for a, b in sequence.spans if b - a > 1]\n"
                "    places = np.setdiff1d(np.flatnonzero(sequence.mask), ends)",
            ),
            Change(_ROWS, _LENGTHS, "lengths = [max(1, b - a - 1) for a, b in sequence.spans]"),
        ],
    ),
    Bug(
        "tokenised_again",
        "answers are tokenised again before they are learnt",
        ("tokens",),
        "say",
        {},
        [
            Change(_POLICY, "rows_of(batch)", "rows_of(_again(batch, self._tokenizer))", times=2),
            Change(
                _POLICY,
                "def _settings(kind",
                """def _again(batch: Any, tokenizer: Any) -> Any:
    from dataclasses import replace

    def of_turn(turn: Any) -> Any:
        num_own = sum(turn.mask)
        given = turn.token_ids[: len(turn.mask) - num_own]
        own = turn.token_ids[len(given) :]
        ids = tokenizer.encode(tokenizer.decode(own)) or [0]
        ids += [tokenizer.end_id] * (own[-1] == tokenizer.end_id)
        logprobs = [*turn.logprobs[len(given) :]] + [-1.0] * len(ids)
        return replace(
            turn,
            token_ids=(*given, *ids),
            mask=(0,) * len(given) + (1,) * len(ids),
            logprobs=(0.0,) * len(given) + tuple(logprobs[: len(ids)]),
        )

    return batch._replace(
        episodes=[replace(e, turns=tuple(map(of_turn, e.turns))) for e in batch.episodes]
    )


def _settings(kind""",
            ),
        ],
    ),
    Bug(
        "advantage_of_the_turn_before",
        "each turn is learnt with the advantage of the one before",
        ("token_advantages",),
        "transformer",
        {},
        [Change(_ROWS, _REPEATED, "advantages=np.repeat(np.roll(advantages, 1), lengths)")],
    ),
    Bug(
        "logprobs_shifted",
        "ratios are taken to the logprobs of the token before",
        ("handed_logprobs",),
        "say",
        {},
        [
            Change(
                _ROWS,
                "np.asarray(logprobs, np.float64)[places]",
                "np.roll(np.asarray(logprobs, np.float64)[places], 1)",
            )
        ],
    ),
    Bug(
        "logits_shifted",
        "the learner reads the distribution of the next token",
        ("logprobs",),
        "transformer",
        {},
        [Change("learning._passes", "row.places - 1 for", "row.places for")],
    ),
    Bug(
        "learner_without_temperature",
        "the learner computes logprobs at temperature 1, the sampler at 0.7",
        ("logprobs",),
        "transformer",
        {"policy_kwargs.temperature": 0.7},
        [Change("learning._passes", ".float() / temperature", ".float()")],
    ),
    Bug(
        "sampler_at_another_temperature",
        "tokens are drawn at temperature 0.7, and logprobs recorded at 1",
        ("sampling",),
        "transformer",
        {},
        [
            Change(
                "transformer._sampler",
                "chosen = _drawn(logprobs,",
                "chosen = _drawn(_log_softmax(logprobs / 0.7),",
            )
        ],
    ),
    Bug(
        "greedy_after_evaluation",
        "after an evaluation the policy stays greedy",
        ("sampling",),
        "table",
        {"eval_every": 10},
        [
            Change(
                _TRAINING,
                "            self.policy.is_greedy = False",
                "            self.policy.is_greedy = True",
            )
        ],
    ),
    Bug(
        "stale_weights",
        "the sampler gets the weights every fourth update",
        ("logprobs",),
        "transformer",
        {},
        [
            Change(
                _POLICY,
                "self._sampler: Sampler = Sampler(\n            model,",
                "import copy\n\n        self._sampler: Sampler = Sampler(\n"
                "            copy.deepcopy(model),",
            ),
            Change(
                _POLICY,
                _UPDATE,
                "            if self._learner.num_updates % 4 == 0:\n"
                "                weights = self._learner.model.state_dict()\n"
                f"                self._sampler._model.load_state_dict(weights)\n{_UPDATE}",
            ),
        ],
    ),
    Bug(
        "cache_one_place_off",
        "the sampler puts what follows a cached prompt one place too early",
        ("logprobs",),
        "transformer",
        {},
        [
            Change(
                "transformer._sampler",
                "places[row] += feed.start",
                "places[row] += max(0, feed.start - 1)",
            )
        ],
    ),
    Bug(
        "no_step",
        "the optimiser holds the weights of a copy",
        ("direction",),
        "transformer",
        {},
        [
            Change(
                "learning._learner",
                "model.parameters(), lr=",
                "copy.deepcopy(model).parameters(), lr=",
            )
        ],
    ),
    Bug(
        "ascent",
        "the loss of the learner has the wrong sign",
        ("direction",),
        "transformer",
        {},
        [
            Change(
                "learning._loss",
                "    ratio = torch.exp(logprobs - old)\n",
                "    ratio = torch.exp(logprobs - old)\n    advantages = -advantages\n",
            )
        ],
    ),
    Bug(
        "ascent_of_a_table",
        "the table steps along the gradient of its loss",
        ("direction",),
        "table",
        {},
        [
            Change(
                "table_learning",
                "return logits - self._learning_rate * mean",
                "return logits + self._learning_rate * mean",
            )
        ],
    ),
    Bug(
        "sign_of_the_advantage",
        "advantages have the wrong sign",
        ("advantages",),
        "table",
        {},
        [
            Change(
                _ADVANTAGES,
                "Credit(_normalised(_raw(episodes, terms).advantages))",
                "Credit([-own for own in _normalised(_raw(episodes, terms).advantages)])",
            )
        ],
    ),
    Bug(
        "reward_one_turn_late",
        "each reward stands one turn late",
        ("advantages",),
        "transformer",
        {},
        [
            Change(
                _ADVANTAGES,
                "np.array([turn.reward for turn in episode.turns], np.float64)",
                "np.array([0.0, *(turn.reward for turn in episode.turns)], np.float64)[:-1]",
            )
        ],
    ),
    Bug(
        "residue",
        "the return is not set back between two episodes",
        ("advantages",),
        "table",
        {},
        [
            Change(
                _ADVANTAGES,
                _RAW,
                "Credit(_split(returns.discounted_returns(np.concatenate("
                "[_rewards(episode) for episode in episodes]), terms.gamma), "
                "[len(episode.turns) for episode in episodes]))",
            )
        ],
    ),
    Bug(
        "discount_forgotten",
        "rewards are not discounted",
        ("advantages",),
        "table",
        {},
        [Change(_ADVANTAGES, _RAW, _RAW.replace("terms.gamma", "1.0"))],
    ),
    Bug(
        "own_episode_in_the_mean",
        "the baseline of an episode holds the episode itself",
        ("advantages",),
        "table",
        {"estimator": "rloo", "repeats": 8},
        [Change(_ADVANTAGES, "_compared(returns.rloo,", "_compared(returns.dr_grpo,")],
    ),
    Bug(
        "normalised_in_the_episode",
        "returns are normalised over the turns of their own episode",
        ("advantages",),
        "table",
        {},
        [
            Change(
                _ADVANTAGES,
                "Credit(_normalised(_raw(episodes, terms).advantages))",
                "Credit([returns.rebn(own) for own in _raw(episodes, terms).advantages])",
            )
        ],
    ),
    Bug(
        "bootstrapped_across_the_end",
        "the critic's value is added after the end of an episode",
        ("advantages",),
        "table",
        {"estimator": "ppo", "policy_kwargs.critic_rate": 0.2},
        [
            Change(
                _ADVANTAGES,
                "expected, terms.gamma, terms.lam)",
                "expected, terms.gamma, terms.lam, last_value=float(expected[-1]))",
            )
        ],
    ),
    Bug(
        "targets_without_values",
        "the critic is taught the advantages alone",
        ("value_targets",),
        "table",
        {"estimator": "ppo", "policy_kwargs.critic_rate": 0.2},
        [Change(_ADVANTAGES, "targets.append(own + expected)", "targets.append(own)")],
    ),
    Bug(
        "cut_off_thrown_away",
        "episodes that a limit cut off are not learnt from",
        ("left_out",),
        "table",
        {},
        [
            Change(
                "training.figures",
                "if not episode.is_error]",
                "if not episode.is_error and not episode.truncated]",
            )
        ],
    ),
    Bug(
        "truncated_as_ended",
        "episodes that a limit cut off count as ended",
        ("endings",),
        "table",
        {},
        [
            Change(
                _TRAINING,
                "        played_s = time.perf_counter()",
                "        from dataclasses import replace\n\n"
                "        ended = {'terminated': True, 'truncated': False, "
                "'stop_reason': 'terminated'}\n"
                "        whole = [replace(e, **ended) if e.truncated else e for e in whole]\n"
                "        played_s = time.perf_counter()",
            )
        ],
    ),
    Bug(
        "groups_of_different_starts",
        "the episodes of a group start from different seeds",
        ("starts",),
        "table",
        {"estimator": "grpo", "repeats": 8},
        [
            Change(
                _TRAINING,
                f"{_PLAYED}episodes=starts, seed=seed, repeats=repeats)",
                f"{_PLAYED}episodes=starts * repeats, seed=seed)",
            ),
            Change(
                _TRAINING,
                "            return gem.run(self.policy, experiment.env, options=options)",
                "            found = gem.run(self.policy, experiment.env, options=options)\n"
                "        from dataclasses import replace\n\n"
                "        return [replace(e, episode_index=n // repeats, repeat=n % repeats) "
                "for n, e in enumerate(found)]",
            ),
        ],
    ),
    Bug(
        "groups_of_one",
        "episodes are not repeated, so that groups have one member",
        ("signal",),
        "table",
        {"estimator": "rloo", "repeats": 8},
        [
            Change(
                _TRAINING,
                f"{_PLAYED}episodes=starts, seed=seed, repeats=repeats)",
                f"{_PLAYED}episodes=starts * repeats, seed=seed)",
            )
        ],
    ),
    Bug(
        "same_episodes",
        "each update plays the same seeds",
        ("same_episodes",),
        "table",
        {},
        [
            Change(
                _TRAINING,
                'run_seed(experiment.seed, "update", update)',
                'run_seed(experiment.seed, "update")',
            )
        ],
    ),
    Bug(
        "an_easier_training",
        "training plays an easier game than evaluation",
        ("evaluation",),
        "table",
        {"eval_every": 10},
        [
            Change(
                _TRAINING,
                "        with interrupts.let_through():",
                "        if starts != experiment.eval_episodes:\n"
                "            easier = {'env_kwargs': {**experiment.env_kwargs, 'max_number': 7}}\n"
                "            easier_experiment = experiment.model_copy(update=easier)\n"
                "            options = easier_experiment.options("
                "episodes=starts, seed=seed, repeats=repeats)\n"
                "        with interrupts.let_through():",
            )
        ],
    ),
    Bug(
        "steps_too_large",
        "the learning rate is two hundred times too large",
        ("entropy", "steps"),
        "transformer",
        {"policy_kwargs.learning.lr": 0.3},
        [],
    ),
    Bug(
        "length_pays",
        "the reward pays for each word",
        ("answers",),
        "say",
        {"env_kwargs": {"pays_length": True}},
        [],
    ),
)
"""Every bug. A new one is one more entry."""
