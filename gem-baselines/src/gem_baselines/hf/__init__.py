"""A causal language model of transformers as a policy that plays by tokens and learns.

`gem_baselines.hf.policy` is the way in, and imports torch and transformers as a policy is made.
Knows nothing about environments or estimators.
"""
