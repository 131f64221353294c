"""The token page, as a server sends it: ids, texts, columns, credit, and what is not known."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

import gem
from gem import Turn
from gem_eval.viewing.batches import read_batch
from gem_eval.viewing.rows import row_at
from gem_eval.viewing.runs import Run

from .conftest import Client, append_line, episode, failed, turn
from .token_runs import long_episode

pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("gem_train", reason="gem-eval's extra `tokens` is not installed")

MakeRun = Callable[..., Run]
TOKENS = re.compile(r'<span class="tk ?([^"]*)" id="(t\d+k\d+)" title="([^"]*)">(.*?)</span>')


def played(**facts: Any) -> Turn:
    """A turn of two tokens that were given and three that were said."""
    usual = {
        "token_ids": (5, 6, 7, 8, 9),
        "mask": (0, 0, 1, 1, 1),
        "logprobs": (0.0, 0.0, -0.01, -0.7, -4.0),
    }
    return turn(**{**usual, **facts})


def page(run: Run, path: str = "", line: int = 1) -> str:
    answer = Client(run).get(f"/runs/run/episodes/{line}/tokens{path}")
    assert answer.status_code == 200
    return answer.text


def of_id(text: str, name: str) -> str:
    """The text of the paragraph with an id, or nothing."""
    found = re.search(f'<p[^>]* id="{name}">(.*?)</p>', text)
    return "" if found is None else found[1]


def test_tokens_have_a_class_by_their_logprob_and_all_numbers_in_a_title(make_run: MakeRun) -> None:
    text = page(make_run(episode(turns=(played(),))))

    assert TOKENS.findall(text) == [
        ("off", "t1k1", "id 5 · mask 0", "5"),
        ("off", "t1k2", "id 6 · mask 0", "6"),
        ("", "t1k3", "id 7 · mask 1 · logprob \u22120.0100 · probability 0.99", "7"),
        ("m2", "t1k4", "id 8 · mask 1 · logprob \u22120.7000 · probability 0.4966", "8"),
        ("m4", "t1k5", "id 9 · mask 1 · logprob \u22124.0000 · probability 0.01832", "9"),
    ]
    assert "gem-env view --tokenizer FOLDER" in of_id(text, "no-texts")


def test_only_an_episode_with_tokens_has_a_link_to_them(make_run: MakeRun) -> None:
    client = Client(make_run(episode(turns=(played(), played())), episode(episode_index=1)))

    with_tokens = client.get("/runs/run/episodes/1?policy=solver&turn=2").text
    without = client.get("/runs/run/episodes/2").text

    link = "/runs/run/episodes/1/tokens?policy=solver&amp;by=lp&amp;turn=2"
    assert f'id="to-tokens" href="{link}"' in with_tokens
    assert "to-tokens" not in without
    assert client.get(link.replace("&amp;", "&")).status_code == 200


def test_an_answer_without_a_mask_was_all_said(make_run: MakeRun) -> None:
    text = page(make_run(episode(turns=(played(mask=None),))), "?by=mask")

    assert [css for css, *_ in TOKENS.findall(text)] == ["on"] * 5


@pytest.mark.parametrize(
    ("by", "facts", "why"),
    [
        ("lp", {"logprobs": None}, "These turns have no logprobs on record."),
        ("ent", {}, "This log has no entropies."),
        ("diff", {}, "This log has one column of logprobs."),
        ("adv&estimator=gae", {}, "GAE needs what a critic expected before each turn"),
        (
            "adv&norm=tokens",
            {"token_ids": None, "mask": None, "logprobs": None},
            "this batch has turns without token ids.",
        ),
    ],
)
def test_what_is_not_known_is_one_line_and_no_plot(
    make_run: MakeRun, by: str, facts: dict[str, Any], why: str
) -> None:
    text = page(make_run(episode(turns=(played(**facts),))), f"?by={by}")

    assert why in of_id(text, "unknown")
    assert 'id="bars"' not in text


def test_a_trainer_may_add_a_second_column_and_entropies(make_run: MakeRun) -> None:
    columns = {
        "learner_logprobs": [0.0, 0.0, -0.01, -0.5, -4.5],
        "entropies": [0.0, 0.0, 0.05, 0.5, 2.0],
    }
    run = make_run(episode(turns=(played(info=columns),)))

    by_difference = TOKENS.findall(page(run, "?by=diff"))
    by_entropy = TOKENS.findall(page(run, "?by=ent"))

    assert [css for css, *_ in by_difference] == ["off", "off", "", "p3", "m4"]
    assert [css for css, *_ in by_entropy] == ["off", "off", "", "p2", "p4"]
    assert "learner \u22124.5000 · difference \u22120.5000 · entropy 2.0000" in by_difference[-1][2]
    assert "Learner and sampler differ by 0.2333 on average; 1 of 3 tokens lie outside" in page(run)


@pytest.mark.parametrize("by", ["lp", "ent", "diff"])
def test_numbers_that_no_model_gives_count_as_not_on_record(make_run: MakeRun, by: str) -> None:
    huge = -1e308
    columns = {
        "learner_logprobs": [0.0, 0.0, -huge, -0.5, huge],
        "entropies": [0.0, 0.0, 0.05, huge, huge],
    }
    logprobs = (0.0, 0.0, huge, -0.25, huge)
    run = make_run(episode(turns=(played(logprobs=logprobs, info=columns),)))

    text = page(run, f"?by={by}")

    [_, _, first, known, last] = TOKENS.findall(text)
    assert "logprob" not in first[2] + last[2]
    assert "logprob \u22120.2500" in known[2]


def test_the_address_says_estimator_gamma_and_divisor(make_run: MakeRun) -> None:
    first = played(reward=0.0)
    last = played(reward=1.0)
    run = make_run(episode(turns=(first, last)), episode(turns=(first,), repeat=1, success=False))
    path = "?by=adv&estimator=discounted_returns&gamma=0.5&norm=episodes"

    text = page(run, path)

    assert of_id(text, "sentence") == (
        "Returns, gamma 0.5: the return from each turn on, over the 3 turns of 2 episodes of this "
        "policy. The coefficient of a token is this advantage divided by episodes: the loss is "
        "minus the sum of coefficients times log-probabilities. "
        "Returns is unbiased, with much variance."
    )
    facts = [title.rpartition(" ")[2] for _, _, title, _ in TOKENS.findall(text)]
    assert facts == ["0", "0", *["0.25"] * 3, "0", "0", *["0.5"] * 3]
    css = [css for css, *_ in TOKENS.findall(text)]
    assert css == ["off", "off", *["p2"] * 3, "off", "off", *["p3"] * 3]


def test_a_group_is_the_tries_of_a_task_and_errors_are_in_none(make_run: MakeRun) -> None:
    tries = [
        episode(turns=(played(reward=float(n)),), repeat=n, total_reward=float(n)) for n in (0, 2)
    ]
    others = [episode(turns=(played(reward=9.0),), episode_index=1), failed(repeat=2)]
    run = make_run(*tries, *others, episode(policy="random"))

    text = page(run, "?by=adv&estimator=rloo", line=2)

    assert "over the 2 turns of 2 episodes of this policy on this task" in of_id(text, "sentence")
    assert "coefficient 2" in TOKENS.findall(text)[-1][2]
    assert "and has no credit: it ended by an error" in of_id(page(run, "?by=adv", 4), "unknown")


def test_a_large_run_is_read_a_block_at_a_time(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(*(episode(episode_index=number) for number in range(10)))
    length = len(run.folder.episodes_path.read_bytes().splitlines(keepends=True)[0])
    monkeypatch.setattr("gem_eval.viewing.batches.MOST_EPISODES", 4)
    log = run.folder.episodes_path

    def batch(line: int) -> tuple[int, int, int]:
        with run.index.reading() as db:
            row = row_at(db, line)
        assert row is not None
        found = read_batch(log, run.index, row, of_task=False)
        assert found is not None
        return len(found.episodes), found.place, found.of

    assert [batch(line) for line in (1, 4, 5, 10)] == [
        (4, 0, 10),
        (4, 3, 10),
        (4, 0, 10),
        (2, 1, 10),
    ]
    monkeypatch.setattr("gem_eval.viewing.batches.MOST_BYTES", 3 * length + 9)
    assert [batch(line) for line in (1, 3, 4)] == [(3, 0, 10), (3, 2, 10), (1, 0, 10)]
    assert "a block of the 10 in the log" in of_id(page(run, "?by=adv"), "sentence")


def test_without_gem_train_one_line_says_what_to_install(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(episode(turns=(played(),)))
    monkeypatch.setitem(sys.modules, "gem_train", None)
    # What was asked for before stays known to the door.
    for name in gem.returns.__all__:
        monkeypatch.delitem(vars(gem.returns), name, raising=False)

    text = page(run, "?by=adv")

    assert "gem-train, which holds it, is not installed here. Run: pip install" in text
    assert len(TOKENS.findall(text)) == 5


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"token_ids": "abc"}, "The token ids of this turn are no list of numbers."),
        ({"token_ids": [1, -1]}, "The token ids of this turn are no list of numbers."),
        ({"token_ids": [1, 2**70]}, "The token ids of this turn are no list of numbers."),
        ({"mask": [1]}, "The mask of this turn does not go with its token ids."),
        ({"mask": "11111"}, "The mask of this turn does not go with its token ids."),
        ({"logprobs": [1.0]}, "logprobs has not one number for each of 5 tokens, and is left out."),
        ({"info": {"entropies": "x"}}, "entropies has not one number for each of 5 tokens"),
        ({"token_ids": None}, "This turn has no token ids on record."),
    ],
)
def test_malformed_columns_are_named_and_the_rest_is_shown(
    make_run: MakeRun, changes: dict[str, Any], what: str
) -> None:
    run = make_run()
    plain = json.loads(episode(turns=(played(), played())).to_json())
    plain["turns"][0] |= changes
    append_line(run, plain)
    run.refresh(budget_s=60)

    text = page(run)

    assert what in text
    assert len([token for token in TOKENS.findall(text) if token[1].startswith("t2")]) == 5


@pytest.mark.parametrize("value", ["NaN", "1e999", '"<b>"', "null", "[]", "true"])
def test_a_logprob_that_is_no_number_is_not_shown(make_run: MakeRun, value: str) -> None:
    run = make_run()
    line = episode(turns=(played(),)).to_json().replace("-0.7", value)
    append_line(run, f"{line}\n")
    run.refresh(budget_s=60)

    text = page(run, "?by=lp")

    assert TOKENS.findall(text)[3] == ("", "t1k4", "id 8 · mask 1", "8")
    assert "<b>" not in text.replace('<b class="m', "").replace("<b>ab</b>", "")


def test_rewards_too_large_for_sums_are_one_line(make_run: MakeRun) -> None:
    huge = played(reward=1e308)
    run = make_run(episode(turns=(huge, huge), total_reward=1e308))

    assert "This batch has no advantages" in of_id(page(run, "?by=adv"), "unknown")


def test_many_tokens_are_cut_up_and_pages_join(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem_eval.viewing.token_page.MOST_TOKENS", 7)
    turns = (played(), played(), played(token_ids=(1,) * 9, mask=None, logprobs=None), played())
    run = make_run(episode(turns=turns))

    pages = [page(run, f"?turn={number}") for number in (1, 2, 3, 4)]

    first = [TOKENS.findall(text)[0][1] for text in pages]
    assert first == ["t1k1", "t2k1", "t3k1", "t4k1"]
    assert [len(TOKENS.findall(text)) for text in pages] == [5, 5, 7, 5]
    assert "2 more tokens of this turn are left out here" in pages[2]
    assert 'id="later" href="?by=lp&amp;turn=2#t2"' in pages[0]
    assert 'id="earlier" href="?by=lp&amp;turn=3#t3"' in pages[3]
    assert 'id="later"' not in pages[3]


def test_a_long_episode_shows_the_turns_around_the_one_asked_for(make_run: MakeRun) -> None:
    run = make_run(episode(turns=tuple(played(reward=1.0) for _ in range(120))))

    text = page(run, "?turn=75&by=adv&estimator=discounted_returns")

    assert TOKENS.findall(text)[0][1] == "t51k1"
    assert "coefficient 70" in TOKENS.findall(text)[4][2]
    assert 'turn=101&amp;estimator=discounted_returns#t101"' in text
    assert 'turn=50&amp;estimator=discounted_returns#t50"' in text


@pytest.mark.slow
def test_twenty_thousand_tokens_are_all_there_as_text_in_blocks(make_run: MakeRun) -> None:
    text = page(make_run(long_episode(20_000)))

    found = TOKENS.findall(text)
    assert len(found) == 20_000
    assert all(inner.isdecimal() for *_, inner in found)
    assert '<div class="all many" id="tokens">' in text
    assert text.count('<div class="line">') == 80


def test_few_tokens_are_drawn_at_once(make_run: MakeRun) -> None:
    assert '<div class="all" id="tokens">' in page(make_run(episode(turns=(played(),))))


@pytest.mark.parametrize(
    "path",
    [
        "?by=nothing&turn=-1&gamma=nan&lam=2&estimator=x&norm=<b>",
        "?by=adv&gamma=1e400&turn=99999999999999999999",
        "?turn=999&only=1",
    ],
)
def test_an_address_that_makes_no_sense_shows_the_usual(make_run: MakeRun, path: str) -> None:
    assert len(TOKENS.findall(page(make_run(episode(turns=(played(),))), path))) == 5


def test_an_episode_that_is_not_there_is_said_to_be(make_run: MakeRun) -> None:
    run = make_run(episode(turns=()))

    assert Client(run).get("/runs/run/episodes/7/tokens").status_code == 404
    assert "No turn was played." in page(run)
