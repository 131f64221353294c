r"""Write every common markup of reasoning as `<think>` and `</think>`, which the core reads.

Models mark what they think in many ways: `<thinking>`, `<reasoning>`, `[THINK]`, triangles around
the word, the channels of gpt-oss. Here each becomes the one that `gem.parsing.outside_thought`
knows, which then says what stands outside. Knows nothing about calls.
"""

from __future__ import annotations

import re

__all__ = ["with_think_tags"]

_NAMES = (
    r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratch_?pad|analysis|"
    r"inner_monologue|begin_of_thought|end_of_thought|(?:start|end)_thinking)"
)
# White space and attributes are bounded, so that no tag takes more than linear time to find.
_TAG = re.compile(
    rf"[<\u25c1]\s{{0,8}}(?P<bar>\|?)(?P<end>/?)\s{{0,8}}(?P<name>{_NAMES})"
    r"(?:\s[^<>\n]{0,200})?(?P=bar)\s{0,8}/?[>\u25b7]"
    r"|\[(?P<bracket_end>/?)THINK\]"
    r"|(?P<channel><\|channel\|>)\s{0,8}(?P<kind>\w{0,40})[^<]{0,200}"
    r"(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
    r"|(?P<stop><\|(?:end|call|return)\|>)"
    r"|(?P<start><\|start\|>\w{0,40})",
    re.IGNORECASE,
)
# gpt-oss without its special tokens: what its channels are called runs into what they hold.
_BARE_ANALYSIS = re.compile(r"\s{0,40}analysis(?=[A-Z])")
_BARE_FINAL = re.compile(r"assistant(?:commentary.{0,40})?final", re.DOTALL)


def with_think_tags(text: str) -> str:
    """Return a text whose reasoning is marked by `<think>` and `</think>` alone.

    A thought ends at the end of its own kind; tags of other kinds within it are dropped. What
    begins with an end was opened by the chat template. It costs linear time, and no text raises.

    >>> with_think_tags("<Reasoning>Is it <think>she</think>?</Reasoning> Hello.")
    '<think>Is it she?</think> Hello.'
    >>> with_think_tags("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
    ...     "<|channel|>final<|message|>Hello.<|return|>")
    '<think>Hm.</think>Hello.'
    """
    bare = _BARE_ANALYSIS.match(text)
    if bare is not None:
        final = _BARE_FINAL.search(text, bare.end())
        text = "<think>" if final is None else text[final.end() :]
    if not any(mark in text for mark in "<[\u25c1"):
        return text  # most messages: no pattern is tried
    pieces: list[str] = []
    place = 0
    opened = ""  # the kind of the thought that is open
    is_first = True
    for match in _TAG.finditer(text):
        pieces.append(text[place : match.start()])
        place = match.end()
        kind = _kind(match)
        if not opened and kind and _opens(match):
            opened = kind
            pieces.append("<think>")
        elif _closes(match, opened) or (is_first and kind and not _opens(match)):
            # An end before any beginning closes what the prompt has opened.
            opened = ""
            pieces.append("</think>")
        is_first = is_first and not kind
    pieces.append(text[place:])
    return "".join(pieces)


def _kind(match: re.Match[str]) -> str:
    """Return the kind of thought that begins or ends, "" for a token that is about none."""
    if match["channel"]:
        return "channel"
    if match["bracket_end"] is not None:
        return "bracket"
    name = (match["name"] or "").casefold()
    return "tokens" if name.startswith(("begin_", "start_", "end_")) else name


def _opens(match: re.Match[str]) -> bool:
    if match["channel"]:
        return match["kind"].casefold() != "final"
    if match["bracket_end"] is not None:
        return not match["bracket_end"]
    return not match["end"] and not (match["name"] or "").casefold().startswith("end_")


def _closes(match: re.Match[str], opened: str) -> bool:
    """Say whether what is open ends here."""
    if match["stop"]:
        return opened == "channel"
    return bool(opened) and _kind(match) == opened and not _opens(match)
