"""Conversations with images as tokens, by a model's processor: tokens in, tokens out, as for text.

The processor's template writes the conversation, and the processor makes of each image as many
placeholder tokens as its model wants. Knows nothing about any framework.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, Literal, Protocol

from gem.content import ImagePart, Message, Part, TextPart, normalise_text
from gem.errors import BadArguments, in_one_line
from gem.tokens import Chat, ChatCodec, OnRewrite, Sampled, Tokenizer

__all__ = ["ImageCodec", "Processor", "file_of", "image_parts", "opened", "parts_of"]

_MARK = "zqxj3"  # in no template
_TOKEN_NAMES = ("image_token", "video_token", "audio_token", "boi_token", "eoi_token")
"""Where processors keep how the tokens are written that no text may hold."""
_OF_TOKENS = ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids")
"""What a processor returns with an entry a token; all else is about images."""
_EXAMPLE = (448, 448)  # pixels: many tokens for every model that we know
_MOST_NEWEST = 16  # texts with images whose tokens are kept
_MOST_OPENED = 64  # images that are kept: each turn looks at all of its conversation


class Processor(Protocol):
    """What is asked of a processor: those of `transformers` for images and text have it."""

    tokenizer: Any

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any: ...

    def __call__(self, *, text: list[str], images: list[Any], **options: Any) -> Any: ...


class ImageCodec(ChatCodec):
    """A `ChatCodec` for models that see: messages may hold images, and tokens stand for them.

    Each image is as many tokens as the processor makes of it. Only what is new in a turn is given
    to the processor: what the model was given and said before stays as it was. `images` are those
    of a conversation as processors and engines take them, `inputs` what a model takes for them
    beside the tokens, `spans` where in the tokens each image stands.

    No text stands for an image: where a message spells a placeholder, a space is put into it. A
    model may sample one, and `cut` ends its answer there.

    `processor_options` are passed on to the processor with each image (`max_pixels`): give it those
    that the engine and the trainer have, or they make other tokens of an image.

    Raises BadArguments as a `ChatCodec` does, and with the first image where the template shows
    none, or numbers them, which cannot be done in a conversation that is only added to.
    """

    def __init__(
        self,
        processor: Processor,
        *,
        on_rewrite: OnRewrite = "split",
        stop_ids: Sequence[int] = (),
        template_options: Mapping[str, Any] | None = None,
        tool_format: str = "template",
        processor_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.processor = processor
        self._processor_options = dict(processor_options or {})
        # The episodes of a group begin alike, and an image of 1,000 tokens takes 0.1 s.
        self._newest: dict[tuple[str, tuple[ImagePart, ...]], list[int]] = {}
        super().__init__(
            _Templated(processor),
            on_rewrite=on_rewrite,
            stop_ids=stop_ids,
            template_options=template_options,
            tool_format=tool_format,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_newest": {}}  # it holds images, and other processes have others

    def images(self, messages: Sequence[Message]) -> list[Any]:
        """Return the images of a conversation in order, each an RGB image of Pillow.

        Do not change them: they are shared. Raises BadArguments for one that cannot be opened.
        """
        return [opened(part) for part in image_parts(messages)]

    def inputs(self, images: Sequence[Any], *, return_tensors: str = "np") -> dict[str, Any]:
        """Return what a model takes for images beside tokens, such as `pixel_values`.

        `images` are some that `images` returned: all of a sequence, or those of one turn. Empty
        where there are none. `return_tensors` is the processor's: "np", or "pt" for torch.
        """
        if not images:
            return {}
        text = self._placeholder * len(images)
        processed = self._processed(text, images, return_tensors=return_tensors)
        return {name: value for name, value in processed.items() if name not in _OF_TOKENS}

    def spans(self, ids: Sequence[int], count: int) -> list[tuple[int, int]]:
        """Return the first position of each image's tokens in a sequence, and one past its last.

        `count` is how many images there are. Raises BadArguments where their tokens are not so
        many runs: some models put other tokens between the rows of an image.
        """
        spans: list[tuple[int, int]] = []
        for at, id in enumerate(ids):
            if id != self._image_id:
                continue
            if spans and spans[-1][1] == at:
                spans[-1] = (spans[-1][0], at + 1)
            else:
                spans.append((at, at + 1))
        if len(spans) != count:
            raise _bad(
                "processor",
                f"writes {count} images as {len(spans)} runs of tokens, so they cannot be told "
                "apart. Choose a model whose template sets images apart, as those of Qwen do",
            )
        return spans

    def cut(self, sampled: Sampled) -> Sampled:
        """Return what a model said, up to a token that stands for an image.

        No image belongs to such a token: no engine could read on, and no trainer learn from it.
        """
        for at, id in enumerate(sampled.ids):
            if id in self.placeholders:
                logprobs = None if sampled.logprobs is None else sampled.logprobs[:at]
                return Sampled(sampled.ids[:at], logprobs, "other")
        return sampled

    @cached_property
    def placeholders(self) -> Mapping[int, str]:
        """The tokens that stand for images, videos and sounds, or enclose them, as written."""
        token_texts = [getattr(self.processor, name, None) for name in _TOKEN_NAMES]
        encoded = [self.encode(text) for text in token_texts if isinstance(text, str)]
        alone = [ids[0] for ids in encoded if len(ids) == 1]
        around = [id for id in self._example if id in self._special]
        return {
            id: self._tokenizer.decode([id], skip_special_tokens=False)
            for id in dict.fromkeys([*alone, *around])
        }

    @cached_property
    def _example(self) -> list[int]:
        """An image as tokens, none where the model takes no images."""
        from PIL import Image  # heavy: 0.1 s

        if self._image_text is None:
            return []
        try:
            return self._expanded(self._image_text, [Image.new("RGB", _EXAMPLE)])
        except BadArguments:  # said again where an environment shows an image
            return []

    @cached_property
    def _image_id(self) -> int:
        """The token of an image's longest run, -1 where there is none: names are by no rule."""
        runs = [(len([*run]), id) for id, run in groupby(self._example)]
        return max(runs, default=(0, -1))[1]

    @cached_property
    def _image_text(self) -> str | None:
        """What the template writes for an image, None where it shows none."""
        image = {"type": "image"}
        text = {"type": "text", "text": _MARK}
        try:
            without = self._render([_user([text])], (), opens=False)
            both = self._render([_user([image, text])], (), opens=False)
        except BadArguments:
            return None
        before, mark, _ = without.partition(_MARK)
        added, marked, _ = both[len(before) :].partition(_MARK)
        if not (mark and marked and both.startswith(before) and added.strip()):
            return None
        return added.strip()

    @cached_property
    def _placeholder(self) -> str:
        """What the template writes for every image. Raises BadArguments where it does not."""
        if self._image_text is None:
            raise _bad("processor", "has a chat template that shows no images. Use another model")
        image = _user([{"type": "image"}])
        answer = {"role": "assistant", "content": _MARK}
        twice = self._render([image, answer, image], (), opens=True)
        if twice.count(self._image_text) != 2:
            raise _bad(
                "processor",
                "has a chat template that shows later images otherwise than the first; one that "
                "numbers them has an option for it (`add_vision_id`), which must be off",
            )
        return self._image_text

    def _encoded(self, text: str, messages: Sequence[Message]) -> list[int]:
        parts = tuple(image_parts(messages))
        if not parts:
            return self.encode(text)
        ids = self._newest.get((text, parts))
        if ids is None:
            ids = self._shown_whole(text, self.images(messages))
            self._newest[text, parts] = ids
            if len(self._newest) > _MOST_NEWEST:
                del self._newest[next(iter(self._newest))]  # the oldest
        return list(ids)

    def _shown_whole(self, text: str, images: Sequence[Any]) -> list[int]:
        """Tokenise a text that shows all of these images. Raises BadArguments for any other."""
        shown_images = text.count(self._placeholder)
        if shown_images != len(images):
            raise _bad(
                "processor",
                f"has a chat template that shows {shown_images} of {len(images)} images of a turn. "
                "Show them as a user, or use another model",
            )
        return self._expanded(text, images)

    def _expanded(self, text: str, images: Sequence[Any]) -> list[int]:
        # The template has written what opens a text, where its model wants that.
        # Without lone surrogates, which its tokenizer refuses, as `encode` does for text alone.
        processed = self._processed(normalise_text(text), images, add_special_tokens=False)
        return [int(id) for id in processed["input_ids"][0]]

    def _processed(self, text: str, images: Sequence[Any], **options: Any) -> dict[str, Any]:
        try:
            all_options = {**self._processor_options, **options}
            return dict(self.processor(text=[text], images=[*images], **all_options))
        except Exception as error:
            reason = in_one_line(error, at_most=200)
            sizes = ", ".join(f"{image.width}x{image.height}" for image in images)
            raise _bad(
                "processor",
                f"cannot take images of {sizes} ({reason}). Show others, or use another model",
            ) from error

    def _content(self, message: Message) -> Any:
        content = message.content
        if isinstance(content, str) or not any(image_parts([message])):
            return self._harmless(str(super()._content(message)))
        assert self._placeholder  # what cannot be shown is refused before the template meets it
        return [
            {"type": "image"} if isinstance(part, ImagePart) else _text(self._harmless(part.text))
            for part in parts_of(message)
        ]

    def _harmless(self, text: str) -> str:
        """Return a text that no longer spells a token of images: a model might have written it."""
        for token in self.placeholders.values():
            text = text.replace(token, f"{token[:1]} {token[1:]}")
        return text

    def _tagged(self, results: Sequence[Message]) -> Any:
        if not any(image_parts(results)):
            return super()._tagged(results)
        parts: list[Any] = []
        for result in results:
            content = self._content(result)
            parts.append(_text("\n<tool_response>\n" if parts else "<tool_response>\n"))
            parts += [_text(content)] if isinstance(content, str) else content
            parts.append(_text("\n</tool_response>"))
        return parts

    def _with_instructions(self, chat: Chat, instructions: str) -> Chat:
        first, *rest = chat
        if isinstance(first["content"], str):
            return super()._with_instructions(chat, instructions)
        if first["role"] == "system":
            return [{**first, "content": [*first["content"], _text(f"\n\n{instructions}")]}, *rest]
        return [{**first, "content": [_text(f"{instructions}\n\n"), *first["content"]]}, *rest]


class _Templated:
    """A processor's tokenizer, as a codec takes one, with the template of the processor.

    Where that template knows parts alone, text is given to it as one.
    """

    def __init__(self, processor: Processor) -> None:
        self._tokenizer: Tokenizer = processor.tokenizer
        has_template = getattr(processor, "chat_template", None) is not None
        self._template = processor if has_template else processor.tokenizer
        self.eos_token_id = self._tokenizer.eos_token_id
        self.all_special_ids = self._tokenizer.all_special_ids
        self.added_tokens_decoder = getattr(self._tokenizer, "added_tokens_decoder", {})
        if hasattr(self._tokenizer, "clean_up_tokenization_spaces"):
            # A codec asks for its absence where it is there.
            self.clean_up_tokenization_spaces = self._tokenizer.clean_up_tokenization_spaces

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=add_special_tokens)

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool, **options: Any) -> str:
        return self._tokenizer.decode(token_ids, skip_special_tokens=skip_special_tokens, **options)

    def apply_chat_template(self, conversation: Chat, **options: Any) -> str:
        if self._knows_parts_alone:
            conversation = [
                {**message, "content": [_text(message["content"])]}
                if isinstance(message["content"], str)
                else message
                for message in conversation
            ]
        text: str = self._template.apply_chat_template(conversation, **options)
        return text

    @cached_property
    def _knows_parts_alone(self) -> bool:
        try:
            text = self._template.apply_chat_template([_user(_MARK)], tokenize=False)
        except Exception:  # noqa: BLE001 - a template may raise anything, and says so again with parts
            return True
        return _MARK not in text


def parts_of(message: Message) -> tuple[Part, ...]:
    """Return what a message says as parts; texts that follow each other are lines of one part.

    A suffix is a part of its own, and templates write parts without anything between them.
    """
    if isinstance(message.content, str):
        return (TextPart(message.content),)
    parts: list[Part] = []
    for part in message.content:
        above = parts[-1] if parts else None
        if isinstance(part, TextPart) and isinstance(above, TextPart):
            between = "" if above.text.endswith("\n") else "\n"
            parts[-1] = TextPart(f"{above.text}{between}{part.text}")
        else:
            parts.append(part)
    return tuple(parts)


def image_parts(messages: Sequence[Message]) -> Iterator[ImagePart]:
    """Yield the images of messages in order, as the environment gave them."""
    for message in messages:
        if not isinstance(message.content, str):
            yield from (part for part in message.content if isinstance(part, ImagePart))


@lru_cache(maxsize=_MOST_OPENED)
def opened(part: ImagePart) -> Any:
    """Return an image as processors take it: Pillow's, which comes with them, in RGB.

    Raises BadArguments for bytes that Pillow cannot read.
    """
    from PIL import Image  # heavy: 0.1 s

    try:
        return Image.open(io.BytesIO(part.image)).convert("RGB")
    except Exception as error:
        reason = in_one_line(error, at_most=200)
        raise BadArguments(
            f"An image of an environment ({part.media_type}, {len(part.image)} bytes) was to be "
            f"shown to a model, and it cannot be opened ({reason}). An ImagePart holds a "
            "file's bytes, such as those of a PNG.",
            subject="image",
        ) from error


@lru_cache(maxsize=_MOST_OPENED)
def file_of(part: ImagePart) -> tuple[bytes, Literal["png", "jpeg"]]:
    """Return an image as the bytes of a file and its format, for who sends files.

    The environment's own bytes where they are a PNG or JPEG in RGB or shades of grey, a PNG of
    `opened` otherwise. Raises BadArguments as `opened` does.
    """
    from PIL import Image  # heavy: 0.1 s

    image = opened(part)  # first: it says what is wrong with bytes that are none
    with Image.open(io.BytesIO(part.image)) as original:
        if original.mode in ("RGB", "L") and original.format == "PNG":
            return part.image, "png"
        if original.mode in ("RGB", "L") and original.format == "JPEG":
            return part.image, "jpeg"
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue(), "png"


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _bad(subject: str, problem: str) -> BadArguments:
    message = f"An ImageCodec's {subject} {problem}."
    return BadArguments(message, subject=subject, problems=[problem])
