#!/usr/bin/env bash
# Installs what is missing from the distribution (Debian 12/13, Ubuntu 22.04/24.04): tools/setup.sh build [test] [dev].
# Without root or sudo it lists the missing packages and stops with status 1.
set -euo pipefail

declare -A groups=(
  [build]="g++ cmake ninja-build pkg-config libfmt-dev libprotobuf-dev protobuf-compiler libdnnl-dev libhwy-dev
           libcli11-dev nlohmann-json3-dev libjpeg-dev libpng-dev libxxhash-dev"
  [test]="libgtest-dev libonnx-testdata python3 python3-venv"
  [dev]="ccache clang-format clang-tidy"
)

if ! command -v dpkg-query >/dev/null; then
  echo "hipforge: this script knows Debian and Ubuntu only; install the like of these, then run it with HIPFORGE_SKIP_SETUP=1:" >&2
  for g in "$@"; do echo "  ${groups[$g]}" | tr -s ' \n' ' ' >&2; echo >&2; done
  [ "${HIPFORGE_SKIP_SETUP:-}" = 1 ] && exit 0
  exit 1
fi

missing=()
for g in "$@"; do
  for p in ${groups[$g]:?no package group $g}; do
    dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^ii' || missing+=("$p")
  done
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  elif command -v sudo >/dev/null && [ -t 0 ]; then
    as_root=(sudo)
  else
    echo "hipforge: these packages are missing and neither root nor sudo is at hand; install them and run this again:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi

echo "installing from the distribution: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; }
# An old or empty package list is the usual reason for a first failure.
if ! install >"$log" 2>&1; then
  "${as_root[@]}" apt-get update -qq >>"$log" 2>&1 || true
  if ! install >>"$log" 2>&1; then
    tail -n 15 "$log" >&2
    echo "hipforge: the packages above could not be installed" >&2
    exit 1
  fi
fi
