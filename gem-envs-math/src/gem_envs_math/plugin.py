"""What this pack provides, as data. Imports `gem.specs` and nothing else."""

from __future__ import annotations

from gem.specs import DataSource, EnvSpec, ObsoleteKwarg, PluginManifest

__all__ = ["plugin"]

_UNKNOWN = "as published there"
_GRADED = ("math-verify>=0.9",)
_DRAWN = ("pillow>=11.0",)
_OBSOLETE = {
    "dataset": ObsoleteKwarg(instead="data"),
    "dataset_name": ObsoleteKwarg(instead="source.hub"),
    "question_key": ObsoleteKwarg(instead="fields.question"),
    "answer_key": ObsoleteKwarg(instead="fields.answer"),
    "max_steps": ObsoleteKwarg(),  # an episode has one turn
    "use_mp": ObsoleteKwarg(),
    "verbose": ObsoleteKwarg(),
}
"""What the environments over data sets took in earlier releases."""


def _dataset(id: str, source: DataSource, summary: str) -> EnvSpec:
    """Return the spec of an environment over a data set whose answers are any mathematics."""
    return EnvSpec(
        id=id,
        target="gem_envs_math.dataset_math:DatasetMath",
        kwargs={"source": source},
        summary=summary,
        requires=_GRADED,
        source=f"{source.hub} on the Hugging Face Hub",
        licence=source.licence,
        obsolete_kwargs=_OBSOLETE,
    )


def _numbers(id: str, source: DataSource, summary: str) -> EnvSpec:
    """Return the spec of an environment over a data set whose answers are numbers."""
    return EnvSpec(
        id=id,
        target="gem_envs_math.dataset_math:DatasetMath",
        kwargs={"grader": "number", "source": source},
        summary=summary,
        blocking=False,  # what may wait, loading the table, is done by the constructor
        source=f"{source.hub} on the Hugging Face Hub",
        licence=source.licence,
        obsolete_kwargs=_OBSOLETE,
    )


def _train(hub: str, *, licence: str = _UNKNOWN, homepage: str = "") -> DataSource:
    return DataSource(
        hub=hub, fields={"question": "problem"}, role="train", licence=licence, homepage=homepage
    )


def _eval(split: str, *, licence: str = _UNKNOWN, homepage: str = "") -> DataSource:
    return DataSource(
        hub="axon-rl/math-eval",
        split=split,
        fields={"question": "problem"},
        role="eval",
        licence=licence,
        homepage=homepage,
    )


_GENERATED = (
    EnvSpec(
        id="math:Arithmetic-v0",
        target="gem_envs_math.arithmetic:Arithmetic",
        summary="The value of an arithmetic expression, generated from the seed.",
        blocking=False,
        source="generated from the seed",
    ),
    EnvSpec(
        id="math:Diagram-v0",
        target="gem_envs_math.diagram.environment:Diagram",
        summary="A question about a figure (angles, areas, charts, clocks), drawn from the seed.",
        requires=_DRAWN,
        blocking=False,
        source="generated from the seed",
    ),
)
_TRAINING = (
    _numbers(
        "math:GSM8K",
        _train(
            "axon-rl/GSM-8k", licence="MIT", homepage="https://github.com/openai/grade-school-math"
        ),
        "Word problems of grade school mathematics, each with one number as answer.",
    ),
    _dataset(
        "math:ASDiv2K",
        _train("axon-rl/ASDIV-2k", homepage="https://github.com/chaochun/nlu-asdiv-dataset"),
        "Word problems of elementary school, of many kinds.",
    ),
    _dataset(
        "math:Math12K",
        _train("axon-rl/MATH-12k", homepage="https://github.com/hendrycks/math"),
        "Competition problems of the MATH data set: all but the 500 of eval:MATH500.",
    ),
    _dataset(
        "math:Math8K-3to5",
        _train("axon-rl/MATH-lvl3to5-8k", homepage="https://github.com/hendrycks/math"),
        "The harder competition problems of the MATH data set, levels 3 to 5.",
    ),
    _dataset(
        "math:Orz57K",
        _train(
            "axon-rl/ORZ-57k",
            homepage="https://github.com/Open-Reasoner-Zero/Open-Reasoner-Zero",
        ),
        "Problems collected by Open-Reasoner-Zero, of mixed origin.",
    ),
    _dataset(
        "math:DeepScaleR40K",
        _train("axon-rl/DeepScaleR-40K", homepage="https://github.com/agentica-project/rllm"),
        "Competition problems collected by DeepScaleR.",
    ),
    _numbers(
        "math:SVAMP",
        DataSource(
            hub="ChilleD/SVAMP",
            split="train",
            fields={"question": "question_concat", "answer": "Answer"},
            role="train",
            licence="MIT",
            homepage="https://github.com/arkilpatel/SVAMP",
        ),
        "Elementary word problems, varied so that a pattern of words gives no answer away.",
    ),
    EnvSpec(
        id="math:Geometry3K",
        target="gem_envs_math.geometry:VisualMath",
        kwargs={
            "source": DataSource(
                hub="axon-rl/geometry3k",
                split="train",
                fields={"question": "problem"},
                role="train",
                licence=_UNKNOWN,
                homepage="https://lupantech.github.io/inter-gps/",
            )
        },
        summary="Questions about a geometrical figure, which is shown.",
        requires=_GRADED,
        source="axon-rl/geometry3k on the Hugging Face Hub",
        licence=_UNKNOWN,
        obsolete_kwargs={**_OBSOLETE, "image_key": ObsoleteKwarg(instead="fields.images")},
    ),
)
_EVALUATION = (
    _dataset(
        "eval:MATH500",
        _eval("math", licence="MIT", homepage="https://github.com/openai/prm800k"),
        "500 competition problems of the MATH data set.",
    ),
    _dataset("eval:AMC", _eval("amc"), "Problems of the American Mathematics Competitions."),
    _dataset(
        "eval:OlympiadBench",
        _eval("olympiad_bench", homepage="https://github.com/OpenBMB/OlympiadBench"),
        "Olympiad problems with a final answer.",
    ),
    _dataset(
        "eval:Minerva",
        _eval("minerva"),
        "Undergraduate problems of science and mathematics.",
    ),
    _dataset(
        "eval:AIME24",
        _eval("aime24"),
        "The American Invitational Mathematics Examination of 2024.",
    ),
)

plugin = PluginManifest(
    name="math",
    summary="Mathematical problems with verifiable answers.",
    envs=(*_GENERATED, *_TRAINING, *_EVALUATION),
    published={"gem.envs.math_env:MathEnv": "gem_envs_math.gem_llm:MathEnv"},
)
