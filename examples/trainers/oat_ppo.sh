#!/bin/sh
# Train on the environment that is named: `sh oat_ppo.sh guess`, `arithmetic` or `tool`.
# Further arguments go to Oat: `sh oat_ppo.sh guess --gpus 4 --multi-turn`.
set -euf
folder=$(dirname "$0")
name=${1:-guess}
[ $# -eq 0 ] || shift
case "$name" in
    guess) env="--env-id game:GuessTheNumber-v0-hard --max-turns 7" ;;
    arithmetic) env="--env-id math:Arithmetic-v0" ;;
    tool) env='--env-id math:Arithmetic-v0 --wrappers ["python_tool"] --max-turns 4' ;;
    *) echo "Unknown: $name. Known: guess, arithmetic, tool." >&2; exit 2 ;;
esac
# num_samples 1: no groups. rebn: turns are normalised over the batch of an actor. A step takes
# 1024 turns, of each actor's 32 episodes 128; max_train counts them all: 50 steps.
exec python "$folder/oat_ppo.py" $env \
    --pretrain Qwen/Qwen2.5-1.5B-Instruct --gpus 8 --collocate --vllm-sleep \
    --num-envs 32 --num-samples 1 --turn-gamma 0.9 --rebn \
    --generate-max-length 1024 --max-model-len 8192 --temperature 1.0 \
    --critic-type drgrpo --beta 0 --learning-rate 1e-6 --lr-scheduler constant \
    --max-train 51200 --rollout-batch-size 1024 --rollout-batch-size-per-device 128 \
    --pi-buffer-maxlen-per-device 128 --train-batch-size 1024 --train-batch-size-per-device 1 \
    "$@"
