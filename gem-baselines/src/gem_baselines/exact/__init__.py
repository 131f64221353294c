"""What an environment allows: the best, the worst and the random play, exactly where it is small.

Asks environments through what each of them has (snapshots, `sample_action`, `solve`), with chance
enumerated. Knows no environment by name, and nothing about learning.
"""
