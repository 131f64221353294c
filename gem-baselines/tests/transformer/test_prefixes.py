from __future__ import annotations

from gem_baselines.transformer._prefixes import PrefixSlots


def test_the_longest_beginning_that_a_slot_holds_is_found() -> None:
    slots = PrefixSlots(3)
    long, _ = slots.take((1, 2))
    short, _ = slots.take((1,))
    slots.put(long, (1, 2))
    slots.put(short, (1,))

    assert slots.take((1, 2, 3)) == (long, 2)
    assert slots.take((1, 2, 3)) == (short, 1)
    assert slots.take((1, 2, 3))[1] == 0


def test_a_slot_with_the_whole_sequence_or_more_is_not_taken_for_it() -> None:
    slots = PrefixSlots(4)
    for ids in [(5, 6), (5, 6, 7)]:
        slot, _ = slots.take(ids)
        slots.put(slot, ids)

    assert slots.take((5, 6))[1] == 0


def test_the_slot_that_was_put_back_first_is_lost_first() -> None:
    slots = PrefixSlots(2)
    for ids in [(1,), (2,)]:
        slot, _ = slots.take(ids)
        slots.put(slot, ids)
    slots.put(slots.take((1, 9))[0], (1, 9))

    assert slots.take((7,))[1] == 0
    assert slots.take((2, 2))[1] == 0
    slots.clear()
    assert slots.take((1, 9, 9))[1] == 0


def test_two_sequences_that_begin_alike_have_a_slot_each() -> None:
    slots = PrefixSlots(2)
    taken = [slots.take((1,))[0], slots.take((1,))[0]]
    for slot in taken:
        slots.put(slot, (1,))

    assert {slots.take((1, 2)), slots.take((1, 3))} == {(taken[0], 1), (taken[1], 1)}
