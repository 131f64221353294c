"""Bugs of the transformer: what it is given to learn, what it computes, how it draws."""

from __future__ import annotations

from benchmarks.doctor_parts.planting import Bug, Change

__all__ = ["POLICY_BUGS"]

_PLACES = "places = np.flatnonzero(sequence.mask)"
_REPEATED = "advantages=np.repeat(advantages, lengths)"
_LENGTHS = "lengths = [stop - start for start, stop in sequence.spans]"
_ROWS = "learning._rows"
_TRAINING = "training.training"
_POLICY = "transformer.policy"
_UPDATE = "            return learn_from(batch, self._learner)"

POLICY_BUGS: tuple[Bug, ...] = (
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
            Change(_POLICY, "learn_from(batch,", "learn_from(_again(batch, self._tokenizer),"),
            Change(_POLICY, "learnt_rows(batch,", "learnt_rows(_again(batch, self._tokenizer),"),
            Change(
                _POLICY,
                "class TransformerPolicy:",
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


class TransformerPolicy:""",
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
)
