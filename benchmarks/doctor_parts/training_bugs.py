"""Bugs of the table and of a training: credit, groups, episodes, and settings that are wrong."""

from __future__ import annotations

from benchmarks.doctor_parts.planting import Bug, Change

__all__ = ["TRAINING_BUGS"]

_ADVANTAGES = "training.advantages"
_TRAINING = "training.training"
_RAW = "Credit([discounted(episode, terms.gamma) for episode in episodes])"
_PLAYED = "        experiment = self._experiment\n        options = experiment.options("
_RUN = "        return gem.run(seated, experiment.env, options=options)"

TRAINING_BUGS: tuple[Bug, ...] = (
    Bug(
        "ascent_of_a_table",
        "the table steps along the gradient of its loss",
        ("direction",),
        "table",
        {},
        [
            Change(
                "table_learning",
                "return logits - rate * mean",
                "return logits + rate * mean",
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
        [Change(_ADVANTAGES, "targets.append(own + expected)", "targets.append(own)", times=2)],
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
                _RUN,
                "        found = gem.run(seated, experiment.env, options=options)\n"
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
                "partial(run_seed, experiment.seed, update=update)",
                "partial(run_seed, experiment.seed)",
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
                _RUN,
                "        if starts != experiment.eval_episodes:\n"
                "            easier = {'env_kwargs': {**experiment.env_kwargs, 'max_number': 7}}\n"
                "            easier_experiment = experiment.model_copy(update=easier)\n"
                "            options = easier_experiment.options("
                f"episodes=starts, seed=seed, repeats=repeats)\n{_RUN}",
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
