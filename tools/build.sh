#!/usr/bin/env bash
# Configures and builds a preset, showing one line of progress: tools/build.sh release|dev|asan|tsan. The log of a failure
# is printed. JOBS overrides the number of parallel compilers (default: the cores, at most one for each 1.5 GiB of memory).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?which preset}
mkdir -p "build/$preset"
log=build/$preset/build.log

memory_kib=$(awk '/MemAvailable/ {print $2}' /proc/meminfo)
by_memory=$((memory_kib / 1572864))
jobs=${JOBS:-$(nproc)}
[ "$by_memory" -lt 1 ] && by_memory=1
[ "$jobs" -gt "$by_memory" ] && jobs=$by_memory

cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
start=$SECONDS
if [ -t 1 ]; then
  cmake --build --preset "$preset" -j "$jobs" 2>&1 | tee -a "$log" |
    awk '/^\[[0-9]+\/[0-9]+\]/ {printf "\r\033[Kbuilding %s", $1; fflush()} END {printf "\r\033[K"}' || { cat "$log" >&2; exit 1; }
else
  echo "building ($preset) ..."
  cmake --build --preset "$preset" -j "$jobs" >>"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
took=$((SECONDS - start))
[ "$took" -gt 1 ] && echo "built in $took s" || true
