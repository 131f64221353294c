"""What this distribution provides: policies for evaluation, and commands of `gem-env`."""

from __future__ import annotations

from gem.specs import PluginManifest, PolicySpec

plugin = PluginManifest(
    name="eval",
    summary="Evaluation: policies, run folders, resume, and summaries with intervals.",
    policies=(
        PolicySpec(
            id="random",
            target="gem_eval.policies.sampler:Sampler",
            summary="A valid action, drawn by the environment.",
        ),
        PolicySpec(
            id="solver",
            target="gem_eval.policies.solver:Solver",
            summary="The environment's own solution of its current state.",
        ),
        PolicySpec(
            id="noop",
            target="gem_eval.policies.noop:Noop",
            summary="An empty answer, always.",
        ),
        PolicySpec(
            id="human",
            target="gem_eval.policies.human:Human",
            summary="A person at this terminal, on the screen of `gem-env play`.",
        ),
        PolicySpec(
            id="scripted",
            target="gem_eval.policies.scripted:load",
            summary="A policy of your own: a class made without arguments, or a function.",
            takes_argument="MODULE:CLASS",
        ),
        PolicySpec(
            id="openai",
            target="gem_eval.policies.openai:OpenAIPolicy",
            summary="A model behind any server that speaks the OpenAI API.",
            takes_argument="MODEL@BASE_URL",
        ),
        PolicySpec(
            id="hf",
            target="gem_eval.policies.local_model:LocalModelPolicy",
            summary="A model in a folder on this machine, by transformers.",
            takes_argument="PATH",
            requires=("torch>=2.4", "transformers>=4.56"),
        ),
    ),
    hooks=("gem_eval.hooks",),
)
