"""A backend of your own in one file: every environment on a thread of its own."""

import math
import queue
import threading
from time import monotonic
from typing import Any

import gem
from gem.hosting import RESET, Failure, Host, SlotEnvs, Wakeup


class OwnThreads(Host):
    """Hosts environments on threads that start when a slot is opened."""

    keeps_time = False  # nothing here ends a call that is late

    def __init__(self) -> None:
        self._envs = SlotEnvs(faults=(BaseException,))
        self._todo: list[Any] = []  # by slot: a queue of commands, and its thread
        self._under_way = 0
        self._ready: Any = queue.SimpleQueue()
        self._wakeup = Wakeup()

    def open(self, recipe: Any) -> int:
        commands: Any = queue.SimpleQueue()
        thread = threading.Thread(target=self._work, args=(commands,), daemon=True)
        slot = len(self._todo)
        self._todo.append((commands, thread))
        self._envs.open(slot, recipe)
        thread.start()
        return slot

    def _work(self, commands: Any) -> None:
        while (command := commands.get()) is not None:
            self._ready.put((command[1], self._envs.do(command)))
            self._wakeup.set()

    def submit(self, commands: Any) -> None:
        for command in commands:
            self._under_way += 1
            self._todo[command[1]][0].put(command)

    def collect(self, at_least: int = 1, timeout_s: float | None = None) -> list[Any]:
        due = math.inf if timeout_s is None else monotonic() + timeout_s
        while self._ready.qsize() < min(at_least, self._under_way) and monotonic() < due:
            self.wait(due - monotonic())
            self._wakeup.clear()
        self._wakeup.clear()  # before what is ready is taken, or its signal could be lost
        ready = [self._ready.get() for _ in range(self._ready.qsize())]
        self._under_way -= len(ready)
        return ready

    def stop(self, slot: int) -> None: ...  # Python cannot stop a thread
    def give_up(self, slot: int) -> None:
        self._envs.fail(slot, Failure("env_error", ""))

    def fileno(self) -> int:
        return self._wakeup.fileno()

    def close(self) -> None:
        for commands, thread in self._todo:
            commands.put(None)
            thread.join()
        self._envs.close()
        self._wakeup.close()


def own_threads(**_: Any) -> Host:
    """Return a host, whatever `num_envs`, `num_workers` and `step_timeout_s` are."""
    return OwnThreads()


if __name__ == "__main__":
    with own_threads() as host:
        slot = host.open(lambda: gem.make("game:GuessTheNumber-v0"))
        host.submit([(RESET, slot, 1, {}, 0)])
        print(host.collect()[0][1][0])
