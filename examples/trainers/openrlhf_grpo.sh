#!/bin/sh
# Train on an environment of `openrlhf_agent.py`: `sh openrlhf_grpo.sh guess`, `arithmetic` or `tool`.
# Further arguments go to OpenRLHF: `sh openrlhf_grpo.sh guess --vllm.num_engines 4`.
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
# A Ray of its own hands the variable on. On a cluster that runs already, give it to
# `ray job submit --runtime-env-json '{"env_vars": {"GEM_EXAMPLE": "tool"}}' -- python ...`.
export GEM_EXAMPLE="$name"
exec python -m openrlhf.cli.train_ppo_ray \
    --train.agent_func_path "$folder/openrlhf_agent.py" \
    --data.prompt_dataset data/train.jsonl \
    --data.input_key input \
    --data.label_key label \
    --data.max_len 8192 \
    --rollout.max_new_tokens 1024 \
    --rollout.batch_size 64 \
    --rollout.n_samples_per_prompt 8 \
    --train.batch_size 512 \
    --train.num_episodes 1 \
    --train.dynamic_batch_enable \
    --train.max_tokens_per_gpu 16384 \
    --rollout.max_tokens_per_gpu 32768 \
    --train.colocate_all \
    --actor.model_name_or_path Qwen/Qwen2.5-1.5B-Instruct \
    --actor.num_nodes 1 \
    --actor.num_gpus_per_node 8 \
    --actor.adam.lr 1e-6 \
    --actor.gradient_checkpointing_enable \
    --ref.num_nodes 1 \
    --ref.num_gpus_per_node 8 \
    --vllm.num_engines 8 \
    --vllm.tensor_parallel_size 1 \
    --vllm.gpu_memory_utilization 0.6 \
    --vllm.enable_sleep \
    --ds.enable_sleep \
    --ds.packing_samples \
    --ds.zero_stage 3 \
    --ds.param_dtype bf16 \
    --algo.advantage.estimator group_norm \
    --algo.advantage.is_correction_level token \
    --algo.kl.init_coef 0 \
    --ckpt.output_dir checkpoint \
    "$@"
