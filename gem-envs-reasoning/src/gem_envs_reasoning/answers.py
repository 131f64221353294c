r"""Read the answer out of a reply: the last `<answer>` or `\boxed{}` that is closed.

Takes time in proportion to the reply's length, whatever it holds.
"""

from __future__ import annotations

import re

from gem.parsing import boxed, find_boxed

__all__ = ["answer_in", "tagged", "unmarked", "written"]

_OPEN = "<answer>"
_CLOSE = "</answer>"
_FENCE = re.compile(r"```[A-Za-z0-9]*[ \t]*\r?\n")
_AROUND = ("**", "`", "$")
_STYLED = re.compile(r"\\(?:text|math)(?:bf|it|rm|sf|tt|normal)?\{([^{}]*)\}")


def tagged(answer: str) -> str:
    """Write an answer as it is asked for."""
    return f"{_OPEN}{answer}{_CLOSE}"


def written(answer: str, form: str) -> str:
    r"""Write an answer in a form, "answer" or "boxed"; tags hold what no box can.

    >>> written("4", "boxed"), written("4", "answer"), written("}", "boxed")
    ('\\boxed{4}', '<answer>4</answer>', '<answer>}</answer>')
    """
    in_box = boxed(answer)
    return in_box if form == "boxed" and answer_in(in_box) == answer else tagged(answer)


def answer_in(reply: str) -> str | None:
    r"""Return what the last closed `<answer>` or `\boxed{}` holds, stripped; None without one.

    A box that fills the tags is opened too.

    >>> answer_in("So <answer> 4 </answer>"), answer_in(r"\boxed{x^{2}}"), answer_in("4")
    ('4', 'x^{2}', None)
    """
    tags = _in_tags(reply)
    box = find_boxed(reply)
    if tags is None or (box is not None and box[1] > tags[1]):
        return None if box is None else reply[box[0] : box[1]].strip()
    answer = reply[tags[0] : tags[1]].strip()
    inner = find_boxed(answer) if answer.startswith("\\boxed{") else None
    is_whole = inner is not None and inner == (len("\\boxed{"), len(answer) - 1)
    return answer[inner[0] : inner[1]].strip() if inner and is_whole else answer


def unmarked(answer: str) -> str:
    r"""Return an answer without the marks around the whole of it: a code block, `**`, `\text{}`.

    Quotation marks stay: in JSON they make another value.

    >>> unmarked("**`4`**"), unmarked("```json\n[1]\n```"), unmarked("$a$ or $b$")
    ('4', '[1]', '$a$ or $b$')
    >>> unmarked(r"$\text{Yes}$"), unmarked(r"\text{a}\text{b}")
    ('Yes', '\\text{a}\\text{b}')
    """
    fence = _FENCE.match(answer)
    if fence is not None and answer.endswith("```") and answer.count("```") == 2:
        return answer[fence.end() : -3].strip("\r\n")
    styled = _STYLED.fullmatch(answer)
    if styled is not None and styled[1].strip():
        return unmarked(styled[1].strip())
    for mark in _AROUND:
        inner = answer[len(mark) : -len(mark)]
        if answer == f"{mark}{inner}{mark}" and inner and mark not in inner:
            return unmarked(inner)
    return answer


def _in_tags(text: str) -> tuple[int, int] | None:
    end = text.rfind(_CLOSE)
    start = text.rfind(_OPEN, 0, end) if end >= 0 else -1
    return None if start < 0 else (start + len(_OPEN), end)
