"""Judge answers: the library's scorer where it can be trusted, our own where it cannot.

A model's answer is hostile. Nothing here evaluates it as Python, and what the library would
spend unbounded time or memory on never reaches it. Knows nothing about environments.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

from gem.errors import in_one_line
from gem_envs_reasoning.answers import unmarked
from gem_envs_reasoning.arithmetic import UnreadableError, only_number, value_and_numbers
from gem_envs_reasoning.calculus import is_antiderivative
from gem_envs_reasoning.matrices import manipulated
from gem_envs_reasoning.polynomials import expanded
from gem_envs_reasoning.puzzles import captured, fewest_presses, fills, pressed
from gem_envs_reasoning.spelling import respelled
from gem_envs_reasoning.truth_tables import all_rows, read_formula

__all__ = ["OWN_SCORERS", "Verdict", "judge"]

Entry = Mapping[str, Any]
Scorer = Callable[[str, Entry], float]

_SHORTEST_CAP = 2_000
_CAP_WITHOUT_SOLUTION = 20_000
_NOT_A_NUMBER = re.compile(r"(?<![a-z])(?:nan|inf(?:inity)?)j?(?![a-z])", re.IGNORECASE)


class Verdict(NamedTuple):
    """A score between 0 and 1, and why it is not the scorer's own; only 1.0 is a success."""

    score: float
    note: str | None = None


def judge(
    name: str, answer: str, entry: Entry, solution: str | None, scorer: Callable[..., Any]
) -> Verdict:
    """Score an answer by the task's rule. Never raises, and takes time in proportion to it.

    `scorer` is the library's own. `solution` is a right answer, where one is known. An answer is
    right if it is right as `unmarked` or `respelled`, too.
    """
    verdict = _judged(name, answer, entry, solution, scorer)
    if verdict.score == 1.0 or len(answer) > _cap(solution):
        return verdict
    unknown = entry["metadata"]["variable"] if name == "simple_equations" else None
    as_read = respelled(name, answer, solution, unknown=unknown)
    for spelled in {unmarked(answer), as_read} - {answer}:
        of_spelled = _judged(name, spelled, entry, solution, scorer)
        if of_spelled.score == 1.0:
            return of_spelled
    return verdict


def _judged(
    name: str, answer: str, entry: Entry, solution: str | None, scorer: Callable[..., Any]
) -> Verdict:
    refused = _refused(name, answer, entry, solution)
    if refused is not None:
        return Verdict(0.0, refused)
    own = OWN_SCORERS.get(name)
    try:
        score = float(own(answer, entry) if own else scorer(answer, entry))
    except Exception as error:  # noqa: BLE001 - a scorer raises what it likes on odd answers
        return Verdict(0.0, f"the scorer raised {in_one_line(error, at_most=200)}")
    if not math.isfinite(score):
        return Verdict(0.0, f"the scorer returned {score}")
    if name in _ADDED_UP and solution is not None:
        score = _settled(score, answer, solution)
    return Verdict(min(max(score, 0.0), 1.0))


_ADDED_UP = ("letter_jumble", "spell_backward")
"""Tasks whose parts add up to about 1.0, below it or not, whatever follows the right answer."""
_MOST_OF_A_PART = 0.8  # what the library has for an answer that goes on


def _settled(score: float, answer: str, solution: str) -> float:
    if answer.lower().split() == solution.lower().split():
        return 1.0
    return _MOST_OF_A_PART if score > 0.999 else score


def _refused(name: str, answer: str, entry: Entry, solution: str | None) -> str | None:
    """Say why an answer never reaches a scorer; None where it does."""
    known = solution or ""
    cap = _cap(solution)
    if len(answer) > cap:
        return f"the answer has {len(answer)} characters, and {cap} are read"
    if not answer and known.strip():
        return "the answer is empty"
    is_number = re.search(r"\d", known) is not None
    if is_number and _NOT_A_NUMBER.search(answer) and not _NOT_A_NUMBER.search(known):
        return "the answer is not a number"  # several scorers let it pass every comparison
    if name in _NO_MOVES and _NO_MOVES[name].search(answer):
        return "the answer is no list of moves"
    if name == "fraction_simplification" and not _ONE_FRACTION.fullmatch(answer):
        return "the answer is no single fraction"  # the library reads the first of several
    counts_days = name == "time_intervals" and entry["metadata"]["task_type"] == "date"
    if counts_days and not _ONE_COUNT.fullmatch(answer):
        return "the answer is no count of days"  # the library reads the first word
    if name == "propositional_logic" and _bare(answer) in map(_bare, entry["metadata"]["premises"]):
        return "the answer repeats a premise"
    return None


def _cap(solution: str | None) -> int:
    """Return how many characters of an answer are read."""
    return _CAP_WITHOUT_SOLUTION if solution is None else max(_SHORTEST_CAP, 4 * len(solution))


_SHORT_FRACTION = re.compile(
    r"[+-]?\d{1,40}(?:/0*[1-9]\d{0,40}|(?:\.\d{0,40})?(?:[eE][+-]?\d{1,2})?)", re.ASCII
)
# Spaces, dollars and stops are one class at either end: with two that take spaces in a row, the
# time would grow with the square of their number.
_ONE_FRACTION = re.compile(
    r"[\s$]*(?:\\[dt]?frac\s*\{\s*\d+\s*\}\s*\{\s*\d+\s*\}|\+?\d+\s*/\s*\d+)[\s$.,]*", re.ASCII
)
_ONE_COUNT = re.compile(
    r"\s*[+-]?\d+(?:\s*days?|\s+\\text\{\s*days?\s*\})?[\s.]*", re.ASCII | re.IGNORECASE
)
_NO_MOVES: Mapping[str, re.Pattern[str]] = {
    "rubiks_cube": re.compile(r"\d{3}"),  # R999999999 would be turned one by one
    "rush_hour": re.compile(r"\d{3}"),
    "sokoban": re.compile(r"[^UDLRudlr\s,]"),  # the letters of prose would be walked along
}
"""What no list of moves holds."""


def _bare(formula: str) -> str:
    return re.sub(r"[\s()]", "", formula)


def _puzzle24(answer: str, entry: Entry) -> float:
    return _calculated(answer, entry["metadata"]["numbers"], 24, wrong=0.01)


def _countdown(answer: str, entry: Entry) -> float:
    metadata = entry["metadata"]
    return _calculated(answer, metadata["numbers"], metadata["target"], wrong=0.05)


def _calculated(answer: str, numbers: list[int], target: int, *, wrong: float) -> float:
    try:
        value, used = value_and_numbers(answer)
    except UnreadableError:
        return 0.01
    return 1.0 if value == target and sorted(used) == sorted(numbers) else wrong


def _integral(answer: str, entry: Entry) -> float:
    metadata = entry["metadata"]
    try:
        return float(is_antiderivative(answer, metadata["integrand"], metadata["variable"]))
    except UnreadableError:
        return 0.0


def _polynomial(answer: str, entry: Entry) -> float:
    try:
        return float(expanded(answer) == expanded(entry["answer"]))
    except UnreadableError:
        return 0.0


def _number(answer: str, entry: Entry) -> float:
    """Compare the one number of an answer. The library reads no sign, and the first of several."""
    value = only_number(answer)
    if value is None:
        return 0.0
    return 1.0 if value == Fraction(entry["answer"]) else 0.01


def _conclusion(answer: str, entry: Entry) -> float:
    """Say whether a formula follows. The library takes any text for a variable, without end.

    What always holds, and a letter alone, earn a part, as in the library.
    """
    metadata = entry["metadata"]
    variables = metadata["variables"]
    try:
        conclusion = read_formula(answer, variables)
    except UnreadableError:
        return 0.0
    rows = all_rows(variables)
    held = rows  # the rows in which every premise is true
    for premise in metadata["premises"]:
        held &= read_formula(premise, variables).table
    if held & ~conclusion.table:
        return 0.05
    return 0.25 if conclusion.is_variable or conclusion.table == rows else 1.0


def _same_json(answer: str, entry: Entry) -> float:
    """Compare as JSON. The library's similarity takes time that grows with the fourth power."""
    return float(_is_same(json.loads(answer), json.loads(entry["answer"])))


def _is_same(a: Any, b: Any) -> bool:
    """Compare values of JSON. In Python `False == 0`; in JSON a truth is no number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_is_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_is_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _same_word(answer: str, entry: Entry) -> float:
    return float(answer.lower() == entry["answer"].lower())


def _probability(answer: str, entry: Entry) -> float:
    """Compare to three digits. The library takes 0 for what is rare, and 1e999999999 never ends."""
    number = answer.removesuffix("%").removesuffix("\\").rstrip()
    if not _SHORT_FRACTION.fullmatch(number):
        return 0.0
    known = Fraction(entry["answer"])
    probability = Fraction(number) / (100 if answer.endswith("%") else 1)
    return float(abs(probability - known) <= known / 1_000)


def _nearest(answer: str, entry: Entry) -> float:
    """Compare thousandths. The library's hundredth takes other candidates, at some levels all."""
    try:
        number = float(answer.replace(",", ""))
    except ValueError:
        return 0.0
    return float(abs(number - entry["metadata"]["solution"]) < 0.0005)


def _decimal(answer: str, entry: Entry) -> float:
    """Compare to six digits. The library compares to as many places as the numbers asked about."""
    try:
        number = Decimal(answer)
    except InvalidOperation:
        return 0.0
    known = Decimal(entry["answer"])
    return float(abs(number - known) <= abs(known) / 1_000_000)


_SHORT_DECIMAL = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})", re.ASCII)


def _sorted(answer: str, entry: Entry) -> float:
    """Compare the numbers of a list. The library takes any within 1 of them, so rounded ones."""
    try:
        numbers = _numbers(answer)
    except (TypeError, ValueError, RecursionError):
        return 0.0
    return float(numbers == _numbers(entry["answer"]))


def _numbers(text: str) -> list[Fraction]:
    """Read a JSON list of numbers, each as text or not. The task shows it with single quotes."""
    listed = json.loads(text.replace("'", '"'), parse_int=str, parse_float=str)
    if not isinstance(listed, list):
        raise TypeError("no list")
    numbers = []
    for number in listed:
        if not isinstance(number, str) or not _SHORT_DECIMAL.fullmatch(number.strip()):
            raise ValueError(f"{number!r:.40} is no decimal")
        numbers.append(Fraction(number.strip()))
    return numbers


def _manipulated(answer: str, entry: Entry) -> float:
    """Compare the rows, mirrored in either way: the question says horizontally, and not at what.

    Among more text a matrix that is right in the library's reading, and in no other, earns its
    share of it, as in the library.
    """
    metadata = entry["metadata"]
    rows = [line.split() for line in answer.strip().splitlines()]
    for flips in (False, True):
        known = manipulated(metadata["matrix"], metadata["operations"], flips=flips)
        if rows == [[str(number) for number in row] for row in known]:
            return 1.0
    text = "\n".join(" ".join(row) for row in rows)
    known_text = entry["answer"].strip()
    return len(known_text) / len(text) if known_text and known_text in text else 0.0


_HALF_A_HUNDREDTH = Fraction(1, 200)
_SAME_NUMBER = Fraction(1, 1_000_000)  # the exact average is known as a float


def _pooled(answer: str, entry: Entry) -> float:
    """Compare to two decimals, as asked for. The library takes what is within a hundredth part."""
    rows = [line.split() for line in answer.splitlines() if line.strip()]
    known = entry["metadata"]["solution"]
    if [len(row) for row in rows] != [len(row) for row in known]:
        return 0.0
    for row, known_row in zip(rows, known, strict=True):
        for number, known_number in zip(row, known_row, strict=True):
            if not _SHORT_DECIMAL.fullmatch(number):
                return 0.0
            distance = abs(Fraction(number) - Fraction(known_number))
            if distance > _HALF_A_HUNDREDTH + _SAME_NUMBER:
                return 0.1
    return 1.0


_MOVE_OF_GO = re.compile(r"([A-S])([1-9]\d?)", re.ASCII)


def _capture(answer: str, entry: Entry) -> float:
    """Play the move. The library knows one move for each board, which may take nothing."""
    move = _MOVE_OF_GO.fullmatch(answer.upper())
    if move is None:
        return 0.01
    board = entry["metadata"]["board"]
    stones = captured(board)
    column = ord(move[1]) - ord("A")
    taken = stones.get((len(board) - int(move[2]), column), 0)
    wanted = max(stones.values()) if "as many white stones" in entry["question"] and stones else 1
    return 1.0 if taken >= wanted else 0.05


def _presses(answer: str, entry: Entry) -> float:
    """Press the buttons, with the light as the question has it. A longer way earns a half."""
    lock = entry["metadata"]
    buttons = re.findall("[A-C]", answer.upper())
    if pressed(lock, buttons) != lock["target_value"]:
        return 0.0
    fewest = fewest_presses(lock, at_most=len(lock["solution_path"]))
    return 1.0 if len(buttons) == fewest else 0.5


def _survo(answer: str, entry: Entry) -> float:
    """Take any grid that fits. The library takes the one that it made."""
    metadata = entry["metadata"]
    lines = [re.findall(r"(?<!\S)-?[0-9]{1,9}(?!\S)", line) for line in answer.splitlines()]
    grid = [[int(number) for number in line] for line in lines if line]
    return float(fills(grid, metadata["puzzle"], metadata["candidate_numbers"]))


OWN_SCORERS: Mapping[str, Scorer] = {
    "codeio": _same_json,
    "coin_flip": _probability,
    "countdown": _countdown,
    "decimal_arithmetic": _decimal,
    "game_of_life_halting": _same_word,  # the library's takes any text for the truth
    "gsm_symbolic": _number,
    "intermediate_integration": _integral,
    "manipulate_matrix": _manipulated,
    "number_format": _nearest,
    "number_sorting": _sorted,
    "polynomial_multiplication": _polynomial,
    "pool_matrix": _pooled,  # a hundredth part is more than one of many cells makes
    "propositional_logic": _conclusion,
    "puzzle24": _puzzle24,  # the library's takes any four numbers
    "quantum_lock": _presses,
    "simple_integration": _integral,
    "survo": _survo,
    "tsumego": _capture,
}
"""Tasks that are judged here and not by the library."""
