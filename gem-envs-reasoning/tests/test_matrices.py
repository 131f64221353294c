"""A matrix may be mirrored in either way, and everything else has one meaning."""

from __future__ import annotations

import pytest

import gem
from gem_envs_reasoning.answers import answer_in, tagged
from gem_envs_reasoning.matrices import manipulated

MATRIX = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("operation", "made"),
    [
        ({"transform": "identity"}, MATRIX),
        ({"transform": "rotate", "degrees": "90"}, [[4, 1], [5, 2], [6, 3]]),
        ({"transform": "rotate", "degrees": "360"}, MATRIX),
        ({"transform": "dmirror"}, [[1, 4], [2, 5], [3, 6]]),
        ({"transform": "cmirror"}, [[6, 3], [5, 2], [4, 1]]),
        ({"transform": "map", "from": 2, "to": 9}, [[1, 9, 3], [4, 5, 6]]),
        ({"transform": "zero_divisible", "k": 3}, [[1, 2, 0], [4, 5, 0]]),
        (
            {"transform": "crop", "row_start": 2, "row_end": 2, "col_start": 1, "col_end": 2},
            [[4, 5]],
        ),
        ({"transform": "remove_every_nth_row", "n": 2}, [[1, 2, 3]]),
        ({"transform": "remove_every_nth_col", "n": 2}, [[1, 3], [4, 6]]),
    ],
)
@pytest.mark.parametrize("flips", [False, True])
def test_an_operation_has_one_meaning(
    operation: dict[str, object], made: list[list[int]], flips: bool
) -> None:
    assert manipulated(MATRIX, [operation], flips=flips) == made


def test_to_mirror_has_two_meanings() -> None:
    upside_down = [[4, 5, 6], [1, 2, 3]]
    reversed_rows = [[3, 2, 1], [6, 5, 4]]

    assert manipulated(MATRIX, [{"transform": "hmirror"}], flips=False) == upside_down
    assert manipulated(MATRIX, [{"transform": "vmirror"}], flips=True) == upside_down
    assert manipulated(MATRIX, [{"transform": "hmirror"}], flips=True) == reversed_rows
    assert manipulated(MATRIX, [{"transform": "vmirror"}], flips=False) == reversed_rows


@pytest.mark.parametrize("level", [0, 2])
def test_both_meanings_earn_all_and_no_mixture_does(level: int) -> None:
    pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")
    checked = 0
    for seed in range(60):
        env = gem.make("rg:manipulate_matrix", level=level)
        env.reset(seed=seed)
        metadata = env.item.entry["metadata"]  # type: ignore[attr-defined]
        operations = metadata["operations"]
        readings = [
            written(manipulated(metadata["matrix"], operations, flips=flips))
            for flips in (False, True)
        ]
        assert readings[0] == answer_in(str(env.solve()))
        for reading in readings:
            with env.fork() as twin:
                assert twin.step(tagged(reading)).info["success"]
        mirrors = [one for one in operations if one["transform"] in ("hmirror", "vmirror")]
        left_out = [one for one in operations if one not in mirrors]
        unmirrored = written(manipulated(metadata["matrix"], left_out, flips=False))
        if unmirrored not in readings:
            checked += 1
            assert not env.step(tagged(unmirrored)).info["success"]

    assert checked > 5


@pytest.mark.parametrize("answer", ["", "1", "1 2\n3", "a b c", "[[1]]", "9" * 1_900])
def test_what_is_no_right_matrix_earns_nothing(answer: str) -> None:
    pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")
    env = gem.make("rg:manipulate_matrix")
    env.reset(seed=0)

    assert env.step(tagged(answer)).reward == 0.0


def written(matrix: list[list[int]]) -> str:
    return "\n".join(" ".join(map(str, row)) for row in matrix)
