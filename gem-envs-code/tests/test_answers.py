from __future__ import annotations

import pytest

from gem_envs_code.answers import LONGEST, fenced, program_in


@pytest.mark.parametrize(
    "fence", ["```python", "```py", "```Python3", "```", "  ```python", "```python  "]
)
def test_a_block_of_python_is_the_program(fence: str) -> None:
    assert program_in(f"Here:\n{fence}\nprint(1)\n```\nDone.") == "print(1)\n"


@pytest.mark.parametrize(
    ("answer", "program"),
    [
        ("1. Read:\n\n   ```python\n   if x:\n       print(x)\n   ```\n", "if x:\n    print(x)\n"),
        ("- a\n  - b\n    ```python\n    print(1)\n    ```", "print(1)\n"),
        ("\t```\n\tif x:\n\t\tprint(x)\n\t```", "if x:\n\tprint(x)\n"),
        ("  ```\n\n  a\n\n  b\n  ```", "\na\n\nb\n"),
        ("  ```\r\n  a\r\n  b\r\n  ```", "a\r\nb\r\n"),
        ("   ```\n  a\n  b\n```", "a\nb\n"),  # less than the fence has
        ("  ```\n    a\n```", "  a\n"),  # more than the fence has
        ("  ```\n  x = '''\na\n  '''\n```", "x = '''\na\n'''\n"),
        ("  ```\nif x:\n  print(x)\n  ```", "if x:\n  print(x)\n"),  # it has none of the fence's
        ("```\n  print(x)\n```", "  print(x)\n"),
        ("  ```\n\tprint(x)\n```", "\tprint(x)\n"),
    ],
)
def test_a_block_in_a_list_is_read_without_the_indentation_of_its_fence(
    answer: str, program: str
) -> None:
    assert program_in(answer) == program


def test_the_last_block_counts() -> None:
    assert program_in("```python\nfirst\n```\n```python\nlast\n```") == "last\n"


def test_blocks_of_other_languages_do_not_count() -> None:
    assert program_in("```python\nmine\n```\n```bash\npip\n```") == "mine\n"


def test_what_is_only_thought_does_not_count() -> None:
    thought = "<think>\n```python\nthought\n```\n</think>"

    assert program_in(thought) is None
    assert program_in(f"{thought}\n```python\nsaid\n```") == "said\n"


@pytest.mark.parametrize(
    "action",
    [
        "",
        "print(1)",
        "```python\nprint(1)",
        "```python print(1)```",
        "```python\n \n```",
        "```rust\nfn main() {}\n```",
        f"```python\n{'#' * LONGEST}\n```",
    ],
)
def test_without_a_whole_block_of_fair_length_there_is_no_program(action: str) -> None:
    assert program_in(action) is None


@pytest.mark.parametrize(
    "piece", ["```python\n", "```\n", "`", "\n```", "<think>", "</think>", "  ```\n \n"]
)
def test_a_megabyte_of_fences_holds_no_program(piece: str) -> None:
    found = program_in(piece * (1_000_000 // len(piece)))

    assert found is None or len(found) <= LONGEST


def test_lone_surrogates_become_characters_that_can_be_written() -> None:
    assert program_in("```python\n'\ud800'\n```") == "'\ufffd'\n"


def test_a_fenced_program_is_read_back() -> None:
    assert program_in(fenced("print(1)\n\n")) == "print(1)\n"
