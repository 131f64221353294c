"""What this pack provides, as data. Imports `gem.specs` and nothing else."""

from __future__ import annotations

from gem.specs import EnvSpec, PluginManifest, PolicySpec

__all__ = ["plugin"]


_PAGE = "https://github.com/sierra-research"
_PUBLISHED = (
    ("Retail-2024", "Serve the customers of a shop: the published tasks of 2024.", "tau-bench"),
    ("Airline-2024", "Serve the customers of an airline: tasks of 2024.", "tau-bench"),
    ("Retail-v1.0.1", "Serve the customers of a shop: the corrected tasks.", "tau2-bench"),
)


def _tau(id: str, target: str, benchmark: str, summary: str, page: str) -> EnvSpec:
    return EnvSpec(
        id=id,
        target=f"gem_envs_agents.tau.environment:{target}",
        kwargs={"benchmark": benchmark},
        summary=summary,
        blocking=benchmark == "retail-v1.0.1",  # a judge may wait; the files are read before
        source=page,
        licence="MIT",
        probe="gem_envs_agents.tau.probing:published_files",
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
        EnvSpec(
            id="agents:ServiceOfTwo-v0",
            target="gem_envs_agents.service.environment:ServiceOfTwo",
            summary="An agent and a customer of a generated shop, each with tools and a database.",
            blocking=False,
            source="generated from the seed",
        ),
        *(
            _tau(f"tau:{name}", "Tau", name.lower(), summary, f"{_PAGE}/{page}")
            for name, summary, page in _PUBLISHED
        ),
        *(
            _tau(
                f"tau:{name}-OfTwo",
                "TauOfTwo",
                name.lower(),
                f"{summary[:-1]}, with a seat for the user.",
                f"{_PAGE}/{page}",
            )
            for name, summary, page in _PUBLISHED
        ),
    ),
    policies=(
        PolicySpec(
            id="customer",
            target="gem_envs_agents.users.customer:Customer",
            summary="The scripted user, in the user's seat of a service desk of two.",
        ),
        PolicySpec(
            id="do-nothing",
            target="gem_envs_agents.desk.do_nothing:DoNothing",
            summary="Says that everything is done until the user leaves: what that earns.",
            reference_for=("agents:Service*", "tau:*"),
            reference_beside={"user": "customer"},
        ),
        PolicySpec(
            id="first-reading",
            target="gem_envs_agents.service.first_reading:FirstReading",
            summary="Serves agents:Service-v0 by the first reading of each request.",
        ),
    ),
)
