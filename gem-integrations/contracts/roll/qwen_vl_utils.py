"""Stands for qwen-vl-utils, which needs torchvision: the name that ROLL's collator asks for."""

from __future__ import annotations

from typing import Any


def fetch_image(asked: dict[str, Any], image_patch_size: int) -> Any:
    """Return the image as it is: those of the contract have sizes that need no change."""
    return asked["image"]
