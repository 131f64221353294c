"""A processor of images, and an environment that shows them, for the adapters that take images."""

from __future__ import annotations

import struct
import zlib
from typing import Any

from harness import CLOSER, IMAGE, OPENER, chat_tokenizer
from tokenizers import AddedToken
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen2_vl.processing_qwen2_vl import Qwen2VLProcessor
from transformers.processing_utils import ProcessorMixin

import gem
from gem.content import ImagePart, TextPart

__all__ = ["CHATML", "GALLERY", "Gallery", "SightedProcessor", "chat_processor", "png"]

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}"
    f"<|vision_start|>{IMAGE}<|vision_end|>"
    "{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}"
    f"{CLOSER}\n"
    "{% endfor %}{% if add_generation_prompt %}" + OPENER + "{% endif %}"
)
"""ChatML with images, as Qwen2-VL's models have it."""

SIZES = ((56, 28), (84, 56), (28, 28), (56, 84))
"""Width and height of the images in pixels, turn by turn: 2, 6, 1 and 6 tokens."""


def png(width: int, height: int, shade: int) -> bytes:
    """Return an image of one colour as the bytes of a PNG file."""
    row = b"\0" + bytes([shade, 255 - shade, 7]) * width
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(row * height)), (b"IEND", b"")]
    written = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


class Gallery(gem.Env):
    """Shows a picture each turn and pays 1, 2, 3, ...; the first of them only at turn `begins_at`.

    With `spells` its text spells a placeholder, as one that quotes the model may well do.
    """

    def __init__(self, length: int = 3, begins_at: int = 0, spells: bool = False) -> None:
        self.length = length
        self.begins_at = begins_at
        self.spells = spells

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        return self._shown(0), {}

    def step(self, action: str) -> gem.Step:
        now = self.turn + 1
        return gem.Step(self._shown(now), float(now), now >= self.length, False, {})

    def _shown(self, turn: int) -> Any:
        question = f"Picture {turn} of {self.episode_seed}: which colour?"
        if self.spells:
            question += IMAGE
        if turn < self.begins_at:
            return question
        width, height = SIZES[turn % len(SIZES)]
        shade = (turn * 40 + (self.episode_seed or 0)) % 256
        return (TextPart("Look:\n"), ImagePart(png(width, height, shade)), TextPart(question))


GALLERY = gem.register("contract:Gallery", "vision:Gallery").id


class SightedProcessor(Qwen2VLProcessor):  # type: ignore[misc]
    """Qwen2-VL's processor without videos, which need torchvision."""

    def __init__(self, image_processor: Any, tokenizer: Any, chat_template: str) -> None:
        self.image_token = IMAGE
        self.video_token = "<|video_pad|>"
        self.image_token_id = tokenizer.convert_tokens_to_ids(self.image_token)
        self.video_token_id = tokenizer.convert_tokens_to_ids(self.video_token)
        ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)


def chat_processor() -> SightedProcessor:
    """Return a processor whose images and whose expansion are Qwen2-VL's; it talks by `CHATML`."""
    tokenizer = chat_tokenizer()
    names = ("<|vision_start|>", "<|vision_end|>", IMAGE, "<|video_pad|>")
    tokenizer.add_tokens([AddedToken(name, special=True) for name in names], special_tokens=True)
    pixels = Qwen2VLImageProcessorPil(min_pixels=28 * 28, max_pixels=28 * 28 * 64)
    return SightedProcessor(pixels, tokenizer, chat_template=CHATML)
