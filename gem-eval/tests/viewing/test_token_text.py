"""The texts of tokens by a tokenizer that is made here, hostile ones among them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem_eval.errors import ViewError
from gem_eval.viewing.runs import Run
from gem_eval.viewing.token_text import load_texts

from .conftest import Client, episode, turn
from .token_runs import HOSTILE_TOKENS, make_tokenizer, talk, token_turn

pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("tokenizers", reason="gem-eval's extra `tokens` is not installed")

MakeRun = Callable[..., Run]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_tokenizer(tmp_path / "model")
    return tmp_path / "model"


def tokenizer_of(folder: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def shown_texts(run: Run, folder: Path) -> list[str]:
    client = Client(run, texts=load_texts(folder))
    text = client.get("/runs/run/episodes/1/tokens").text
    return re.findall(r'<span class="tk[^>]*>((?:[^<]|<span class="ctl">[^<]*</span>)*)', text)


def test_a_token_has_its_text(make_run: MakeRun, folder: Path) -> None:
    tokenizer = tokenizer_of(folder)
    texts = shown_texts(make_run(talk(tokenizer)), folder)

    joined = "".join(texts).replace("↵\n", "\n")
    assert "I say \\boxed{25}25 is too high.\nGuess again.\n" in joined


def test_bytes_that_are_no_character_and_unknown_ids_are_named(
    make_run: MakeRun, folder: Path
) -> None:
    tokenizer = tokenizer_of(folder)
    half = tokenizer.encode("é").ids
    said = (*half, 123_456)
    texts = shown_texts(make_run(episode(turns=(turn(token_ids=said),))), folder)

    assert texts == ["&lt;C3&gt;", "&lt;A9&gt;", "&lt;no token 123456&gt;"]


def test_hostile_tokens_are_text(make_run: MakeRun, folder: Path) -> None:
    tokenizer = tokenizer_of(folder)
    ids = [tokenizer.token_to_id(text) for text in HOSTILE_TOKENS]
    hostile = token_turn(ids, ids, random.Random(0))
    texts = shown_texts(make_run(episode(turns=(hostile,))), folder)

    assert texts[0] == "&lt;/span&gt;&lt;script&gt;window.hacked = 1&lt;/script&gt;"
    assert texts[2] == '<span class="ctl">U+202E</span>'


@pytest.mark.parametrize("content", [None, "", "{}", "[", '{"model": {"type": "x"}}'])
def test_what_is_no_tokenizer_is_one_line(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content, encoding="utf-8")

    with pytest.raises(ViewError) as caught:
        load_texts(tmp_path)

    assert "The texts of tokens were to come from" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_space_that_begins_a_token_of_sentencepiece_is_kept(
    make_run: MakeRun, tmp_path: Path
) -> None:
    from tokenizers import Tokenizer, decoders, models

    words = {"\u2581Hello": 0, "\u2581world": 1, "<0xE2>": 2, "</s>": 3}
    made = Tokenizer(models.WordLevel(vocab=words, unk_token="</s>"))
    made.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Strip(" ", 1, 0)]
    )
    made.save(str(tmp_path / "tokenizer.json"))
    said = turn(token_ids=(0, 1, 2, 3))

    texts = shown_texts(make_run(episode(turns=(said,))), tmp_path)

    assert texts == [" Hello", " world", "&lt;0xE2&gt;", "&lt;/s&gt;"]
