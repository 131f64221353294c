"""Exact policy gradients of small environments, and how far estimators are from them.

Everything is found by enumeration: the trajectories of an environment through `exact`, and every
batch of them where there are few enough. Estimators are those of `training.advantages`, as they
are shipped. Knows nothing about how a policy learns.
"""
