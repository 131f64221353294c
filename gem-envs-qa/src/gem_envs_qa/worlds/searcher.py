"""The policy `searcher`: it reads the question and the results of its searches, nothing else."""

from __future__ import annotations

import re

from gem.conversation import Request
from gem.parsing import write_answer
from gem_envs_qa.worlds.documents import Document
from gem_envs_qa.worlds.searching import next_move

__all__ = ["Searcher"]

_QUESTION = re.compile(r"^Question: (.+)$", re.MULTILINE)
_DOCUMENT = re.compile(r"^\[[0-9]+\] document (\S+): (.*)\n(.*)$", re.MULTILINE)
_SEARCH = re.compile(r"<search>(.*)</search>")


class Searcher:
    """Answer the questions of `qa:Worlds-v0` by searching, as its documents are worded."""

    name = "searcher"

    def __call__(self, request: Request) -> str:
        actions = [message.text for message in request.messages if message.role == "assistant"]
        observed = "\n".join(
            message.text for message in request.messages if message.role != "assistant"
        )
        question = _QUESTION.search(observed)
        if question is None:
            return ""
        read = [Document(*fields) for fields in _DOCUMENT.findall(observed)]
        searched = [match[1] for text in actions if (match := _SEARCH.search(text))]
        is_answer, text = next_move(question[1], read, searched)
        return write_answer(text, "answer") if is_answer else f"<search>{text}</search>"
