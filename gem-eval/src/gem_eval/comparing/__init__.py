"""Compare policies on what they have both played: pairs, the statistics of pairs, verdicts."""
