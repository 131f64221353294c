"""The command of docs/trainers/one-gpu.md is read by Oat's own parser."""

from __future__ import annotations

import runpy
from pathlib import Path

import tyro
from pages import EXAMPLES, arguments_of, launched


def test_oat_reads_what_the_page_says(tmp_path: Path) -> None:
    [asked] = arguments_of("oat_ppo.sh")
    stated = launched(tmp_path, "oat_ppo.sh", asked)[1:]
    args = tyro.cli(runpy.run_path(str(EXAMPLES / "oat_ppo.py"))["Args"], args=stated)

    assert (args.gpus, args.collocate, args.vllm_sleep) == (1, True, True)
    assert args.pretrain == "Qwen/Qwen2.5-0.5B-Instruct"
    assert args.rollout_batch_size == args.rollout_batch_size_per_device == args.train_batch_size
    assert args.max_train / args.train_batch_size == 50
