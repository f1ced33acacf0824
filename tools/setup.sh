#!/usr/bin/env bash
# Installs what is missing from the distribution (Debian 12/13, Ubuntu 22.04/24.04): tools/setup.sh build [test] [dev].
# Without root or sudo it lists the missing packages and stops with status 1. HIPFORGE_SKIP_SETUP=1 leaves all as it is,
# for those who have the libraries from elsewhere.
set -euo pipefail
[ "${HIPFORGE_SKIP_SETUP:-}" != 1 ] || exit 0

declare -A groups=(
  [build]="g++ cmake ninja-build pkg-config libfmt-dev libprotobuf-dev protobuf-compiler libdnnl-dev libhwy-dev
           libcli11-dev nlohmann-json3-dev libxxhash-dev libjpeg-dev libpng-dev"
  # clang and lld compile kernels for AMD GPUs, LLVM's development files are for the emulator that executes them
  # (tools/amdgpu). Ubuntu 22.04 has none of that age.
  [test]="libgtest-dev python3 python3-venv libonnx-testdata clang-19 lld-19 llvm-19-dev"
  [dev]="ccache clang-format clang-tidy"
)
# Not on every distribution; what needs them is skipped.
optional=" libonnx-testdata clang-19 lld-19 llvm-19-dev ccache clang-format clang-tidy "

if ! command -v dpkg-query >/dev/null; then
  echo "hipforge: this script knows Debian and Ubuntu only. Install what your system calls these, then set HIPFORGE_SKIP_SETUP=1:" >&2
  for g in "$@"; do echo "  "${groups[$g]:?no package group $g} >&2; done
  exit 1
fi

wanted=()
for g in "$@"; do wanted+=(${groups[$g]:?no package group $g}); done
# A virtual package (libjpeg-dev may be one) is there if something that provides it is.
have=" $(dpkg-query -W -f '${db:Status-Abbrev}|${Package}, ${Provides}\n' 2>/dev/null | sed -n 's/^ii *|//p' |
  sed 's/([^)]*)//g' | tr -s ', \n' ' ') "
missing=()
for p in "${wanted[@]}"; do [[ $have == *" $p "* ]] || missing+=("$p"); done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=(sudo)
  else
    required=()
    for p in "${missing[@]}"; do [[ $optional == *" $p "* ]] || required+=("$p"); done
    if [ ${#required[@]} -eq 0 ]; then
      echo "going on without ${missing[*]} (neither root nor sudo is at hand)"
      exit 0
    fi
    echo "hipforge: these packages are missing and neither root nor sudo is at hand; install them and run this again:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1; }
install() { apt install -y --no-install-recommends "$@"; }

echo "installing from the distribution: ${missing[*]}"
install "${missing[@]}" && exit 0
# An old or empty package list is the usual reason for a first failure; the next, a package this release lacks.
apt update || true
install "${missing[@]}" && exit 0
for p in "${missing[@]}"; do
  if install "$p"; then
    continue
  elif [[ $optional == *" $p "* ]]; then
    echo "going on without $p, which this release lacks"
  else
    tail -n 15 "$log" | uniq >&2
    echo "hipforge: $p could not be installed" >&2
    exit 1
  fi
done
