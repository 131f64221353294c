"""Stand in for what of Oat's needs a GPU to be installed: vllm, launchpad and deepspeed.

vllm's `LLM` is the inference engine, which the contract scripts. launchpad starts processes, and
deepspeed trains: Oat's modules import both, and nothing here calls them. Everything else that the
contract runs is Oat's own.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

ABSENT: dict[str, dict[str, Any]] = {
    "vllm": {"__version__": "0.8.4", "SamplingParams": SimpleNamespace, "LLM": object},
    "vllm.lora": {},
    "vllm.lora.request": {"LoRARequest": object},
    "launchpad": {"stop": lambda: None},
    "launchpad.nodes": {},
    "launchpad.nodes.python": {"local_multi_processing": object},
    "deepspeed": {},
    "deepspeed.ops": {},
    "deepspeed.ops.adam": {"DeepSpeedCPUAdam": object, "FusedAdam": object},
    "deepspeed.runtime": {},
    "deepspeed.runtime.zero": {},
    "deepspeed.runtime.zero.partition_parameters": {"ZeroParamStatus": object},
    "deepspeed.utils": {"safe_get_full_grad": object},
}
"""The modules that are stubs, with all that Oat asks of them as it is imported."""


for name, attributes in ABSENT.items():
    stub = ModuleType(name)
    stub.__spec__, stub.__path__ = ModuleSpec(name, None), []
    vars(stub).update(attributes)
    sys.modules[name] = stub
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, stub)
