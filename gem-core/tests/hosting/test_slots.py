from __future__ import annotations

from gem.hosting._messages import STEP, EpisodeSoFar
from gem.hosting._recipes import RecipeData
from gem.hosting._slots import Slot

RECIPE = RecipeData({"id": "test:It-v0"}, (), {})


def test_a_slot_tells_of_an_episode_as_the_slot_did_that_it_has_it_from() -> None:
    one = Slot(3, 0, RECIPE)
    other = Slot(3, 1, RECIPE)
    one.adopt(EpisodeSoFar((7, {}, 0), ("saved", None), ["a", None], "seen"))
    wire = one.wire((STEP, 3, "b"))

    other.adopt(EpisodeSoFar(*wire[3]))

    assert other.wire((STEP, 3, "b")) == wire


def test_an_episode_that_was_taken_over_is_restored_once() -> None:
    slot = Slot(0, 0, RECIPE)
    slot.adopt(EpisodeSoFar((7, {}, 0), None, ["a"], None))
    slot.wire((STEP, 0, "b"))

    assert slot.wire((STEP, 0, "c")) == (STEP, 0, "c")
