"""What this pack provides, as data. Imports `gem.specs` and nothing else."""

from __future__ import annotations

from typing import Any, Literal

from gem.specs import DataSource, EnvSpec, ObsoleteKwarg, PluginManifest, PolicySpec

__all__ = ["plugin"]

_UNKNOWN = "as published there"
_LOGIC_LM = "https://github.com/teacherpeterpan/Logic-LLM/blob/main/data"
_OBSOLETE = {
    "dataset": ObsoleteKwarg(instead="data"),
    "dataset_name": ObsoleteKwarg(instead="source.hub"),
    "question_key": ObsoleteKwarg(instead="fields.question"),
    "answer_key": ObsoleteKwarg(instead="fields.answer"),
    "extract_boxed": ObsoleteKwarg(
        instead="answer_form", values={"true": "boxed", "false": "answer"}
    ),
    "load_from_cache_file": ObsoleteKwarg(),
    "max_steps": ObsoleteKwarg(),  # an episode has one turn
    "use_mp": ObsoleteKwarg(),
    "verbose": ObsoleteKwarg(),
}
"""What the environments over data sets took in earlier releases."""


def _open(
    id: str,
    source: DataSource,
    summary: str,
) -> EnvSpec:
    # The published questions are asked without the articles that some tables bring along.
    return _spec(id, "gem_envs_qa.question:Question", source, summary, shows_context=False)


def _choice(id: str, source: DataSource, summary: str, **kwargs: Any) -> EnvSpec:
    return _spec(id, "gem_envs_qa.choice:Choice", source, summary, **kwargs)


def _spec(id: str, target: str, source: DataSource, summary: str, **kwargs: Any) -> EnvSpec:
    where = f"{source.hub} on the Hugging Face Hub" if source.hub else source.homepage
    return EnvSpec(
        id=id,
        target=target,
        kwargs={"source": source, **kwargs},
        summary=summary,
        blocking=False,  # what may wait, loading the table, is done by the constructor
        source=where,
        licence=source.licence,
        obsolete_kwargs=_OBSOLETE,
    )


def _hub(
    hub: str,
    split: str,
    role: Literal["train", "eval"],
    *,
    licence: str = _UNKNOWN,
    question: str = "question",
) -> DataSource:
    fields = {"question": question} if question != "question" else {}
    return DataSource(hub=hub, split=split, role=role, licence=licence, fields=fields)


def _searched(id: str, split: str, licence: str, summary: str) -> EnvSpec:
    return _open(id, _hub("axon-rl/search-eval", split, "eval", licence=licence), summary)


def _ruletaker(depth: int) -> EnvSpec:
    return _choice(
        f"logic:RuleTaker-d{depth}",
        _hub(f"axon-rl/RuleTaker-d{depth}-70k", "train", "train"),
        f"Does a statement follow from facts and rules? At most {depth} steps deep.",
        options=["True", "False"],
        shows_context=False,  # the facts and rules are part of the question
        answer_form="boxed",
    )


def _logic(name: str, file: str, licence: str, summary: str) -> EnvSpec:
    page = f"{_LOGIC_LM}/{name}/{file}"
    source = DataSource(role="eval", licence=licence, homepage=page)
    return _choice(f"logic:{name}", source, summary)


plugin = PluginManifest(
    name="qa",
    summary="Question answering and logic with verifiable answers.",
    envs=(
        _open(
            "qa:NaturalQuestions",
            _hub(
                "axon-rl/NaturalQuestions",
                "train",
                "train",
                licence="CC BY-SA 3.0",
                question="problem",
            ),
            "Questions that people asked a search engine.",
        ),
        _open(
            "qa:HotpotQA",
            _hub("axon-rl/HotpotQA", "train", "train", licence="CC BY-SA 4.0", question="problem"),
            "Questions that take two articles of an encyclopedia to answer.",
        ),
        EnvSpec(
            id="qa:Worlds-v0",
            target="gem_envs_qa.worlds.environment:Worlds",
            summary="Questions about an invented world, answered by searching its library.",
            blocking=False,
            source="generated from the seed",
        ),
        *(_ruletaker(depth) for depth in (0, 1, 2, 3, 5)),
        _logic(
            "ProntoQA", "dev.json", "Apache-2.0", "Is a statement true in a fictional ontology?"
        ),
        _logic(
            "ProofWriter",
            "test.json",
            "CC BY 4.0",
            "Is a statement true, false or unknown, given facts and rules?",
        ),
        _logic(
            "LogicalDeduction",
            "dev.json",
            "Apache-2.0",
            "In which order do things stand, by what is said of it?",
        ),
        _logic(
            "FOLIO",
            "dev.json",
            "CC BY-SA 4.0",
            "Is a conclusion true, false or uncertain, given premises in natural language?",
        ),
        _open(
            "eval:QaOpen",
            _hub("google-research-datasets/nq_open", "validation", "eval", licence="CC BY-SA 3.0"),
            "Natural Questions, open: the whole development set.",
        ),
        _searched("eval:2Wiki", "2wiki", "Apache-2.0", "Questions over two articles or more."),
        _searched("eval:PopQA", "popqa", "MIT", "Questions on rarely named things."),
        _searched("eval:TriviaQA", "tq", "Apache-2.0", "Questions of trivia sites."),
        _searched("eval:HotpotQA", "hotpotqa", "CC BY-SA 4.0", "A sample of HotpotQA."),
        _searched("eval:Bamboogle", "bamboogle", "MIT", "Questions no search answers at once."),
        _searched("eval:NaturalQuestions", "nq", "CC BY-SA 3.0", "A sample of Natural Questions."),
        _searched("eval:Musique", "musique", "CC BY 4.0", "Questions of two to four steps."),
    ),
    policies=(
        PolicySpec(
            id="searcher",
            target="gem_envs_qa.worlds.searcher:Searcher",
            summary="Answers the questions of qa:Worlds-v0 by searching, from what it reads.",
        ),
    ),
    published={
        "gem.envs.qa_env:QaEnv": "gem_envs_qa.gem_llm:QaEnv",
        "gem.utils.qa_em:em_check": "gem_envs_qa.gem_llm:em_check",
        "gem.utils.qa_em:normalize_answer": "gem_envs_qa.gem_llm:normalize_answer",
    },
)
