"""The options in the command of docs/trainers/one-gpu.md are OpenRLHF's."""

from __future__ import annotations

from pathlib import Path

import openrlhf
from pages import arguments_of, launched


def test_openrlhf_has_the_options_of_the_page(tmp_path: Path) -> None:
    """Its command line is read as text: what it imports needs a GPU."""
    source = Path(openrlhf.__file__).parent / "cli" / "train_ppo_ray.py"
    known = source.read_text().replace("{prefix}", "actor")

    [asked] = arguments_of("openrlhf_grpo.sh")
    words = launched(tmp_path, "openrlhf_grpo.sh", asked)
    stated = dict(zip(words, [*words[1:], ""], strict=True))  # of several the last holds

    assert [word for word in words if word.startswith("--") and f'"{word}"' not in known] == []
    sizes = ("--actor.num_gpus_per_node", "--ref.num_gpus_per_node", "--vllm.num_engines")
    assert [stated[each] for each in sizes] == ["1", "1", "1"]
    samples = int(stated["--rollout.batch_size"]) * int(stated["--rollout.n_samples_per_prompt"])
    assert samples == int(stated["--train.batch_size"])
