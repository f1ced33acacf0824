#!/usr/bin/env bash
# Configures and builds a preset, showing one line of progress: tools/build.sh release|dev|asan|tsan [TARGET]. A failure
# prints what the compiler said. JOBS overrides the number of compilers at once (default: the cores, at most one for each
# 1.5 GiB of memory).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?which preset}
target=${2:-all}
folder=build/$preset
log=$folder/build.log
mkdir -p "$folder"

memory_kib=$(awk '/MemAvailable/ {print $2}' /proc/meminfo)
by_memory=$((memory_kib / 1572864))
jobs=${JOBS:-$(nproc)}
[ "$by_memory" -lt 1 ] && by_memory=1
[ "$jobs" -gt "$by_memory" ] && jobs=$by_memory

# The compilers' words without the command lines; the first 60 lines tell.
show_failure() {
  awk '/^FAILED: / {print; show = 1; getline; next}
       /^\[[0-9]+\/[0-9]+\]/ || /^ninja: / {show = 0}
       show' "$log" | head -n 60 >"$log.failure"
  [ -s "$log.failure" ] || tail -n 40 "$log" >"$log.failure"
  cat "$log.failure" >&2
  echo "hipforge: the build failed; all it said is in $log" >&2
  exit 1
}

# One line that changes on a terminal; elsewhere a line for each quarter of what takes long.
show_progress() {
  local line quarter=0
  while read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    if [ -t 1 ]; then
      printf '\r\033[Kbuilding %s of %s' "$done" "$all"
    elif [ "$all" -gt 20 ] && [ $((done * 4 / all)) -gt "$quarter" ]; then
      quarter=$((done * 4 / all))
      echo "building ($preset): $done of $all"
    fi
  done
  [ ! -t 1 ] || printf '\r\033[K'
}

start=$SECONDS
cmake --preset "$preset" >"$log" 2>&1 || show_failure
cmake --build --preset "$preset" --target "$target" -j "$jobs" 2>&1 | tee -a "$log" | show_progress || show_failure
took=$((SECONDS - start))
[ "$took" -le 5 ] || echo "built ($preset) in $took s"
