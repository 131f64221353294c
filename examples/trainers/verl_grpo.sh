#!/bin/sh
# Train by GRPO on an agent loop of `verl_grpo.yaml`: `sh verl_grpo.sh guess`, `arithmetic` or `tool`.
# Further arguments go to verl: `sh verl_grpo.sh guess trainer.n_gpus_per_node=4`.
set -eu
folder=$(dirname "$0")
name=${1:-guess}
[ $# -eq 0 ] || shift
case "$name" in
    guess) env=game:GuessTheNumber-v0-hard ;;
    arithmetic | tool) env=math:Arithmetic-v0 ;;
    *) echo "Unknown: $name. Known: guess, arithmetic, tool." >&2; exit 2 ;;
esac
mkdir -p data
python -m gem_integrations.rows "$env" --count 6400 --seed 0 --out data/train.jsonl
python -m gem_integrations.rows "$env" --count 128 --seed 1 --out data/test.jsonl
exec python -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_files=data/train.jsonl \
    data.val_files=data/test.jsonl \
    data.train_batch_size=64 \
    data.max_prompt_length=1024 \
    data.max_response_length=4096 \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B-Instruct \
    actor_rollout_ref.actor.optim.lr=1e-6 \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=8 \
    actor_rollout_ref.rollout.calculate_log_probs=True \
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4 \
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 \
    actor_rollout_ref.rollout.gpu_memory_utilization=0.5 \
    actor_rollout_ref.rollout.agent.agent_loop_config_path="$folder/verl_grpo.yaml" \
    actor_rollout_ref.rollout.agent.default_agent_loop="$name" \
    trainer.n_gpus_per_node=8 \
    trainer.nnodes=1 \
    trainer.total_epochs=1 \
    trainer.logger=console \
    trainer.project_name=gem \
    trainer.experiment_name="$name" \
    "$@"
