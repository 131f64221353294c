"""Images as tokens: the processors are those of `transformers`, with tokenizers made here."""

from __future__ import annotations

import asyncio
import io
import pickle
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

import gem
from gem.content import ImagePart, Message, TextPart
from gem.errors import BadArguments
from gem.tokens import Sampled
from gem_integrations.episodes import EnvOptions, Row, one_row, play
from gem_integrations.images import ImageCodec, file_of

ADD: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}},
}
PARTS_ALONE = (
    "{% for m in messages %}{{ m['role'] }}:"
    "{% for part in m['content'] | selectattr('type', 'equalto', 'image') %}<|image_pad|>"
    "{% endfor %}{% for part in m['content'] | selectattr('type', 'equalto', 'text') %}"
    "{{ part['text'] }}{% endfor %}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
"""As LLaVA's: images first, and content that is a string is not shown at all."""
GEMMA = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}<start_of_image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def vision(harness: ModuleType, load_beside_contracts: Callable[[str], ModuleType]) -> ModuleType:
    pytest.importorskip("PIL")
    _skip_without("qwen2_vl")
    return load_beside_contracts("vision")


def _skip_without(model: str) -> None:
    """Skip where `transformers` is too old to process this model's images by Pillow alone."""
    pytest.importorskip(f"transformers.models.{model}.image_processing_pil_{model}")


@pytest.fixture(scope="module")
def processor(vision: ModuleType) -> Any:
    return vision.chat_processor()


@pytest.fixture
def codec(processor: Any) -> ImageCodec:
    return ImageCodec(processor)


def templated(processor: Any, template: str | None) -> Any:
    """Return the processor with another template."""
    return type(processor)(processor.image_processor, processor.tokenizer, chat_template=template)


def seen(vision: ModuleType, text: str = "Which?", size: tuple[int, int] = (56, 28)) -> Message:
    return Message("user", (ImagePart(vision.png(*size, shade=9)), TextPart(text)))


def played(
    harness: ModuleType, processor: Any, engine: Any = None, seed: int = 5, **options: Any
) -> tuple[Row, list[gem.Request], ImageCodec]:
    """Play an episode of the gallery by the script, or by another engine."""
    chosen = EnvOptions.of({"env_id": "contract:Gallery", **options})
    codec = chosen.image_codec(processor)
    asked: list[gem.Request] = []

    async def scripted(request: gem.Request) -> Sampled:
        asked.append(request)
        if engine is not None:
            said: Sampled = engine(request)
            return said
        ids = request.prompt_ids or ()
        return Sampled(*harness.scripted(processor.tokenizer, ids, request.token_budget))

    episode = asyncio.run(play(chosen, scripted, codec, seed=seed))
    return one_row(episode, codec), asked, codec


def starts(request: gem.Request) -> list[int]:
    return list(request.prompt_ids or ())


@pytest.mark.parametrize("begins_at", [0, 1, 2])
def test_an_episode_with_images_is_what_the_template_and_the_processor_write(
    harness: ModuleType, processor: Any, begins_at: int
) -> None:
    options: dict[str, Any] = {"system_prompt": "Look.", "env_kwargs": {"begins_at": begins_at}}
    row, asked, _ = played(harness, processor, **options)
    wanted = harness.expected(
        processor.tokenizer, 5, env_id="contract:Gallery", max_turns=None, **options
    )

    assert (row.prompt_ids, row.response_ids) == (wanted.prompt_ids, wanted.response_ids)
    assert (row.response_mask, row.logprobs) == (wanted.response_mask, wanted.logprobs)
    assert (row.rewards, row.spans) == (wanted.rewards, wanted.spans)
    assert len(row.images) == 3 - begins_at
    assert all(row.ids[: len(starts(request))] == starts(request) for request in asked)


def test_each_request_has_the_images_that_its_tokens_stand_for(
    harness: ModuleType, processor: Any
) -> None:
    _, asked, codec = played(harness, processor)

    images = [codec.images(request.messages) for request in asked]
    assert [[each.size for each in turn] for turn in images] == [
        [(56, 28)],
        [(56, 28), (84, 56)],
        [(56, 28), (84, 56), (28, 28)],
    ]
    spans = codec.spans(starts(asked[2]), 3)
    assert [stop - start for start, stop in spans] == [2, 6, 1]


def test_what_a_model_takes_for_images_is_what_the_processor_gives_for_the_conversation(
    harness: ModuleType, processor: Any
) -> None:
    row, _, codec = played(harness, processor)
    text = "".join(
        processor.apply_chat_template([{"role": "user", "content": [{"type": "image"}]}])
        for _ in row.images
    )
    wanted = processor(text=[text], images=list(row.images), return_tensors="np")

    inputs = codec.inputs(row.images)

    assert inputs.keys() == {"pixel_values", "image_grid_thw"}
    assert (inputs["pixel_values"] == wanted["pixel_values"]).all()
    assert inputs["image_grid_thw"].tolist() == wanted["image_grid_thw"].tolist()
    assert codec.inputs(row.images[1:2])["image_grid_thw"].tolist() == [[1, 4, 6]]
    assert codec.inputs([]) == {}


def test_text_alone_is_tokenised_as_without_a_processor(processor: Any, vision: ModuleType) -> None:
    chosen = EnvOptions.of({"env_id": "contract:Gallery"})
    talk = [Message("system", "Be brief."), Message("user", (TextPart("a"), TextPart("b")))]

    ours = chosen.image_codec(processor).opening(talk)

    assert ours == chosen.codec(templated(processor, vision.CHATML).tokenizer).opening(talk)


def test_texts_beside_one_another_are_lines_as_they_are_without_images(
    codec: ImageCodec, processor: Any, vision: ModuleType
) -> None:
    lines = (TextPart("a"), TextPart("b\n"), TextPart("c"))
    image = ImagePart(vision.png(56, 28, shade=9))
    message = Message("user", (*lines, image, TextPart("Which?"), TextPart("Turn 1.")))

    written = processor.tokenizer.decode(codec.opening([message]))

    assert "user\na\nb\nc<|vision_start|>" in written
    assert "<|vision_end|>Which?\nTurn 1.<|im_end|>" in written


def test_a_template_of_the_tokenizer_is_used_where_the_processor_has_none(
    processor: Any, vision: ModuleType
) -> None:
    bare = templated(processor, None)

    assert ImageCodec(bare).opening([Message("user", "hi")])[:1] == [
        processor.tokenizer.convert_tokens_to_ids("<|im_start|>")
    ]


def test_a_placeholder_that_a_text_spells_stands_for_no_image(
    harness: ModuleType, processor: Any
) -> None:
    row, asked, codec = played(harness, processor, env_kwargs={"spells": True})

    assert len(row.images) == len(codec.spans(row.ids, 3)) == 3
    assert "colour?< |image_pad|>" in processor.tokenizer.decode(starts(asked[0]))


@pytest.mark.parametrize("name", ["<|image_pad|>", "<|video_pad|>", "<|vision_start|>"])
def test_a_placeholder_that_the_model_says_ends_its_answer(
    harness: ModuleType, processor: Any, name: str
) -> None:
    def forging(request: gem.Request) -> Sampled:
        said = [*processor.tokenizer.encode("red"), processor.tokenizer.convert_tokens_to_ids(name)]
        return Sampled([*said, processor.tokenizer.eos_token_id], [-1.0] * (len(said) + 1), "stop")

    row, _, codec = played(harness, processor, forging)

    assert [processor.tokenizer.decode(row.ids[start:stop]) for start, stop in row.spans] == [
        "red",
        "red",
        "red",
    ]
    assert [turn.finish_reason for turn in row.episode.turns] == ["other"] * 3
    assert row.response_logprobs is not None
    assert len(codec.spans(row.ids, 3)) == len(row.images)


def test_a_model_that_says_nothing_but_a_placeholder_ends_the_episode(
    harness: ModuleType, processor: Any
) -> None:
    forged = processor.tokenizer.convert_tokens_to_ids("<|image_pad|>")

    row, _, codec = played(harness, processor, lambda request: Sampled([forged]))

    assert (row.episode.truncated, sum(row.response_mask), list(row.images)) == (True, 0, [])
    assert codec.spans(row.ids, 0) == []


def test_images_that_tools_return_are_shown_within_the_tags(
    codec: ImageCodec, processor: Any, vision: ModuleType
) -> None:
    picture = ImagePart(vision.png(56, 28, shade=3))
    said = [*processor.tokenizer.encode("a call"), processor.tokenizer.eos_token_id]
    talk = [
        seen(vision),
        codec.message(said),
        Message("tool", (TextPart("Here:"), picture), call_id="c00000000"),
        Message("tool", "none", call_id="c00000001"),
    ]

    added = codec.following(talk, 1, 1, said, [ADD])

    assert added is not None
    assert processor.tokenizer.decode(added) == (
        "\n<|im_start|>user\n<tool_response>\nHere:<|vision_start|><|image_pad|><|image_pad|>"
        "<|vision_end|>\n</tool_response>\n<tool_response>\nnone\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    texts = codec.following([*talk[:2], talk[3]], 1, 1, said, [ADD])
    assert texts is not None
    assert "user\n<tool_response>\nnone\n" in processor.tokenizer.decode(texts)


@pytest.mark.parametrize(
    ("role", "wanted"),
    [("user", "user\n# Tools\n\nYou may"), ("system", "system\n<|vision_start|>")],
)
def test_how_to_call_tools_stands_beside_an_image(
    codec: ImageCodec, processor: Any, vision: ModuleType, role: Any, wanted: str
) -> None:
    first = Message(role, seen(vision, "Which?").content)

    told = processor.tokenizer.decode(codec.opening([first, Message("user", "Now.")], [ADD]))
    plain = processor.tokenizer.decode(codec.opening([Message(role, "Which?")], [ADD]))

    assert wanted in told
    assert all("<tools>\n" in each and "Which?" in each for each in (told, plain))
    assert (told.index("# Tools") < told.index("Which?")) == (role == "user")


def test_a_template_that_knows_parts_alone_is_given_parts(processor: Any, harness: Any) -> None:
    row, _, codec = played(harness, templated(processor, PARTS_ALONE), system_prompt="Look.")

    assert processor.tokenizer.decode(row.prompt_ids) == (
        "system:Look.<|im_end|>user:<|image_pad|><|image_pad|>Look:\n"
        "Picture 0 of 5: which colour?<|im_end|>assistant:"
    )
    assert len(codec.spans(row.ids, 3)) == 3


def test_a_processor_of_another_family_writes_its_own_tokens(
    harness: ModuleType, vision: ModuleType
) -> None:
    _skip_without("gemma3")
    from tokenizers import AddedToken, processors
    from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
    from transformers.models.gemma3.processing_gemma3 import Gemma3Processor

    tokenizer = harness.chat_tokenizer()
    names = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    tokenizer.add_tokens([AddedToken(name, special=True) for name in names.values()])
    for name, token in names.items():  # a tokenizer of Gemma 3 has these
        setattr(tokenizer, name, token)
        setattr(tokenizer, f"{name}_id", tokenizer.convert_tokens_to_ids(token))
    bos = tokenizer.bos_token_id
    tokenizer._tokenizer.post_processor = processors.TemplateProcessing(
        single="<|bos|> $A", special_tokens=[("<|bos|>", bos)]
    )
    pixels = Gemma3ImageProcessorPil(size={"height": 28, "width": 28})
    gemma = Gemma3Processor(pixels, tokenizer, chat_template=GEMMA, image_seq_length=4)

    row, asked, codec = played(harness, gemma)

    assert row.prompt_ids.count(bos) == row.ids.count(bos) == 1
    assert [stop - start for start, stop in codec.spans(row.ids, 3)] == [4, 4, 4]
    assert "\n\n<start_of_image>" + 4 * "<image_soft_token>" + "<end_of_image>\n\n" in (
        tokenizer.decode(row.prompt_ids)
    )
    assert all(row.ids[: len(starts(request))] == starts(request) for request in asked)
    assert codec.inputs(row.images)["pixel_values"].shape == (3, 3, 28, 28)
    assert {*names.values()} <= {*codec.placeholders.values()}


TEXT = "{% for m in messages %}{{ m['role'] }}:{{ m['content'] }}<|im_end|>{% endfor %}"
NUMBERED = (
    "{% set ns = namespace(n=0) %}{% for m in messages %}{{ m['role'] }}:"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}{% set ns.n = ns.n + 1 %}Picture {{ ns.n }}: <|image_pad|>"
    "{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>{% endfor %}"
)
BLIND_TO_TOOLS = (
    "{% for m in messages %}{{ m['role'] }}:"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for part in m['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}"
    "{% elif m['role'] == 'user' %}<|image_pad|>{% endif %}{% endfor %}{% endif %}<|im_end|>"
    "{% endfor %}"
)
STRICT = (
    "{% for m in messages %}{% if m['content'] is not string %}{{ raise_exception('text only') }}"
    "{% endif %}{{ m['content'] }}<|im_end|>{% endfor %}"
)


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        (TEXT.replace("m['content']", "m['content'] if m['content'] is string"), "shows no images"),
        (STRICT, "shows no images"),
        (NUMBERED, "later images otherwise than the first"),
    ],
)
def test_a_template_that_cannot_show_images_is_refused_with_the_first(
    processor: Any, vision: ModuleType, template: str, problem: str
) -> None:
    codec = ImageCodec(templated(processor, template))

    assert codec.opening([Message("user", "text")])
    with pytest.raises(BadArguments, match=problem):
        codec.opening([seen(vision)])


def test_an_image_that_the_template_leaves_out_is_refused(
    processor: Any, vision: ModuleType
) -> None:
    codec = ImageCodec(templated(processor, BLIND_TO_TOOLS))

    with pytest.raises(BadArguments, match="shows 1 of 2 images of a turn"):
        codec.opening([seen(vision), Message("system", seen(vision).content)])


def test_an_image_that_the_processor_refuses_is_told_with_its_size(
    codec: ImageCodec, vision: ModuleType
) -> None:
    with pytest.raises(BadArguments, match=r"cannot take images of 5x1100 \(.*aspect ratio"):
        codec.opening([seen(vision, size=(5, 1100))])


def test_an_image_that_cannot_be_opened_is_told(codec: ImageCodec) -> None:
    with pytest.raises(BadArguments, match=r"image/png, 4 bytes\) .* cannot be opened"):
        codec.opening([Message("user", (ImagePart(b"text"),))])


def test_a_file_is_the_environments_own_where_models_take_it_as_it_is(vision: ModuleType) -> None:
    from PIL import Image

    def written(mode: str, form: str) -> ImagePart:
        file = io.BytesIO()
        Image.new(mode, (28, 28)).save(file, format=form)
        return ImagePart(file.getvalue())

    png = written("L", "PNG")
    jpeg = written("RGB", "JPEG")
    assert (file_of(png), file_of(jpeg)) == ((png.image, "png"), (jpeg.image, "jpeg"))
    for mode, form in (("RGBA", "PNG"), ("P", "PNG"), ("CMYK", "JPEG"), ("RGB", "BMP")):
        data, kind = file_of(written(mode, form))
        with Image.open(io.BytesIO(data)) as image:
            assert (image.format, image.mode, kind) == ("PNG", "RGB", "png")
    with pytest.raises(BadArguments, match="cannot be opened"):
        file_of(ImagePart(b"text"))


def test_images_that_touch_cannot_be_told_apart(processor: Any, vision: ModuleType) -> None:
    codec = ImageCodec(templated(processor, PARTS_ALONE))
    part = seen(vision).content[0]
    ids = codec.opening([Message("user", (part, part))])  # type: ignore[arg-type]

    with pytest.raises(BadArguments, match="writes 2 images as 1 runs of tokens"):
        codec.spans(ids, 2)


class Failing:
    """A processor that takes no images, whatever its template says."""

    def __init__(self, processor: Any) -> None:
        self.tokenizer = processor.tokenizer
        self.chat_template = processor.chat_template
        self.apply_chat_template = processor.apply_chat_template

    def __call__(self, *, text: list[str], images: list[Any], **options: Any) -> Any:
        raise OSError("no weights of the vision tower")


def test_a_processor_that_fails_is_refused_with_the_first_image(
    processor: Any, vision: ModuleType
) -> None:
    codec = ImageCodec(Failing(processor))

    assert codec.opening([Message("user", "text")])
    assert codec.spans(codec.opening([Message("user", "text")]), 0) == []
    with pytest.raises(BadArguments, match=r"56x28 .*no weights of the vision tower"):
        codec.opening([seen(vision)])


def test_options_of_the_processor_go_with_every_image(processor: Any, vision: ModuleType) -> None:
    options = {"size": {"shortest_edge": 28 * 28, "longest_edge": 28 * 28}}
    codec = EnvOptions.of({"env_id": "contract:Gallery"}).image_codec(
        processor, processor_options=options
    )
    talk = [seen(vision, size=(84, 56))]

    assert [stop - start for start, stop in codec.spans(codec.opening(talk), 1)] == [1]
    assert codec.inputs(codec.images(talk))["image_grid_thw"].tolist() == [[1, 2, 2]]


class Counting:
    """A processor that counts how often it is given images."""

    def __init__(self, processor: Any) -> None:
        self.tokenizer = processor.tokenizer
        self.chat_template = processor.chat_template
        self.apply_chat_template = processor.apply_chat_template
        self._processor = processor
        self.calls = 0

    def __call__(self, **given: Any) -> Any:
        self.calls += 1
        return self._processor(**given)


def test_episodes_that_begin_alike_have_their_images_processed_once(
    processor: Any, vision: ModuleType
) -> None:
    counting = Counting(processor)
    codec = ImageCodec(counting)
    codec.opening([Message("user", "text")])  # an example image tells the tokens of images
    before = counting.calls

    group = [codec.opening([seen(vision)]) for _ in range(8)]
    assert (counting.calls - before, group) == (1, [group[0]] * 8)

    others = [codec.opening([seen(vision, text=f"{number}")]) for number in range(16)]
    assert counting.calls - before == 1 + len(others)
    assert codec.opening([seen(vision)]) == group[0]  # and only the newest are kept
    assert counting.calls - before == 1 + len(others) + 1


def test_a_codec_can_be_sent_to_another_process(codec: ImageCodec, vision: ModuleType) -> None:
    talk = [seen(vision)]
    wanted: Sequence[int] = codec.opening(talk)

    packed = pickle.dumps(codec)
    assert vision.png(56, 28, shade=9) not in packed
    assert pickle.loads(packed).opening(talk) == wanted  # noqa: S301 - our own


def test_trying_an_environment_says_whether_it_shows_images(vision: ModuleType) -> None:
    gallery = EnvOptions.of({"env_id": vision.GALLERY})
    later = EnvOptions.of({"env_id": vision.GALLERY, "env_kwargs": {"begins_at": 1}})

    assert gallery.try_out("Anything", takes_images=True)
    assert not later.try_out("Anything", takes_images=True)


def test_a_lone_surrogate_beside_an_image_is_the_replacement_character(
    vision: ModuleType, codec: ImageCodec
) -> None:
    assert codec.opening([seen(vision, "a\ud800")]) == codec.opening([seen(vision, "a\ufffd")])
