"""`qa:Worlds-v0`: questions about invented worlds, answered by searching their libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gem.content import Message, Observation
from gem.env import Env, Step
from gem.errors import BadArguments
from gem.parsing import answer_example, find_answer, write_answer
from gem_envs_qa.scoring import score
from gem_envs_qa.worlds.asking import pose
from gem_envs_qa.worlds.calls import SCHEMA, Search, searches
from gem_envs_qa.worlds.documents import Document
from gem_envs_qa.worlds.searching import next_move
from gem_envs_qa.worlds.world import World, world

__all__ = ["Worlds", "shown"]

_HOPS = range(1, 5)
_ENTITIES = range(40, 1001)
_MOST_AT_ONCE = 4


class Worlds(Env):
    """Find the answer to a question about a world that exists in its library alone.

    A world is `entities` people, towns, works and organisations with invented names; its library is
    about twice as many documents. A question is a chain of `hops` (1 to 4) facts, each in
    a document of its own, and has exactly one answer: a name or a year. Episodes draw one of the
    first `num_worlds` worlds of the set `worlds`; "train" and "eval" have none in common.

    A search is a call of the tool `search`, beside the text or as Hermes models write one, or
    `<search>words</search>`; each of up to four an action shows the `k` best documents. What is
    in `<answer>` in an action without a search ends the episode: 1.0 for an exact match, else
    0.0. Without `own_search` the environment has no search of its own, and knows no `solve()`:
    give it one with the wrapper `tools`.
    """

    reward_range = (0.0, 1.0)

    def __init__(
        self,
        *,
        hops: int = 2,
        entities: int = 200,
        worlds: Literal["train", "eval"] = "train",
        num_worlds: int = 16,
        k: int = 3,
        max_turns: int = 16,
        own_search: bool = True,
    ) -> None:
        _check(
            (hops in _HOPS, f"hops={hops} is not between {_HOPS[0]} and {_HOPS[-1]}"),
            (
                entities in _ENTITIES,
                f"entities={entities} is not between {_ENTITIES[0]} and {_ENTITIES[-1]}",
            ),
            (num_worlds >= 1, f"num_worlds={num_worlds} is not 1 or more"),
            (1 <= k <= 20, f"k={k} is not between 1 and 20"),
            (max_turns >= 1, f"max_turns={max_turns} is not 1 or more"),
        )
        self.hops = hops
        self.entities = entities
        self.worlds = worlds
        self.num_worlds = num_worlds
        self.k = k
        self.max_turns = self.turns = max_turns
        self.own_search = own_search
        self.number = 0
        self.question = self.answer = ""
        self.searched: list[str] = []
        self.read: list[int] = []  # places of the documents that were shown

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:  # type: ignore[override]
        """The schema of `search`, where the environment has one of its own."""
        return (SCHEMA,) if self.own_search else ()

    @property
    def world(self) -> World:
        """The world of this episode, shared with every other in it."""
        return world(self.worlds, self.number, self.entities)

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Draw a world, and a question about it."""
        self.number = self.rng.randrange(self.num_worlds)
        posed = pose(self.rng, self.world.facts, self.hops)
        self.question = posed.question
        self.answer = posed.answer
        self.searched = []
        self.read = []
        return self._prompt(), {"world": self.number, "hops": self.hops}

    def step(self, action: str) -> Step:
        requested, is_beside = searches(action) if self.own_search else ([], False)
        if requested:
            return self._search_results(requested, is_beside=is_beside)
        answer = find_answer(action, "answer")
        if not answer:
            feedback = (
                f"Neither a search nor an answer was found. Answer in {answer_example('answer')}."
            )
            return self._going_on(feedback, {"action_error": "format"})
        em, f1 = score(answer, [self.answer])
        feedback = f"The answer is {'right' if em else 'wrong'}."
        info = {"em": em, "f1": f1, "reward_parts": {"answer": em}}
        return Step(feedback, em, True, False, self._info(info, is_right=bool(em)))

    def sample_action(self) -> str:
        names = self.world.facts.names
        name = self.sample_rng.choice(names[self.sample_rng.choice(tuple(names))])
        if self.own_search and self.sample_rng.random() < 0.5:
            return f"<search>{name}</search>"
        return write_answer(name, "answer")

    def solve(self) -> str | None:
        """Return the next move of a searcher that knows nothing but what it was shown."""
        if not self.own_search:
            return None
        documents = [self.world.documents[place] for place in self.read]
        is_answer, text = next_move(self.question, documents, self.searched)
        return write_answer(text, "answer") if is_answer else f"<search>{text}</search>"

    def _prompt(self) -> str:
        parts = [
            "All that is known about this world is in its library: short documents on people, "
            "towns, works and organisations.",
            f"Question: {self.question}",
            f"Put your final answer in {answer_example('answer')}: a name or a year, and nothing "
            "else. It ends the episode.",
        ]
        if self.own_search:
            parts.insert(
                2,
                "Search the library with the tool `search`, or by writing <search>words</search>; "
                f"a search shows the {self.k} documents that match best. Then answer in a turn "
                f"without a search. There are {self.turns} turns.",
            )
        return "\n\n".join(parts)

    def _search_results(self, requested: Sequence[Search], *, is_beside: bool) -> Step:
        texts = [self._searched(search) for search in requested[:_MOST_AT_ONCE]]
        not_made = len(requested) - len(texts)
        if not_made:
            # A call beside the text has a result each; searches within it share one.
            refusal = f"Not made: {_MOST_AT_ONCE} searches are made at once."
            texts += [refusal] * (not_made if is_beside else 1)
        error = {"action_error": "invalid"} if all(search.error for search in requested) else {}
        if not is_beside:
            results = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in texts)
            return self._going_on(results, error)
        pairs = zip(requested, texts, strict=True)
        messages = tuple(Message("tool", text, call_id=search.call_id) for search, text in pairs)
        return self._going_on(messages, error)

    def _searched(self, search: Search) -> str:
        if search.query is None:
            return search.error or ""
        self.searched.append(search.query[:200])
        places = self.world.index.search(search.query, k=self.k)
        self.read += [place for place in places if place not in self.read]
        return shown([self.world.documents[place] for place in places])

    def _going_on(self, observation: Observation, facts: Mapping[str, Any]) -> Step:
        is_over = self.turn + 1 >= self.turns
        return Step(observation, 0.0, False, is_over, self._info(facts, is_right=False))

    def _info(self, facts: Mapping[str, Any], *, is_right: bool) -> dict[str, Any]:
        return {"success": is_right, "world": self.number, "hops": self.hops, **facts}


def shown(documents: Sequence[Document]) -> str:
    """Return what a policy reads of the documents that were found.

    >>> print(shown([Document("d7", "Osk", "Osk lies between two hills.")]))
    [1] document d7: Osk
    Osk lies between two hills.
    """
    if not documents:
        return "No document matches. Try other words."
    return "\n\n".join(
        f"[{number}] document {document.id}: {document.title}\n{document.text}"
        for number, document in enumerate(documents, 1)
    )


def _check(*limits: tuple[bool, str]) -> None:
    problems = [problem for holds, problem in limits if not holds]
    if problems:
        raise BadArguments(
            f"Worlds cannot be made: {'; '.join(problems)}. Choose within these limits.",
            subject="Worlds",
            problems=problems,
        )
