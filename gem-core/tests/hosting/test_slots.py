from __future__ import annotations

from gem.hosting.messages import STEP
from gem.hosting.recipes import RecipeData
from gem.hosting.slots import Slot

RECIPE = RecipeData({"id": "test:It-v0"}, (), {})


def test_a_slot_tells_of_an_episode_as_the_slot_did_that_it_has_it_from() -> None:
    one, other = Slot(3, 0, RECIPE), Slot(3, 1, RECIPE)
    one.adopt((7, {}, 0), ("saved", None), ["a", None], "seen")
    told = one.wire((STEP, 3, "b"))

    other.adopt(*told[3:7])

    assert other.wire((STEP, 3, "b")) == told


def test_an_episode_that_was_taken_over_is_restored_once() -> None:
    slot = Slot(0, 0, RECIPE)
    slot.adopt((7, {}, 0), None, ["a"], None)
    slot.wire((STEP, 0, "b"))

    assert slot.wire((STEP, 0, "c")) == (STEP, 0, "c")
