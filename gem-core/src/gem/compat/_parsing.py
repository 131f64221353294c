r"""The functions of `gem.utils.parsing`: read an answer or a program out of a reply.

They take time in proportion to the text, and None counts as an empty one.
"""

from __future__ import annotations

import re

from gem.parsing._answers import last_tagged
from gem.parsing._boxed import boxed, last_boxed

__all__ = [
    "extract_code_from_model",
    "extract_last_boxed_answer",
    "extract_last_tagged_answer",
    "last_boxed_only_string",
    "remove_boxed",
]

_FENCE = re.compile(r"```(?:\w+)?\n(.*?)```", re.DOTALL)
_BOX = "\\boxed{"


def extract_last_boxed_answer(solution: str | None) -> str | None:
    r"""Return what is in the last closed `\boxed{}`, None without one.

    >>> extract_last_boxed_answer(r"It is \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    """
    return last_boxed(solution or "")


def last_boxed_only_string(string: str | None) -> str | None:
    r"""Return the last closed `\boxed{}` itself, None without one.

    >>> last_boxed_only_string(r"It is \boxed{7}.")
    '\\boxed{7}'
    """
    answer = last_boxed(string or "")
    return None if answer is None else boxed(answer)


def remove_boxed(s: str | None) -> str | None:
    r"""Return what is in a text that is one `\boxed{}`, None for any other.

    >>> remove_boxed(r"\boxed{7}"), remove_boxed("7")
    ('7', None)
    """
    if s is None or not s.startswith(_BOX) or not s.endswith("}"):
        return None
    return s[len(_BOX) : -1]


def extract_last_tagged_answer(model_response: str | None) -> str | None:
    """Return what is in the last closed `<answer>`, stripped, None without one.

    >>> extract_last_tagged_answer("<answer>a</answer> <answer> b </answer>")
    'b'
    """
    return last_tagged(model_response or "")


def extract_code_from_model(model_response: str | None) -> str | None:
    r"""Return the last fenced block, whatever its language, stripped; None without one.

    >>> extract_code_from_model("So:\n```python\nprint(1)\n```")
    'print(1)'
    """
    blocks = _FENCE.findall(model_response or "")
    return blocks[-1].strip() if blocks else None
