"""A small causal transformer: the model, a sampler that keeps its cache, and the policy of both.

`gem_baselines.transformer.policy` is the way in, and imports torch as a policy is made. Knows
nothing about environments or estimators.
"""
