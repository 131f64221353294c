"""Lay a question out for a policy: context, question, options. Plain text."""

from __future__ import annotations

from collections.abc import Sequence

from gem_envs_qa.options import lettered

__all__ = ["laid_out"]


def laid_out(question: str, *, context: str = "", options: Sequence[str] = ()) -> str:
    r"""Return the parts in their order, an empty line between each two.

    >>> laid_out("Is it?", context="It is.", options=["Yes", "No"])
    'Context:\nIt is.\n\nQuestion: Is it?\n\nOptions:\nA) Yes\nB) No'
    """
    parts = [f"Question: {question}"]
    if context:
        parts.insert(0, f"Context:\n{context}")
    if options:
        parts.append(f"Options:\n{lettered(options)}")
    return "\n\n".join(parts)
