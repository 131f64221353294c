from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem import Snapshot
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.wordle import best_guess, mark
from gem_envs_games.words import LENGTHS, is_word, words

PlayOut = Callable[[gem.Env], list[gem.Step]]


def started(*, seed: int = 0, word: str | None = None, **kwargs: Any) -> gem.Env:
    """Return a game that has begun, with this secret word where one is given."""
    length: dict[str, Any] = {} if word is None else {"word_length": len(word)}
    env = gem.make("game:Wordle-v0-hard", **length, **kwargs)
    env.reset(seed=seed)
    if word is not None:
        snapshot = env.snapshot()
        env.restore(Snapshot(snapshot.spec, {**snapshot.state, "_word": word}))
    return env


def guess(env: gem.Env, *guesses: str) -> list[gem.Step]:
    return [env.step(f"\\boxed{{{text}}}") for text in guesses]


def marks_by_trying(word: str, guess: str) -> str:
    """Mark by trying every set of places as Y: the largest the word has letters for, leftmost."""
    right = [place for place in range(len(word)) if word[place] == guess[place]]
    open_places = [place for place in range(len(word)) if place not in right]
    left = Counter(word[place] for place in open_places)
    best = next(
        chosen
        for size in range(len(open_places), -1, -1)
        for chosen in itertools.combinations(open_places, size)
        if Counter(guess[place] for place in chosen) <= left
    )
    return "".join(
        "G" if place in right else "Y" if place in best else "X" for place in range(len(word))
    )


pairs = st.integers(1, 6).flatmap(
    lambda length: st.tuples(*[st.text("abc", min_size=length, max_size=length)] * 2)
)


@given(pairs)
def test_marks_are_those_of_the_definition_by_trying(pair: tuple[str, str]) -> None:
    assert mark(*pair) == marks_by_trying(*pair)


@given(pairs)
def test_a_letter_is_marked_as_often_as_word_and_guess_both_hold_it(pair: tuple[str, str]) -> None:
    word, guess = pair
    marked = Counter(
        letter for letter, sign in zip(guess, mark(word, guess), strict=True) if sign != "X"
    )

    assert marked == Counter(word) & Counter(guess)


@pytest.mark.parametrize(
    ("word", "guess", "marks"),
    [
        ("abbey", "kebab", "XYGYY"),
        ("crane", "eerie", "XXYXG"),
        ("lemon", "llama", "GXXYX"),
        ("those", "geese", "XXXGG"),
        ("dread", "added", "YYXYG"),
    ],
)
def test_repeated_letters_are_marked_once_for_each_in_the_word(
    word: str, guess: str, marks: str
) -> None:
    assert mark(word, guess) == marks


def exactly_best(possible: Sequence[str]) -> str:
    """Return the first best word by the definition of the score, in fractions."""

    def parted(hits: int) -> Fraction:
        return Fraction(hits * (len(possible) - hits))

    def score(word: str) -> Fraction:
        letters = [parted(sum(letter in other for other in possible)) for letter in set(word)]
        places = [
            parted(sum(a == b for a in column)) for b, column in zip(word, columns, strict=True)
        ]
        return sum(letters, Fraction()) + sum(places, Fraction()) / 3

    columns = list(zip(*possible, strict=True))
    return max(possible, key=score)


@pytest.mark.parametrize("length", [4, 6])
def test_the_best_guess_is_free_of_rounding(length: int) -> None:
    known = words(length, common=True)
    for start in range(0, len(known), 6):
        possible = known[start : start + 6]
        assert best_guess(possible) == exactly_best(possible)


def turns_for_every_word(length: int) -> dict[str, int]:
    """Return the turns in which the solver's guesses find each word that may be hidden."""
    turns: dict[str, int] = {}
    games: list[tuple[Sequence[str], int]] = [(words(length, common=True), 1)]
    while games:
        possible, turn = games.pop()
        guess = best_guess(possible)
        turns[guess] = turn
        answers = defaultdict(list)
        for word in possible:
            answers[mark(word, guess)].append(word)
        del answers["G" * length]
        games += [(fitting, turn + 1) for fitting in answers.values()]
    return turns


@pytest.mark.parametrize("length", LENGTHS)
def test_the_solver_finds_every_word_in_five_turns_a_letter(length: int) -> None:
    turns = turns_for_every_word(length)

    assert {*turns} == {*words(length, common=True)}
    assert max(turns.values()) <= {3: 13, 4: 12}.get(length, 11) <= 5 * length


@pytest.mark.parametrize("length", [3, 4, 5])
def test_a_game_is_solved_in_as_many_turns_as_the_words_were_found_in(
    play_out: PlayOut, length: int
) -> None:
    turns = turns_for_every_word(length)
    for word in list(turns)[::20]:
        assert len(play_out(started(word=word, max_turns=None))) == turns[word]


@pytest.mark.slow
def test_every_secret_of_easy_is_found_in_its_turns_for_a_total_of_one(play_out: PlayOut) -> None:
    env = gem.make("game:Wordle-v0-easy")
    env.reset(seed=0)
    start = env.snapshot()
    for word in words(3, common=True):
        env.restore(Snapshot(start.spec, {**start.state, "_word": word}))
        steps = play_out(env)
        assert steps[-1].info["success"]
        assert sum(step.reward for step in steps) == pytest.approx(1.0, abs=1e-9)


def test_solve_depends_on_what_was_shown_and_not_on_the_word() -> None:
    moves = defaultdict(set)
    for word in ("stone", "stole", "store", "shone", "drink"):
        env = started(word=word)
        shown = tuple(observation_text(step.observation) for step in guess(env, "spare", "shore"))
        moves[shown].add(env.solve())

    assert len(moves) < 5
    assert {len(found) for found in moves.values()} == {1}


def test_solve_copes_with_guesses_that_cannot_be_the_word(play_out: PlayOut) -> None:
    env = started(word="stone", only_real_words=False)
    guess(env, "zzzzz", "qqqqq", "aahed")

    assert play_out(env)[-1].info["success"]


def test_there_is_no_move_towards_a_word_that_is_not_in_the_lists() -> None:
    env = started(word="qqqqq")
    guess(env, "queen")

    assert env.solve() is None


def test_the_marks_stand_under_the_guess() -> None:
    (step,) = guess(started(word="abbey"), "kebab")

    assert observation_text(step.observation) == ("At turn 1, you guessed\nK E B A B\nX Y G Y Y")


def test_a_place_earns_its_share_the_first_time_it_is_right() -> None:
    steps = guess(started(word="stone"), "shirt", "spare", "drone", "stole", "stone")

    assert [step.reward for step in steps] == pytest.approx([0.1, 0.1, 0.2, 0.1, 0.5])
    assert [step.terminated for step in steps] == [False] * 4 + [True]


def test_the_word_at_once_earns_everything() -> None:
    (step,) = guess(started(word="stone"), "stone")

    assert (step.reward, step.terminated, step.info["success"]) == (1.0, True, True)


@given(st.lists(st.sampled_from(words(4, common=True)), min_size=1, max_size=6, unique=True))
def test_a_won_game_earns_the_success_that_was_asked_for(guesses: list[str]) -> None:
    env = started(word=guesses[-1], rewards={"success": 7.0})
    steps = guess(env, *guesses)

    assert steps[-1].info["success"]
    assert sum(step.reward for step in steps) == pytest.approx(7.0, abs=1e-9)


def test_every_move_that_does_not_win_earns_the_step_that_was_asked_for() -> None:
    env = started(word="stone", rewards={"step": -0.25, "invalid": -0.5})

    assert [step.reward for step in guess(env, "audio", "shirt", "xxxxx", "stone")] == (
        pytest.approx([-0.25, -0.15, -0.5, 0.9])
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cat", "3 letter(s) and not 5"),
        ("a", "1 letter(s) and not 5"),
        ("strength", "8 letter(s) and not 5"),
        ("stone drink", "10 letter(s) and not 5"),
        ("drink", "guessed before"),
        ("D R I N K", "guessed before"),
        ("zzzzz", "does not know"),
        ("xx xxx", "does not know"),
    ],
)
def test_a_guess_that_breaks_the_rules_is_refused_with_the_reason(text: str, reason: str) -> None:
    env = started(word="stone")
    _, step = guess(env, "drink", text)

    assert step.info["action_error"] == "invalid"
    assert reason in observation_text(step.observation)


def test_a_refused_guess_changes_nothing() -> None:
    refused = started(word="stone")
    plain = started(word="stone")
    guess(refused, "zzzzz", "ab", "shirt")
    guess(plain, "shirt")

    assert refused.solve() == plain.solve()
    assert guess(refused, "zzzzz")[0].info["action_error"] == "invalid"


def test_any_letters_are_a_guess_where_real_words_are_not_asked_for() -> None:
    (step,) = guess(started(word="stone", only_real_words=False), "zzzze")

    assert "action_error" not in step.info
    assert step.reward == pytest.approx(0.1)


@pytest.mark.parametrize("text", ["SHIRT", "s h i r t", "S,H,I,R,T", "[ShirT]", " (shirt) "])
def test_a_guess_is_read_in_odd_spellings(text: str) -> None:
    assert guess(started(word="stone"), text) == guess(started(word="stone"), "shirt")


@pytest.mark.parametrize(
    "text", ["", "12345", "sh1rt", "shírt", "shir\uff54", "s-h-i-r-t", "\ud800"]
)
def test_what_is_not_letters_ends_the_game(text: str) -> None:
    (step,) = guess(started(word="stone"), text)

    assert step.info["action_error"] == "format"
    assert step.terminated


def test_the_example_is_an_answer_that_is_taken() -> None:
    for length in LENGTHS:
        env = gem.make("game:Wordle-v0-hard", word_length=length)
        text = observation_text(env.reset(seed=1)[0])
        example = re.findall(r"\\boxed\{\w+\}", text)
        assert "action_error" not in env.step(example[-1]).info


def test_random_lengths_are_the_published_ones_with_their_turns() -> None:
    env = gem.make("game:Wordle-v0-random")
    found = set()
    for seed in range(30):
        text = observation_text(env.reset(seed=seed)[0])
        match = re.search(r"word of (\d+) letters. You have (\d+) turns", text)
        assert match is not None
        found.add(tuple(map(int, match.groups())))

    assert found == {(3, 15), (4, 20), (5, 25)}


def test_hidden_words_are_common_and_many(play_out: PlayOut) -> None:
    env = gem.make("game:Wordle-v0-hard")
    hidden = set()
    for seed in range(100):
        env.reset(seed=seed)
        hidden.add(observation_text(play_out(env)[-1].observation).split("guessed ")[1][:5].lower())

    assert len(hidden) > 90
    assert hidden <= {*words(5, common=True)}
    assert all(map(is_word, hidden))


@pytest.mark.parametrize("length", [-1, 0, 2, 11, 10**9])
def test_a_length_without_words_is_refused(length: int) -> None:
    with pytest.raises(BadArguments, match="has words of 3 to 10 letters"):
        gem.make("game:Wordle-v0-hard", word_length=length)
