#!/bin/sh
# Train on an environment of `rl2_env.py`: `sh rl2_reinforce.sh guess`, `arithmetic` or `tool`.
# It takes 4 GPUs, or as many as GPUS says. Further arguments go to RL2: `sh rl2_reinforce.sh guess trainer.total_steps=100`.
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
python -m gem_integrations.rows "$env" --count 64 --seed 1 --out data/test.jsonl
export GEM_EXAMPLE="$name"
exec torchrun --nproc_per_node="${GPUS:-4}" -m RL2.trainer.ppo \
    rollout.env_path="$folder/rl2_env.py" \
    rollout.train.path=data/train.jsonl \
    rollout.train.prompts_per_rollout=64 \
    rollout.train.responses_per_prompt=8 \
    rollout.train.sampling_params.max_new_tokens=1024 \
    rollout.train.partial_rollout=true \
    rollout.test.path=data/test.jsonl \
    actor.model_name=Qwen/Qwen2.5-1.5B-Instruct \
    actor.max_length_per_device=8192 \
    adv.norm_var=true \
    trainer.project=gem \
    trainer.experiment_name="$name" \
    trainer.total_steps=100 \
    "$@"
