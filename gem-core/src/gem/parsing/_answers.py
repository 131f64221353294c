r"""Find the final answer in what a policy wrote. Knows nothing about which answer is right.

Two forms, of which an environment asks for one: `<answer>...</answer>`, and `\boxed{...}`.

- The last one that is closed counts. Of two that are nested the inner one is the last.
- One that is not closed is none; what stands before it still counts.
- Nothing inside `<think>...</think>` counts. A `<think>` that is not closed goes on to the end; a
  `</think>` that comes first closes a thought that the chat template has opened.
- White space at both ends is dropped, and in a box one `\text{...}` around everything.

Time is linear in the length of the text, and no text raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from gem.parsing._boxed import boxed, last_boxed
from gem.parsing._cursor import outside_thought

__all__ = ["AnswerForm", "answer_example", "find_answer", "last_tagged", "write_answer"]

AnswerForm = Literal["answer", "boxed"]

_OPEN = "<answer>"
_CLOSE = "</answer>"
_TEXT = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf)\s*\{([^{}]*)\}")


def write_answer(answer: str, form: AnswerForm) -> str:
    r"""Write an answer as a policy is asked to.

    >>> write_answer("Bonn", "answer"), write_answer("Bonn", "boxed")
    ('<answer>Bonn</answer>', '\\boxed{Bonn}')
    """
    return f"{_OPEN}{answer}{_CLOSE}" if form == "answer" else boxed(answer)


def answer_example(form: AnswerForm) -> str:
    """Return the form itself, for instructions; it holds no answer."""
    return write_answer("...", form)


def find_answer(text: str, form: AnswerForm) -> str | None:
    r"""Return the final answer, None where there is none in this form.

    >>> find_answer("<answer>Rome</answer> No: <answer> Bonn </answer>", "answer")
    'Bonn'
    >>> find_answer(r"<think>\boxed{Rome}?</think> \boxed{\text{Bonn}}", "boxed")
    'Bonn'
    """
    # Joined by a newline, so that two pieces around a thought make no tag together.
    without_thought = "\n".join(text[start:end] for start, end in outside_thought(text))
    return _FINDERS[form](without_thought)


def last_tagged(text: str) -> str | None:
    """Return what is in the last closed `<answer>`, stripped; None without one."""
    # From the end backwards: two searches, however many tags there are.
    end = text.rfind(_CLOSE)
    start = text.rfind(_OPEN, 0, end) if end >= 0 else -1
    if start < 0:
        return None
    return text[start + len(_OPEN) : end].partition(_CLOSE)[0].strip()


def _last_boxed(text: str) -> str | None:
    inside = last_boxed(text)
    return None if inside is None else _without_text_mode(inside.strip())


def _without_text_mode(inside: str) -> str:
    text_mode = _TEXT.fullmatch(inside)
    return inside if text_mode is None else text_mode[1].strip()


_FINDERS: dict[AnswerForm, Callable[[str], str | None]] = {
    "answer": last_tagged,
    "boxed": _last_boxed,
}
