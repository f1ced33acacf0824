#!/usr/bin/env bash
# The tests of drivers, kernels, lowering and small models on the GPU of this machine, from a bundle (tools/bundle):
# bundle/tools/gpu_tests.sh OUT [cuda:0|hip:0] writes OUT/*.xml and OUT/models.json, which tools/verified.py takes in.
# With two or more processors the programs run at once. Exit status 1 if a test failed.
set -uo pipefail
out=$(mkdir -p "${1:?where the results go}" && cd "$1" && pwd)
device=${2:-cuda:0}
cd "$(dirname "$0")/.."
export HIPFORGE_TEST_DEVICE=$device

pids=()
for program in test_gpu test_kernel test_lower; do
  [ -x "$program" ] || continue
  filter="*/${device%%:*}*:*/hiprtc*:*/nvrtc*:*/sm_*"
  [ "$program" != test_lower ] || filter='*'
  "./$program" --gtest_filter="$filter" --gtest_output="xml:$out/$program.xml" >"$out/$program.log" 2>&1 &
  pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
for log in "$out"/test_*.log; do
  echo "$(basename "$log" .log): $(grep -cE '^\[       OK \]' "$log") passed, $(grep -cE '^\[  FAILED  \].*ms\)$' "$log") failed, $(grep -cE '^\[  SKIPPED \].*ms\)$' "$log") skipped"
  grep -E '^\[  FAILED  \].*ms\)$' "$log"
done
python3 tools/model_tests.py --program ./hipforge --device "$device" --precision fp32,fp16 --json "$out/models.json" || failed=1
exit $failed
