from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from string import ascii_lowercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem import Snapshot
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.hangman.game import turns_needed, turns_of
from gem_envs_games.hangman.letter_index import LetterIndex
from gem_envs_games.words import LENGTHS, by_length, words

PlayOut = Callable[[gem.Env], list[gem.Step]]


def started(*, seed: int = 0, word: str | None = None, **kwargs: Any) -> gem.Env:
    """Return a game that has begun, with this hidden word where one is given."""
    length: dict[str, Any] = {} if word is None else {"word_length": len(word)}
    env = gem.make("game:Hangman-v0-hard", **length, **kwargs)
    env.reset(seed=seed)
    if word is not None:
        snapshot = env.snapshot()
        env.restore(Snapshot(snapshot.spec, {**snapshot.state, "_word": word}))
    return env


def guess(env: gem.Env, *guesses: str) -> list[gem.Step]:
    return [env.step(f"\\boxed{{{text}}}") for text in guesses]


def hidden_words(length: int, hardcore: bool) -> list[str]:
    rare = words(length, common=False) if hardcore else ()
    left_out = by_length("left_out_hardcore.txt" if hardcore else "left_out_common.txt")[length]
    return sorted({*words(length, common=True), *rare} - {*left_out})


hidden = st.text("abcd", min_size=3, max_size=10)
letters = st.permutations("abcdef")


@given(hidden, letters)
def test_a_place_is_shown_once_its_letter_was_guessed(word: str, order: list[str]) -> None:
    env = started(word=word, max_turns=None)
    tried = ""
    for letter in order:
        (step,) = guess(env, letter)
        tried += letter
        if set(word) <= set(tried):
            assert step.info["success"]
            return
        shown = " ".join(held.upper() if held in tried else "_" for held in word)
        assert f"The word: {shown}\n" in step.info["suffix"]


@given(hidden, letters)
def test_letters_earn_their_share_and_the_last_of_them_the_rest(
    word: str, order: list[str]
) -> None:
    env = started(word=word, max_turns=None)
    count = Counter(word)
    total = 0.0
    for letter in order:
        (step,) = guess(env, letter)
        total += step.reward
        if step.info["success"]:
            break
        assert step.reward == pytest.approx(0.5 * count[letter] / len(word))
    assert total == pytest.approx(1.0, abs=1e-9)


@given(hidden, letters, st.integers(0, 3))
def test_the_word_earns_half_and_half_of_what_is_hidden(
    word: str, order: list[str], before: int
) -> None:
    env = started(word=word)
    steps = guess(env, *order[: min(before, len(set(word)) - 1)], word)
    places_hidden = sum(letter not in order[: len(steps) - 1] for letter in word)

    assert steps[-1].reward == pytest.approx(0.5 * places_hidden / len(word) + 0.5)
    assert sum(step.reward for step in steps) == pytest.approx(1.0, abs=1e-9)


three_words = st.lists(st.text("abcd", min_size=3, max_size=3), min_size=1, unique=True)


@given(three_words, st.text("abcde", max_size=4), st.data())
def test_the_index_finds_what_fits(listed: list[str], tried: str, data: st.DataObject) -> None:
    secret = data.draw(st.sampled_from(listed))
    wrong = data.draw(st.sampled_from([*listed, "xyz"]))
    index = LetterIndex(listed)
    shown = "".join(held if held in tried else "_" for held in secret)

    assert list(index.words_of(index.fitting(shown, [*tried, wrong]))) == [
        word
        for word in listed
        if word != wrong and "".join(held if held in tried else "_" for held in word) == shown
    ]


@given(three_words, st.sets(st.sampled_from("abcd"), max_size=3))
def test_the_best_letter_leaves_the_fewest_words_on_average(
    listed: list[str], tried: set[str]
) -> None:
    def left(letter: str) -> int:
        looks = Counter(
            "".join(held if held == letter else "_" for held in word) for word in listed
        )
        return sum(count * count for count in looks.values())

    index = LetterIndex(listed)
    best = index.best_letter(index.every, tried)

    assert best not in tried
    assert left(best) == min(left(letter) for letter in ascii_lowercase if letter not in tried)


@pytest.mark.slow
@pytest.mark.parametrize("hardcore", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
def test_the_solver_finds_every_hidden_word_in_the_turns(length: int, hardcore: bool) -> None:
    may_be_hidden = hidden_words(length, hardcore)
    needed = turns_needed(LetterIndex(may_be_hidden))

    assert sorted(needed) == may_be_hidden
    assert max(needed.values()) <= turns_of(length)


def test_every_word_of_easy_is_found_in_its_turns_for_a_total_of_one(play_out: PlayOut) -> None:
    needed = turns_needed(LetterIndex(hidden_words(3, False)))
    env = gem.make("game:Hangman-v0-easy")
    env.reset(seed=0)
    start = env.snapshot()
    for word, turns in needed.items():
        env.restore(Snapshot(start.spec, {**start.state, "_word": word}))
        steps = play_out(env)
        assert steps[-1].info["success"]
        assert len(steps) == turns <= 10
        assert sum(step.reward for step in steps) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("length", "hardcore"), [(5, False), (7, False), (3, True), (7, True)])
def test_a_game_is_solved_in_as_many_turns_as_its_word_needs(
    play_out: PlayOut, length: int, hardcore: bool
) -> None:
    needed = turns_needed(LetterIndex(hidden_words(length, hardcore)))
    for word in list(needed)[::97]:
        env = started(word=word, hardcore=hardcore, max_turns=None)
        assert len(play_out(env)) == needed[word]


@pytest.mark.parametrize("hardcore", [False, True])
def test_hidden_words_are_those_that_are_always_found(play_out: PlayOut, hardcore: bool) -> None:
    env = gem.make("game:Hangman-v0-easy", hardcore=hardcore)
    found = set()
    for seed in range(300):
        env.reset(seed=seed)
        text = observation_text(play_out(env)[-1].observation)
        found.add(text.split(": ")[-1].split(".")[0].lower())

    assert len(found) > 150
    assert found <= {*hidden_words(3, hardcore)}


def test_solve_depends_on_what_was_shown_and_not_on_the_word() -> None:
    moves = defaultdict(set)
    for word in ("station", "stature", "nations", "strange"):
        env = started(word=word)
        steps = guess(env, "s", "t", "a", "zzzzzzz")
        shown = tuple(observation_text(step.observation) for step in steps)
        moves[shown, str(steps[-1].info["suffix"])].add(env.solve())

    assert len(moves) == 3
    assert {len(found) for found in moves.values()} == {1}


def test_there_is_no_move_towards_a_word_that_is_not_in_the_lists() -> None:
    env = started(word="zxz")
    guess(env, "z")

    assert env.solve() is None


def test_the_suffix_shows_the_word_and_what_was_guessed() -> None:
    *_, step = guess(started(word="letters"), "t", "q", "LETTING")

    assert step.info["suffix"] == (
        "The word: _ _ T T _ _ _\nGuessed so far: T, Q, LETTING\nEnter your next guess."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t", "T, which is in 2 place(s)."),
        ("q", "Q, which is not in the word."),
        ("letting", "LETTING, which is not the word."),
    ],
)
def test_a_guess_is_answered(text: str, said: str) -> None:
    (step,) = guess(started(word="letters"), text)

    assert observation_text(step.observation) == f"At turn 1, you guessed {said}"


def test_all_letters_shown_wins() -> None:
    step = guess(started(word="eel"), "e", "l")[-1]

    assert step.info["success"]
    assert (step.terminated, step.truncated) == (True, False)
    assert observation_text(step.observation).endswith("EEL. Congratulations!")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("t", "guessed before"),
        ("T", "guessed before"),
        ("letting", "guessed before"),
        ("ab", "2 letters"),
        ("letter", "6 letters"),
        ("lettered", "8 letters"),
    ],
)
def test_a_guess_that_breaks_the_rules_is_refused_with_the_reason(text: str, reason: str) -> None:
    step = guess(started(word="letters", rewards={"invalid": -0.5}), "t", "letting", text)[-1]

    assert step.info["action_error"] == "invalid"
    assert step.reward == -0.5
    assert reason in observation_text(step.observation)


def test_a_refused_guess_changes_nothing() -> None:
    refused = started(word="letters")
    plain = started(word="letters")
    guess(refused, "t", "t", "ab", "e")
    guess(plain, "t", "e")

    assert refused.solve() == plain.solve()


@pytest.mark.parametrize("text", ["L E T T E R S", "Letters", "(letters)", "l,e,t,t,e,r,s"])
def test_a_word_is_read_in_odd_spellings(text: str) -> None:
    assert guess(started(word="letters"), text)[0].info["success"]


@pytest.mark.parametrize("text", ["", "7", "\uff54", "é", "let-ter", "\ud800", "?"])
def test_what_is_not_letters_ends_the_game(text: str) -> None:
    assert guess(started(word="letters"), text)[0].info["action_error"] == "format"


def test_random_lengths_are_the_published_ones_with_their_turns() -> None:
    env = gem.make("game:Hangman-v0-random")
    found = set()
    for seed in range(30):
        text = observation_text(env.reset(seed=seed)[0])
        match = re.search(r"word of (\d+) letters. You have (\d+) turns", text)
        assert match is not None
        found.add(tuple(map(int, match.groups())))

    assert found == {(3, 10), (5, 15), (7, 20)}


def test_hardcore_hides_rare_words_too(play_out: PlayOut) -> None:
    env = gem.make("game:Hangman-v0-hard", hardcore=True)
    found = set()
    for seed in range(40):
        env.reset(seed=seed)
        text = observation_text(play_out(env)[-1].observation)
        found.add(text.split(": ")[-1].split(".")[0].lower())

    assert found & {*words(7, common=False)}
    assert found & {*words(7, common=True)}


@pytest.mark.parametrize("length", [-1, 0, 2, 11, 10**9])
def test_a_length_without_words_is_refused(length: int) -> None:
    with pytest.raises(BadArguments, match="has words of 3 to 10 letters"):
        gem.make("game:Hangman-v0-hard", word_length=length)
