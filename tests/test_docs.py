"""The documentation is true: its Python runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pytest

import gem.testing
from gem import registry

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("gem-*/*.md")])
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
Run = Callable[..., "subprocess.CompletedProcess[str]"]

NEEDS = {  # what some of those who run this are without
    ROOT / "docs" / "pettingzoo.md": "pettingzoo",
    ROOT / "docs" / "tools.md": "mcp",
}

pages = pytest.mark.parametrize("page", PAGES, ids=IDS)


class Block(NamedTuple):
    """One fenced block, the line of its page where it begins, and the file that it states."""

    language: str
    text: str
    line: int
    file: str | None


def blocks(page: Path, *languages: str) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        language, code = found.groups()
        stated = FILE.match(code)
        if language in languages:
            line = text.count("\n", 0, found.start(2))
            yield Block(language, code, line, stated[1] if stated else None)


def commands(page: Path) -> list[list[str]]:
    texts = [block.text.replace("\\\n", " ") for block in blocks(page, "sh", "bash")]
    lines = [line for text in texts for line in text.splitlines()]
    parts = [part for line in lines for part in re.split(r"&&|\|", line.partition(" #")[0])]
    return [shlex.split(part) for part in parts if part.strip()]


@pages
def test_every_python_block_runs(run_python: Run, tmp_path: Path, page: Path) -> None:
    """One namespace for each page, in order; a block that states its file is that file too."""
    if page in NEEDS:
        pytest.importorskip(NEEDS[page])
    script = tmp_path / "page.py"
    code = []
    for block in blocks(page, "toml"):
        _install(block, tmp_path / "work" / "src")
    for block in blocks(page, "python", "json"):
        if block.file:
            path = tmp_path / "work" / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            has_comments = block.language == "python"
            path.write_text(block.text if has_comments else block.text.partition("\n")[2])
        if block.language != "python":
            continue
        padded = "\n" * block.line + block.text  # so that an error names the page's own line
        code.append(f"exec(compile({padded!r}, {str(page)!r}, 'exec'))")
    script.write_text("\n".join(code), encoding="utf-8")

    done = run_python("-W", "error", str(script), path=tmp_path / "work" / "src")

    assert (done.returncode, done.stderr) == (0, "")


def _install(block: Block, folder: Path) -> None:
    """Make the distribution of a pyproject.toml look installed, as an editable one does."""
    [(group, point)] = re.findall(
        r'^\[project\.entry-points\."(.+)"\]\n(.+)$', block.text, re.MULTILINE
    )
    about = folder / "page-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: page\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{point.replace(chr(34), '')}\n")


@pages
def test_every_command_exists_with_its_options(page: Path) -> None:
    """Look them up in docs/cli.md, which another test compares with the commands themselves."""
    helps = dict(
        section.split("\n", 1)
        for section in (ROOT / "docs" / "cli.md").read_text().split("\n## gem-env ")[1:]
    )
    for words in commands(page):
        if Path(words[0]).name == "gem-env":
            options = {word for word in words[2:] if word.startswith("--")}
            assert {option for option in options if option not in helps[words[1]]} == set()


@pages
def test_every_nox_session_exists(page: Path) -> None:
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    sessions = {
        session
        for words in commands(page)
        if Path(words[0]).name == "nox" and "-s" in words
        for session in takewhile("--".__ne__, words[words.index("-s") + 1 :])
    }

    assert {name for name in sessions if f"\ndef {name}(session" not in text} == set()


@pages
def test_pip_gets_folders_that_are_here(page: Path) -> None:
    folders = {
        word.partition("[")[0]
        for words in commands(page)
        if Path(words[0]).name == "pip"
        for word in words[1:]
        if word.startswith("./")
    }

    assert [each for each in folders if not (ROOT / each / "pyproject.toml").is_file()] == []


@pages
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


@pages
def test_every_link_to_a_heading_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / link if link else page, anchor) for link, anchor in links]

    absent = [
        (str(target), anchor)
        for target, anchor in targets
        if target.suffix == ".md" and anchor not in _anchors(target)
    ]
    assert absent == []


def _anchors(page: Path) -> set[str]:
    """Return what the headings of a page are linked by: small letters, and marks left out."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


READMES = [page for page in PAGES if page.name == "README.md" and page.parent != ROOT]


@pytest.mark.parametrize("page", READMES, ids=[page.parent.name for page in READMES])
def test_a_module_that_a_readme_names_is_in_its_distribution(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    named = {name for name in re.findall(r"`([\w/]+\.py)`", text) if name != "NAME.py"}

    absent = [
        name
        for name in sorted(named)
        if not (ROOT / name).is_file() and not any(page.parent.glob(f"**/{name}"))
    ]

    assert absent == []


TOPS = [page for page in PAGES if page.parent.name == "docs"]


@pytest.mark.parametrize("page", TOPS, ids=[page.stem for page in TOPS])
def test_a_page_of_the_guide_says_at_its_top_what_to_install(page: Path) -> None:
    top = page.read_text(encoding="utf-8").splitlines()[:12]

    assert [line for line in top if line.startswith("Install: `pip install ")], top


def test_each_python_block_of_the_readme_runs_alone(run_python: Run, tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    found = list(blocks(ROOT / "README.md", "python"))
    for block in found:
        if block.file:
            (tmp_path / "work" / block.file).write_text(block.text, encoding="utf-8")
        script.write_text(block.text, encoding="utf-8")
        done = run_python("-W", "error", str(script))
        assert (done.returncode, done.stderr) == (0, ""), block.text

    assert len(found) >= 4


def test_a_strangers_file_of_seven_lines_needs_no_packaging(gem_env: Run, tmp_path: Path) -> None:
    readme = ROOT / "README.md"
    page = ROOT / "docs" / "writing-an-environment.md"
    files = [
        block.text
        for path in (readme, page)
        for block in blocks(path, "python")
        if block.file == "try.py"
    ]
    (tmp_path / "work" / "try.py").write_text(files[0], encoding="utf-8")
    environment = files[0].partition("\n\n\ndef ")[0]
    lines = [line for line in environment.splitlines() if line.strip()]
    own = [words[1:] for words in commands(readme) if "./try.py:Parity" in words]
    quick = {"check": ["--backend", "sync"], "play": ["--seed", "3"]}

    done = [gem_env(*words, *quick.get(words[0], [])) for words in own]

    assert files[0] == files[1]
    assert len(lines) == 2 + 7  # the name of the file and the import are none of it
    assert [words[0] for words in own] == ["check", "play", "eval"]
    assert [(each.returncode, each.stderr) for each in done if each.returncode] == []
    assert "0 failed" in done[0].stdout


def test_the_two_commands_of_the_readme_stand_in_blocks_of_their_own() -> None:
    found = [block.text for block in blocks(ROOT / "README.md", "sh") if "nox -s" in block.text]

    assert [text.count("\n") for text in found] == [1, 1]
    assert ["quickstart" in found[0], "tests" in found[1]] == [True, True]


def test_the_tree_in_the_readme_is_the_tree() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```text\n(gem/\n.*?)^```", page, re.DOTALL | re.MULTILINE)
    drawn = {line.split()[0] for line in block.splitlines()[1:] if re.match(r"  [^ ]", line)}

    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tracked.returncode != 0:
        pytest.skip("not a git checkout: which files belong to the tree is not known")
    tops = {line.partition("/")[0] for line in tracked.stdout.splitlines() if "/" in line}
    folders = {f"{top}/" for top in tops}

    assert {name for name in drawn if name.endswith("/")} == folders
    assert [name for name in drawn if not (ROOT / name).exists()] == []


def test_the_guide_lists_every_wrapper_of_core_in_its_layer() -> None:
    page = (ROOT / "docs" / "rollouts.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[\w`, ]+`) \| (\w+) \| ", page, re.MULTILINE)
    listed = {id: layer for ids, layer in rows for id in re.findall(r"\w+", ids)}

    installed = {
        spec.id: spec.layer for spec in registry.wrappers() if spec.target.startswith("gem.")
    }

    assert {id: layer for id, layer in listed.items() if layer in installed.values()} == installed


def test_the_glossary_says_where_each_word_lives() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    homes = re.findall(r"\| `(gem[\w.]+)` \|$", page, re.MULTILINE)

    known = {
        f"{module}.{name}"
        for module in [*gem.testing.PUBLIC_MODULES, "gem_eval"]
        for name in importlib.import_module(module).__all__
    }
    words = re.findall(r"^\| (?!word |-)", page, re.MULTILINE)
    absent = [home for home in homes if home not in known and not _is_method(home, known)]

    assert absent == []
    assert len(homes) == len(words) > 50


def _is_method(home: str, known: set[str]) -> bool:
    """Whether `gem.Env.reset` is a method of the public class `gem.Env`."""
    owner, _, name = home.rpartition(".")
    module, _, class_name = owner.rpartition(".")
    return owner in known and hasattr(getattr(importlib.import_module(module), class_name), name)


@pytest.mark.parametrize("generator", ["generate_api.py", "generate_cli.py"])
def test_a_generated_page_is_what_would_be_generated(generator: str) -> None:
    script = [sys.executable, str(ROOT / "docs" / generator), "--check"]

    done = subprocess.run(
        script, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("parser", ["Glm", "Hermes", "Qwen"])
def test_the_public_names_have_what_a_class_inherits_from_a_private_one(parser: str) -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")

    entry = page.split(f"\n- `{parser}")[1].split("\n- ")[0]

    assert "`.read(cursor)`" in entry
