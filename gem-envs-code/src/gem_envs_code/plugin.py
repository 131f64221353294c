"""What this pack provides, as data. Imports `gem.specs` and nothing else."""

from __future__ import annotations

from gem.specs import DataSource, EnvSpec, ObsoleteKwarg, PluginManifest

__all__ = ["plugin"]

_REQUIRES = ("gem-tools>=0.1,<0.2",)
_AS_THERE = "as published there"
_OBSOLETE = {
    "dataset": ObsoleteKwarg(instead="data"),
    "dataset_name": ObsoleteKwarg(instead="source.hub"),
    "question_key": ObsoleteKwarg(instead="fields.question"),
    "test_key": ObsoleteKwarg(instead="fields.tests"),
    "max_steps": ObsoleteKwarg(),  # an episode has one turn
    "max_workers": ObsoleteKwarg(),
    "use_mp": ObsoleteKwarg(),
    "verbose": ObsoleteKwarg(),
}
"""What these environments took in earlier releases."""


def _spec(id: str, summary: str, source: DataSource, **kwargs: float) -> EnvSpec:
    source_data = source.model_dump(mode="json", exclude_defaults=True)
    return EnvSpec(
        id=id,
        target="gem_envs_code.problem:CodeProblem",
        kwargs={"source": source_data, **kwargs},
        compat_kwargs={"format_error_reward": -0.1},
        summary=summary,
        requires=_REQUIRES,
        blocking=False,  # grading is awaited; what may wait, loading, is done by the constructor
        source=f"{source.hub} on the Hugging Face Hub, split {source.split}",
        licence=source.licence,
        probe="gem_envs_code.probing:lacks",
        obsolete_kwargs=_OBSOLETE,
    )


def _contest(name: str, split: str) -> DataSource:
    return DataSource(
        hub=f"axon-rl/{name}",
        split=split,
        role="train" if split == "train" else "eval",
        fields={"question": "problem"},
        licence=_AS_THERE,
        homepage=f"https://huggingface.co/datasets/axon-rl/{name}",
    )


_HUMAN_EVAL = DataSource(
    hub="openai/openai_humaneval",
    split="test",
    role="eval",
    fields={
        "question": "prompt",
        "tests": "test",
        "function": "entry_point",
        "given": "prompt",
        "solution": "canonical_solution",
    },
    licence="MIT",
    homepage="https://github.com/openai/human-eval",
)

_MBPP = DataSource(
    hub="google-research-datasets/mbpp",
    config="full",
    split="test",
    role="eval",
    fields={
        "question": "text",
        "tests": "test_list",
        "given": "test_setup_code",
        "solution": "code",
    },
    licence="CC BY 4.0",
    homepage="https://github.com/google-research/google-research/tree/master/mbpp",
)

plugin = PluginManifest(
    name="code",
    summary="Programming problems graded by their tests, in a sandbox.",
    envs=(
        _spec(
            "code:CodeContest",
            "Problems of programming contests.",
            _contest("CodeContest", "train"),
        ),
        _spec(
            "code:Taco8k",
            "Problems of TACO: programs and functions.",
            _contest("TACO-8k", "train"),
        ),
        _spec(
            "code:PrimeIntellect15k",
            "Problems that PrimeIntellect collected: programs and functions.",
            _contest("PrimeIntellect-15k", "train"),
        ),
        _spec(
            "eval:CodeContest",
            "Problems of programming contests, kept apart for evaluation.",
            _contest("CodeContest", "test"),
        ),
        _spec("code:HumanEval", "Functions to complete from their docstrings.", _HUMAN_EVAL),
        _spec(
            "code:MBPP",
            "Short functions, each from a sentence and assertions.",
            _MBPP,
            time_limit_s=10.0,  # some of the published solutions take seconds
        ),
    ),
    published={"gem.envs.code_env:CodeEnv": "gem_envs_code.gem_llm:CodeEnv"},
)
