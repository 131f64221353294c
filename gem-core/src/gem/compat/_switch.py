"""The switch `compat`: what an environment and its wrappers become with it, as data.

Knows nothing about how they are made.
"""

from __future__ import annotations

from gem.registry._catalogue import wrapper_spec
from gem.registry._making import WrapperLike, ref_of
from gem.specs import EnvSpec, WrapperRef

__all__ = ["ID", "as_published", "wrapper_as_published"]

ID = "compat"
"""The wrapper that such an environment has innermost."""


def as_published(spec: EnvSpec) -> EnvSpec:
    """Return the spec of an environment that behaves as gem-llm's of that id did.

    Its kwargs are those that the pack states for this (`compat_kwargs`), and the wrapper `compat`
    is its innermost. All of it is data: what is made of it is recorded, saved and played again
    like any other. A spec that is one already is returned as it is.

    >>> from gem.specs import EnvSpec
    >>> as_published(EnvSpec(id="demo:Echo", target="gem.testing.envs:Echo")).wrappers[0].id
    'compat'
    """
    # A record of such an environment is made again with the switch still on: once is enough.
    if any(layer.id == ID for layer in spec.wrappers):
        return spec
    layers = [WrapperRef(id=ID), *map(_layer_as_published, spec.wrappers)]
    # The pack's last: they are what made the id behave as it did there.
    kwargs = {**spec.kwargs, **spec.compat_kwargs}
    return spec.model_copy(update={"kwargs": kwargs, "wrappers": tuple(layers)})


def wrapper_as_published(like: WrapperLike) -> WrapperLike:
    """Return a wrapper of an id in the form that gem-llm had under that id, if it had another.

    Wrappers that are given as callables stay what they are.
    """
    return like if callable(like) else _layer_as_published(ref_of(like))


def _layer_as_published(layer: WrapperRef) -> WrapperRef:
    other = wrapper_spec(layer.id).compat_target
    return layer if other is None else layer.model_copy(update={"id": other})
