"""What this pack provides, as data. Imports `gem.specs` and nothing else."""

from __future__ import annotations

from gem.specs import EnvSpec, PluginManifest, PolicySpec

__all__ = ["plugin"]


def _tau(id: str, benchmark: str, summary: str, page: str) -> EnvSpec:
    return EnvSpec(
        id=id,
        target="gem_envs_agents.tau.environment:Tau",
        kwargs={"benchmark": benchmark},
        summary=summary,
        blocking=False,  # what may wait, reading the files, is done by the constructor
        source=page,
        licence="MIT",
    )


plugin = PluginManifest(
    name="agents",
    summary="Customer service with users that are proved.",
    envs=(
        EnvSpec(
            id="agents:Service-v0",
            target="gem_envs_agents.service.environment:Service",
            summary="Serve the customers of a generated shop, by its rules.",
            blocking=False,
            source="generated from the seed",
        ),
        _tau(
            "tau:Retail-2024",
            "retail-2024",
            "Serve the customers of a shop: the published tasks of 2024.",
            "https://github.com/sierra-research/tau-bench",
        ),
        _tau(
            "tau:Airline-2024",
            "airline-2024",
            "Serve the customers of an airline: the published tasks of 2024.",
            "https://github.com/sierra-research/tau-bench",
        ),
        _tau(
            "tau:Retail-v1.0.1",
            "retail-v1.0.1",
            "Serve the customers of a shop: the corrected tasks.",
            "https://github.com/sierra-research/tau2-bench",
        ),
    ),
    policies=(
        PolicySpec(
            id="first-reading",
            target="gem_envs_agents.service.first_reading:FirstReading",
            summary="Serves agents:Service-v0 by the first reading of each request.",
        ),
    ),
)
