"""Questions about figures, all of it drawn from the seed: `math:Diagram-v0`."""
