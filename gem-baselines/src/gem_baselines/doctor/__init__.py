"""The doctor: reads a training and says what is wrong with it, in words and with evidence.

Rules are plain functions on a run that was read; nothing is trained or played. Knows nothing about
how a policy learns.
"""

from __future__ import annotations

__all__: list[str] = []
