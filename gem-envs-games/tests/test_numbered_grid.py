from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gem_envs_games.numbered_grid import draw_grid, place_in_grid


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_every_cell_stands_where_its_place_says(
    width: int, height: int, data: st.DataObject
) -> None:
    row = data.draw(st.integers(0, height - 1))
    col = data.draw(st.integers(0, width - 1))
    rows = ["." * width] * height
    rows[row] = "." * col + "X" + "." * (width - col - 1)

    text = draw_grid(rows)

    assert text.index("X") == place_in_grid(width, row, col)
    assert [line.split()[1:] for line in text.splitlines()[1:]] == [list(row) for row in rows]
    assert text.splitlines()[0].split() == [str(number) for number in range(width)]
