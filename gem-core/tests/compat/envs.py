"""Environments that a test of the mode plays."""

from __future__ import annotations

from typing import Any

import gem
from gem.content import ImagePart, Message, TextPart


class Questions(gem.Env):
    """Five questions of one turn."""

    num_tasks = 5
    max_turns = 1
    single_turn = True
    task = 0

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[str, dict[str, Any]]:
        self.task = self.pick_task(task)
        return f"Question {self.task}?", {"task": self.task}

    def step(self, action: str) -> gem.Step:
        is_right = action == str(self.task)
        return gem.Step("Said.", float(is_right), True, False, {"success": is_right})


class Game(gem.Env):
    """Won by "win", lost by "lose", refused with "what?", over after three turns."""

    def __init__(self, max_turns: int = 3, name: str = "plain") -> None:
        self.max_turns = max_turns
        self.name = name

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return f"Play {self.name}.", {"suffix": "Your move."}

    def step(self, action: str) -> gem.Step:
        is_last = self.turn + 1 == self.max_turns
        if action == "win":
            return gem.Step("Won.", 1.0, True, False, {"success": True})
        if action == "what?":
            info = {"success": False, "action_error": "format"}
            return gem.Step("Unread.", -0.1, True, False, info)
        if is_last:
            return gem.Step("No turns are left.", 0.0, False, True, {"success": False})
        return gem.Step("On.", 0.25, False, False, {"suffix": f"Move {self.turn + 2}."})


class Picture(gem.Env):
    """One whose first observation is a picture with a text."""

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        return [ImagePart(b"\x89PNG", "image/png"), TextPart("What is it?")], {}


class Talk(gem.Env):
    """One whose first observation is messages, or one message."""

    def __init__(self, is_one: bool = False) -> None:
        self.is_one = is_one

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        hello = Message("user", "Hello.")
        return hello if self.is_one else (Message("system", "Be brief."), hello), {}
