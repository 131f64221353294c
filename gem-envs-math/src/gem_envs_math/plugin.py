"""What this pack provides, as data. Imports `gem.specs` and nothing else."""

from __future__ import annotations

from gem.specs import DataSource, EnvSpec, PluginManifest

__all__ = ["plugin"]

plugin = PluginManifest(
    name="math",
    summary="Mathematical problems with verifiable answers.",
    envs=(
        EnvSpec(
            id="math:Arithmetic-v0",
            target="gem_envs_math.arithmetic:Arithmetic",
            summary="The value of an arithmetic expression, generated from the seed.",
            blocking=False,
            source="generated from the seed",
        ),
        EnvSpec(
            id="math:GSM8K",
            target="gem_envs_math.dataset_math:DatasetMath",
            kwargs={
                "source": DataSource(
                    hub="axon-rl/GSM-8k",
                    fields={"question": "problem"},
                    role="train",
                    licence="MIT",
                    homepage="https://github.com/openai/grade-school-math",
                )
            },
            summary="Word problems of grade school mathematics, each with one number as answer.",
            blocking=False,  # what may wait, loading the table, is done by the constructor
            source="axon-rl/GSM-8k on the Hugging Face Hub, from openai/grade-school-math",
            licence="MIT",
        ),
    ),
)
