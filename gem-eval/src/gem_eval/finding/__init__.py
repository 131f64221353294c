"""Find what is odd in recorded episodes, by rules and without a model.

What the author of a rule needs is at this door:

    from gem_eval.finding import Evidence, Finder

A rule is a pure function from an episode to what it finds. A pack adds its finders by an entry
point in the group `gem_eval.finders.v1`, whose value is a Finder or several.
"""

from __future__ import annotations

from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder, Finding
from gem_eval.finding.self_test import finder_failures

__all__ = [
    "Evidence",
    "Example",
    "Finder",
    "Finding",
    "example_episode",
    "example_turn",
    "finder_failures",
]
