#!/usr/bin/env bash
# `make test`: installs, builds and tests everything. README.md beside this says which test runs in which build, and how
# long each part may take. What was skipped, and why, stands in the last lines; with DAVIT_NO_SKIPS=1 a skip is a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. tests/parts.sh

begin_run build/test-results

begin install
need_space build 4
have kubernetes || need_space "${XDG_CACHE_HOME:-$HOME/.cache}" 6
packaging/install-dependencies.sh || give_up "what is needed could not be installed: the lines above say what is missing"
for program in kubernetes conformance grpcurl intents vault; do
  have $program || skips+=("$program: it could not be built (above); its tests are skipped")
done
print_versions

begin "build release"
build release build
begin "build asan"
build asan build-asan
begin "build tsan"
build tsan build-tsan

begin "tests release"
run_tests release release -LE 'kubernetes|bench|long|packages'
begin "tests tsan"
run_tests tsan tsan -LE 'kubernetes|bench|long|packages'
begin "tests asan"
run_tests asan asan -LE 'kubernetes|bench|long|packages'
begin "tests kubernetes"
if have kubernetes; then
  # The examples were built and installed in the part before.
  parallel=$jobs run_tests kubernetes asan -L kubernetes -LE long --fixture-exclude-setup examples
fi

begin packages
parallel=1 run_tests packages release -L packages

begin fuzzing
tests/fuzz/run.sh build/asan "${DAVIT_FUZZ_SECONDS:-8}" >"$results/fuzz.log" 2>&1 || { failed=1; cat "$results/fuzz.log"; }
grep '^fuzz ' "$results/fuzz.log"

begin bench
tests/e2e/python.sh tests/bench/run.py --build build/release --short ||
  echo "bench: some lines missed their target (a finding, not a failure)"

end_run
