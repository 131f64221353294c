"""What the learner is given: other tokens, another mask, the credit of another turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gem_baselines.doctor.run import ShownRow

from .made import END, changed_rows, found, made_run, sentence_of


def part(row: ShownRow, keeps: np.ndarray) -> ShownRow:
    """Return a row that learns some of its places alone."""
    assert row.sampler is not None
    assert row.entropies is not None
    return row._replace(
        places=tuple(np.array(row.places)[keeps].tolist()),
        advantages=row.advantages[keeps],
        sampler=row.sampler[keeps],
        learner=row.learner[keeps],
        learner_after=row.learner_after[keeps],
        entropies=row.entropies[keeps],
    )


def test_a_shifted_mask_is_found_with_the_token_that_is_learnt_by_mistake() -> None:
    run = changed_rows(
        made_run(), lambda row: row._replace(places=tuple(place - 1 for place in row.places))
    )

    finding = found(run)["mask"]

    assert finding.sentence.endswith("was said and is not learnt. The mask is shifted by -1.")
    assert "<answer> at 1 is learnt and was not said by the policy" in finding.sentence
    assert finding.place is not None
    assert ">><answer><<" in finding.place.text


def test_an_end_token_that_is_not_learnt_is_found() -> None:
    def without_ends(row: ShownRow) -> ShownRow:
        assert row.ids is not None
        return part(row, np.array([row.ids[place] != END for place in row.places]))

    sentence = sentence_of(changed_rows(made_run(), without_ends), "mask")

    assert "<end> at 3 was said and is not learnt" in sentence
    assert "The last token of answers, their end, is left out." in sentence


def test_a_last_turn_that_is_masked_out_is_found() -> None:
    run = changed_rows(made_run(), lambda row: part(row, np.arange(len(row.places) - 2)))

    assert "Whole parts of what the policy said are left out." in sentence_of(run, "mask")


def test_a_prompt_that_is_learnt_is_found() -> None:
    def with_prompt(row: ShownRow) -> ShownRow:
        first = part(row, np.array([0, *range(len(row.places))]))
        return first._replace(places=(1, *row.places))

    run = changed_rows(made_run(), with_prompt)

    assert "What the environment said is learnt too." in sentence_of(run, "mask")


def test_tokens_that_were_not_played_are_found() -> None:
    def again(row: ShownRow) -> ShownRow:
        assert row.ids is not None
        return row._replace(ids=tuple(7 if token == 4 else token for token in row.ids))

    sentence = sentence_of(changed_rows(made_run(), again), "tokens")

    assert "'d' in place of 'a'" in sentence


def test_an_episode_without_its_rows_is_found() -> None:
    run = made_run()
    shown = run.samples[0].shown[0]._replace(rows=())
    object.__setattr__(run.samples[0], "shown", [shown, *run.samples[0].shown[1:]])

    assert "nothing in place of <begin>" in sentence_of(run, "tokens")


def test_the_advantage_of_another_turn_is_found() -> None:
    run = changed_rows(made_run(), lambda row: row._replace(advantages=np.roll(row.advantages, 2)))

    assert "advantage" in sentence_of(run, "token_advantages")


def test_logprobs_of_other_tokens_are_found() -> None:
    def shifted(row: ShownRow) -> ShownRow:
        assert row.sampler is not None
        return row._replace(sampler=np.roll(row.sampler, 1))

    findings = found(changed_rows(made_run(), shifted))

    assert "other logprobs than the sampler recorded" in findings["handed_logprobs"].sentence
    assert findings["logprobs"].severity == "wrong"


def test_an_estimator_of_ones_own_may_credit_tokens() -> None:
    run = made_run(estimator="ppo_token")
    own = replace(run, settings={**run.settings, "estimator": "./own.py:by_token"})

    assert found(own) == {}


def test_a_token_with_another_advantage_than_an_own_estimator_gave_is_found() -> None:
    run = made_run(estimator="ppo_token")
    own = replace(run, settings={**run.settings, "estimator": "./own.py:by_token"})
    swapped = changed_rows(own, lambda row: row._replace(advantages=row.advantages[::-1]))

    assert sentence_of(swapped, "token_advantages").startswith("Tokens have an advantage that is")
