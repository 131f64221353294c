"""A host whose workers are elsewhere: what one of them lost goes on in another, as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from gem.errors import BadArguments
from gem.hosting import DROP, MAKE, RESET, STEP, Command, RecoveringHost, RelayHost, Slot
from gem.hosting._recipes import Recipe

from .batches import alone, done, started, stepped


class Far(RecoveringHost):
    """One worker, a relay that `lose` ends. A backend over any calls of bytes looks like this."""

    def __init__(self) -> None:
        super().__init__(1)
        self.flight: dict[int, Command] = {}
        self.outbox: list[Command] = []

    def _start(self) -> None:
        self.relay = RelayHost(1, start_method="fork", timeout_s=60.0)

    def _enqueue(self, slot: Slot, command: Command) -> None:
        self.flight[slot.number] = command
        self.outbox.append(slot.wire(command))

    def _dispatch(self) -> None:
        frame, refused = RelayHost.pack(self.outbox, self._unwanted)
        self.outbox.clear()
        for wire in refused:
            self._refuse(self.flight.pop(wire[1]))
        self.relay.take(frame)

    def pump(self, timeout_s: float) -> None:
        self.relay.pump(timeout_s)
        self.restarts, self.interrupts, answers = RelayHost.unpack(self.relay.answers())
        for number, answer, cost_s in answers:
            self._settle(self.flight.pop(number), answer, cost_s)

    def lose(self) -> None:
        flight = list(self.flight.values())
        self.flight.clear()
        self.relay.close()
        self._start()
        self._miss(0)
        for command in flight:
            self._again(command)
        self._dispatch()

    def fileno(self) -> int:
        return self.relay.fileno()

    def close(self) -> None:
        self.relay.close()


@pytest.fixture
def far() -> Iterator[Any]:
    with Far() as far:
        yield far


@pytest.mark.parametrize("kind", ["Walk", "Slow"])  # by its actions, and from a snapshot
def test_what_a_lost_worker_held_goes_on_in_another(far: Any, kind: str) -> None:
    slots = started(far, 2, kind)
    before = stepped(far, slots, "a")

    far.lose()
    after = stepped(far, slots, "b")

    assert [[before[slot][:4], after[slot][:4]] for slot in slots] == [
        alone(slot, "a", "b") for slot in slots
    ]


def test_a_command_that_was_under_way_in_a_lost_worker_is_done_in_another(far: Any) -> None:
    (slot,) = started(far, 1)
    far.submit([(STEP, slot, "a")])

    far.lose()

    [(_, step)] = far.collect(1)
    assert step[:4] == alone(slot, "a")[0]


def test_a_process_that_ends_costs_its_own_episode(far: Any) -> None:
    bad, good = started(far, 2)

    outcomes = done(far, (STEP, bad, "crash"), (STEP, good, "a"))
    again = done(far, (RESET, bad, 7))

    assert outcomes[bad].reason == "worker_lost"
    assert outcomes[good][:4] == alone(good, "a")[0]
    assert again[bad][0].startswith("at ")
    assert far.restarts == 1


def test_an_environment_is_made_anew_where_one_was(far: Any) -> None:
    (slot,) = started(far, 1)

    assert done(far, (MAKE, slot))[slot]["max_turns"] == 50


def test_what_a_new_worker_never_had_can_be_dropped(far: Any) -> None:
    (slot,) = started(far, 1)

    far.lose()

    assert done(far, (DROP, slot)) == {slot: None}


def test_a_command_that_nobody_wants_is_stopped(far: Any) -> None:
    gone, late = started(far, 2)
    done(far, (DROP, gone))
    far.submit([(STEP, late, "hang")])
    far.stop(late)

    far._unwanted.add(gone)  # a worker may be told to stop what it has dropped meanwhile
    far._dispatch()

    [(_, failure)] = far.collect(1)
    assert failure.reason == "step_timeout"
    assert far.interrupts == 1


def test_a_command_of_more_than_plain_data_costs_its_own_episode(far: Any) -> None:
    slots = started(far, 2)
    actions: Sequence[Any] = [object(), "a"]

    outcomes = done(far, *((STEP, s, a) for s, a in zip(slots, actions, strict=True)))

    assert "plain data" in outcomes[slots[0]].text
    assert outcomes[slots[1]][:4] == alone(slots[1], "a")[0]


def test_a_relay_says_whether_it_has_anything_to_do_or_to_say() -> None:
    slot = Slot(0, 0, Recipe("trouble:Walk").as_data())
    with RelayHost(1, start_method="fork") as relay:
        relay.take(RelayHost.pack([slot.wire((RESET, 0, 1, {}, 0))], ())[0])
        assert (relay.is_busy, relay.has_answers) == (True, False)
        relay.collect(1)
        assert (relay.is_busy, relay.has_answers) == (False, True)


def test_a_host_whose_workers_can_be_lost_has_one_at_least() -> None:
    with pytest.raises(BadArguments, match="from 1 on"):
        RelayHost(0)


def test_the_door_names_what_it_has() -> None:
    import gem.hosting

    with pytest.raises(AttributeError, match=r"'gem\.hosting' has no attribute"):
        _ = gem.hosting.Nothing
