#!/bin/sh
# Train on an environment of `roll_grpo.yaml`: `sh roll_grpo.sh guess`, `arithmetic` or `tool`.
# A second word names another file beside it: `sh roll_grpo.sh guess roll_one_gpu`.
# ROLL is the folder of a checkout of ROLL.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${ROLL:?is not set; it is the folder of a checkout of ROLL}"
export GEM_EXAMPLE="${1:-guess}" PYTHONPATH="$ROLL"
# Hydra takes the folder of a configuration relative to that of ROLL's script.
folder=$(python -c 'import os, sys; print(os.path.relpath(*sys.argv[1:]))' "$here" "$ROLL/examples")
exec python "$ROLL/examples/start_agentic_pipeline.py" --config_path "$folder" \
    --config_name "${2:-roll_grpo}"
