"""What this distribution provides: adapters for training frameworks, backends, others' games."""

from __future__ import annotations

from gem.specs import AdapterSpec, CheckHints, EnvSpec, ExecutorSpec, PluginManifest

plugin = PluginManifest(
    name="integrations",
    summary="Adapters for training frameworks; backends and games from other projects.",
    adapters=(
        AdapterSpec(
            id="oat",
            target="gem_integrations.oat:EnvActorMixin",
            summary="Play environments in the actors of Oat, one transition a turn.",
            requires=("oat-llm>=0.2.4,<0.3",),
        ),
        AdapterSpec(
            id="openrlhf",
            target="gem_integrations.openrlhf:executor",
            summary="Play an environment in OpenRLHF's rollout actors.",
            requires=("openrlhf>=0.11.2,<0.12",),
        ),
        AdapterSpec(
            id="rl2",
            target="gem_integrations.rl2:environment",
            summary="Play an environment in RL2's sample groups, partial rollouts included.",
        ),
        AdapterSpec(
            id="roll",
            target="gem_integrations.roll:TokenEnvManager",
            summary="Play environments in ROLL's managers of environments.",
        ),
        AdapterSpec(
            id="tinker",
            target="gem_integrations.tinker:GemDatasetBuilder",
            summary="Play environments by Tinker's cookbook, which samples and trains.",
            requires=("tinker>=0.38,<0.39", "tinker-cookbook>=0.5,<0.6"),
        ),
        AdapterSpec(
            id="trl",
            target="gem_integrations.trl:rollout_func",
            summary="Play an environment in TRL's GRPOTrainer, with its own model.",
            requires=("trl>=1.16,<1.17",),
        ),
        AdapterSpec(
            id="verl",
            target="gem_integrations.verl:EnvAgentLoop",
            summary="Play an environment in verl's agent loop workers.",
            requires=("verl>=0.9.1,<0.10",),
        ),
    ),
    envs=(
        EnvSpec(
            id="pettingzoo:Game-v0",
            target="gem_integrations.pettingzoo:PettingZooGame",
            kwargs={"game": "classic/tictactoe_v3"},
            summary="A game of PettingZoo, which `game` names: each of its agents is a seat.",
            requires=("pettingzoo>=1.27,<1.28",),
            source="The game's own, by its seed.",
            licence="MIT",
            check=CheckHints(fixed_start=True),
        ),
    ),
    executors=(
        ExecutorSpec(
            id="ray",
            target="gem_integrations.ray.executor:ray_host",
            summary="Hold environments in the actors of a Ray cluster, on one machine or many.",
            requires=("ray>=2.40",),
        ),
    ),
)
