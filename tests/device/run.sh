#!/usr/bin/env bash
# Shows on one GPU that scoring there gives the CPU's bits, and how fast it is. Needs nvcc, cmake, g++, a GPU
# with its driver, no internet, and what scripts/setup brought: DPCACHE_DEPS, or .deps in the repository, with
# highway/ and include/. Takes less than 5 minutes on a GPU of the H200's class, building included.
#
# usage: tests/device/run.sh [--dry-run]
#   --dry-run   without a GPU: builds all of it, runs it emulated, and sees it refuse to run for lack of one
#
# Results go to standard output and to build/device/results.md, and to $OUT/cuda.md where OUT is set.
set -euo pipefail

dry=no
case "${1-}" in
  '') ;;
  --dry-run) dry=yes ;;
  *) sed -n '2,10p' "$0" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly build=build/device

say() { printf '== %s (%d s)\n' "$*" "$SECONDS"; }
die() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }

PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin
command -v nvcc >/dev/null || die 'nvcc is missing'
architectures=90
if [ "$dry" = no ]; then
  command -v nvidia-smi >/dev/null || die 'there is no GPU here (no nvidia-smi); --dry-run does without'
  architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d '. ')
fi

say "building for sm_$architectures"
generator='Unix Makefiles'
! command -v ninja >/dev/null || generator=Ninja
cmake -S . -B "$build" -G "$generator" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O3 -DNDEBUG' \
  -DDPCACHE_CUDA=ON -DDPCACHE_DEVICE_CHECK=ON -DCMAKE_CUDA_ARCHITECTURES="$architectures-real" \
  -DDPCACHE_BUILD_TESTS=OFF -DDPCACHE_BUILD_CLI=OFF -DDPCACHE_BUILD_SERVER=OFF -DDPCACHE_BUILD_BENCH=OFF \
  >"$build.log" 2>&1 || { tail -n 20 "$build.log" >&2; die 'cmake failed'; }
targets=(device_check)
[ "$dry" = no ] || targets+=(device_check_emulated)
cmake --build "$build" -j "$(nproc)" --target "${targets[@]}" >>"$build.log" 2>&1 ||
  { tail -n 20 "$build.log" >&2; die 'the build failed'; }
readonly check=$build/tests/device/device_check

# Each tool looks at every thread's memory; few shapes are enough.
sanitizer=$(command -v compute-sanitizer || true)
sanitize() { # program...
  if [ -z "$sanitizer" ]; then
    say 'SKIPPED: compute-sanitizer is missing'
    return
  fi
  local tool
  for tool in memcheck racecheck synccheck; do
    say "compute-sanitizer, $tool"
    "$sanitizer" --tool "$tool" --error-exitcode 9 "$@"
  done
}

if [ "$dry" = yes ]; then
  say 'all of it, emulated'
  "${check}_emulated"
  say 'the program itself, which must say that there is no GPU'
  status=0
  "$check" compare || status=$?
  [ "$status" = 2 ] || die "it ended with $status, not 2"
  [ -n "$sanitizer" ] || say 'compute-sanitizer is missing here, and would be skipped'
  say 'the dry run is done'
  exit 0
fi

say 'the CPU'\''s bits, on random memories and on the shared vectors'
"$check" compare vectors
sanitize "$check" compare
say 'times'
{
  printf 'tests/device/run.sh, %s, %s, driver %s\n' "$(date -u +%F)" "$(nvcc --version | tail -n 2 | head -n 1)" \
    "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0)"
  "$check" time
} | tee "$build/results.md"
[ -z "${OUT-}" ] || cp "$build/results.md" "$OUT/cuda.md"
say 'done'
