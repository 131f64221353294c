"""What this pack provides, as data. Imports `gem.specs` and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from gem.specs import DataSource, EnvSpec, PluginManifest

__all__ = ["plugin"]

_PUBLISHED = {"question": "problem"}


def _spec(id: str, summary: str, source: DataSource, homepage: str = "") -> EnvSpec:
    where = f"{source.hub} on the Hugging Face Hub, split {source.split}"
    return EnvSpec(
        id=id,
        target="gem_envs_code.problem:CodeProblem",
        kwargs={"source": source.model_dump(exclude_defaults=True)},
        summary=summary,
        requires=("gem-tools>=0.1,<0.2",),
        blocking=False,  # grading is awaited; loading the table is done by the constructor
        source=where,
        licence=source.licence,
    )


def _hub(
    hub: str, role: str, *, split: str, fields: Mapping[str, str], licence: str
) -> DataSource:
    return DataSource.model_validate(
        {
            "hub": hub,
            "split": split,
            "role": role,
            "fields": fields,
            "licence": licence,
            "homepage": f"https://huggingface.co/datasets/{hub}",
        }
    )


_AS_THERE = "as published there"

plugin = PluginManifest(
    name="code",
    summary="Programming problems graded by their tests, in a sandbox.",
    envs=(
        _spec(
            "code:CodeContest",
            "Problems of programming contests, from stdin to stdout.",
            _hub("axon-rl/CodeContest", "train", split="train", fields=_PUBLISHED, licence=_AS_THERE),
        ),
        _spec(
            "code:Taco8k",
            "Problems of TACO: programs from stdin to stdout, and functions.",
            _hub("axon-rl/TACO-8k", "train", split="train", fields=_PUBLISHED, licence=_AS_THERE),
        ),
        _spec(
            "code:PrimeIntellect15k",
            "Verifiable problems of PrimeIntellect: programs and functions.",
            _hub(
                "axon-rl/PrimeIntellect-15k",
                "train",
                split="train",
                fields=_PUBLISHED,
                licence=_AS_THERE,
            ),
        ),
        _spec(
            "eval:CodeContest",
            "Problems of programming contests that are kept apart for evaluation.",
            _hub("axon-rl/CodeContest", "eval", split="test", fields=_PUBLISHED, licence=_AS_THERE),
        ),
        _spec(
            "code:HumanEval",
            "Functions to be completed from their docstrings.",
            _hub(
                "openai/openai_humaneval",
                "eval",
                split="test",
                fields={
                    "question": "prompt",
                    "tests": "test",
                    "function": "entry_point",
                    "given": "prompt",
                    "solution": "canonical_solution",
                },
                licence="MIT",
            ),
        ),
        _spec(
            "code:MBPP",
            "Short functions from a sentence and three assertions.",
            _hub(
                "google-research-datasets/mbpp",
                "eval",
                split="test",
                fields={
                    "question": "text",
                    "tests": "test_list",
                    "given": "test_setup_code",
                    "solution": "code",
                },
                licence="CC BY 4.0",
            ),
        ),
    ),
)
