r"""How an environment wants its answers written: in a box, in tags, or plain.

Read from its own samples and texts. Knows nothing about what is answered.
"""

from __future__ import annotations

__all__ = ["asked_formats"]

# What shows that a format is asked for, and the format itself.
_FORMATS = {"\\boxed{": "\\boxed{%s}", "<answer>": "<answer>%s</answer>"}


def asked_formats(*texts: str) -> list[str]:
    r"""Return the formats, with `%s` for the answer, that these texts show.

    >>> asked_formats("Answer inside \\boxed{}."), asked_formats("Say yes or no.")
    (['\\boxed{%s}'], ['%s'])
    """
    formats = [form for mark, form in _FORMATS.items() if any(mark in text for text in texts)]
    return formats or ["%s"]
